#include "odd_times.h"

#include "base/memory.h"
#include "base/wide.h"
#include "steps/annotation_steps.h"
#include "file/kernel_type.h"
#include "read_again.h"

/* Whether a row is an event with a duration. */
static bool is_timed(const struct trace_file *file, size_t row)
{
    unsigned char phase = row_place(&file->columns, row)->phase;
    return (phase == 'X' || phase == 'B' || (phase == 'b' && file->async)) &&
           file->columns.ts[row] != NUMBER_NONE && file->columns.kind[row] != KIND_TRACE;
}

static bool keep_odd(struct loading *loading, size_t row, enum oddity what)
{
    struct file_health *health = &loading->file->health;
    const struct columns *columns = &loading->file->columns;
    if (!MEMORY_GROW(health->odd, health->odd_capacity, health->odd_count + 1))
        return failure_memory(loading->failure);
    health->odd[health->odd_count++] =
        (struct odd_event){.ts = columns->ts[row],
                           .dur = columns->dur[row],
                           .row = (uint32_t)row,
                           .what = (unsigned char)what};
    return true;
}

bool untimed_find(struct loading *loading)
{
    struct trace_file *file = loading->file;
    struct columns *columns = &file->columns;
    bool starts = false; /* an event with a duration starts at 0 */
    if (file->first == NUMBER_NONE || file->first > 0)
        return true;
    for (size_t row = 0; row < columns->count && !starts; row++) {
        if (!stopper_goes_on(loading->stopper, row, loading->failure))
            return false;
        if (columns->ts[row] != 0 || !is_timed(file, row))
            continue;
        starts = columns->dur[row] != 0;
        if (!starts && !keep_odd(loading, row, ODD_UNTIMED))
            return false;
    }
    struct file_health *health = &file->health;
    if (starts || health->odd_count < UNTIMED_LEAST)
        health->odd_count = 0;
    for (size_t i = 0; i < health->odd_count; i++) {
        uint32_t row = health->odd[i].row;
        columns->ts[row] = columns->dur[row] = NUMBER_NONE;
    }
    return true;
}

/* Whether a row is work in a queue (I1). */
static bool is_queued(const struct trace_file *file, size_t row)
{
    return file->columns.kind[row] == KIND_WORK && file->columns.dur[row] >= 0 &&
           file->columns.ts[row] != NUMBER_NONE &&
           (row_is(file, row, CATEGORY_KERNEL) || row_is(file, row, CATEGORY_COPY));
}

/* Work in a queue. */
struct queued {
    int64_t start, end, correlation, context;
    uint32_t track, row;
    bool communicates, odd;
};

static int queued_order(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->context, y->context);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool same_queue(const struct queued *a, const struct queued *b)
{
    return a->track == b->track && a->context == b->context;
}

/* All work in queues, by queue and start; NULL on failure. */
static struct queued *list_queued(const struct loading *loading, size_t *count)
{
    const struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    struct row_types types = {NULL};
    struct queued *work = NULL;
    size_t capacity = 0;
    bool done = MEMORY_GROW(work, capacity, 1) || failure_memory(loading->failure);
    *count = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(loading->stopper, row, loading->failure);
        if (!is_queued(file, row))
            continue;
        if (!MEMORY_GROW(work, capacity, *count + 1)) {
            done = failure_memory(loading->failure);
            break;
        }
        work[(*count)++] = (struct queued){
            .start = columns->ts[row],
            .end = columns->ts[row] + columns->dur[row],
            .correlation = columns->correlation[row],
            .track = row_place(columns, row)->track,
            .row = (uint32_t)row,
            .communicates = columns->name[row] != NAME_NONE &&
                            row_types_find(&types, file, row) == KERNEL_COMMUNICATION};
    }
    row_types_clear(&types);
    if (done && sort_items(work, *count, sizeof *work, queued_order, loading->stopper,
                           loading->failure))
        return work;
    memory_free(work);
    return NULL;
}

/* The earliest end among later work, and the earliest end with another correlation. */
struct earliest {
    int64_t end, correlation, other;
};

#define NOTHING_LATER ((struct earliest){INT64_MAX, NUMBER_NONE, INT64_MAX})

