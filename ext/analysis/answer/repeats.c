#include "repeats.h"

#include "base/memory.h"
#include "file/spans.h"
#include "text/ascii.h"
#include "thresholds.h"

/* The runs of a name on the thread that has most of them. */
struct range_runs {
    uint32_t track;
    int64_t runs;
    int64_t inner, after; /* runs that begin inside another range, and runs after one */
    bool overlaps;       /* a run begins inside another run of its name */
    int64_t first, last; /* ns: start of the first and end of the last */
    double time;         /* ns of all runs */
    double pause;        /* ns outside of ranges before the runs, in total */
};

/* The ranges of a file. */
struct range_table {
    const struct trace_file *file;
    struct spans spans;
    struct range_runs *items; /* by name id */
};

/* Whether a text needs no escapes in a query and in a line. */
static bool is_plain(const struct name *name)
{
    bool plain = name->length > 0 && name->text[0] != '[';
    for (size_t i = 0; i < name->length; i++)
        plain = plain && name->text[i] >= ' ' && name->text[i] < 0x7f && name->text[i] != '%' &&
                name->text[i] != '\'';
    return plain && !text_is(name->text, name->length, "auto") &&
           !text_is(name->text, name->length, "profiler");
}

static bool takes_part(void *argument, size_t row)
{
    const struct trace_file *file = ((const struct range_table *)argument)->file;
    const struct columns *columns = &file->columns;
    const struct name *name =
        columns->name[row] == NAME_NONE ? NULL : &file->names.items[columns->name[row]];
    const char *end = name ? name->text + name->length : NULL;
    return name && columns->kind[row] == KIND_HOST && row_is(file, row, CATEGORY_USER_ANNOTATION) &&
           columns->ts[row] != NUMBER_NONE && columns->dur[row] > 0 && row_counts(columns, row) &&
           !begins(name->text, end, "nccl:") && !begins(name->text, end, "gloo:");
}

/* Adds the runs of a thread. `own` is zeroed before and after. */
static void add_thread(struct range_table *ranges, struct range_runs *own, size_t track)
{
    const uint32_t *names = ranges->file->columns.name;
    const struct span *spans = ranges->spans.items;
    size_t from = ranges->spans.first[track], to = ranges->spans.first[track + 1];
    for (size_t i = from; i < to; i++) {
        struct range_runs *range = &own[names[spans[i].row]];
        int64_t end = span_end(&spans[i]);
        range->overlaps = range->overlaps || (range->runs > 0 && spans[i].start < range->last);
        range->first = range->runs == 0 ? spans[i].start : range->first;
        range->last = range->runs == 0 || end > range->last ? end : range->last;
        range->time += (double)spans[i].dur;
        range->runs++;
    }
    for (size_t i = from; i < to; i++) {
        uint32_t name = names[spans[i].row];
        struct range_runs *range = &own[name], *kept = &ranges->items[name];
        range->track = (uint32_t)track;
        if (range->runs > kept->runs)
            *kept = *range;
        *range = (struct range_runs){.runs = 0};
    }
}

/* Whether a name runs often enough on a thread, and never inside itself. */
static bool repeats(const struct range_runs *range)
{
    return range->runs >= REPEAT_RUNS && !range->overlaps;
}

/* Finds the runs that begin inside another range, and the pauses before the others. */
static void find_pauses(struct range_table *ranges, size_t track)
{
    const struct span *spans = ranges->spans.items;
    size_t from = ranges->spans.first[track], to = ranges->spans.first[track + 1];
    int64_t reach = INT64_MIN;
    for (size_t i = from; i < to; i++) {
        struct range_runs *range = &ranges->items[ranges->file->columns.name[spans[i].row]];
        int64_t end = span_end(&spans[i]);
        if (range->track != track || !repeats(range))
            continue;
        range->inner += spans[i].start < reach;
        if (reach != INT64_MIN && spans[i].start >= reach) {
            range->pause += (double)spans[i].start - (double)reach;
            range->after++;
        }
        reach = end > reach ? end : reach;
    }
}

