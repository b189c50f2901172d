#include "own_ranks.h"

#include <math.h>

#include "analysis/job/job_clocks.h"
#include "base/memory.h"

/* The steps of ranks that both sides have. */
struct rank_pairs {
    int64_t *ranks; /* ascending */
    struct pair *pairs;
    size_t count;
};

static bool is_chosen(const struct trace *trace, int64_t rank)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].rank == rank)
            return true;
    return false;
}

static bool list_ranks(struct call *call, const struct call_trace *opened, struct rank_pairs *of)
{
    const struct trace *control = &opened[0].trace;
    of->ranks = memory_items(control->rank_count, sizeof *of->ranks);
    of->pairs = memory_zeroed(control->rank_count, sizeof *of->pairs);
    if (!of->ranks || !of->pairs)
        return failure_memory(&call->failure);
    for (size_t i = 0; i < control->rank_count; i++)
        if (is_chosen(control, control->ranks[i]) && is_chosen(&opened[1].trace, control->ranks[i]))
            of->ranks[of->count++] = control->ranks[i];
    return true;
}

/* Returns the priority of a rank. The largest priority is chosen; ties: by difference. */
static int weight_of(const struct pair *pair, const struct pair_verdict *verdict,
                     const struct gate_limits *limits)
{
    static const int weights[] = {[GATE_PASS] = 0, [GATE_NOT_KNOWN] = 1, [GATE_FAIL] = 2};
    enum judged judged = verdict_is_clear(verdict) ? JUDGED_CLEAR : JUDGED_UNCLEAR;
    if (!limits)
        return verdict_is_clear(verdict);
    return weights[gate_decide(pair, verdict, judged, false, limits).outcome];
}

static bool choose(struct call *call, const struct rank_pairs *of,
                   const struct gate_limits *limits, struct own_ranks *own)
{
    int most = -1;
    double largest = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct pair *pair = &of->pairs[i];
        struct pair_verdict verdict;
        bool same = pair_is_equal(pair);
        if (!verdict_find(&verdict, pair, same, call_stopper(call), &call->failure))
            return false;
        int weight = weight_of(pair, &verdict, limits);
        double diff = limits ? pair_diff(pair) : fabs(pair_diff(pair));
        own->slower += verdict.is == VERDICT_SLOWER;
        own->faster += verdict.is == VERDICT_FASTER;
        own->equal += verdict.is == VERDICT_SAME;
        if (weight > most || (weight == most && diff > largest)) {
            most = weight;
            largest = diff;
            own->rank = of->ranks[i];
        }
    }
    own->count = (int64_t)of->count;
    own->there = of->count > 0;
    return true;
}

bool own_ranks_find(struct call *call, const struct selection *each, enum step_clock clock,
                    const struct gate_limits *limits, struct own_ranks *own)
{
    const struct call_sides_request request = {.ranks = {&each[0], &each[1]}, .quoted = true};
    struct call_trace opened[2];
    struct rank_pairs of = {.count = 0};
    int64_t ranks, untied = 0;
    *own = (struct own_ranks){.there = false};
    if (!call_sides_open_as(call, &request, opened))
        return false;
    bool done = true;
    for (int side = 0; done && untied == 0 && side < 2; side++)
        done = job_untied(&opened[side].trace, clock == CLOCK_DEVICE, &ranks, &untied,
                          call_stopper(call), &call->failure);
    if (done && untied > 0)
        done = list_ranks(call, opened, &of) &&
               pair_steps_add(call, opened, clock, of.pairs, of.ranks, of.count) &&
               choose(call, &of, limits, own);
    for (size_t i = 0; i < of.count; i++)
        pair_clear(&of.pairs[i]);
    memory_free(of.ranks);
    memory_free(of.pairs);
    for (int side = 0; side < 2; side++)
        call_trace_close(&opened[side]);
    return done;
}
