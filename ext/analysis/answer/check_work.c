#include "checks.h"

#include "check_scale.h"
#include "text/ascii.h"
#include "text/scan.h"
#include "thresholds.h"

enum { BY_OPERATOR = 1, BY_SHAPES, BY_TYPES }; /* numbers of keys to group by */

/* The state of the search. */
struct work_tally {
    struct checks *checks;
    const struct stopper *stopper;
    struct failure *failure;
    const int64_t *steps;
    struct names texts;
    struct tally device, host; /* by operator, shapes, types */
    struct tally copies;       /* copies to the device, by shapes */
    const struct tally *timed; /* device or host, whichever has the time of operators (L6.1) */
    struct tally changes;      /* changed types of operators, by control's and test's types */
    struct scale_lists lists;  /* dims that only one side has */
    bool any[2];               /* whether a side has device work */
    double share;              /* share of the largest change of types */
    bool is_scaled;            /* tensors are N times as large (J4) */
};

/* Sums the times of both sides, each multiplied by the other side's steps, to weight means per step
** equally. */
static wide_time scaled(const struct work_tally *work, const wide_time *sum)
{
    return sum[0] * work->steps[1] + sum[1] * work->steps[0];
}

static const struct name *text_of(const struct work_tally *work, uint32_t id)
{
    return &work->texts.items[id];
}

/* Copies a text to checks->texts and returns its id. NAME_NONE for NAME_NONE, or if out of
** memory. */
static uint32_t keep_text(struct work_tally *work, uint32_t id)
{
    uint32_t kept = id == NAME_NONE ? id : names_adopt(&work->checks->texts, text_of(work, id));
    if (kept == NAME_NONE && id != NAME_NONE)
        failure_memory(work->failure);
    return kept;
}

/* Adds a row of sums under the given keys. */
static bool add_row(struct work_tally *work, struct tally *to, const struct keyed *from, size_t row,
                    const int *keys, int count)
{
    const struct keyed_sums *sums = from->sums[row];
    struct tally_row added = {.key = {NAME_NONE, NAME_NONE, NAME_NONE}};
    for (int i = 0; i < count; i++) {
        uint32_t id = work_key(from, row, keys[i]);
        if (id == NAME_NONE)
            continue;
        added.key[i] = names_adopt(&work->texts, &from->names.items[id]);
        if (added.key[i] == NAME_NONE)
            return failure_memory(work->failure);
    }
    for (int side = 0; side < 2; side++) {
        bool of_host = to == &work->host;
        added.on[side] = (of_host ? sums[side].events : sums[side].kernels) > 0;
        added.sum[side] = of_host ? sums[side].self_time : sums[side].device_time;
    }
    return tally_add(to, &added, work->failure);
}

static bool add_device(struct work_tally *work, const struct keyed *from)
{
    static const int keys[] = {DEVICE_OP, DEVICE_SHAPES, DEVICE_TYPES};
    bool done = true;
    for (size_t row = 0; row < from->count && done; row++) {
        const struct name *kernel = &from->names.items[work_key(from, row, DEVICE_KERNEL)];
        for (int side = 0; side < 2; side++)
            work->any[side] = work->any[side] || from->sums[row][side].kernels > 0;
        if (work_key(from, row, DEVICE_SHAPES) != NAME_NONE &&
            begins(kernel->text, kernel->text + kernel->length, "Memcpy HtoD"))
            done = add_row(work, &work->copies, from, row, &keys[1], 1);
        done = done && add_row(work, &work->device, from, row, keys, TALLY_KEYS);
    }
    return done;
}

/* Adds the operators of the host. */
static bool add_host(struct work_tally *work, const struct keyed *from)
{
    static const int keys[] = {HOST_NAME, HOST_SHAPES, HOST_TYPES};
    uint32_t kinds[] = {names_find(&from->names, "cpu_op", 6),
                        names_find(&from->names, "Operator", 8)};
    bool done = true;
    for (size_t row = 0; row < from->count && done; row++) {
        uint32_t cat = work_key(from, row, HOST_CAT);
        if (cat != NAME_NONE && (cat == kinds[0] || cat == kinds[1]))
            done = add_row(work, &work->host, from, row, keys, TALLY_KEYS);
    }
    return done;
}

