#include "keyed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/hash.h"
#include "file/kernel_type.h"
#include "file/stacks.h"
#include "text/ascii.h"
#include "analysis/names/labels.h"
#include "owners.h"

/* labels of a host event, from itself and the events around it (B2): rows, or ROW_NONE */
struct around {
    uint32_t op, event, top_op, top_event, module, annotation;
    bool known;
};

struct keyed_builder {
    struct keyed *keyed;
    const struct keyed_request *request;
    const struct stopper *stopper;
    struct failure *failure;
    const struct trace_file *file;
    bool *is_step;         /* by row */
    struct around *around; /* by row; NULL for DEVICE_GPU */
    uint32_t *key_of;      /* by row: its row in keyed; ROW_NONE: not included */
    uint32_t *renamed;     /* by name id of the file: id in keyed->names; NAME_NONE: not set yet */
    uint32_t *in_graphs;   /* likewise, for names in graphs (A14) */
    struct owners owners;  /* owners of the wanted device work */
    uint32_t *args[KEYED_ARGS]; /* by row: ids in keyed->names; NULL: not a key */
    uint32_t *path;        /* rows whose parents are still to be done */
    size_t path_capacity;
    char *scratch; /* room for the longest name and GRAPH_PREFIX */
    struct row_types types_of_work;
    uint32_t type_ids[KERNEL_NONE + 1]; /* by enum kernel_type; NAME_NONE: not put yet */
    uint32_t integer_id; /* of `integer`, the last one stored as a name */
    int64_t integer;
};

/* Returns the arg of a key; KEYED_ARGS if its value is not in args. */
static enum keyed_arg arg_of_key(enum key key)
{
    return key == KEY_SHAPES          ? ARG_SHAPES
           : key == KEY_TYPES         ? ARG_TYPES
           : key == KEY_GRID          ? ARG_GRID
           : key == KEY_BLOCK         ? ARG_BLOCK
           : key == KEY_COLLECTIVE    ? ARG_COLLECTIVE
           : key == KEY_PROCESS_GROUP ? ARG_PROCESS_GROUP
                                      : KEYED_ARGS;
}

static bool wanted(const struct keyed_builder *builder, size_t row)
{
    const struct columns *columns = &builder->file->columns;
    uint32_t iteration = step_of(builder->request->member->steps, row);
    const unsigned char *chosen = builder->request->chosen;
    enum device_type type = builder->request->device_type;
    bool device = kind_is_device(columns->kind[row]);
    bool call = columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL;
    if ((call && builder->keyed->without_calls) || !row_counts(columns, row) ||
        (device && columns->kind[row] != KIND_WORK) || /* B4 */
        (type == DEVICE_CPU && device) || (type == DEVICE_GPU && !device))
        return false;
    return !chosen || (iteration != STEP_NONE && chosen[iteration]);
}

