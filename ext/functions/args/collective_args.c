#include "collective_args.h"

#include "analysis/sums/operator_inputs.h"
#include "shares.h"
#include "base/memory.h"
#include "base/sort.h"
#include "file/kernel_type.h"
#include "file/stacks.h"
#include "loading/host_collective.h"
#include "shapes.h"
#include "text/ascii.h"
#include "text/number.h"

/* A collective on the device, and the host events that describe it. */
struct item {
    const struct columns *columns;
    uint32_t row, call;  /* call: the event around its launch, or ROW_NONE */
    uint32_t source;     /* row whose args describe it: one of these two, or ROW_NONE */
    size_t first, count; /* range of the group's calls, if there is no such event */
    enum collective kernel;
};

/* An event of a thread. */
struct thread_event {
    uint32_t track, row;
    int64_t ts;
};

struct collective_args {
    struct call *call;
    const struct stopper *stopper;
    struct trace_file *file;
    struct item *items; /* in file order */
    size_t count, capacity;
    struct thread_event *calls; /* collectives described by args, by thread and time */
    size_t call_count;
    uint32_t *values[COLLECTIVE_ARGS];
    const struct names *texts;
    const struct kept_collectives *kept; /* owned by the file; NULL: not found yet */
};

/* The collectives of a file, kept by the file. */
struct kept_collectives {
    struct derived derived; /* must be first */
    struct collective_rows rows;
};

/* Contents of args. */
struct told {
    bool named; /* args name a collective */
    enum collective collective;
    int64_t bytes, group_size;
    uint32_t dtype;
};

const char *const collective_arg_keys[COLLECTIVE_ARGS] = {
    [COLLECTIVE_NAME] = "Collective name", [COLLECTIVE_IN] = "In msg nelems",
    [COLLECTIVE_OUT] = "Out msg nelems",   [COLLECTIVE_DTYPE] = "dtype",
    [COLLECTIVE_SIZE] = "Group size",      [COLLECTIVE_GRID] = "grid"};

static void free_kept(struct derived *derived)
{
    struct kept_collectives *kept = (struct kept_collectives *)derived;
    memory_free(kept->rows.items);
    names_clear(&kept->rows.dtypes);
    memory_free(kept);
}

static const struct kept_collectives *find_kept(const struct trace_file *file)
{
    return (const struct kept_collectives *)derived_find(file, free_kept);
}

/* W5: returns the event around a launch that describes a collective, or ROW_NONE. */
static uint32_t call_around(const struct trace_file *file, uint32_t row)
{
    while (row != ROW_NONE && host_collective_row(file, row) != HOST_DESCRIBED)
        row = file->stacks.parent[row];
    return row;
}

static bool list_items(struct collective_args *args)
{
    const struct trace_file *file = args->file;
    const struct columns *columns = &file->columns;
    struct row_types types = {.items = NULL};
    bool done = true;
    for (size_t row = columns_find(columns, 0, KIND_WORK), i = 0; done && row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK), i++) {
        done = stopper_goes_on(args->stopper, i, &args->call->failure);
        if (!done || !row_counts(columns, row) ||
            row_types_find(&types, file, row) != KERNEL_COMMUNICATION)
            continue;
        done = MEMORY_GROW(args->items, args->capacity, args->count + 1) ||
               failure_memory(&args->call->failure);
        if (done)
            args->items[args->count++] = (struct item){
                .columns = columns,
                .row = (uint32_t)row,
                .call = ROW_NONE,
                .kernel = collective_of_kernel(&file->names.items[columns->name[row]])};
    }
    row_types_clear(&types);
    return done;
}

static int thread_order(const void *a, const void *b)
{
    const struct thread_event *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->ts, y->ts);
    return order ? order : COMPARE(x->row, y->row);
}

static struct thread_event thread_event_of(const struct columns *columns, uint32_t row)
{
    return (struct thread_event){row_place(columns, row)->track, row, columns->ts[row]};
}

/* Lists the host events whose args describe a collective, by thread and time. */
static bool list_calls(struct collective_args *args)
{
    const struct trace_file *file = args->file;
    args->calls = memory_items(file->group_count, sizeof *args->calls);
    for (size_t i = 0; args->calls && i < file->group_count; i++)
        if (file->groups[i].collective != NAME_NONE &&
            host_collective_row(file, file->groups[i].row) == HOST_DESCRIBED &&
            row_counts(&file->columns, file->groups[i].row))
            args->calls[args->call_count++] =
                thread_event_of(&file->columns, file->groups[i].row);
    return (args->calls || failure_memory(&args->call->failure)) &&
           sort_items(args->calls, args->call_count, sizeof *args->calls, thread_order,
                      args->stopper, &args->call->failure);
}