static void find_copies(struct work_tally *work)
{
    int64_t counts[2] = {0, 0}, common = 0, all = (int64_t)work->copies.count;
    for (size_t i = 0; i < work->copies.count; i++) {
        const struct tally_row *row = &work->copies.rows[i];
        counts[0] += row->on[0];
        counts[1] += row->on[1];
        common += row->on[0] && row->on[1];
    }
    bool both = counts[0] > 0 && counts[1] > 0;
    struct check *check = check_add(work->checks, CHECK_COPIES,
                                    !both           ? MATTERS_MAYBE
                                    : common == all ? MATTERS_NO
                                    : work->is_scaled ? MATTERS_MAYBE
                                                      : MATTERS_YES,
                                    check_integer(counts[0] > 0 ? counts[0] : NUMBER_NONE),
                                    check_integer(counts[1] > 0 ? counts[1] : NUMBER_NONE));
    check->common = common;
    if (both)
        check->same = common == all;
}

/* An operator of both sides: the range of its rows with known shapes. */
struct operator_rows {
    size_t from, to;
    wide_time time; /* by scaled() */
};

/* Adds the shapes and the types with the most time of an operator (J3). */
static bool add_largest(struct work_tally *work, const struct operator_rows *operator)
{
    const struct tally_row *rows = work->timed->rows;
    struct check_value shapes[2], types[2];
    for (int side = 0; side < 2; side++) {
        const struct tally_row *best = NULL;
        for (size_t i = operator->from; i < operator->to; i++)
            if (rows[i].on[side] && (!best || rows[i].sum[side] > best->sum[side]))
                best = &rows[i];
        shapes[side] = check_text(keep_text(work, best ? best->key[BY_OPERATOR] : NAME_NONE));
        types[side] = check_text(keep_text(work, best ? best->key[BY_SHAPES] : NAME_NONE));
    }
    for (int i = 0; i < 2; i++) {
        struct check *check =
            i ? check_add(work->checks, CHECK_OPERATOR_TYPES, MATTERS_NO, types[0], types[1])
              : check_add(work->checks, CHECK_OPERATOR_SHAPES, MATTERS_NO, shapes[0], shapes[1]);
        check->item = keep_text(work, rows[operator->from].key[0]);
        check->matters = check->same == 0 ? MATTERS_MAYBE : MATTERS_NO;
    }
    return work->failure->code == FAILURE_NONE;
}

/* Adds the scale of the tensors to a check (J4). */
static bool add_scale(struct work_tally *work, struct check *check)
{
    struct tensor_scale scale;
    if (!scale_find(&work->lists, &scale, work->stopper, work->failure))
        return false;
    work->is_scaled = scale.from > 0;
    for (int side = 0; side < 2 && work->is_scaled; side++) {
        check->scale[side] = side ? scale.to : scale.from;
        check->scaled[side] = names_intern(&work->checks->texts, scale.dims[side].text,
                                           scale.dims[side].length);
        if (check->scaled[side] == NAME_NONE)
            return failure_memory(work->failure);
    }
    return true;
}

static bool add_shapes(struct work_tally *work, const wide_time *all, const wide_time *common)
{
    wide_time time = scaled(work, all), same = scaled(work, common);
    struct check_value values[2];
    for (int side = 0; side < 2; side++)
        values[side] = all[side] == 0 ? check_integer(NUMBER_NONE)
                                      : (struct check_value){
                                            .kind = VALUE_REAL,
                                            .real = quotient(common[side], all[side])};
    struct check *check = check_add(work->checks, CHECK_SHAPES,
                                    100 * same < COMMON_SHAPES_PERCENT * time ? MATTERS_YES
                                                                              : MATTERS_NO,
                                    values[0], values[1]);
    check->same = same == time;
    check->share = time > 0 ? (double)same / (double)time : 0;
    return check->matters != MATTERS_YES || add_scale(work, check);
}

/* Keeps an operator if it is among the largest, which are ordered by time. */
static void keep_largest(struct operator_rows *largest, size_t *count,
                         struct operator_rows operator)
{
    size_t i = *count;
    if (i == LARGEST_OPERATORS && operator.time <= largest[i - 1].time)
        return;
    i -= i == LARGEST_OPERATORS;
    for (; i > 0 && largest[i - 1].time < operator.time; i--)
        largest[i] = largest[i - 1];
    largest[i] = operator;
    *count += *count < LARGEST_OPERATORS;
}

static int rows_order(const void *a, const void *b)
{
    const struct operator_rows *x = a, *y = b;
    return COMPARE(x->from, y->from);
}

/* Adds the dims that only one side of an operator has. Its rows are [from, to). */
static bool add_lists(struct work_tally *work, size_t from, size_t to)
{
    struct tally_row sum;
    for (size_t i = from, end; i < to; i = end) {
        end = tally_run(work->timed, i, BY_SHAPES, &sum);
        const struct scale_list list = {.dims = *text_of(work, sum.key[1]),
                                        .operator = from,
                                        .side = sum.on[1],
                                        .time = scaled(work, sum.sum)};
        if (sum.on[0] != sum.on[1] && !scale_lists_add(&work->lists, &list, work->failure))
            return false;
    }
    return true;
}