static uint64_t hash_of_ids(const struct keyed *keyed, const uint32_t *ids)
{
    return hash_with_ids(hash_key(), ids, keyed->width);
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

/* Finds the row with these keys, or adds it. */
static bool row_of(struct keyed *keyed, const uint32_t *ids, uint32_t *row)
{
    struct wanted_ids key = {keyed, ids};
    if (!table_reserve(&keyed->table, keyed->count, hash_of_row, keyed))
        return false;
    uint32_t *slot = table_slot(&keyed->table, hash_of_ids(keyed, ids), has_ids, &key);
    if (!*slot) {
        if (!MEMORY_GROW(keyed->ids, keyed->id_capacity, (keyed->count + 1) * keyed->width) ||
            !MEMORY_GROW(keyed->sums, keyed->sum_capacity, keyed->count + 1) ||
            (keyed->wants_work &&
             !MEMORY_GROW(keyed->work, keyed->work_capacity, keyed->count + 1)))
            return false;
        memcpy(keyed->ids + keyed->count * keyed->width, ids, keyed->width * sizeof *ids);
        memset(&keyed->sums[keyed->count], 0, sizeof *keyed->sums);
        if (keyed->wants_work)
            memset(&keyed->work[keyed->count], 0, sizeof *keyed->work);
        *slot = (uint32_t)++keyed->count;
    }
    *row = *slot - 1;
    return true;
}

/* Stores a name of the file in keyed->names, renamed if requested, and sets `*id`. */
static bool put_name(struct keyed_builder *builder, uint32_t name, bool rename, uint32_t *id)
{
    *id = NAME_NONE;
    if (name == NAME_NONE)
        return true;
    const struct name *from = &builder->file->names.items[name];
    if (!rename || !builder->keyed->rename) {
        *id = names_adopt(&builder->keyed->names, from);
        return *id != NAME_NONE;
    }
    if (builder->renamed[name] == NAME_NONE)
        builder->renamed[name] =
            names_intern(&builder->keyed->names, builder->scratch,
                         builder->keyed->rename(from->text, from->length, builder->scratch));
    *id = builder->renamed[name];
    return *id != NAME_NONE;
}

static bool put_text(struct keyed_builder *builder, const char *text, uint32_t *id)
{
    *id = names_intern(&builder->keyed->names, text, strlen(text));
    return *id != NAME_NONE;
}

static bool put_type(struct keyed_builder *builder, uint32_t row, uint32_t *id)
{
    enum kernel_type type = row_types_find(&builder->types_of_work, builder->file, row);
    uint32_t *known = &builder->type_ids[type];
    bool done = *known != NAME_NONE || put_text(builder, kernel_type_name(type), known);
    *id = *known;
    return done;
}

static bool put_integer(struct keyed_builder *builder, int64_t value, uint32_t *id)
{
    char digits[24];
    bool done = true;
    if (value != builder->integer) {
        snprintf(digits, sizeof digits, "%lld", (long long)value);
        builder->integer = value;
        builder->integer_id = NAME_NONE;
        done = value == NUMBER_NONE || put_text(builder, digits, &builder->integer_id);
    }
    *id = builder->integer_id;
    return done;
}

/* Returns whether a name of work comes from XLA (A17), not from a graph. */
static bool is_xla_name(const struct name *name)
{
    return !begins(name->text, name->text + name->length, GRAPH_PREFIX);
}

/* Stores the name that XLA gives a row in keyed->names (A17). */
static bool put_xla_name(struct keyed_builder *builder, const struct name *name, uint32_t *id)
{
    struct names *names = &builder->keyed->names;
    size_t length = builder->keyed->rename
                        ? builder->keyed->rename(name->text, name->length, builder->scratch)
                        : 0;
    *id = builder->keyed->rename ? names_intern(names, builder->scratch, length)
                                 : names_adopt(names, name);
    return *id != NAME_NONE;
}

/* Stores the name that a row has in a graph in keyed->names. */
static bool put_graph_name(struct keyed_builder *builder, uint32_t row, uint32_t *id)
{
    const struct name *from = &builder->file->names.items[builder->file->columns.name[row]];
    uint32_t *made = &builder->in_graphs[builder->file->columns.name[row]];
    size_t length = strlen(GRAPH_PREFIX);
    memcpy(builder->scratch, GRAPH_PREFIX, length);
    if (*made == NAME_NONE && builder->keyed->rename) {
        length += builder->keyed->rename(from->text, from->length, builder->scratch + length);
        *made = names_intern(&builder->keyed->names, builder->scratch, length);
    } else if (*made == NAME_NONE) {
        memcpy(builder->scratch + length, from->text, from->length);
        *made = names_intern(&builder->keyed->names, builder->scratch, length + from->length);
    }
    *id = *made;
    return *id != NAME_NONE;
}

/* Finds the keys of a row (B1, B2). `labels` are rows. Names in `graphs`, if not NULL, take
** precedence. */
static bool key_row(struct keyed_builder *builder, uint32_t row, const uint32_t *labels,
                    const struct graph_names *graphs)
{
    const struct columns *columns = &builder->file->columns;
    bool device = columns->kind[row] == KIND_WORK;
    uint32_t ids[KEY_COUNT];
    for (size_t i = 0; i < builder->keyed->width; i++) {
        enum key key = builder->keyed->keys[i];
        uint32_t label = key < KEY_KERNEL ? labels[key] : labels[KEY_OP];
        uint32_t own = key < KEY_KERNEL && graphs ? graph_name(graphs, (int)key, row) : GRAPH_LABEL;
        bool done = true;
        ids[i] = NAME_NONE;
        if (own != GRAPH_LABEL)
            done = is_xla_name(&graphs->texts.items[own])
                       ? put_xla_name(builder, &graphs->texts.items[own], &ids[i])
                       : put_graph_name(builder, row, &ids[i]);
        else if (key < KEY_KERNEL)
            done = put_name(builder, label == ROW_NONE ? NAME_NONE : columns->name[label], true,
                            &ids[i]);
        else if (key == KEY_NAME || (key == KEY_KERNEL && device))
            done = put_name(builder, columns->name[row], true, &ids[i]);
        else if (key == KEY_CAT)
            done = put_name(builder, row_place(columns, row)->cat, false, &ids[i]);
        else if (key == KEY_KERNEL_TYPE && device)
            done = put_type(builder, row, &ids[i]);
        else if (key == KEY_STREAM && device)
            done = put_integer(builder, row_place(columns, row)->stream, &ids[i]);
        else if ((key == KEY_SHAPES || key == KEY_TYPES) && label != ROW_NONE &&
                 row_is(builder->file, label, CATEGORY_OPERATOR))
            ids[i] = builder->args[arg_of_key(key)][label];
        else if (key >= KEY_GRID && device)
            ids[i] = builder->args[arg_of_key(key)][row];
        if (!done)
            return failure_memory(builder->failure);
    }
    return row_of(builder->keyed, ids, &builder->key_of[row]) || failure_memory(builder->failure);
}

static void add_around(const struct keyed_builder *builder, uint32_t row,
                       const struct around *parent)
{
    static const struct around nothing = {ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE,
                                          ROW_NONE, ROW_NONE, true};
    const struct columns *columns = &builder->file->columns;
    struct around *around = &builder->around[row];
    *around = parent ? *parent : nothing;
    if (columns->kind[row] != KIND_HOST || columns->name[row] == NAME_NONE || builder->is_step[row])
        return;
    const struct name *name = &builder->file->names.items[columns->name[row]];
    around->event = row;
    around->top_event = around->top_event == ROW_NONE ? row : around->top_event;
    if (row_is(builder->file, row, CATEGORY_OPERATOR)) {
        around->op = row;
        around->top_op = around->top_op == ROW_NONE ? row : around->top_op;
    }
    if (label_is_module(name))
        around->module = row;
    if (row_is(builder->file, row, CATEGORY_USER_ANNOTATION))
        around->annotation = row;
}

/* Fills in `around` for a row and for all events around it. */
static bool find_around(struct keyed_builder *builder, uint32_t row)
{
    const uint32_t *parents = builder->file->stacks.parent;
    size_t length = 0;
    for (; row != ROW_NONE && !builder->around[row].known; row = parents[row]) {
        if (!MEMORY_GROW(builder->path, builder->path_capacity, length + 1))
            return failure_memory(builder->failure);
        builder->path[length++] = row;
        if (!stopper_goes_on(builder->stopper, length, builder->failure))
            return false;
    }
    while (length > 0) {
        if (!stopper_goes_on(builder->stopper, length, builder->failure))
            return false;
        uint32_t inner = builder->path[--length];
        add_around(builder, inner, row == ROW_NONE ? NULL : &builder->around[row]);
        row = inner;
    }
    return true;
}

/* Returns the label of a host event at operator level. */
static uint32_t op_around(const struct around *around)
{
    return around->op != ROW_NONE ? around->op : around->event;
}

static bool key_host(struct keyed_builder *builder)
{
    const struct columns *columns = &builder->file->columns;
    for (uint32_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (kind_is_device(columns->kind[row]) || !wanted(builder, row))
            continue;
        const struct around *around = &builder->around[row];
        uint32_t labels[KEY_KERNEL];
        labels[KEY_OP] = op_around(around);
        labels[KEY_TOP_OP] = around->top_op != ROW_NONE ? around->top_op : around->top_event;
        labels[KEY_MODULE] = around->module != ROW_NONE ? around->module : labels[KEY_TOP_OP];
        labels[KEY_ANNOTATION] = around->annotation;
        if (!key_row(builder, row, labels, NULL))
            return false;
    }
    return true;
}

/* a row of keyed, and a host event that launched device work in it */
struct key_event {
    uint32_t key, event;
};

static int key_event_order(const void *a, const void *b)
{
    const struct key_event *x = a, *y = b;
    int order = COMPARE(x->key, y->key);
    return order ? order : COMPARE(x->event, y->event);
}

/* Returns the key whose labels count as executions (B6); KEY_KERNEL if there is none. */
static enum key run_key(const struct keyed *keyed)
{
    enum key best = KEY_KERNEL;
    for (size_t i = 0; i < keyed->width; i++) {
        enum key key = keyed->keys[i];
        key = key == KEY_SHAPES || key == KEY_TYPES ? KEY_OP : key;
        best = key < best ? key : best;
    }
    return best;
}

/* a row of keyed with the keys by which executions differ */
struct run_row {
    const uint32_t *ids;
    size_t width;
    uint32_t row;
};

static int run_row_order(const void *a, const void *b)
{
    const struct run_row *x = a, *y = b;
    for (size_t i = 0; i < x->width; i++)
        if (x->ids[i] != y->ids[i])
            return COMPARE(x->ids[i], y->ids[i]);
    return 0;
}

/* Returns, by row, the first row with the same executions. NULL on failure. */
static uint32_t *find_run_rows(struct keyed_builder *builder)
{
    const struct keyed *keyed = builder->keyed;
    size_t width = keyed->run_width ? keyed->run_width : keyed->width;
    struct run_row *rows = memory_items(keyed->count, sizeof *rows);
    uint32_t *first = memory_items(keyed->count, sizeof *first);
    bool done = (rows && first) || failure_memory(builder->failure);
    for (uint32_t row = 0; done && row < keyed->count; row++) {
        rows[row] = (struct run_row){keyed->ids + row * keyed->width, width, row};
        first[row] = row;
    }
    done = done && (width == keyed->width ||
                    sort_items(rows, keyed->count, sizeof *rows, run_row_order, builder->stopper,
                               builder->failure));
    for (size_t i = 1; done && width < keyed->width && i < keyed->count; i++)
        if (run_row_order(&rows[i - 1], &rows[i]) == 0)
            first[rows[i].row] = first[rows[i - 1].row];
    memory_free(rows);
    if (done)
        return first;
    memory_free(first);
    return NULL;
}

/* Counts each execution once per row (B5, B6). */
static bool count_runs(struct keyed_builder *builder)
{
    const struct owners *owners = &builder->owners;
    enum key by = run_key(builder->keyed);
    size_t count = 0;
    struct key_event *executions = memory_items(owners->count, sizeof *executions);
    uint32_t *rows = find_run_rows(builder);
    bool done = rows && (executions || failure_memory(builder->failure));
    for (size_t i = 0; done && i < owners->count; i++) {
        const struct owner *owner = &owners->items[i];
        uint32_t key = builder->key_of[owner->row];
        uint32_t event =
            by < KEY_KERNEL && graph_name(&owners->graphs, (int)by, owner->row) == GRAPH_LABEL
                ? owner->label[by]
                : ROW_NONE;
        done = stopper_goes_on(builder->stopper, i, builder->failure);
        if (key == ROW_NONE)
            continue;
        if (event == ROW_NONE)
            builder->keyed->sums[key][builder->request->side].executions++;
        else
            executions[count++] = (struct key_event){rows[key], event};
    }
    done = done && sort_items(executions, count, sizeof *executions, key_event_order,
                              builder->stopper, builder->failure);
    for (size_t i = 0; i < count && done; i++)
        if (i == 0 || key_event_order(&executions[i - 1], &executions[i]) != 0)
            builder->keyed->sums[executions[i].key][builder->request->side].executions++;
    memory_free(executions);
    memory_free(rows);
    return done;
}

static bool key_device(struct keyed_builder *builder)
{
    const struct owners *owners = &builder->owners;
    for (size_t i = 0; i < owners->count; i++)
        if (wanted(builder, owners->items[i].row) &&
            (!stopper_goes_on(builder->stopper, i, builder->failure) ||
             !key_row(builder, owners->items[i].row, owners->items[i].label, &owners->graphs)))
            return false;
    return !builder->keyed->wants_executions || count_runs(builder);
}

/* Sums up the events of each row (B3). */
static bool add_up(const struct keyed_builder *builder)
{
    const struct columns *columns = &builder->file->columns;
    const struct stacks *stacks = &builder->file->stacks;
    for (uint32_t row = 0; row < columns->count; row++) {
        uint32_t key = builder->key_of[row];
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (key == ROW_NONE)
            continue;
        struct keyed_sums *sums = &builder->keyed->sums[key][builder->request->side];
        if (columns->kind[row] == KIND_WORK) {
            sums->kernels++;
            sums->device_time += columns->dur[row];
            continue;
        }
        sums->events++;
        uint32_t parent = stacks->parent[row];
        if (parent == ROW_NONE || builder->key_of[parent] != key)
            sums->host_time += columns->dur[row];
        if (stacks->self[row] != NUMBER_NONE)
            sums->self_time += stacks->self[row];
    }
    return true;
}

static void add_measure(struct keyed_measure *measure, int64_t amount, int64_t dur,
                        const double *ideal)
{
    if (amount == NUMBER_NONE)
        return;
    measure->kernels++;
    measure->amount += amount;
    measure->time += dur;
    if (!ideal || isnan(*ideal))
        return;
    measure->peak_kernels++;
    measure->peak_time += dur;
    measure->ideal_time += *ideal;
}

/* Sums up the work of each row (F7). */
static bool add_work(const struct keyed_builder *builder)
{
    const struct columns *columns = &builder->file->columns;
    const struct work *work = builder->request->work;
    for (uint32_t row = 0; work && row < columns->count; row++) {
        uint32_t key = builder->key_of[row];
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (key == ROW_NONE || columns->kind[row] != KIND_WORK)
            continue;
        struct keyed_work *sums = &builder->keyed->work[key][builder->request->side];
        add_measure(&sums->flops, work[row].flops, columns->dur[row],
                    builder->request->ideal_flops ? &builder->request->ideal_flops[row] : NULL);
        add_measure(&sums->bytes, work[row].bytes, columns->dur[row],
                    builder->request->ideal_bytes ? &builder->request->ideal_bytes[row] : NULL);
    }
    return true;
}

static bool prepare(struct keyed_builder *builder)
{
    const struct trace_file *file = builder->file;
    size_t count = file->columns.count;
    builder->is_step = memory_zeroed(count, sizeof *builder->is_step);
    if (builder->request->device_type != DEVICE_GPU)
        builder->around = memory_zeroed(count, sizeof *builder->around);
    builder->key_of = memory_filled(count, sizeof *builder->key_of);
    builder->renamed = memory_filled(file->names.count, sizeof *builder->renamed);
    builder->in_graphs = memory_filled(file->names.count, sizeof *builder->in_graphs);
    builder->scratch = memory_allocate(names_longest(&file->names) + sizeof GRAPH_PREFIX);
    if (!builder->is_step || !builder->key_of || !builder->renamed || !builder->in_graphs ||
        !builder->scratch || (builder->request->device_type != DEVICE_GPU && !builder->around))
        return failure_memory(builder->failure);
    for (size_t i = 0; i < builder->keyed->width; i++) {
        enum keyed_arg arg = arg_of_key(builder->keyed->keys[i]);
        if (arg == KEYED_ARGS)
            continue;
        builder->args[arg] = memory_filled(count, sizeof *builder->args[arg]);
        if (!builder->args[arg])
            return failure_memory(builder->failure);
    }
    const struct steps *const both[] = {builder->request->member->steps, &file->profiler_steps};
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < both[which]->count; i++)
            builder->is_step[both[which]->items[i].row] = true;
    return true;
}

