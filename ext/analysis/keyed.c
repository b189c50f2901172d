#include "keyed.h"

#include <string.h>

#include "../reader/memory.h"
#include "../trace/hash.h"
#include "../trace/kernel_type.h"
#include "../trace/stacks.h"
#include "labels.h"
#include "owners.h"

/* What is around a host event, and itself (rule 2): rows, or ROW_NONE. */
struct around {
    uint32_t op, event, top_op, top_event, module, annotation;
    bool known;
};

struct adding {
    struct keyed *keyed;
    const struct keyed_request *request;
    const struct stopper *stopper;
    struct failure *failure;
    const struct trace_file *file;
    bool *is_step;         /* by row */
    struct around *around; /* by row */
    uint32_t *key_of;      /* by row: the row of keyed; ROW_NONE: takes no part */
    uint32_t *renamed;     /* by name of the file: id in keyed->names; NAME_NONE: not yet */
    uint32_t *path;        /* rows whose parents are not known yet */
    size_t path_capacity;
    char *scratch; /* room for the longest name */
    struct kernel_types types;
};

static bool wanted(const struct adding *adding, size_t row)
{
    const struct columns *columns = &adding->file->columns;
    uint32_t iteration = columns->iteration[row];
    const unsigned char *chosen = adding->request->chosen;
    enum device_type type = adding->request->device_type;
    bool device = kind_is_device(columns->kind[row]);
    if (!row_counts(columns, row) || (device && columns->kind[row] != KIND_WORK) || /* rule 4 */
        (type == DEVICE_CPU && device) || (type == DEVICE_GPU && !device))
        return false;
    return !chosen || (iteration != STEP_NONE && chosen[iteration]);
}

static uint64_t hash_of_ids(const struct keyed *keyed, const uint32_t *ids)
{
    uint64_t hash = hash_key();
    for (size_t i = 0; i < keyed->width; i++)
        hash = hash_mixed(hash ^ ids[i], UINT64_C(0x9e3779b97f4a7c15));
    return hash;
}

static uint64_t hash_of_row(const void *keyed, uint32_t row)
{
    const struct keyed *of = keyed;
    return hash_of_ids(of, of->ids + row * of->width);
}

struct wanted_ids {
    const struct keyed *keyed;
    const uint32_t *ids;
};

static bool has_ids(const void *wanted, uint32_t row)
{
    const struct wanted_ids *key = wanted;
    size_t width = key->keyed->width;
    return memcmp(key->keyed->ids + row * width, key->ids, width * sizeof *key->ids) == 0;
}

/* The row of some keys, new or known. */
static bool row_of(struct keyed *keyed, const uint32_t *ids, uint32_t *row)
{
    struct wanted_ids key = {keyed, ids};
    if (!table_reserve(&keyed->table, keyed->count, hash_of_row, keyed))
        return false;
    uint32_t *slot = table_slot(&keyed->table, hash_of_ids(keyed, ids), has_ids, &key);
    if (!*slot) {
        if (!MEMORY_GROW(keyed->ids, keyed->id_capacity, (keyed->count + 1) * keyed->width) ||
            !MEMORY_GROW(keyed->sums, keyed->sum_capacity, keyed->count + 1))
            return false;
        memcpy(keyed->ids + keyed->count * keyed->width, ids, keyed->width * sizeof *ids);
        memset(&keyed->sums[keyed->count], 0, sizeof *keyed->sums);
        *slot = (uint32_t)++keyed->count;
    }
    *row = *slot - 1;
    return true;
}

/* The id of a name of the file in keyed->names, renamed or as it is. */
static bool put_name(struct adding *adding, uint32_t name, bool rename, uint32_t *id)
{
    *id = NAME_NONE;
    if (name == NAME_NONE)
        return true;
    const struct name *from = &adding->file->names.items[name];
    if (!rename || !adding->keyed->rename) {
        *id = names_adopt(&adding->keyed->names, from);
        return *id != NAME_NONE;
    }
    if (adding->renamed[name] == NAME_NONE)
        adding->renamed[name] =
            names_intern(&adding->keyed->names, adding->scratch,
                         adding->keyed->rename(from->text, from->length, adding->scratch));
    *id = adding->renamed[name];
    return *id != NAME_NONE;
}

static bool put_text(struct adding *adding, const char *text, uint32_t *id)
{
    *id = names_intern(&adding->keyed->names, text, strlen(text));
    return *id != NAME_NONE;
}

static bool put_integer(struct adding *adding, int64_t value, uint32_t *id)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *id = NAME_NONE;
    if (value == NUMBER_NONE)
        return true;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--p = '-';
    *id = names_intern(&adding->keyed->names, p, (size_t)(digits + sizeof digits - p));
    return *id != NAME_NONE;
}

