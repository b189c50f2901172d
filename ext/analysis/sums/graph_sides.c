#include "graph_sides.h"

#include <string.h>

#include "base/memory.h"
#include "base/hash.h"
#include "naming/short_name.h"

static uint64_t hash_of_names(const uint32_t *names, size_t count)
{
    return hash_with_ids(hash_key() ^ count, names, count);
}

static uint64_t hash_of_group(const void *side, uint32_t i)
{
    const struct graph_side *of = side;
    return hash_of_names(of->names + of->groups[i].first, of->groups[i].count);
}

struct wanted_group {
    const struct graph_side *side;
    const uint32_t *names;
    size_t count;
};

static bool is_group(const void *wanted, uint32_t i)
{
    const struct wanted_group *of = wanted;
    const struct graph_group *group = &of->side->groups[i];
    return group->count == of->count &&
           memcmp(of->side->names + group->first, of->names, of->count * sizeof *of->names) == 0;
}

/* Finds or adds the group of a replay whose names are the last `count` names of a side. A new group
** has times of 0. */
static bool add_group(struct graph_side *side, const struct graph_group *replay,
                      struct graph_group **group)
{
    const struct wanted_group wanted = {side, side->names + side->used, replay->count};
    if (!MEMORY_GROW(side->groups, side->capacity, side->count + 1) ||
        !table_reserve(&side->table, side->count, hash_of_group, side))
        return false;
    uint64_t hash = hash_of_names(wanted.names, wanted.count);
    uint32_t *slot = table_slot(&side->table, hash, is_group, &wanted);
    if (!*slot) {
        if (!MEMORY_GROW(side->times, side->time_capacity, side->used + replay->count))
            return false;
        memset(side->times + side->used, 0, replay->count * sizeof *side->times);
        side->groups[side->count] = *replay;
        side->groups[side->count].first = side->used;
        side->used += replay->count;
        *slot = (uint32_t)++side->count;
    }
    *group = &side->groups[*slot - 1];
    return true;
}

/* state while the replays of a file are added */
struct replay_adder {
    struct graph_sides *sides;
    struct graph_side *side;
    const struct trace_file *file;
    size_t member;
    uint32_t *ids; /* by name id of the file: id in sides->names; NAME_NONE: not set yet */
    char *scratch; /* room for the longest name */
};

static bool name_of(struct replay_adder *adder, uint32_t row, uint32_t *id)
{
    uint32_t name = adder->file->columns.name[row];
    *id = NAME_NONE;
    if (name == NAME_NONE)
        return true;
    if (adder->ids[name] == NAME_NONE) {
        const struct name *from = &adder->file->names.items[name];
        adder->ids[name] = names_intern(&adder->sides->names, adder->scratch,
                                        name_stable(from->text, from->length, adder->scratch));
    }
    *id = adder->ids[name];
    return *id != NAME_NONE;
}

static bool is_before(const struct graph_group *a, const struct graph_group *b)
{
    if (a->launched != b->launched)
        return a->launched < b->launched;
    return a->member != b->member ? a->member < b->member : a->launch < b->launch;
}

static bool add_replay(struct replay_adder *adder, const struct replay *replay,
                       const uint32_t *rows)
{
    const struct columns *columns = &adder->file->columns;
    struct graph_side *side = adder->side;
    const struct graph_group own = {.count = replay->count,
                                    .launched = columns->ts[replay->launch],
                                    .member = adder->member,
                                    .launch = replay->launch};
    struct graph_group *group;
    if (!MEMORY_GROW(side->names, side->name_capacity, side->used + replay->count))
        return false;
    for (size_t i = 0; i < replay->count; i++)
        if (!name_of(adder, rows[i], &side->names[side->used + i]))
            return false;
    if (!add_group(side, &own, &group))
        return false;
    group->replays++;
    for (size_t i = 0; i < replay->count; i++) {
        int64_t dur = columns->dur[rows[i]] > 0 ? columns->dur[rows[i]] : 0;
        side->times[group->first + i] += dur;
        group->total += dur;
    }
    if (is_before(&own, group)) {
        group->launched = own.launched;
        group->member = own.member;
        group->launch = own.launch;
    }
    return true;
}