/* Requests values from a row's args. */
static void want_args(struct keyed_builder *builder, uint32_t row, enum keyed_arg first,
                      enum keyed_arg end)
{
    for (int arg = (int)first; arg < (int)end; arg++)
        if (builder->args[arg])
            builder->args[arg][row] = 0;
}

/* Requests the shapes and types of an operator. */
static void want_shapes(struct keyed_builder *builder, uint32_t label)
{
    if (label != ROW_NONE && row_is(builder->file, label, CATEGORY_OPERATOR))
        want_args(builder, label, ARG_SHAPES, ARG_GRID);
}

/* Finds the labels of host events and device work. */
static bool find_labels(struct keyed_builder *builder)
{
    const struct keyed_request *request = builder->request;
    const struct columns *columns = &builder->file->columns;
    unsigned levels = builder->args[ARG_SHAPES] || builder->args[ARG_TYPES] ? 1u << KEY_OP : 0;
    for (size_t i = 0; i < builder->keyed->width; i++)
        levels |= builder->keyed->keys[i] < KEY_KERNEL ? 1u << builder->keyed->keys[i] : 0;
    for (uint32_t row = 0; request->device_type != DEVICE_GPU && row < columns->count; row++) {
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (kind_is_device(columns->kind[row]) || !wanted(builder, row))
            continue;
        if (!find_around(builder, row))
            return false;
        want_shapes(builder, op_around(&builder->around[row]));
    }
    if (request->device_type != DEVICE_CPU &&
        !owners_find(&builder->owners, &(struct graph_member){.member = request->member},
                     request->chosen, levels, builder->stopper, builder->failure))
        return false;
    for (size_t i = 0; i < builder->owners.count; i++) {
        want_shapes(builder, builder->owners.items[i].label[LEVEL_OP]);
        want_args(builder, builder->owners.items[i].row, ARG_GRID, KEYED_ARGS);
    }
    return true;
}

