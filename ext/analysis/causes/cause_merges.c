#include "cause_merges.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cause_parts.h"

/* A cause that is being merged or sorted. */
struct candidate {
    const struct causes *causes;
    const struct cause *cause;
    enum merge_by by; /* the key that groups it */
};

/* A group of causes that may be merged. */
struct merge {
    const struct causes *causes;
    enum merge_by by;
    size_t first, count; /* range of its candidates */
    wide_time diff, changes;
};

static int text_order(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : COMPARE(a != NULL, b != NULL);
}

/* The order of output rows. */
static int cause_order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    const struct cause *left = x->cause, *right = y->cause;
    int order = COMPARE(wide_size(right->diff), wide_size(left->diff));
    order = order ? order : strcmp(cause_kind_name(left->kind), cause_kind_name(right->kind));
    const char *one = step_class_name(left->step_class);
    order = order ? order : text_order(one, step_class_name(right->step_class));
    order = order ? order : cause_name_order(x->causes, left->area, right->area);
    order = order ? order : cause_name_order(x->causes, left->name, right->name);
    return order ? order : COMPARE(left->merge, right->merge);
}

/* Compares the keys by which causes are merged. */
static int key_order(const struct candidate *x, const struct candidate *y)
{
    if (x->by == MERGE_BY_STAGE)
        return COMPARE(x->cause->stage, y->cause->stage);
    int order = COMPARE(x->cause->step_class, y->cause->step_class);
    bool by_name = x->by == MERGE_BY_NAME;
    uint32_t one = by_name ? x->cause->name : x->cause->family;
    return order ? order
                 : cause_name_order(x->causes, one, by_name ? y->cause->name : y->cause->family);
}

static int candidate_order(const void *a, const void *b)
{
    int order = key_order(a, b);
    return order ? order : cause_order(a, b);
}

/* Merges that cancel least come first. Sums are below 2^100, so ratios are compared as doubles. */
static int merge_order(const void *a, const void *b)
{
    const struct merge *x = a, *y = b;
    double left = (double)wide_size(x->diff) / (double)x->changes;
    double right = (double)wide_size(y->diff) / (double)y->changes;
    int order = COMPARE(x->by, y->by);
    order = order ? order : COMPARE(right, left);
    order = order ? order : COMPARE(wide_size(y->diff), wide_size(x->diff));
    return order ? order : COMPARE(x->first, y->first); /* candidates are ordered by their keys */
}

static bool may_merge(const struct cause *cause, enum merge_by by)
{
    bool works = cause->kind == CAUSE_CHANGED &&
                 (cause->step_class == CLASS_COMPUTE || cause->step_class == CLASS_MEMORY);
    if (by == MERGE_BY_STAGE)
        return cause->single && cause->stage != STAGE_NONE &&
               (cause->kind == CAUSE_CHANGED || cause->kind == CAUSE_HOST_LATE);
    return works && (by == MERGE_BY_NAME ? cause->name : cause->family) != NAME_NONE;
}

