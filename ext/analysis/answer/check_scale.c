#include "check_scale.h"

#include "text/ascii.h"
#include "thresholds.h"

enum { LONGEST_DIMS = 52 }; /* bytes of both sides together, so that they fit into a line */

/* The scales between lists of one operator. */
struct pair_scales {
    struct tensor_scale *items;
    size_t count, capacity;
};

/* The compared lists of one operator by side, in descending order of time. */
struct largest_lists {
    const struct scale_list *items[2][SCALED_LISTS];
    size_t count[2];
};

bool scale_lists_add(struct scale_lists *lists, const struct scale_list *list,
                     struct failure *failure)
{
    if (!MEMORY_GROW(lists->items, lists->capacity, lists->count + 1))
        return failure_memory(failure);
    lists->items[lists->count++] = *list;
    return true;
}

/* Reads digits and moves past them. False if the number is too large. */
static bool read_dim(const char **p, const char *end, int64_t *dim)
{
    for (*dim = 0; *p < end && is_digit(**p); ++*p) {
        if (*dim > (INT64_MAX - 9) / 10)
            return false;
        *dim = 10 * *dim + (**p - '0');
    }
    return true;
}

/* Sets the scale from one dim to the other, or compares it with the scale that is already set.
** False if they differ. */
static bool add_dim(struct tensor_scale *scale, int64_t from, int64_t to)
{
    int64_t a = from, b = to;
    if (from == 0 || to == 0)
        return false;
    while (b > 0) { /* computes the greatest common divisor */
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (scale->from == 0) {
        scale->from = from / a;
        scale->to = to / a;
    }
    return scale->from == from / a && scale->to == to / a;
}

/* Returns the dims of the input that starts at `text`, with brackets. */
static struct name input_at(const char *text, const char *end)
{
    const char *p = text;
    while (p < end && *p != ']')
        p++;
    return (struct name){.text = text, .length = (uint32_t)(p - text) + (p < end)};
}

/* Whether each input differs in at most one dim, always by the same scale. Gives the scale and the
** first input that differs. */
static bool scale_of_lists(const struct scale_list *control, const struct scale_list *test,
                           struct tensor_scale *scale)
{
    const char *p = control->dims.text, *q = test->dims.text;
    const char *end[2] = {p + control->dims.length, q + test->dims.length};
    const char *input[2] = {p, q};
    bool differs = false; /* in a dim of this input */
    *scale = (struct tensor_scale){.from = 0};
    while (p < end[0] && q < end[1]) {
        int64_t from, to;
        if (!is_digit(*p) || !is_digit(*q)) {
            if (*p != *q)
                return false;
            if (*p == '[') {
                input[0] = p;
                input[1] = q;
                differs = false;
            }
            p++;
            q++;
            continue;
        }
        if (!read_dim(&p, end[0], &from) || !read_dim(&q, end[1], &to))
            return false;
        if (from == to)
            continue;
        if (differs || !add_dim(scale, from, to))
            return false;
        differs = true;
        if (scale->dims[0].length == 0)
            for (int side = 0; side < 2; side++)
                scale->dims[side] = input_at(input[side], end[side]);
    }
    return p == end[0] && q == end[1] && scale->from > 0;
}

static int scale_order(const void *a, const void *b)
{
    const struct tensor_scale *x = a, *y = b;
    int order = COMPARE(x->from, y->from);
    return order ? order : COMPARE(x->to, y->to);
}

/* Chooses the lists with the most time of the operator at `from`. Returns the start of the next
** operator. */
static size_t choose_lists(const struct scale_lists *lists, size_t from,
                           struct largest_lists *largest)
{
    size_t i = from;
    *largest = (struct largest_lists){.count = {0, 0}};
    for (; i < lists->count && lists->items[i].operator == lists->items[from].operator; i++) {
        const struct scale_list *list = &lists->items[i], **of = largest->items[list->side];
        size_t *count = &largest->count[list->side], at = *count;
        if (at == SCALED_LISTS && list->time <= of[at - 1]->time)
            continue;
        at -= at == SCALED_LISTS;
        for (; at > 0 && of[at - 1]->time < list->time; at--)
            of[at] = of[at - 1];
        of[at] = list;
        *count += *count < SCALED_LISTS;
    }
    return i;
}

/* Adds the scales between all lists of an operator. */
static bool add_scales(struct pair_scales *scales, const struct largest_lists *lists,
                       struct failure *failure)
{
    for (size_t i = 0; i < lists->count[0]; i++)
        for (size_t j = 0; j < lists->count[1]; j++) {
            struct tensor_scale scale;
            if (!scale_of_lists(lists->items[0][i], lists->items[1][j], &scale))
                continue;
            if (!MEMORY_GROW(scales->items, scales->capacity, scales->count + 1))
                return failure_memory(failure);
            scales->items[scales->count++] = scale;
        }
    return true;
}

/* Chooses the most frequent scale, in a tie the smallest; 0 / 0 if there is none. */
static bool choose_scale(struct pair_scales *scales, struct tensor_scale *chosen,
                         const struct stopper *stopper, struct failure *failure)
{
    size_t most = 0;
    *chosen = (struct tensor_scale){.from = 0};
    if (!sort_items(scales->items, scales->count, sizeof *scales->items, scale_order, stopper,
                    failure))
        return false;
    for (size_t i = 0, end; i < scales->count; i = end) {
        for (end = i + 1; end < scales->count; end++)
            if (scale_order(&scales->items[i], &scales->items[end]) != 0)
                break;
        if (end - i > most) {
            most = end - i;
            *chosen = scales->items[i];
            chosen->dims[0].length = chosen->dims[1].length = 0;
        }
    }
    return true;
}

/* Pairs the lists of an operator that differ by the scale, and returns the number of pairs. Updates
** `time`, the most time of a pair, and the scale's dims, which show that pair. */
static size_t count_pairs(const struct largest_lists *lists, struct tensor_scale *scale,
                          wide_time *time)
{
    bool taken[SCALED_LISTS] = {false};
    size_t count = 0;
    for (size_t i = 0; i < lists->count[0]; i++)
        for (size_t j = 0; j < lists->count[1]; j++) {
            const struct scale_list *control = lists->items[0][i], *test = lists->items[1][j];
            struct tensor_scale own;
            if (taken[j] || !scale_of_lists(control, test, &own) || scale_order(scale, &own) != 0)
                continue;
            taken[j] = true;
            count++;
            if (own.dims[0].length + own.dims[1].length <= LONGEST_DIMS &&
                control->time + test->time > *time) {
                *time = control->time + test->time;
                *scale = own;
            }
            break;
        }
    return count;
}

bool scale_find(const struct scale_lists *lists, struct tensor_scale *scale,
                const struct stopper *stopper, struct failure *failure)
{
    struct pair_scales scales = {.count = 0};
    struct largest_lists largest;
    size_t count = 0, pairs = 0, operators = 0;
    wide_time time = -1;
    bool done = true;
    for (size_t i = 0; i < lists->count && done;) {
        i = choose_lists(lists, i, &largest);
        count += largest.count[0] + largest.count[1];
        done = add_scales(&scales, &largest, failure) &&
               stopper_goes_on(stopper, operators++, failure);
    }
    done = done && choose_scale(&scales, scale, stopper, failure);
    memory_free(scales.items);
    for (size_t i = 0; i < lists->count && done && scale->from > 0;) {
        i = choose_lists(lists, i, &largest);
        pairs += count_pairs(&largest, scale, &time);
        done = stopper_goes_on(stopper, operators++, failure);
    }
    if (done && 100 * 2 * pairs < SCALED_PERCENT * count)
        *scale = (struct tensor_scale){.from = 0};
    return done;
}

void scale_lists_clear(struct scale_lists *lists)
{
    memory_free(lists->items);
}