static bool ranges_make(struct range_table *ranges, const struct trace_file *file,
                        const struct stopper *stopper, struct failure *failure)
{
    *ranges = (struct range_table){.file = file};
    if (!spans_make(&ranges->spans, file, takes_part, ranges, stopper, failure))
        return false;
    ranges->items = memory_zeroed(file->names.count + 1, sizeof *ranges->items);
    struct range_runs *own = memory_zeroed(file->names.count + 1, sizeof *own);
    bool done = (ranges->items && own) || failure_memory(failure);
    for (size_t track = 0; done && track < file->tracks.count; track++) {
        add_thread(ranges, own, track);
        done = stopper_goes_on(stopper, track, failure);
    }
    for (size_t track = 0; done && track < file->tracks.count; track++) {
        find_pauses(ranges, track);
        done = stopper_goes_on(stopper, track, failure);
    }
    memory_free(own);
    return done;
}

/* Whether steps made of this range would cover most of the file. */
static bool may_be_steps(const struct range_table *ranges, uint32_t name)
{
    const struct range_runs *range = &ranges->items[name];
    double whole = (double)ranges->file->last - (double)ranges->file->first;
    return repeats(range) && (double)range->last - (double)range->first >= REPEAT_PART * whole;
}

/* Whether a range fits steps better than another, on both sides: it is nested on fewer sides, has
** longer pauses before its runs, or takes longer. */
static bool is_rather(const struct range_runs *const *ranges,
                      const struct range_runs *const *others)
{
    int64_t inner[2] = {0, 0};
    double pause[2] = {0, 0}, time[2] = {0, 0};
    for (int side = 0; side < 2; side++)
        for (int other = 0; other < 2; other++) {
            const struct range_runs *of = other ? others[side] : ranges[side];
            inner[other] += of->inner > 0;
            pause[other] += of->after > 0 ? of->pause / (double)of->after : 0;
            time[other] += of->time;
        }
    if (inner[0] != inner[1])
        return inner[0] < inner[1];
    return pause[0] != pause[1] ? pause[0] > pause[1] : time[0] > time[1];
}

/* Returns how many bytes of a long name distinguish it in both files; 0: REPEAT_NAME are too
** few. */
static size_t cut_name(const struct range_table *sides, const struct name *name)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side].file->names.count; i++) {
            const struct name *other = &sides[side].file->names.items[i];
            if (name_compare(other, name) != 0 && other->length >= REPEAT_NAME &&
                memcmp(other->text, name->text, REPEAT_NAME) == 0)
                return 0;
        }
    return REPEAT_NAME;
}

/* Chooses the best range that both files have. */
static bool choose(struct repeat *repeat, const struct range_table *sides,
                   const struct stopper *stopper, struct failure *failure)
{
    const struct range_runs *best[2] = {NULL, NULL};
    for (uint32_t id = 0; id < sides[0].file->names.count; id++) {
        const struct name *name = &sides[0].file->names.items[id];
        if (!stopper_goes_on(stopper, id, failure))
            return false;
        if (!may_be_steps(&sides[0], id) || !is_plain(name))
            continue;
        uint32_t other = names_find(&sides[1].file->names, name->text, name->length);
        if (other == NAME_NONE || !may_be_steps(&sides[1], other))
            continue;
        const struct range_runs *pair[2] = {&sides[0].items[id], &sides[1].items[other]};
        if (best[0] && !is_rather(pair, best) &&
            (is_rather(best, pair) || name_compare(name, repeat->name) > 0))
            continue;
        size_t pattern = name->length > REPEAT_NAME ? cut_name(sides, name) : 0;
        if (name->length > REPEAT_NAME && pattern == 0)
            continue;
        best[0] = pair[0];
        best[1] = pair[1];
        *repeat = (struct repeat){name, pattern, {pair[0]->runs, pair[1]->runs}};
    }
    return true;
}

bool repeat_find(struct repeat *repeat, const struct trace_file *const *files,
                 const struct stopper *stopper, struct failure *failure)
{
    struct range_table sides[2] = {{.file = NULL}, {.file = NULL}};
    *repeat = (struct repeat){.name = NULL};
    bool done = ranges_make(&sides[0], files[0], stopper, failure) &&
                ranges_make(&sides[1], files[1], stopper, failure) &&
                choose(repeat, sides, stopper, failure);
    for (int side = 0; side < 2; side++) {
        spans_clear(&sides[side].spans);
        memory_free(sides[side].items);
    }
    return done;
}