/* The state of merging. */
struct merger {
    struct causes *causes;
    struct candidate *order;      /* all causes, largest first */
    struct candidate *candidates; /* the causes in each merge, one merge after the other */
    size_t candidate_count;
    struct merge *merges;
    size_t merge_count;
    bool *taken; /* by index of the cause: whether it is in a merge */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Adds the merges of a round. They consist of causes from `shown` on that no earlier round has
** taken. */
static bool add_round(struct merger *merger, size_t shown, enum merge_by by)
{
    struct causes *causes = merger->causes;
    struct candidate *found = &merger->candidates[merger->candidate_count];
    size_t count = 0, kept = 0, first_merge = merger->merge_count;
    for (size_t i = shown; i < causes->count; i++) {
        const struct cause *cause = merger->order[i].cause;
        if (!merger->taken[cause - causes->items] && may_merge(cause, by))
            found[count++] = (struct candidate){causes, cause, by};
    }
    if (!sort_items(found, count, sizeof *found, candidate_order, merger->stopper, merger->failure))
        return false;
    for (size_t i = 0, from = 0; i < count; from = i) {
        struct merge merge = {
            .causes = causes, .by = by, .first = merger->candidate_count + kept};
        for (; i < count && key_order(&found[from], &found[i]) == 0; i++) {
            merge.diff += found[i].cause->diff;
            merge.changes += wide_size(found[i].cause->diff);
        }
        merge.count = i - from;
        if (merge.count < 2 || merge.changes == 0 || 2 * wide_size(merge.diff) < merge.changes)
            continue;
        for (size_t j = from; j < i; j++) {
            merger->taken[found[j].cause - causes->items] = true;
            found[kept++] = found[j];
        }
        merger->merges[merger->merge_count++] = merge;
    }
    merger->candidate_count += kept;
    return sort_items(merger->merges + first_merge, merger->merge_count - first_merge,
                      sizeof *merger->merges, merge_order, merger->stopper, merger->failure);
}

static int size_order(const void *a, const void *b)
{
    const wide_time *x = a, *y = b;
    return COMPARE(*y, *x);
}

/* Counts the merges needed until the `shown` largest causes explain 75 % of the changes. Among
** unmerged causes, only the first `shown` can be the largest. */
static bool count_needed(const struct merger *merger, size_t shown, size_t *needed)
{
    wide_time all = 0;
    wide_time *sizes = memory_items(shown + merger->merge_count, sizeof *sizes);
    if (!sizes)
        return failure_memory(merger->failure);
    for (size_t i = 0; i < merger->causes->count; i++)
        all += merger->order[i].cause->changes;
    for (size_t i = 0; i < shown; i++)
        sizes[i] = wide_size(merger->order[i].cause->diff);
    bool done = true;
    for (*needed = 0;; ++*needed) {
        wide_time held = 0;
        size_t count = shown + *needed;
        done =
            sort_items(sizes, count, sizeof *sizes, size_order, merger->stopper, merger->failure);
        for (size_t i = 0; i < shown; i++)
            held += sizes[i];
        if (!done || 4 * held >= 3 * all || *needed == merger->merge_count)
            break;
        sizes[count] = wide_size(merger->merges[*needed].diff);
    }
    memory_free(sizes);
    return done;
}

/* Whether one of the `shown` largest causes has the same key as the causes of a merge. */
static bool is_beside(const struct merger *merger, size_t shown, const struct merge *merge)
{
    const struct candidate *first = &merger->candidates[merge->first];
    for (size_t i = 0; i < shown; i++) {
        const struct candidate other = {merger->causes, merger->order[i].cause, merge->by};
        if (may_merge(other.cause, merge->by) && key_order(first, &other) == 0)
            return true;
    }
    return false;
}

/* Adds a cause to a merged one. */
static void add_to(struct causes *causes, struct cause *sum, const struct cause *cause)
{
    cause_parts_join(causes, sum, cause);
    sum->step_class = cause->step_class == sum->step_class ? sum->step_class : CLASS_NONE;
    sum->area = cause->area == sum->area ? sum->area : NAME_NONE;
    sum->name = cause->name == sum->name ? sum->name : NAME_NONE;
    sum->rank = cause->rank == sum->rank ? sum->rank : NUMBER_NONE;
    sum->names += cause->names;
    sum->added += cause->added;
    sum->removed += cause->removed;
    sum->instances += cause->instances;
    for (int side = 0; side < 2; side++)
        sum->time[side] += cause->time[side];
    sum->diff += cause->diff;
    sum->changes += cause->changes;
    sum->shifted += cause->shifted;
}

/* Removes the causes that were joined to others. */
static void remove_gone(struct causes *causes)
{
    size_t kept = 0;
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].names > 0)
            causes->items[kept++] = causes->items[i];
    causes->count = kept;
}