static bool read_args(const struct keyed_builder *builder)
{
    bool any = builder->keyed->wants_work;
    for (int i = 0; i < KEYED_ARGS; i++)
        any = any || builder->args[i];
    return !any || builder->request->read_args(builder->request->from,
                                               builder->request->member->file, builder->args);
}

bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure)
{
    struct trace_file *file = request->member->file;
    struct keyed_builder builder = {
        .keyed = keyed, .request = request, .stopper = stopper, .failure = failure, .file = file,
        .integer = NUMBER_NONE, .integer_id = NAME_NONE};
    memset(builder.type_ids, 0xff, sizeof builder.type_ids);
    bool done = prepare(&builder) &&
                (request->device_type == DEVICE_GPU || stacks_find(file, stopper, failure)) &&
                find_labels(&builder) &&
                read_args(&builder) && key_host(&builder) && key_device(&builder) &&
                add_up(&builder) && add_work(&builder);
    memory_free(builder.is_step);
    memory_free(builder.around);
    memory_free(builder.key_of);
    memory_free(builder.renamed);
    memory_free(builder.in_graphs);
    memory_free(builder.scratch);
    for (int i = 0; i < KEYED_ARGS; i++)
        memory_free(builder.args[i]);
    memory_free(builder.path);
    owners_clear(&builder.owners);
    row_types_clear(&builder.types_of_work);
    return done;
}

void keyed_clear(struct keyed *keyed)
{
    names_clear(&keyed->names);
    memory_free(keyed->ids);
    memory_free(keyed->sums);
    memory_free(keyed->work);
    table_clear(&keyed->table);
    *keyed = (struct keyed){.width = 0};
}