static void take_end(struct earliest *earliest, int64_t end, int64_t correlation)
{
    bool other = correlation <= 0 || correlation != earliest->correlation;
    if (end < earliest->end) {
        if (other)
            earliest->other = earliest->end;
        earliest->end = end;
        earliest->correlation = correlation;
    } else if (other && end < earliest->other) {
        earliest->other = end;
    }
}

/* The earliest end that limits work with this correlation. */
static int64_t first_end(const struct earliest *earliest, int64_t correlation)
{
    bool own = correlation > 0 && correlation == earliest->correlation;
    return own ? earliest->other : earliest->end;
}

static bool is_overrun(int64_t end, int64_t first, int64_t most)
{
    return first <= INT64_MAX - most && end > first + most;
}

/* Work by start. */
struct started {
    int64_t start;
    uint32_t row;
};

/* Whether work of a thread ends too long after later work, regardless of context and type. */
static bool may_overrun(const struct loading *loading, bool *may)
{
    struct thread_ends {
        int64_t start; /* of the previous work */
        struct earliest before, all; /* of later starts; of these and this start */
    } *threads = memory_items(loading->file->tracks.count, sizeof *threads);
    const struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    struct started *work = NULL;
    size_t count = 0, capacity = 0;
    bool done = (threads && MEMORY_GROW(work, capacity, 1)) || failure_memory(loading->failure);
    for (size_t row = columns_find(columns, 0, KIND_WORK); done && row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        done = stopper_goes_on(loading->stopper, row, loading->failure);
        if (!is_queued(file, row))
            continue;
        if (MEMORY_GROW(work, capacity, count + 1))
            work[count++] = (struct started){columns->ts[row], (uint32_t)row};
        else
            done = failure_memory(loading->failure);
    }
    done = done && sort_numbered(work, count, sizeof *work, loading->stopper, loading->failure);
    for (size_t i = 0; done && i < file->tracks.count; i++)
        threads[i] = (struct thread_ends){INT64_MAX, NOTHING_LATER, NOTHING_LATER};
    *may = false;
    for (size_t i = count; done && !*may && i > 0; i--) {
        uint32_t row = work[i - 1].row;
        struct thread_ends *thread = &threads[row_place(columns, row)->track];
        int64_t end = work[i - 1].start + columns->dur[row];
        if (work[i - 1].start < thread->start)
            thread->before = thread->all;
        thread->start = work[i - 1].start;
        *may = is_overrun(end, first_end(&thread->before, columns->correlation[row]), OVERRUN_NS);
        take_end(&thread->all, end, columns->correlation[row]);
        done = stopper_goes_on(loading->stopper, i, loading->failure);
    }
    memory_free(work);
    memory_free(threads);
    return done;
}

/* Marks work in a queue that ends over `most` ns after later work (I1.1); returns its count. */
static size_t mark_overruns(struct queued *work, size_t count, int64_t most)
{
    struct earliest earliest = NOTHING_LATER;
    size_t marked = 0;
    for (size_t end = count, begin; end > 0; end = begin) {
        for (begin = end; begin > 0 && work[begin - 1].start == work[end - 1].start; begin--) {
            struct queued *one = &work[begin - 1];
            one->odd = !one->communicates &&
                       is_overrun(one->end, first_end(&earliest, one->correlation), most);
            marked += one->odd;
        }
        for (size_t i = begin; i < end; i++)
            if (!work[i].odd)
                take_end(&earliest, work[i].end, work[i].correlation);
    }
    return marked;
}

/* Marks overlong work in all queues. `*any` says whether there is some. */
static bool mark_queues(const struct loading *loading, struct queued *work, size_t count, bool *any)
{
    *any = false;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_queue(&work[end], &work[first]); end++)
            ;
        if (!stopper_goes_on(loading->stopper, first, loading->failure))
            return false;
        size_t marked = mark_overruns(work + first, end - first, OVERRUN_NS);
        if (is_many((int64_t)marked, (int64_t)(end - first)))
            marked = mark_overruns(work + first, end - first, OVERRUN_ODD_NS);
        *any = *any || marked > 0;
    }
    return true;
}

