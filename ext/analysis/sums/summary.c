#include "summary.h"

#include "base/memory.h"
#include "base/hash.h"
#include "file/stacks.h"

/* Cached row of the last event with a name, counted from 1 (0: none). With BY_EVERYTHING, the next
** event goes into the same row only if iteration, cat and seen agree. */
struct last {
    uint32_t row, iteration, cat;
    unsigned seen;
};

/* state while rows are made */
struct summary_builder {
    struct summary *summary;
    const struct summary_request *request;
    const struct stopper *stopper;
    struct failure *failure;
    struct table table; /* BY_EVERYTHING: finds rows by key */
    uint32_t *ids;      /* by name id of the file: id in the summary; NAME_NONE: not set yet */
    struct last *last;  /* by name id of the file */
};

static bool device_matches(enum kind kind, enum device_type device_type)
{
    return device_type == DEVICE_ALL ||
           (device_type == DEVICE_CPU ? !kind_is_device(kind) : kind == KIND_WORK);
}

/* Translates a name id of the file to an id in the summary. False if out of memory. */
static bool translate(struct summary_builder *builder, const struct names *names, uint32_t id,
                      uint32_t *translated)
{
    *translated = NAME_NONE;
    if (id == NAME_NONE)
        return true;
    if (builder->ids[id] == NAME_NONE)
        builder->ids[id] = names_adopt(&builder->summary->names, &names->items[id]);
    *translated = builder->ids[id];
    return *translated != NAME_NONE;
}

static uint64_t hash_of(const struct summary_row *row)
{
    const uint64_t key = hash_key();
    uint64_t hash = hash_mixed(((uint64_t)row->name << 32 | row->cat) ^ key, ~key ^ row->seen);
    hash = hash_mixed((uint64_t)row->iteration ^ hash, key);
    return hash_mixed((uint64_t)row->rank ^ hash, key);
}

static uint64_t hash_of_row(const void *rows, uint32_t i)
{
    return hash_of((const struct summary_row *)rows + i);
}

struct wanted_row {
    const struct summary_row *rows, *key;
};

static bool is_row(const void *wanted, uint32_t i)
{
    const struct summary_row *a = ((const struct wanted_row *)wanted)->key;
    const struct summary_row *b = ((const struct wanted_row *)wanted)->rows + i;
    return a->name == b->name && a->cat == b->cat && a->iteration == b->iteration &&
           a->rank == b->rank && a->seen == b->seen;
}

static bool add_row(struct summary *summary, const struct summary_row *key)
{
    if (!MEMORY_GROW(summary->rows, summary->capacity, summary->count + 1))
        return false;
    summary->rows[summary->count] = *key;
    summary->rows[summary->count++].min = INT64_MAX;
    return true;
}

/* Finds the row with a key, or adds it. NULL if out of memory. */
static struct summary_row *row_of(struct summary_builder *builder, const struct summary_row *key)
{
    struct summary *summary = builder->summary;
    if (builder->request->grouping == BY_NAME) {
        while (summary->count <= key->name)
            if (!add_row(summary, &(struct summary_row){.name = (uint32_t)summary->count}))
                return NULL;
        return &summary->rows[key->name];
    }
    if (!table_reserve(&builder->table, summary->count, hash_of_row, summary->rows))
        return NULL;
    struct wanted_row wanted = {summary->rows, key};
    uint32_t *slot = table_slot(&builder->table, hash_of(key), is_row, &wanted);
    if (!*slot) {
        if (!add_row(summary, key))
            return NULL;
        *slot = (uint32_t)summary->count;
    }
    return &summary->rows[*slot - 1];
}

/* Finds the row in the summary for the file's row `row`. NULL if out of memory. */
static struct summary_row *find_row(struct summary_builder *builder,
                                    const struct trace_member *member, size_t row,
                                    const struct last *event)
{
    const struct names *names = &member->file->names;
    uint32_t name = member->file->columns.name[row];
    struct summary_row key = {.seen = event->seen}, *found;
    if (!translate(builder, names, name, &key.name))
        return NULL;
    if (builder->request->grouping == BY_EVERYTHING) {
        key.rank = member->rank;
        key.iteration = event->iteration == STEP_NONE ? NUMBER_NONE
                                                      : member_iteration(member, event->iteration);
        if (!translate(builder, names, event->cat, &key.cat))
            return NULL;
    }
    found = row_of(builder, &key);
    if (!found)
        return NULL;
    builder->last[name] = *event;
    builder->last[name].row = (uint32_t)(found - builder->summary->rows) + 1;
    return found;
}

/* Does the same, but tries the row of the name's previous event first. */
static inline struct summary_row *row_of_event(struct summary_builder *builder,
                                               const struct trace_member *member, size_t row,
                                               uint32_t iteration, unsigned seen)
{
    const struct columns *columns = &member->file->columns;
    const struct last *last = &builder->last[columns->name[row]];
    const struct last event = {0, iteration, row_place(columns, row)->cat, seen};
    if (last->row > 0 && (builder->request->grouping == BY_NAME ||
                          (last->iteration == event.iteration && last->cat == event.cat &&
                           last->seen == event.seen)))
        return &builder->summary->rows[last->row - 1];
    return find_row(builder, member, row, &event);
}