static enum kernel_type type_of(struct adding *adding, uint32_t row)
{
    const struct trace_file *file = adding->file;
    const struct name *name = &file->names.items[file->columns.name[row]];
    uint32_t cat = file->columns.cat[row];
    const struct name none = {0}, *category = cat == NAME_NONE ? &none : &file->names.items[cat];
    return kernel_types_find(&adding->types, name->text, name->length, category->text,
                             category->length);
}

/* Rules 1 and 2: the keys of a row, whose labels are rows. */
static bool key_row(struct adding *adding, uint32_t row, const uint32_t *labels)
{
    const struct columns *columns = &adding->file->columns;
    bool device = columns->kind[row] == KIND_WORK;
    uint32_t ids[KEY_COUNT];
    for (size_t i = 0; i < adding->keyed->width; i++) {
        enum key key = adding->keyed->keys[i];
        uint32_t label = key < KEY_KERNEL ? labels[key] : labels[KEY_OP];
        bool done = true;
        ids[i] = NAME_NONE;
        if (key < KEY_KERNEL)
            done = put_name(adding, label == ROW_NONE ? NAME_NONE : columns->name[label], true,
                            &ids[i]);
        else if (key == KEY_NAME || (key == KEY_KERNEL && device))
            done = put_name(adding, columns->name[row], true, &ids[i]);
        else if (key == KEY_CAT)
            done = put_name(adding, columns->cat[row], false, &ids[i]);
        else if (key == KEY_KERNEL_TYPE && device)
            done = put_text(adding, kernel_type_name(type_of(adding, row)), &ids[i]);
        else if (key == KEY_STREAM && device)
            done = put_integer(adding, columns->stream[row], &ids[i]);
        else if (key == KEY_SHAPES && label != ROW_NONE &&
                 row_is(adding->file, label, CATEGORY_OPERATOR))
            ids[i] = adding->request->shapes[label];
        if (!done)
            return failure_memory(adding->failure);
    }
    return row_of(adding->keyed, ids, &adding->key_of[row]) || failure_memory(adding->failure);
}

static void add_around(const struct adding *adding, uint32_t row, const struct around *parent)
{
    static const struct around nothing = {ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE,
                                          ROW_NONE, ROW_NONE, true};
    const struct columns *columns = &adding->file->columns;
    struct around *around = &adding->around[row];
    *around = parent ? *parent : nothing;
    if (columns->kind[row] != KIND_HOST || columns->name[row] == NAME_NONE || adding->is_step[row])
        return;
    const struct name *name = &adding->file->names.items[columns->name[row]];
    around->event = row;
    around->top_event = around->top_event == ROW_NONE ? row : around->top_event;
    if (row_is(adding->file, row, CATEGORY_OPERATOR)) {
        around->op = row;
        around->top_op = around->top_op == ROW_NONE ? row : around->top_op;
    }
    if (label_is_module(name))
        around->module = row;
    if (row_is(adding->file, row, CATEGORY_USER_ANNOTATION))
        around->annotation = row;
}

/* Fills in what is around a row, and around those it is nested in. */
static bool find_around(struct adding *adding, uint32_t row)
{
    const uint32_t *parents = adding->file->stacks.parent;
    size_t length = 0;
    for (; row != ROW_NONE && !adding->around[row].known; row = parents[row]) {
        if (!MEMORY_GROW(adding->path, adding->path_capacity, length + 1))
            return failure_memory(adding->failure);
        adding->path[length++] = row;
    }
    while (length > 0) {
        uint32_t inner = adding->path[--length];
        add_around(adding, inner, row == ROW_NONE ? NULL : &adding->around[row]);
        row = inner;
    }
    return true;
}

static bool key_host(struct adding *adding)
{
    const struct columns *columns = &adding->file->columns;
    for (uint32_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(adding->stopper, row, adding->failure))
            return false;
        if (kind_is_device(columns->kind[row]) || !wanted(adding, row))
            continue;
        if (!find_around(adding, row))
            return false;
        const struct around *around = &adding->around[row];
        uint32_t labels[KEY_KERNEL];
        labels[KEY_OP] = around->op != ROW_NONE ? around->op : around->event;
        labels[KEY_TOP_OP] = around->top_op != ROW_NONE ? around->top_op : around->top_event;
        labels[KEY_MODULE] = around->module != ROW_NONE ? around->module : labels[KEY_TOP_OP];
        labels[KEY_ANNOTATION] = around->annotation;
        if (!key_row(adding, row, labels))
            return false;
    }
    return true;
}

/* A host event that launched device work of a row of keyed. */
struct run {
    uint32_t key, event;
};