/* The latest start of an event. */
static int64_t latest_start(const struct trace_file *file)
{
    int64_t latest = NUMBER_NONE;
    for (size_t row = 0; row < file->columns.count; row++)
        if (is_timed(file, row) && (latest == NUMBER_NONE || file->columns.ts[row] > latest))
            latest = file->columns.ts[row];
    return latest;
}

/* Whether a time is too long after the end of the recording (I2). */
static bool is_beyond(const struct trace_file *file, int64_t end, int64_t ts)
{
    wide_time after = (wide_time)ts - end;
    return after > BEYOND_NS && after > (wide_time)end - file->first;
}

static bool row_is_beyond(const struct trace_file *file, int64_t end, size_t row)
{
    return is_timed(file, row) && file->columns.dur[row] > 0 &&
           is_beyond(file, end, file->columns.ts[row] + file->columns.dur[row]);
}

static bool is_step_name(const struct trace_file *file, size_t row)
{
    uint32_t name = file->columns.name[row];
    return file->columns.kind[row] == KIND_HOST && name != NAME_NONE &&
           name_is_step(&file->names.items[name]);
}

/* Keeps events that end too long after the recording. Host events lose their duration. */
static bool find_beyond(struct loading *loading, struct read_again *again)
{
    struct trace_file *file = loading->file;
    struct columns *columns = &file->columns;
    if (file->first == NUMBER_NONE || !is_beyond(file, file->first, file->last))
        return true;
    int64_t end = latest_start(file);
    if (end == NUMBER_NONE || !is_beyond(file, end, file->last) ||
        !read_again(loading, again))
        return loading->failure->code == FAILURE_NONE;
    end = again->window_end > end ? again->window_end : end;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(loading->stopper, row, loading->failure))
            return false;
        if (!row_is_beyond(file, end, row))
            continue;
        if (!keep_odd(loading, row, ODD_DURATION))
            return false;
        struct odd_event *odd = &file->health.odd[file->health.odd_count - 1];
        odd->step = is_step_name(file, row);
        if (columns->kind[row] != KIND_WORK)
            columns->dur[row] = NUMBER_NONE;
    }
    return true;
}

static int odd_order(const void *a, const void *b)
{
    return COMPARE(((const struct odd_event *)a)->row, ((const struct odd_event *)b)->row);
}

static bool sort_odd(const struct loading *loading)
{
    struct file_health *health = &loading->file->health;
    return health->odd_count < 2 ||
           sort_items(health->odd, health->odd_count, sizeof *health->odd, odd_order,
                      loading->stopper, loading->failure);
}

/* Finds the contexts of work, and the overlong work in the queues of these contexts. */
static bool mark_by_context(struct loading *loading, struct read_again *again, struct queued *work,
                            size_t count)
{
    bool any;
    if (!read_again(loading, again))
        return false;
    for (size_t i = 0; i < count && again->contexts; i++)
        work[i].context = again->contexts[work[i].row];
    return sort_items(work, count, sizeof *work, queued_order, loading->stopper,
                      loading->failure) &&
           mark_queues(loading, work, count, &any);
}

/* Finds and keeps the overlong work in queues. */
static bool find_overruns(struct loading *loading, struct read_again *again, struct queued **work,
                          size_t *count)
{
    struct file_health *health = &loading->file->health;
    size_t before = health->odd_count;
    bool may = false, any = false, done = may_overrun(loading, &may) && sort_odd(loading);
    if (done && (may || before > 0))
        done = (*work = list_queued(loading, count)) != NULL;
    done = done && mark_queues(loading, *work, *count, &any);
    if (done && any)
        done = mark_by_context(loading, again, *work, *count);
    for (size_t i = 0; done && i < *count; i++) {
        uint32_t row = (*work)[i].row;
        size_t at = 0;
        LOWER_BOUND(at, before, health->odd[at].row < row);
        bool known = at < before && health->odd[at].row == row;
        if ((*work)[i].odd && !known)
            done = keep_odd(loading, row, ODD_DURATION);
        (*work)[i].odd = (*work)[i].odd || known;
    }
    return done && sort_odd(loading);
}

/* The duration and name of work. */
struct named_time {
    uint32_t name;
    int64_t dur;
};