static bool add_file(struct summary_builder *builder, const struct trace_member *member,
                     const unsigned char *chosen)
{
    const struct summary_request *request = builder->request;
    const struct trace_file *file = member->file;
    const struct columns *columns = &file->columns;
    for (size_t row = 0; row < columns->count; row++) {
        uint32_t iteration = step_of(member->steps, row);
        enum kind kind = columns->kind[row];
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (!request->choice->everything && (iteration == STEP_NONE || !chosen[iteration]))
            continue;
        if (!row_counts(columns, row) || !device_matches(kind, request->device_type))
            continue;
        unsigned seen = kind_is_device(kind) ? SEEN_ON_DEVICE : SEEN_ON_HOST;
        struct summary_row *sum = row_of_event(builder, member, row, iteration, seen);
        if (!sum)
            return false;
        int64_t dur = columns->dur[row];
        sum->counts++;
        sum->seen |= seen;
        sum->total += dur;
        sum->min = dur < sum->min ? dur : sum->min;
        sum->max = dur > sum->max ? dur : sum->max;
        if (request->self && file->stacks.self[row] != NUMBER_NONE)
            sum->self += file->stacks.self[row];
    }
    return true;
}

bool summary_make(struct summary *summary, const struct summary_request *request,
                  const struct stopper *stopper, struct failure *failure)
{
    struct summary_builder builder = {
        .summary = summary, .request = request, .stopper = stopper, .failure = failure};
    bool done = true;
    *summary = (struct summary){.count = 0};
    for (size_t i = 0; i < request->trace->count && done; i++) {
        const struct trace_member *member = &request->trace->members[i];
        if (!member->chosen)
            continue;
        builder.ids = memory_filled(member->file->names.count, sizeof *builder.ids);
        builder.last = memory_zeroed(member->file->names.count, sizeof *builder.last);
        done = builder.ids && builder.last &&
               (!request->self || stacks_find(member->file, stopper, failure)) &&
               add_file(&builder, member, request->choice->chosen[i]);
        memory_free(builder.ids);
        memory_free(builder.last);
    }
    table_clear(&builder.table);
    return done || failure_memory(failure);
}

/* a row with its names, which are copied in because comparison functions get no context */
struct sortable_row {
    struct summary_row row;
    const struct name *cat, *name;
};

static int row_order(const void *a, const void *b)
{
    const struct sortable_row *x = a, *y = b;
    int order = COMPARE(x->row.rank, y->row.rank);
    order = order ? order : COMPARE(x->row.iteration, y->row.iteration);
    order = order ? order : COMPARE(x->row.seen, y->row.seen);
    if (order)
        return order;
    if (x->row.cat != y->row.cat)
        return !x->cat ? -1 : !y->cat ? 1 : name_compare(x->cat, y->cat);
    return name_compare(x->name, y->name);
}

bool summary_sort(struct summary *summary, const struct stopper *stopper, struct failure *failure)
{
    struct sortable_row *order = memory_zeroed(summary->count, sizeof *order);
    if (!order)
        return failure_memory(failure);
    for (size_t i = 0; i < summary->count; i++) {
        const struct summary_row *row = &summary->rows[i];
        order[i] = (struct sortable_row){
            *row, row->cat == NAME_NONE ? NULL : &summary->names.items[row->cat],
            &summary->names.items[row->name]};
    }
    bool done = sort_items(order, summary->count, sizeof *order, row_order, stopper, failure);
    for (size_t i = 0; i < summary->count; i++)
        summary->rows[i] = order[i].row;
    memory_free(order);
    return done;
}

static void merge_row(struct summary_row *into, const struct summary_row *row)
{
    into->counts += row->counts;
    into->total += row->total;
    into->seen |= row->seen;
    into->self += row->self;
    into->min = row->min < into->min ? row->min : into->min;
    into->max = row->max > into->max ? row->max : into->max;
}

bool summary_rename(struct summary *summary,
                    size_t (*rename)(const char *name, size_t length, char *to),
                    const struct stopper *stopper, struct failure *failure)
{
    struct summary renamed = {.count = 0};
    static const struct summary_request by_name = {.grouping = BY_NAME};
    struct summary_builder builder = {.summary = &renamed, .request = &by_name};
    char *scratch = memory_allocate(names_longest(&summary->names) + 1);
    bool done = scratch != NULL;
    for (size_t i = 0; i < summary->count && done; i++) {
        const struct name *name = &summary->names.items[i];
        size_t length = rename(name->text, name->length, scratch);
        struct summary_row key = {.name = names_intern(&renamed.names, scratch, length)};
        struct summary_row *row = key.name == NAME_NONE ? NULL : row_of(&builder, &key);
        done = row && stopper_goes_on(stopper, i, failure);
        if (done)
            merge_row(row, &summary->rows[i]);
    }
    memory_free(scratch);
    if (!done) {
        summary_clear(&renamed);
        return failure_memory(failure);
    }
    summary_clear(summary);
    *summary = renamed;
    return true;
}

void summary_clear(struct summary *summary)
{
    names_clear(&summary->names);
    memory_free(summary->rows);
    *summary = (struct summary){.count = 0};
}