/* Lists the launches of all device work by thread and time. NULL on failure. */
static struct thread_event *list_launches(struct collective_args *args, size_t *count)
{
    const struct columns *columns = &args->file->columns;
    size_t works = 0;
    for (size_t row = 0; row < columns->count; row++)
        works += columns->kind[row] == KIND_WORK && columns->link[row] != ROW_NONE;
    struct thread_event *launches = memory_items(works, sizeof *launches);
    *count = 0;
    for (size_t row = 0; launches && row < columns->count; row++)
        if (columns->kind[row] == KIND_WORK && columns->link[row] != ROW_NONE)
            launches[(*count)++] = thread_event_of(columns, columns->link[row]);
    if (!launches)
        failure_memory(&args->call->failure);
    else if (sort_items(launches, *count, sizeof *launches, thread_order, args->stopper,
                        &args->call->failure))
        return launches;
    memory_free(launches);
    return NULL;
}

/* W5.3: finds the calls of a group. Its kernel is launched when the group ends. */
static void find_group(struct collective_args *args, struct item *item,
                       const struct thread_event *launches, size_t launch_count)
{
    const struct columns *columns = &args->file->columns;
    struct thread_event launch = thread_event_of(columns, columns->link[item->row]);
    size_t at = 0, end = 0;
    LOWER_BOUND(at, launch_count, thread_order(&launches[at], &launch) < 0);
    if (at + 1 < launch_count && launches[at + 1].row == launch.row)
        return; /* launched by a graph */
    bool follows = at > 0 && launches[at - 1].track == launch.track;
    LOWER_BOUND(end, args->call_count, thread_order(&args->calls[end], &launch) < 0);
    item->first = end;
    while (item->first > 0 && args->calls[item->first - 1].track == launch.track &&
           (!follows || args->calls[item->first - 1].ts >= launches[at - 1].ts)) {
        item->first--;
        item->count++;
    }
}

/* Finds the calls of each collective. */
static bool find_calls(struct collective_args *args)
{
    const struct columns *columns = &args->file->columns;
    struct failure *failure = &args->call->failure;
    struct thread_event *launches = NULL;
    size_t launch_count = 0, next = 0;
    bool done = stacks_find(args->file, args->stopper, failure);
    for (size_t i = 0; done && i < args->count; i++) {
        struct item *item = &args->items[i];
        uint32_t launch = columns->link[item->row];
        item->call = launch == ROW_NONE ? ROW_NONE : call_around(args->file, launch);
        if (item->call == ROW_NONE && launch != ROW_NONE && args->file->group_count > 0 &&
            collective_group(args->file, item->row, &next) == NAME_NONE) {
            if (!launches)
                done = list_calls(args) && (launches = list_launches(args, &launch_count));
            if (done)
                find_group(args, item, launches, launch_count);
        }
        done = done && stopper_goes_on(args->stopper, i, failure);
    }
    memory_free(launches);
    return done;
}

/* Requests the args of a row, for all of enum collective_arg below `end`. */
static void want(struct collective_args *args, uint32_t row, enum collective_arg end)
{
    for (int arg = 0; arg < (int)end; arg++)
        args->values[arg][row] = 0;
}

/* W5: whether the args of an event around a launch name a collective. */
static bool is_described(const struct trace_file *file, uint32_t row)
{
    size_t at = 0;
    LOWER_BOUND(at, file->group_count, file->groups[at].row < row);
    return at < file->group_count && file->groups[at].row == row &&
           file->groups[at].collective != NAME_NONE;
}

static bool begin(struct collective_args *args)
{
    if (!list_items(args))
        return false;
    if (args->count == 0)
        return true;
    for (int i = 0; i < COLLECTIVE_ARGS; i++)
        if (!memory_assign(&args->values[i], memory_filled(args->file->columns.count,
                                                           sizeof *args->values[i])))
            return failure_memory(&args->call->failure);
    if (!find_calls(args))
        return false;
    size_t next = 0;
    for (size_t i = 0; i < args->count; i++) {
        struct item *item = &args->items[i];
        uint32_t group = collective_group(args->file, item->row, &next);
        item->source = item->call != ROW_NONE && is_described(args->file, item->call) ? item->call
                       : item->call == ROW_NONE || group != NAME_NONE                 ? item->row
                                                                                      : ROW_NONE;
        if (item->source != ROW_NONE)
            want(args, item->source, COLLECTIVE_GRID);
        args->values[COLLECTIVE_GRID][item->row] = 0;
        for (size_t k = 0; k < item->count; k++)
            want(args, args->calls[item->first + k].row, COLLECTIVE_GRID);
    }
    return true;
}

