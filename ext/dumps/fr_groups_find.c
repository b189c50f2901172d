#include "fr_groups_find.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

/* Groups under construction; groups with the same name form a chain. */
struct fr_grouping {
    struct fr_job *job;
    uint32_t *first; /* by text: first group with that name plus 1 */
    uint32_t *next;  /* by group: next group with the same name plus 1 */
    uint32_t *ranks; /* by group: id in `sizes`; NAME_NONE: found from entries */
    size_t next_capacity, ranks_capacity;
    struct failure *failure;
};

/* The number that a group name consists of, or NUMBER_NONE. */
static int64_t name_number(const struct name *name)
{
    int64_t number = NUMBER_NONE;
    number_integer((const unsigned char *)name->text, name->length, &number);
    return number;
}

/* Compares names of groups; numbers come first, by value. */
static int names_compare(const struct name *a, const struct name *b)
{
    int64_t x = name_number(a), y = name_number(b);
    if (x != NUMBER_NONE && y != NUMBER_NONE && x != y)
        return COMPARE(x, y);
    if ((x == NUMBER_NONE) != (y == NUMBER_NONE))
        return x == NUMBER_NONE ? 1 : -1;
    return name_compare(a, b);
}

static int integer_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return COMPARE(x, y);
}

/* Sorts integers and drops duplicates. */
static bool sort_unique(int64_t *items, size_t *count, struct failure *failure)
{
    static const struct stopper never = {NULL, NULL, NULL};
    size_t kept = 0;
    if (!sort_items(items, *count, sizeof *items, integer_order, &never, failure))
        return false;
    for (size_t i = 0; i < *count; i++)
        if (kept == 0 || items[i] != items[kept - 1])
            items[kept++] = items[i];
    *count = kept;
    return true;
}

static bool is_used(const struct fr_job *job, const struct fr_member *member)
{
    return job->dumps[member->dump].fate == DUMP_IS_USED;
}

static bool add_rank(struct fr_job *job, int64_t rank, struct failure *failure)
{
    if (!MEMORY_GROW(job->ranks, job->rank_capacity, job->rank_count + 1))
        return failure_memory(failure);
    job->ranks[job->rank_count++] = rank;
    return true;
}

/* Adds a group named like a member, with `count` ranks to be filled in. NULL if out of memory. */
static struct fr_group *add_group(struct fr_grouping *grouping, struct fr_member *member,
                                  uint32_t ranks, size_t count)
{
    struct fr_job *job = grouping->job;
    size_t i = job->group_count;
    if (!MEMORY_GROW(job->groups, job->group_capacity, i + 1) ||
        !MEMORY_GROW(grouping->next, grouping->next_capacity, i + 1) ||
        !MEMORY_GROW(grouping->ranks, grouping->ranks_capacity, i + 1))
        return NULL;
    struct fr_group *group = &job->groups[i];
    *group = (struct fr_group){.name = member->name, .description = member->description};
    group->ranks = memory_items(count, sizeof *group->ranks);
    if (!group->ranks)
        return NULL;
    group->count = count;
    grouping->ranks[i] = ranks;
    grouping->next[i] = grouping->first[member->name];
    grouping->first[member->name] = (uint32_t)i + 1;
    member->group = (uint32_t)i;
    job->group_count++;
    return group;
}

/* FR9: finds the group of a member in its dump's pg_config. */
static bool find_configured(struct fr_grouping *grouping, struct fr_member *member)
{
    struct fr_job *job = grouping->job;
    for (uint32_t i = grouping->first[member->name]; i != 0; i = grouping->next[i - 1])
        if (grouping->ranks[i - 1] == member->ranks) {
            member->group = i - 1;
            return true;
        }
    const struct name *list = &job->sizes.items[member->ranks];
    struct fr_group *group =
        add_group(grouping, member, member->ranks, list->length / sizeof *group->ranks);
    if (!group)
        return failure_memory(grouping->failure);
    memcpy(group->ranks, list->text, list->length);
    group->known = true;
    if (!sort_unique(group->ranks, &group->count, grouping->failure))
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (!add_rank(job, group->ranks[i], grouping->failure))
            return false;
    return true;
}

