/*
** Checks whether a cause's durations explain its difference (E9.10). If not, its work takes as long
** as in control and only overlaps more or less, so undoing its lags would not help.
*/
#include "undo_items.h"

#include <string.h>

#include "base/integers.h"
#include "base/memory.h"
#include "sim_changes.h"

struct teller {
    const struct undo_told_request *request;
    uint32_t *ghost_of; /* by index of a sim_ghost: index of its undo_ghost */
    uint32_t *seen;     /* by item: the last cause that had it, counted from 1 */
    wide_time *longer;  /* by rank: ns that the chosen steps are longer than in control */
};

static bool is_of_work(const struct cause *cause)
{
    bool kind = cause->kind == CAUSE_CHANGED || cause->kind == CAUSE_REPLACED ||
                cause->kind == CAUSE_COMMUNICATION;
    enum step_class of = cause->step_class;
    return kind && (of == CLASS_COMPUTE || of == CLASS_COMM || of == CLASS_MEMORY);
}

/* Adds ns to the rank of a member, if the step is chosen. */
static void add_longer(struct teller *teller, size_t member, uint32_t step, wide_time longer)
{
    const struct undo_chosen *chosen = teller->request->chosen;
    const struct trace_member *of = &teller->request->test->trace->members[member];
    if (chosen->count == 0 ||
        (step != STEP_NONE && of->steps->iteration_count > step &&
         has_integer(chosen->items, chosen->count, member_iteration(of, step))))
        teller->longer[of->rank_index] += longer;
}

/* Adds the change of a duration or transfer; ignores other shifts. */
static void add_shift(struct teller *teller, const struct sim_shift *shift)
{
    const struct undo_ghosts *ghosts = teller->request->ghosts;
    const struct sim_graph *test = teller->request->test;
    uint32_t node = shift->use.node, edge = shift->use.edge;
    enum sim_edge kind = (enum sim_edge)test->kind[edge];
    if (kind == EDGE_GHOST) {
        size_t i = 0;
        LOWER_BOUND(i, ghosts->count, ghosts->items[i].end < node);
        if (i < ghosts->count && ghosts->items[i].end == node) {
            const struct undo_ghost *of = &ghosts->of[teller->ghost_of[i]];
            add_longer(teller, of->member, of->step, -(wide_time)ghosts->items[i].dur);
        }
    } else if (kind == EDGE_DEVICE || kind == EDGE_TRANSFER) {
        size_t member = test->member[node];
        wide_time longer =
            shift->longer > SIM_GONE ? -(wide_time)shift->longer : sim_lag(test, node, edge);
        add_longer(teller, member,
                   step_of(test->trace->members[member].steps, test->row[node]), longer);
    }
}

/* True if, on some rank, a cause's durations change by a tenth of its difference (E9.10). */
static bool is_told(struct teller *teller, size_t number)
{
    const struct undo_told_request *request = teller->request;
    const struct undo_items *items = request->items;
    const struct causes *causes = request->causes;
    size_t ranks = request->test->trace->rank_count;
    wide_time windows = (wide_time)causes->windows[0] * causes->windows[1];
    wide_time diff = causes->items[number].diff * (wide_time)request->steps;
    if (!is_of_work(&causes->items[number]) || windows == 0)
        return true;
    memset(teller->longer, 0, ranks * sizeof *teller->longer);
    for (size_t i = items->first[number]; i < items->first[number + 1]; i++) {
        uint32_t item = items->owners[i].item;
        if (teller->seen[item] != number + 1)
            add_shift(teller, &items->items[item]);
        teller->seen[item] = (uint32_t)number + 1;
    }
    for (size_t rank = 0; rank < ranks; rank++) {
        wide_time longer = 10 * windows * teller->longer[rank];
        if (diff < 0 ? longer <= diff : longer >= diff)
            return true;
    }
    return false;
}

bool *undo_told_find(const struct undo_told_request *request, struct failure *failure)
{
    const struct undo_ghosts *ghosts = request->ghosts;
    struct teller teller = {.request = request};
    bool *told = memory_zeroed(request->causes->count + 1, sizeof *told);
    teller.ghost_of = memory_zeroed(ghosts->count + 1, sizeof *teller.ghost_of);
    teller.seen = memory_zeroed(request->items->count + 1, sizeof *teller.seen);
    teller.longer = memory_zeroed(request->test->trace->rank_count + 1, sizeof *teller.longer);
    bool done =
        (told && teller.ghost_of && teller.seen && teller.longer) || failure_memory(failure);
    for (size_t i = 0; done && i < ghosts->count; i++)
        teller.ghost_of[ghosts->of[i].index] = (uint32_t)i;
    for (size_t i = 0; done && i < request->causes->count; i++) {
        told[i] = is_told(&teller, i);
        done = stopper_ask(request->stopper, failure);
    }
    memory_free(teller.ghost_of);
    memory_free(teller.seen);
    memory_free(teller.longer);
    if (done)
        return told;
    memory_free(told);
    return NULL;
}
