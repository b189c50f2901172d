#include "hang_roots.h"

#include "base/memory.h"

/* Tarjan's algorithm for strongly connected components, without recursion. Ranks are numbered in
** the order of visits. */
struct set_search {
    struct hang *hang;
    uint32_t *number; /* by rank, from 1; 0: not visited */
    uint32_t *low;    /* by rank: the lowest number on the stack that it reaches */
    size_t *next;     /* by rank: its next wait to follow */
    uint32_t *path;   /* ranks from the start of the search to the current one */
    uint32_t *stack;  /* visited ranks without a set */
    size_t path_count, stack_count;
    uint32_t met;
};

static void meet(struct set_search *search, uint32_t rank)
{
    search->number[rank] = search->low[rank] = ++search->met;
    search->path[search->path_count++] = rank;
    search->stack[search->stack_count++] = rank;
}

static void lower_to(uint32_t *low, uint32_t number)
{
    if (number < *low)
        *low = number;
}

/* Makes a set of the ranks on the stack, down to `rank`. */
static void make_set(struct set_search *search, uint32_t rank, size_t *placed)
{
    struct hang *hang = search->hang;
    uint32_t set = (uint32_t)hang->set_count++, other;
    hang->set_first[set] = (uint32_t)*placed;
    do {
        other = search->stack[--search->stack_count];
        hang->ranks[other].set = set;
        hang->in_sets[(*placed)++] = other;
    } while (other != rank);
}

/* Follows the next wait of the last rank on the path. */
static void follow(struct set_search *search, size_t *placed)
{
    struct hang *hang = search->hang;
    uint32_t rank = search->path[search->path_count - 1];
    const struct hang_rank *own = &hang->ranks[rank];
    while (search->next[rank] < own->wait_count) {
        uint32_t other = hang->waits[own->first_wait + search->next[rank]++].rank;
        if (search->number[other] == 0) {
            meet(search, other);
            return;
        }
        if (hang->ranks[other].set == FR_NONE)
            lower_to(&search->low[rank], search->number[other]);
    }
    search->path_count--;
    if (search->path_count > 0)
        lower_to(&search->low[search->path[search->path_count - 1]], search->low[rank]);
    if (search->low[rank] == search->number[rank])
        make_set(search, rank, placed);
}

static bool find_sets(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    size_t count = hang->rank_count, placed = 0, steps = 0;
    struct set_search search = {.hang = hang};
    search.number = memory_zeroed(count, sizeof *search.number);
    search.low = memory_zeroed(count, sizeof *search.low);
    search.next = memory_zeroed(count, sizeof *search.next);
    search.path = memory_items(count, sizeof *search.path);
    search.stack = memory_items(count, sizeof *search.stack);
    bool done = (search.number && search.low && search.next && search.path && search.stack) ||
                failure_memory(failure);
    for (uint32_t r = 0; done && r < count; r++) {
        if (search.number[r] == 0)
            meet(&search, r);
        while (done && search.path_count > 0) {
            follow(&search, &placed);
            done = stopper_goes_on(stopper, steps++, failure);
        }
    }
    hang->set_first[hang->set_count] = (uint32_t)placed;
    memory_free(search.number);
    memory_free(search.low);
    memory_free(search.next);
    memory_free(search.path);
    memory_free(search.stack);
    return done;
}

/* True if a rank of the set waits for a rank of another set. */
static bool leads_out(const struct hang *hang, uint32_t set)
{
    for (uint32_t i = hang->set_first[set]; i < hang->set_first[set + 1]; i++) {
        const struct hang_rank *rank = &hang->ranks[hang->in_sets[i]];
        for (size_t w = 0; w < rank->wait_count; w++)
            if (hang->ranks[hang->waits[rank->first_wait + w].rank].set != set)
                return true;
    }
    return false;
}

/* Finds the roots: sets that others wait for, and that wait for no other set (FR17). */
static bool find_roots(struct hang *hang, struct failure *failure)
{
    enum { BITS = 64 };
    size_t rows = 0;
    for (uint32_t set = 0; set < hang->set_count; set++)
        if (leads_out(hang, set))
            hang->set_row[set] = (uint32_t)rows++;
    for (size_t r = 0; r < hang->rank_count; r++)
        for (size_t w = 0; w < hang->ranks[r].wait_count; w++) {
            uint32_t set = hang->ranks[hang->waits[hang->ranks[r].first_wait + w].rank].set;
            if (hang->set_root[set] == FR_NONE && hang->set_row[set] == FR_NONE) {
                hang->set_root[set] = (uint32_t)hang->root_count;
                hang->root_sets[hang->root_count++] = set;
            }
        }
    hang->root_words = (hang->root_count + BITS - 1) / BITS;
    hang->roots = memory_zeroed(rows * hang->root_words, sizeof *hang->roots);
    return hang->roots || failure_memory(failure);
}

/* Adds the roots of another set to a set's. */
static void add_roots(struct hang *hang, uint32_t set, uint32_t other)
{
    enum { BITS = 64 };
    uint64_t *to = hang->roots + hang->set_row[set] * hang->root_words;
    uint32_t root = hang->set_root[other];
    if (hang->set_row[other] == FR_NONE) {
        to[root / BITS] |= UINT64_C(1) << root % BITS;
        return;
    }
    for (size_t i = 0; i < hang->root_words; i++)
        to[i] |= hang->roots[hang->set_row[other] * hang->root_words + i];
}

bool hang_roots_find(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    size_t count = hang->rank_count, steps = 0;
    hang->set_first = memory_items(count + 1, sizeof *hang->set_first);
    hang->in_sets = memory_items(count, sizeof *hang->in_sets);
    hang->set_root = memory_filled(count, sizeof *hang->set_root);
    hang->set_row = memory_filled(count, sizeof *hang->set_row);
    hang->root_sets = memory_items(count, sizeof *hang->root_sets);
    if (!hang->set_first || !hang->in_sets || !hang->set_root || !hang->set_row ||
        !hang->root_sets)
        return failure_memory(failure);
    if (!find_sets(hang, stopper, failure) || !find_roots(hang, failure))
        return false;
    for (uint32_t set = 0; set < hang->set_count; set++) /* awaited sets come first */
        for (uint32_t i = hang->set_first[set]; i < hang->set_first[set + 1]; i++) {
            const struct hang_rank *rank = &hang->ranks[hang->in_sets[i]];
            for (size_t w = 0; w < rank->wait_count; w++) {
                uint32_t other = hang->ranks[hang->waits[rank->first_wait + w].rank].set;
                if (other != set)
                    add_roots(hang, set, other);
                if (!stopper_goes_on(stopper, steps++, failure))
                    return false;
            }
        }
    return true;
}