static int named_order(const void *a, const void *b)
{
    const struct named_time *x = a, *y = b;
    int order = COMPARE(x->name, y->name);
    return order ? order : COMPARE(x->dur, y->dur);
}

static bool is_odd(const struct file_health *health, uint32_t row)
{
    size_t i = 0;
    LOWER_BOUND(i, health->odd_count, health->odd[i].row < row);
    return i < health->odd_count && health->odd[i].row == row;
}

/* The sorted durations of other work with the names of overlong work; NULL on failure. */
static struct named_time *list_times(const struct loading *loading, size_t *count)
{
    const struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    bool *wanted = memory_zeroed(file->names.count + 1, sizeof *wanted);
    struct named_time *times = NULL;
    size_t capacity = 0;
    bool done = (wanted && MEMORY_GROW(times, capacity, 1)) || failure_memory(loading->failure);
    for (size_t i = 0; done && i < file->health.odd_count; i++)
        if (columns->name[file->health.odd[i].row] != NAME_NONE)
            wanted[columns->name[file->health.odd[i].row]] = true;
    *count = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(loading->stopper, row, loading->failure);
        if (columns->kind[row] != KIND_WORK || columns->dur[row] < 0 ||
            columns->name[row] == NAME_NONE || !wanted[columns->name[row]] ||
            is_odd(&file->health, (uint32_t)row))
            continue;
        if (MEMORY_GROW(times, capacity, *count + 1))
            times[(*count)++] = (struct named_time){columns->name[row], columns->dur[row]};
        else
            done = failure_memory(loading->failure);
    }
    memory_free(wanted);
    if (done &&
        sort_items(times, *count, sizeof *times, named_order, loading->stopper, loading->failure))
        return times;
    memory_free(times);
    return NULL;
}

/* The lower median of a name's durations, or NUMBER_NONE. */
static int64_t median_of(const struct named_time *times, size_t count, uint32_t name)
{
    size_t first = 0, end = 0;
    LOWER_BOUND(first, count, times[first].name < name);
    LOWER_BOUND(end, count, times[end].name <= name);
    return first == end || name == NAME_NONE ? NUMBER_NONE
                                             : times[first + (end - first - 1) / 2].dur;
}

/* The time until the next start in the same queue, or NUMBER_NONE. */
static int64_t until_next(const struct queued *work, size_t count, size_t i)
{
    size_t next = i + 1;
    while (next < count && same_queue(&work[next], &work[i]) && work[next].start == work[i].start)
        next++;
    int64_t ns;
    bool known = next < count && same_queue(&work[next], &work[i]) &&
                 !__builtin_sub_overflow(work[next].start, work[i].start, &ns);
    return known ? ns : NUMBER_NONE;
}

/* Gives overlong work the typical duration of its name, or the time until the next start (I1.3). */
static bool shorten(struct loading *loading, const struct queued *work, size_t count)
{
    struct trace_file *file = loading->file;
    struct columns *columns = &file->columns;
    size_t time_count = 0;
    struct named_time *times = list_times(loading, &time_count);
    for (size_t i = 0; times && i < file->health.odd_count; i++) {
        struct odd_event *odd = &file->health.odd[i];
        if (odd->what != ODD_DURATION || columns->kind[odd->row] != KIND_WORK)
            continue;
        columns->dur[odd->row] = median_of(times, time_count, columns->name[odd->row]);
        odd->alone = columns->dur[odd->row] == NUMBER_NONE;
    }
    for (size_t i = 0; times && i < count; i++) {
        int64_t *dur = &columns->dur[work[i].row], most = until_next(work, count, i);
        if (work[i].odd && most != NUMBER_NONE && (*dur == NUMBER_NONE || most < *dur))
            *dur = most;
    }
    memory_free(times);
    return times != NULL;
}

bool overruns_find(struct loading *loading)
{
    struct file_health *health = &loading->file->health;
    struct read_again again = {.contexts = NULL};
    struct queued *work = NULL;
    size_t count = 0, untimed = health->odd_count;
    bool done = find_beyond(loading, &again) && find_overruns(loading, &again, &work, &count);
    if (done && health->odd_count > untimed)
        done = shorten(loading, work, count);
    memory_free(again.contexts);
    memory_free(work);
    return done;
}