struct collective_args *collective_args_begin(struct call *call, struct trace_file *file)
{
    struct collective_args *args = memory_zeroed(1, sizeof *args);
    if (!args) {
        failure_memory(&call->failure);
        return NULL;
    }
    *args = (struct collective_args){
        .call = call, .stopper = call_stopper(call), .file = file, .kept = find_kept(file)};
    if (args->kept || begin(args))
        return args;
    collective_args_free(args);
    return NULL;
}

uint32_t *const *collective_args_values(const struct collective_args *args)
{
    return args->values;
}

/* Returns a text of args; NULL: none. */
static const struct name *text_of(const struct collective_args *args, enum collective_arg arg,
                                  uint32_t row)
{
    uint32_t id = args->values[arg][row];
    return id == NAME_NONE ? NULL : &args->texts->items[id];
}

static int64_t number_of(const struct collective_args *args, enum collective_arg arg, uint32_t row)
{
    const struct name *text = text_of(args, arg, row);
    int64_t number;
    return text && number_integer((const unsigned char *)text->text, text->length, &number) &&
                   number >= 0
               ? number
               : NUMBER_NONE;
}

static struct told told_of(const struct collective_args *args, uint32_t row)
{
    static const struct told nothing = {.bytes = NUMBER_NONE, .group_size = NUMBER_NONE,
                                        .dtype = NAME_NONE};
    const struct name *name = row == ROW_NONE ? NULL : text_of(args, COLLECTIVE_NAME, row);
    struct told told = nothing;
    if (!name)
        return told;
    told.named = true;
    told.collective = collective_of_args(name);
    told.dtype = args->values[COLLECTIVE_DTYPE][row];
    told.group_size = number_of(args, COLLECTIVE_SIZE, row);
    told.bytes = collective_bytes(told.collective, number_of(args, COLLECTIVE_IN, row),
                                  number_of(args, COLLECTIVE_OUT, row),
                                  text_of(args, COLLECTIVE_DTYPE, row));
    return told;
}

/* W5.3, W6.5: sums up the calls of a group. */
static struct told told_of_group(const struct collective_args *args, const struct item *item)
{
    struct told sum = {.named = false};
    for (size_t i = 0; i < item->count; i++) {
        struct told told = told_of(args, args->calls[item->first + i].row);
        if (!collective_may(item->kernel, told.collective))
            continue;
        if (!sum.named) {
            sum = told;
            continue;
        }
        sum.bytes = number_plus(sum.bytes, told.bytes);
        sum.dtype = sum.dtype == told.dtype ? sum.dtype : NAME_NONE;
        sum.group_size = sum.group_size == told.group_size ? sum.group_size : NUMBER_NONE;
        if (sum.collective != told.collective)
            sum.collective = item->kernel;
    }
    return sum;
}

/* W8: returns the first number of a grid such as [8, 1, 1]. */
static int64_t channels_of(const struct collective_args *args, uint32_t row)
{
    const struct name *grid = text_of(args, COLLECTIVE_GRID, row);
    size_t end = 1;
    int64_t channels;
    while (grid && end < grid->length && is_digit((unsigned char)grid->text[end]))
        end++;
    return grid && *grid->text == '[' &&
                   number_integer((const unsigned char *)grid->text + 1, end - 1, &channels)
               ? channels
               : NUMBER_NONE;
}

static struct collective_row compute_row(const struct collective_args *args,
                                         const struct item *item)
{
    struct told told = told_of(args, item->source);
    if (!told.named && item->count > 0)
        told = told_of_group(args, item);
    struct collective_row row = {.row = item->row,
                                 .collective = item->kernel,
                                 .dtype = NAME_NONE,
                                 .group_size = NUMBER_NONE,
                                 .bytes = NUMBER_NONE,
                                 .channels = channels_of(args, item->row)};
    if (told.named) {
        row.collective = told.collective;
        row.dtype = told.dtype;
        row.group_size = told.group_size;
        row.bytes = told.bytes;
    }
    return row;
}