/* Finds the group of a member that its own pg_config lacks: a group of another dump, the default
** group, or a group known from entries, to which the rank is added. */
static bool find_other(struct fr_grouping *grouping, struct fr_member *member)
{
    struct fr_job *job = grouping->job;
    int64_t rank = job->dumps[member->dump].rank;
    for (uint32_t i = grouping->first[member->name]; i != 0; i = grouping->next[i - 1]) {
        struct fr_group *group = &job->groups[i - 1];
        bool has = group->known && fr_place_in(group, rank) != SIZE_MAX;
        if (!has && group->known)
            continue;
        member->group = i - 1;
        if (has)
            return true;
        int64_t *more = memory_resize(group->ranks, (group->count + 1) * sizeof *more);
        if (!more)
            return failure_memory(grouping->failure);
        group->ranks = more;
        more[group->count++] = rank;
        return true;
    }
    enum { MOST_RANKS = 1 << 20 }; /* limit, because a file name may contain any number */
    bool is_default = member->description == FR_DEFAULT_GROUP &&
                      job->ranks[job->rank_count - 1] < MOST_RANKS;
    size_t count = is_default ? (size_t)job->ranks[job->rank_count - 1] + 1 : 1;
    struct fr_group *group = add_group(grouping, member, NAME_NONE, count);
    if (!group)
        return failure_memory(grouping->failure);
    group->known = is_default;
    group->ranks[0] = rank;
    for (size_t i = 0; is_default && i < count; i++)
        group->ranks[i] = (int64_t)i;
    return true;
}

/* Collects the ranks of dumps and groups, and all from 0 on if a default group lacks pg_config. */
static bool find_ranks(struct fr_job *job, struct failure *failure)
{
    for (size_t i = 0; i < job->dump_count; i++)
        if (job->dumps[i].rank >= 0 && !add_rank(job, job->dumps[i].rank, failure))
            return false;
    return sort_unique(job->ranks, &job->rank_count, failure);
}

static bool make_groups(struct fr_grouping *grouping, const struct stopper *stopper)
{
    struct fr_job *job = grouping->job;
    for (size_t i = 0; i < job->member_count; i++)
        if (is_used(job, &job->members[i]) && job->members[i].ranks != NAME_NONE &&
            (!find_configured(grouping, &job->members[i]) ||
             !stopper_ask(stopper, grouping->failure)))
            return false;
    if (!find_ranks(job, grouping->failure))
        return false;
    for (size_t i = 0; i < job->member_count; i++)
        if (is_used(job, &job->members[i]) && job->members[i].ranks == NAME_NONE &&
            (!find_other(grouping, &job->members[i]) || !stopper_ask(stopper, grouping->failure)))
            return false;
    for (size_t i = 0; i < job->member_count; i++) /* groups of unused dumps, to name their ranks */
        if (!is_used(job, &job->members[i]))
            for (uint32_t g = grouping->first[job->members[i].name]; g != 0;
                 g = grouping->next[g - 1])
                if (grouping->ranks[g - 1] == job->members[i].ranks)
                    job->members[i].group = g - 1;
    for (size_t g = 0; g < job->group_count; g++) {
        struct fr_group *group = &job->groups[g];
        if (!sort_unique(group->ranks, &group->count, grouping->failure))
            return false;
        for (size_t i = 0; group->known && grouping->ranks[g] == NAME_NONE && i < group->count; i++)
            if (!add_rank(job, group->ranks[i], grouping->failure))
                return false;
    }
    return sort_unique(job->ranks, &job->rank_count, grouping->failure);
}

/* A group and its old index, for sorting. */
struct fr_group_place {
    const struct name *name;
    struct fr_group group;
    size_t was;
};

static int group_order(const void *a, const void *b)
{
    const struct fr_group_place *x = a, *y = b;
    int order = names_compare(x->name, y->name);
    for (size_t i = 0; order == 0 && i < x->group.count && i < y->group.count; i++)
        order = COMPARE(x->group.ranks[i], y->group.ranks[i]);
    return order ? order : COMPARE(x->group.count, y->group.count);
}