/* Adds up the time of operators of both sides, in total and at common shapes. */
static bool find_operators(struct work_tally *work)
{
    const struct tally *timed = work->timed;
    struct operator_rows largest[LARGEST_OPERATORS];
    struct tally_row sum;
    wide_time all[2] = {0, 0}, common[2] = {0, 0};
    size_t count = 0, end;
    for (size_t i = 0; i < timed->count; i = end) {
        struct tally_row total = {.sum = {0, 0}}, same = total;
        struct operator_rows operator = {.from = i};
        end = tally_run(timed, i, BY_OPERATOR, &sum);
        while (operator.from < end && timed->rows[operator.from].key[1] == NAME_NONE)
            operator.from++;
        for (size_t j = operator.from; j < end;) {
            j = tally_run(timed, j, BY_SHAPES, &sum);
            tally_add_to(&total, &sum);
            if (sum.on[0] && sum.on[1])
                tally_add_to(&same, &sum);
        }
        if (!total.on[0] || !total.on[1])
            continue;
        for (int side = 0; side < 2; side++) {
            all[side] += total.sum[side];
            common[side] += same.sum[side];
        }
        operator.to = end;
        operator.time = scaled(work, total.sum);
        keep_largest(largest, &count, operator);
        if (!add_lists(work, operator.from, end))
            return false;
    }
    if (!add_shapes(work, all, common) ||
        !sort_items(largest, count, sizeof *largest, rows_order, work->stopper, work->failure))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = add_largest(work, &largest[i]);
    return done;
}

/* The texts by which lists of types name floating-point types, by bit. */
static const char *const float_types[CHECK_FLOAT_TYPES] = {"\"double\"", "\"float\"", "BFloat16\"",
                                                           "Half\"",     "Float8",    "Float4"};

/* Returns the floating-point types in a text, as bits. */
static int64_t floats_in(const struct name *types)
{
    int64_t found = 0;
    for (int i = 0; i < CHECK_FLOAT_TYPES; i++)
        if (name_contains(types, float_types[i]))
            found |= 1 << i;
    return found;
}

/* Adds the floating-point types of each side (J2.7). Needs `work->share`. */
static void find_floats(struct work_tally *work)
{
    int64_t floats[2] = {0, 0};
    for (size_t i = 0; i < work->device.count; i++) {
        const struct tally_row *row = &work->device.rows[i];
        int64_t found = row->key[2] == NAME_NONE ? 0 : floats_in(text_of(work, row->key[2]));
        for (int side = 0; side < 2; side++)
            floats[side] |= row->on[side] ? found : 0;
    }
    if (!work->any[0] || !work->any[1])
        return;
    enum matters matters = floats[0] == floats[1]                     ? MATTERS_NO
                           : !floats[0] || !floats[1]                 ? MATTERS_MAYBE
                           : 100 * work->share < RETYPED_PERCENT ? MATTERS_YES
                                                                      : MATTERS_MAYBE;
    const struct check_value none = check_integer(NUMBER_NONE);
    check_add(work->checks, CHECK_FLOATS, matters, floats[0] ? check_in_words(floats[0]) : none,
              floats[1] ? check_in_words(floats[1]) : none);
}

/* Whether the types of a row are a list. */
static bool is_list(const struct work_tally *work, const struct tally_row *row)
{
    const struct name *types = row->key[2] == NAME_NONE ? NULL : text_of(work, row->key[2]);
    return types && types->text[0] == '[' && types->text[types->length - 1] == ']';
}

/* Whether another input of a list may follow. */
static bool has_input(const char *p)
{
    return *p == '[' || *p == ',';
}

/* Adds the first change of a floating-point type between two lists of types (L6.2), with the times
** of a row. */
static bool add_change(struct work_tally *work, const uint32_t *lists, const struct tally_row *row)
{
    struct names *texts = &work->texts;
    struct tally_row change = *row;
    const char *end[2], *p[2];
    for (int side = 0; side < 2; side++) {
        p[side] = texts->items[lists[side]].text;
        end[side] = p[side] + texts->items[lists[side]].length;
    }
    change.key[2] = NAME_NONE;
    for (int i = 0; i < RETYPED_INPUTS && has_input(p[0]) && has_input(p[1]); i++) {
        struct name input[2];
        bool floats = true;
        for (int side = 0; side < 2; side++) {
            input[side] = (struct name){.text = p[side] + 1};
            p[side] = scan_strict_end(p[side] + 1, end[side]);
            input[side].length = (uint32_t)(p[side] - input[side].text);
            floats = floats && *input[side].text == '"' && floats_in(&input[side]) != 0;
        }
        if (!floats || name_compare(&input[0], &input[1]) == 0)
            continue;
        for (int side = 0; side < 2; side++)
            change.key[side] = names_intern(texts, input[side].text + 1, input[side].length - 2);
        return (change.key[0] != NAME_NONE && change.key[1] != NAME_NONE &&
                tally_add(&work->changes, &change, work->failure)) ||
               failure_memory(work->failure);
    }
    return true;
}