void causes_join_owned(struct causes *causes, const size_t *owners, const bool *joins)
{
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause of = causes->items[i], *first = &of; /* the largest */
        struct cause sum = {.kind = CAUSE_DIAGNOSED,
                            .step_class = first->step_class,
                            .family = NAME_NONE,
                            .area = first->area,
                            .name = first->name,
                            .stage = STAGE_NONE,
                            .rank = first->rank,
                            .owner = owners[i]};
        causes->items[i].owner = owners[i];
        if (owners[i] == SIZE_MAX || !joins[owners[i]] || first->names == 0)
            continue;
        for (size_t j = i; j < causes->count; j++)
            if (owners[j] == owners[i]) {
                add_to(causes, &sum, &causes->items[j]);
                causes->items[j].names = 0;
            }
        sum.step_class = of.step_class;
        sum.name = of.name;
        causes->items[i] = sum;
    }
    remove_gone(causes);
}

/* Replaces causes by the first `count` merges. */
static void apply(struct merger *merger, size_t shown, size_t count)
{
    struct causes *causes = merger->causes;
    for (size_t i = 0; i < count; i++) {
        const struct merge *merge = &merger->merges[i];
        const struct cause *first = merger->candidates[merge->first].cause;
        struct cause sum = {.kind = CAUSE_MERGED,
                            .step_class = first->step_class,
                            .family = first->family,
                            .area = first->area,
                            .name = first->name,
                            .stage = first->stage,
                            .rank = first->rank,
                            .merge = merge->by,
                            .beside = is_beside(merger, shown, merge),
                            .owner = SIZE_MAX,
                            .merged = merge->count};
        for (size_t j = merge->first; j < merge->first + merge->count; j++) {
            add_to(causes, &sum, merger->candidates[j].cause);
        }
        if (merge->by == MERGE_BY_FAMILY && sum.area == NAME_NONE)
            sum.area = sum.family;
        causes->items[first - causes->items] = sum;
        for (size_t j = merge->first + 1; j < merge->first + merge->count; j++)
            causes->items[merger->candidates[j].cause - causes->items].names = 0; /* removed */
    }
    remove_gone(causes);
}

static bool merge_all(struct merger *merger, size_t shown)
{
    size_t needed = 0;
    for (int by = 0; by < MERGE_ROUNDS; by++)
        if (!add_round(merger, shown, (enum merge_by)by))
            return false;
    if (!count_needed(merger, shown, &needed))
        return false;
    apply(merger, shown, needed);
    return true;
}

/* Sorts the causes into `order` and, with `in_place`, the causes themselves. */
static bool order_causes(struct causes *causes, struct candidate *order, bool in_place,
                         const struct stopper *stopper, struct failure *failure)
{
    for (size_t i = 0; i < causes->count; i++)
        order[i] = (struct candidate){causes, &causes->items[i], MERGE_ROUNDS};
    if (!sort_items(order, causes->count, sizeof *order, cause_order, stopper, failure))
        return false;
    if (!in_place)
        return true;
    struct cause *items = memory_items(causes->count, sizeof *items);
    if (!items)
        return failure_memory(failure);
    for (size_t i = 0; i < causes->count; i++)
        items[i] = *order[i].cause;
    memory_free(causes->items);
    causes->items = items;
    causes->capacity = causes->count;
    return true;
}

bool causes_merge(struct causes *causes, size_t shown, const struct stopper *stopper,
                  struct failure *failure)
{
    size_t count = causes->count + 1;
    struct merger merger = {.causes = causes, .stopper = stopper, .failure = failure};
    merger.order = memory_items(count, sizeof *merger.order);
    merger.candidates = memory_items(count, sizeof *merger.candidates);
    merger.merges = memory_items(count, sizeof *merger.merges);
    merger.taken = memory_zeroed(count, sizeof *merger.taken);
    bool done = (merger.order && merger.candidates && merger.merges && merger.taken) ||
                failure_memory(failure);
    if (done && shown > 0 && shown < causes->count)
        done = order_causes(causes, merger.order, false, stopper, failure) &&
               merge_all(&merger, shown);
    done = done && order_causes(causes, merger.order, true, stopper, failure);
    memory_free(merger.order);
    memory_free(merger.candidates);
    memory_free(merger.merges);
    memory_free(merger.taken);
    return done;
}