/* Orders by call, then by time. */
static int item_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = COMPARE(x->call, y->call);
    order = order ? order : COMPARE(x->columns->ts[x->row], y->columns->ts[y->row]);
    order = order ? order : COMPARE(x->columns->dur[x->row], y->columns->dur[y->row]);
    return order ? order : COMPARE(x->row, y->row);
}

/* W6.4: divides the bytes of a call among the kernels that it launched. */
static bool divide(struct collective_args *args, struct collective_rows *found)
{
    const int64_t *dur = args->file->columns.dur;
    if (!sort_items(args->items, args->count, sizeof *args->items, item_order, args->stopper,
                    &args->call->failure))
        return false;
    for (size_t i = 0, end; i < args->count; i = end) {
        const struct item *items = args->items;
        struct shares shares;
        wide_time total = 0;
        for (end = i; end < args->count && (end == i || (items[end].call != ROW_NONE &&
                                                         items[end].call == items[i].call));
             end++)
            total += dur[items[end].row];
        shares_begin(&shares, total);
        for (size_t k = i; k < end; k++) {
            size_t at = 0;
            LOWER_BOUND(at, found->count, found->items[at].row < items[k].row);
            found->items[at].bytes =
                shares_of(&shares, dur[items[k].row], found->items[at].bytes);
            shares_next(&shares, dur[items[k].row]);
        }
        if (!stopper_goes_on(args->stopper, i, &args->call->failure))
            return false;
    }
    return true;
}

/* Moves the data types to a table of their own, and updates their ids. */
static bool keep_dtypes(const struct collective_args *args, struct collective_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t *dtype = &rows->items[i].dtype;
        if (*dtype == NAME_NONE)
            continue;
        *dtype = names_adopt(&rows->dtypes, &args->texts->items[*dtype]);
        if (*dtype == NAME_NONE)
            return failure_memory(&args->call->failure);
    }
    return true;
}

const struct collective_rows *collective_args_end(struct collective_args *args,
                                                  const struct names *texts)
{
    if (args->kept)
        return &args->kept->rows;
    struct kept_collectives *kept = memory_zeroed(1, sizeof *kept);
    struct collective_rows *rows = kept ? &kept->rows : NULL;
    args->texts = texts;
    if (!kept || !(rows->items = memory_items(args->count, sizeof *rows->items))) {
        memory_free(kept);
        failure_memory(&args->call->failure);
        return NULL;
    }
    for (size_t i = 0; i < args->count; i++)
        rows->items[rows->count++] = compute_row(args, &args->items[i]);
    if (!divide(args, rows) || !keep_dtypes(args, rows)) {
        free_kept(&kept->derived);
        return NULL;
    }
    kept->derived = (struct derived){
        args->file->derived,
        sizeof *kept + rows->count * sizeof *rows->items + names_memory(&rows->dtypes), free_kept};
    args->file->derived = &kept->derived;
    return rows;
}

void collective_args_free(struct collective_args *args)
{
    if (!args)
        return;
    memory_free(args->items);
    memory_free(args->calls);
    for (int i = 0; i < COLLECTIVE_ARGS; i++)
        memory_free(args->values[i]);
    memory_free(args);
}

const struct collective_rows *collective_args_find(struct call *call, struct trace_file *file)
{
    struct names texts = {0};
    struct collective_args *args = collective_args_begin(call, file);
    const struct collective_rows *rows = NULL;
    if (args && (!args->values[0] || args_values_read(call, file, collective_arg_keys,
                                                      args->values, COLLECTIVE_ARGS, &texts)))
        rows = collective_args_end(args, &texts);
    collective_args_free(args);
    names_clear(&texts);
    return rows;
}

const struct collective_row *collective_rows_at(const struct collective_rows *rows, uint32_t row,
                                                size_t *next)
{
    while (rows && *next < rows->count && rows->items[*next].row < row)
        ++*next;
    bool found = rows && *next < rows->count && rows->items[*next].row == row;
    return found ? &rows->items[*next] : NULL;
}

uint32_t collective_group(const struct trace_file *file, uint32_t row, size_t *next)
{
    while (*next < file->group_count && file->groups[*next].row < row)
        ++*next;
    return *next < file->group_count && file->groups[*next].row == row ? file->groups[*next].name
                                                                       : NAME_NONE;
}