static int run_order(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* The key whose labels are runs; KEY_KERNEL: none is (rule 6). */
static enum key run_key(const struct keyed *keyed)
{
    enum key best = KEY_KERNEL;
    for (size_t i = 0; i < keyed->width; i++) {
        enum key key = keyed->keys[i] == KEY_SHAPES ? KEY_OP : keyed->keys[i];
        best = key < best ? key : best;
    }
    return best;
}

/* Rules 5 and 6: each run of a row once. */
static bool count_runs(struct adding *adding, const struct owners *owners)
{
    enum key by = run_key(adding->keyed);
    size_t count = 0;
    struct run *runs = memory_allocate((owners->count + 1) * sizeof *runs);
    if (!runs)
        return failure_memory(adding->failure);
    for (size_t i = 0; i < owners->count; i++) {
        const struct owner *owner = &owners->items[i];
        uint32_t key = adding->key_of[owner->row];
        uint32_t event = by < KEY_KERNEL ? owner->label[by] : ROW_NONE;
        if (key == ROW_NONE)
            continue;
        if (event == ROW_NONE)
            adding->keyed->sums[key][adding->request->side].runs++;
        else
            runs[count++] = (struct run){key, event};
    }
    bool done = sort_items(runs, count, sizeof *runs, run_order, adding->stopper, adding->failure);
    for (size_t i = 0; i < count && done; i++)
        if (i == 0 || run_order(&runs[i - 1], &runs[i]) != 0)
            adding->keyed->sums[runs[i].key][adding->request->side].runs++;
    memory_free(runs);
    return done;
}

static bool key_device(struct adding *adding)
{
    struct owners owners;
    unsigned levels = 0;
    for (size_t i = 0; i < adding->keyed->width; i++) {
        enum key key = adding->keyed->keys[i];
        levels |= key < KEY_KERNEL ? 1u << key : key == KEY_SHAPES ? 1u << KEY_OP : 0;
    }
    if (!owners_find(&owners, adding->file, adding->request->chosen, levels, adding->stopper,
                     adding->failure))
        return false;
    bool done = true;
    for (size_t i = 0; i < owners.count && done; i++)
        if (wanted(adding, owners.items[i].row))
            done = stopper_goes_on(adding->stopper, i, adding->failure) &&
                   key_row(adding, owners.items[i].row, owners.items[i].label);
    done = done && count_runs(adding, &owners);
    owners_clear(&owners);
    return done;
}

/* Rule 3. */
static void add_up(const struct adding *adding)
{
    const struct columns *columns = &adding->file->columns;
    const struct stacks *stacks = &adding->file->stacks;
    for (uint32_t row = 0; row < columns->count; row++) {
        uint32_t key = adding->key_of[row];
        if (key == ROW_NONE)
            continue;
        struct keyed_sums *sums = &adding->keyed->sums[key][adding->request->side];
        if (columns->kind[row] == KIND_WORK) {
            sums->kernels++;
            sums->device_time += columns->dur[row];
            continue;
        }
        uint32_t parent = stacks->parent[row];
        if (parent == ROW_NONE || adding->key_of[parent] != key)
            sums->host_time += columns->dur[row];
        if (stacks->self[row] != NUMBER_NONE)
            sums->self_time += stacks->self[row];
    }
}

static bool prepare(struct adding *adding)
{
    const struct trace_file *file = adding->file;
    size_t count = file->columns.count;
    adding->is_step = memory_zeroed(count, sizeof *adding->is_step);
    adding->around = memory_zeroed(count, sizeof *adding->around);
    adding->key_of = memory_allocate((count + 1) * sizeof *adding->key_of);
    adding->renamed = memory_allocate((file->names.count + 1) * sizeof *adding->renamed);
    adding->scratch = memory_allocate(names_longest(&file->names) + 1);
    if (!adding->is_step || !adding->around || !adding->key_of || !adding->renamed ||
        !adding->scratch)
        return failure_memory(adding->failure);
    memset(adding->key_of, 0xff, count * sizeof *adding->key_of);
    memset(adding->renamed, 0xff, file->names.count * sizeof *adding->renamed);
    for (size_t i = 0; i < file->step_count; i++)
        adding->is_step[file->steps[i].row] = true;
    return true;
}

bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure)
{
    struct adding adding = {.keyed = keyed,
                            .request = request,
                            .stopper = stopper,
                            .failure = failure,
                            .file = request->file};
    bool done = prepare(&adding) && stacks_find(request->file, stopper, failure) &&
                key_host(&adding) && key_device(&adding);
    if (done)
        add_up(&adding);
    memory_free(adding.is_step);
    memory_free(adding.around);
    memory_free(adding.key_of);
    memory_free(adding.renamed);
    memory_free(adding.scratch);
    memory_free(adding.path);
    kernel_types_clear(&adding.types);
    return done;
}

void keyed_clear(struct keyed *keyed)
{
    names_clear(&keyed->names);
    memory_free(keyed->ids);
    memory_free(keyed->sums);
    table_clear(&keyed->table);
    *keyed = (struct keyed){.width = 0};
}