bool graph_sides_add(struct graph_sides *sides, int side, const struct trace *trace, size_t member,
                     const unsigned char *chosen, const int64_t *nodes,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *of = &trace->members[member];
    struct replay_adder adder = {
        .sides = sides, .side = &sides->sides[side], .file = of->file, .member = member};
    struct replays replays;
    if (!replays_list(&replays, of->file, nodes, stopper, failure))
        return false;
    adder.ids = memory_filled(of->file->names.count, sizeof *adder.ids);
    adder.scratch = memory_allocate(names_longest(&of->file->names) + 1);
    bool done = (adder.ids && adder.scratch) || failure_memory(failure);
    for (size_t i = 0; done && i < replays.count; i++) {
        const struct replay *replay = &replays.items[i];
        uint32_t step = step_of(of->steps, replay->launch);
        done = stopper_goes_on(stopper, i, failure);
        if (chosen && (step == STEP_NONE || !chosen[step]))
            continue;
        done = done && (add_replay(&adder, replay, replays.rows + replay->first) ||
                        failure_memory(failure));
    }
    memory_free(adder.ids);
    memory_free(adder.scratch);
    replays_clear(&replays);
    return done;
}

/* By total time, longest first. Ties: the first to be replayed. */
static int group_order(const void *a, const void *b)
{
    const struct graph_group *x = *(const struct graph_group *const *)a;
    const struct graph_group *y = *(const struct graph_group *const *)b;
    return x->total != y->total ? COMPARE(y->total, x->total)
           : is_before(x, y)    ? -1
                                : is_before(y, x);
}

static const struct graph_group *first_group(const struct graph_pair *pair)
{
    return pair->group[0] ? pair->group[0] : pair->group[1];
}

static wide_time pair_total(const struct graph_pair *pair)
{
    return (pair->group[0] ? pair->group[0]->total : 0) +
           (pair->group[1] ? pair->group[1]->total : 0);
}

/* By total time, longest first. Ties: pairs with control first, then the first to be replayed. */
static int pair_order(const void *a, const void *b)
{
    const struct graph_pair *x = a, *y = b;
    int order = COMPARE(pair_total(y), pair_total(x));
    order = order ? order : COMPARE(!x->group[0], !y->group[0]);
    const struct graph_group *left = first_group(x), *right = first_group(y);
    return order ? order : is_before(left, right) ? -1 : is_before(right, left);
}

/* Lists a side's groups without an equal group on the other, by total time. NULL on failure. */
static const struct graph_group **sort_others(const struct graph_sides *sides, int side,
                                              size_t *count, const struct stopper *stopper,
                                              struct failure *failure)
{
    const struct graph_side *own = &sides->sides[side], *other = &sides->sides[!side];
    const struct graph_group **found = memory_zeroed(own->count, sizeof *found);
    *count = 0;
    for (size_t i = 0; found && i < own->count; i++) {
        const uint32_t *names = own->names + own->groups[i].first;
        const struct wanted_group wanted = {other, names, own->groups[i].count};
        if (table_find(&other->table, hash_of_names(names, wanted.count), is_group, &wanted) ==
            UINT32_MAX)
            found[(*count)++] = &own->groups[i];
    }
    if (!found)
        failure_memory(failure);
    else if (sort_items(found, *count, sizeof *found, group_order, stopper, failure))
        return found;
    memory_free(found);
    return NULL;
}

bool graph_sides_pair(const struct graph_sides *sides, struct graph_pair **pairs, size_t *count,
                      const struct stopper *stopper, struct failure *failure)
{
    const struct graph_side *control = &sides->sides[0], *test = &sides->sides[1];
    const struct graph_group **others[2];
    size_t other_count[2] = {0, 0};
    struct graph_pair *made = memory_zeroed(control->count + test->count, sizeof *made);
    for (int side = 0; side < 2; side++)
        others[side] = sort_others(sides, side, &other_count[side], stopper, failure);
    bool done = others[0] && others[1] && (made || failure_memory(failure));
    *count = 0;
    for (size_t i = 0; done && i < control->count; i++) {
        const uint32_t *names = control->names + control->groups[i].first;
        const struct wanted_group wanted = {test, names, control->groups[i].count};
        uint32_t found =
            table_find(&test->table, hash_of_names(names, wanted.count), is_group, &wanted);
        if (found != UINT32_MAX)
            made[(*count)++] = (struct graph_pair){{&control->groups[i], &test->groups[found]}};
    }
    for (size_t i = 0; done && (i < other_count[0] || i < other_count[1]); i++)
        made[(*count)++] = (struct graph_pair){
            {i < other_count[0] ? others[0][i] : NULL, i < other_count[1] ? others[1][i] : NULL}};
    done = done && sort_items(made, *count, sizeof *made, pair_order, stopper, failure);
    memory_free(others[0]);
    memory_free(others[1]);
    *pairs = made;
    return done;
}

void graph_sides_clear(struct graph_sides *sides)
{
    for (int side = 0; side < 2; side++) {
        memory_free(sides->sides[side].names);
        memory_free(sides->sides[side].times);
        memory_free(sides->sides[side].groups);
        table_clear(&sides->sides[side].table);
    }
    names_clear(&sides->names);
}