/* Sorts the groups by name, then ranks. */
static bool sort_groups(struct fr_job *job, const struct stopper *stopper, struct failure *failure)
{
    struct fr_group_place *places = memory_items(job->group_count, sizeof *places);
    uint32_t *to = memory_items(job->group_count, sizeof *to);
    bool done = (places && to) || failure_memory(failure);
    for (size_t i = 0; done && i < job->group_count; i++)
        places[i] =
            (struct fr_group_place){fr_text(job, job->groups[i].name), job->groups[i], i};
    done = done && sort_items(places, job->group_count, sizeof *places, group_order, stopper,
                              failure);
    for (size_t i = 0; done && i < job->group_count; i++) {
        job->groups[i] = places[i].group;
        to[places[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; done && i < job->member_count; i++)
        if (job->members[i].group != FR_NONE)
            job->members[i].group = to[job->members[i].group];
    memory_free(places);
    memory_free(to);
    return done;
}

/* Sets the member at each place of a group, from the dump of its rank. */
static bool place_members(struct fr_job *job, struct failure *failure)
{
    for (size_t i = 0; i < job->group_count; i++) {
        struct fr_group *group = &job->groups[i];
        group->members = memory_filled(group->count, sizeof *group->members);
        if (!group->members)
            return failure_memory(failure);
    }
    for (size_t i = 0; i < job->member_count; i++) {
        const struct fr_member *member = &job->members[i];
        if (!is_used(job, member))
            continue;
        struct fr_group *group = &job->groups[member->group];
        size_t place = fr_place_in(group, job->dumps[member->dump].rank);
        if (place != SIZE_MAX)
            group->members[place] = (uint32_t)i;
        group->is_p2p = group->is_p2p || member->is_p2p;
        group->has_batches = group->has_batches || member->has_batches;
    }
    return true;
}

/* A group of pg_config and its number, for sorting. */
struct fr_numbered {
    int64_t number;
    struct fr_member *member;
};

/* FR7: numbers members without entries by order, if the order is certain. */
static bool number_members(struct fr_job *job, const struct fr_dump *dump,
                           const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0;
    bool certain = true;
    struct fr_group_status *statuses = job->statuses + dump->first_status;
    struct fr_numbered *numbered = memory_items(dump->member_count, sizeof *numbered);
    if (!numbered)
        return failure_memory(failure);
    for (size_t i = 0; i < dump->member_count; i++) {
        struct fr_member *member = &job->members[dump->first_member + i];
        if (member->ranks != NAME_NONE)
            numbered[count++] =
                (struct fr_numbered){name_number(fr_text(job, member->name)), member};
    }
    bool done = sort_items(numbered, count, sizeof *numbered, integer_order, stopper, failure) &&
                sort_items(statuses, dump->status_count, sizeof *statuses, integer_order, stopper,
                           failure);
    certain = count == dump->status_count && (count == 0 || numbered[0].number != NUMBER_NONE);
    for (size_t i = 0; done && certain && i < count; i++)
        certain = !numbered[i].member->has_entries ||
                  numbered[i].member->group_id == statuses[i].id;
    for (size_t i = 0; done && certain && i < count; i++)
        numbered[i].member->group_id = statuses[i].id;
    memory_free(numbered);
    return done;
}

/* FR7, FR6: takes the status of a dump's groups from pg_status. */
static void take_statuses(struct fr_job *job, struct fr_dump *dump)
{
    const struct fr_group_status *statuses = job->statuses + dump->first_status;
    for (size_t m = dump->first_member; m < dump->first_member + dump->member_count; m++) {
        struct fr_member *member = &job->members[m];
        size_t i = 0;
        LOWER_BOUND(i, dump->status_count, statuses[i].id < member->group_id);
        if (member->group == FR_NONE || job->groups[member->group].is_p2p ||
            member->group_id == NUMBER_NONE || i == dump->status_count ||
            statuses[i].id != member->group_id)
            continue;
        if (statuses[i].called > member->called) /* NUMBER_NONE is the lowest */
            member->called = statuses[i].called;
        if (statuses[i].completed > member->completed)
            member->completed = statuses[i].completed;
        int64_t completed = member->completed > 0 ? member->completed : 0;
        if ((dump->lost > 0 || dump->active_only) && member->first_kept != NUMBER_NONE &&
            member->first_kept > completed + 1)
            dump->worth = DUMP_IS_OVERWRITTEN;
    }
}

/* FR5: marks the entries in doubt. */
static void find_doubt(struct fr_job *job, const struct fr_dump *dump)
{
    for (size_t i = dump->first; dump->active_only && i < dump->first + dump->count; i++) {
        struct fr_entry *entry = &job->entries[i];
        entry->in_doubt = entry->is_p2p && entry->batch == FR_NONE &&
                          entry->state == FR_SCHEDULED && fr_group_of(job, entry)->has_batches;
    }
}

static bool find_dumps(struct fr_job *job, struct failure *failure)
{
    job->dump_of = memory_filled(job->rank_count, sizeof *job->dump_of);
    if (!job->dump_of)
        return failure_memory(failure);
    for (size_t i = 0; i < job->dump_count; i++)
        if (job->dumps[i].fate == DUMP_IS_USED)
            job->dump_of[fr_rank_index(job, job->dumps[i].rank)] = (uint32_t)i;
    return true;
}

bool fr_groups_find(struct fr_job *job, const struct stopper *stopper, struct failure *failure)
{
    struct fr_grouping grouping = {.job = job, .failure = failure};
    grouping.first = memory_zeroed(job->texts.count, sizeof *grouping.first);
    bool done = grouping.first ? make_groups(&grouping, stopper) : failure_memory(failure);
    memory_free(grouping.first);
    memory_free(grouping.next);
    memory_free(grouping.ranks);
    done = done && sort_groups(job, stopper, failure) && place_members(job, failure) &&
           find_dumps(job, failure);
    for (size_t i = 0; done && i < job->dump_count; i++) {
        struct fr_dump *dump = &job->dumps[i];
        if (dump->fate != DUMP_IS_USED)
            continue;
        done = number_members(job, dump, stopper, failure) && stopper_ask(stopper, failure);
        if (done)
            take_statuses(job, dump);
        if (done)
            find_doubt(job, dump);
    }
    return done;
}