/* Whether only one side has these types. */
static bool is_alone(const struct tally_row *row)
{
    return (row->sum[0] == 0) != (row->sum[1] == 0);
}

/* Adds the changes of an operator at the same shapes: its rows [from, to). */
static bool add_changes(struct work_tally *work, const struct tally *typed, size_t from, size_t to)
{
    const struct tally_row *best[2] = {NULL, NULL};
    bool done = true;
    for (int side = 0; side < 2; side++)
        for (size_t i = from; i < to; i++) {
            const struct tally_row *row = &typed->rows[i];
            if (is_list(work, row) && row->sum[side] > 0 &&
                (!best[side] || is_alone(row) > is_alone(best[side]) ||
                 (is_alone(row) == is_alone(best[side]) && row->sum[side] > best[side]->sum[side])))
                best[side] = row;
        }
    if (!best[0] || !best[1])
        return true;
    const uint32_t lists[] = {best[0]->key[2], best[1]->key[2]};
    for (size_t i = from; i < to && done; i++)
        if (is_list(work, &typed->rows[i]) && is_alone(&typed->rows[i]))
            done = add_change(work, lists, &typed->rows[i]);
    return done;
}

/* Adds the change of types with the largest share of the operators' time (L6). */
static bool find_retyped(struct work_tally *work, const struct tally *typed)
{
    const struct tally_row *largest = NULL;
    struct tally_row all = {.sum = {0, 0}}, run;
    bool done = true;
    for (size_t i = 0, end; i < typed->count && done; i = end) {
        end = tally_run(typed, i, BY_SHAPES, &run);
        for (size_t j = i; j < end; j++)
            if (is_list(work, &typed->rows[j]))
                tally_add_to(&all, &typed->rows[j]);
        done = add_changes(work, typed, i, end);
    }
    struct tally *changes = &work->changes;
    if (!done ||
        (changes->count > 1 &&
         !tallies_order(&changes, 1, &work->texts, work->stopper, work->failure)))
        return false;
    for (size_t i = 0; i < work->changes.count; i++) {
        const wide_time *sum = work->changes.rows[i].sum;
        double share =
            ((double)sum[0] / (double)all.sum[0] + (double)sum[1] / (double)all.sum[1]) / 2;
        if (!largest || share > work->share) {
            largest = &work->changes.rows[i];
            work->share = share;
        }
    }
    if (!largest || 100 * work->share < RETYPED_LEAST_PERCENT)
        return true;
    struct check *check = check_add(
        work->checks, CHECK_RETYPED,
        100 * work->share >= RETYPED_PERCENT ? MATTERS_YES : MATTERS_MAYBE,
        check_text(keep_text(work, largest->key[0])), check_text(keep_text(work, largest->key[1])));
    check->share = work->share;
    check->diff = mean_difference(largest->sum[0], work->steps[0], largest->sum[1], work->steps[1]);
    return work->failure->code == FAILURE_NONE;
}

bool checks_add_work(struct checks *checks, const struct check_work *given,
                     const struct stopper *stopper, struct failure *failure)
{
    struct work_tally work = {
        .checks = checks, .stopper = stopper, .failure = failure, .steps = given->steps};
    bool done = true;
    work.timed = given->host ? &work.host : &work.device;
    for (size_t i = 0; i < given->device_count && done; i++)
        done = add_device(&work, given->device[i]);
    struct tally *const tallies[] = {&work.device, &work.host, &work.copies};
    done = done && (!given->host || add_host(&work, given->host)) &&
           tallies_order(tallies, sizeof tallies / sizeof *tallies, &work.texts, stopper, failure);
    if (done) {
        done = find_operators(&work) && find_retyped(&work, work.timed);
        find_copies(&work);
        find_floats(&work);
    }
    tally_clear(&work.device);
    tally_clear(&work.host);
    tally_clear(&work.copies);
    tally_clear(&work.changes);
    scale_lists_clear(&work.lists);
    names_clear(&work.texts);
    return done;
}
