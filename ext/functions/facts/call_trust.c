#include "call_trust.h"

#include <string.h>

#include "analysis/health/trace_findings.h"
#include "base/memory.h"
#include "functions/call/call_keyed.h"
#include "naming/short_name.h"

/* Whether the means of both sides are so far apart that a time unit may be wrong (I15.2). */
static bool may_be_unit(const double means[2])
{
    enum { LEAST = 100 };
    return means[0] > 0 && means[1] > 0 &&
           (means[0] >= LEAST * means[1] || means[1] >= LEAST * means[0]);
}

/* Finds the factor between the units of both sides, from mean durations of common names; 0: none,
** or there are no common names. */
static bool find_unit_of(struct call *call, const struct call_trace *opened,
                         enum device_type device_type, int64_t *unit, size_t *common)
{
    bool device = device_type == DEVICE_GPU;
    struct keyed sums = {.keys = {device ? KEY_KERNEL : KEY_NAME, KEY_CAT},
                         .width = 2,
                         .rename = name_stable};
    bool done = call_keyed_add(call, opened, device_type, false, &sums);
    uint32_t operators = names_find(&sums.names, "cpu_op", strlen("cpu_op"));
    double *ratios = done ? memory_items(sums.count, sizeof *ratios) : NULL;
    *common = 0;
    for (size_t row = 0; ratios && row < sums.count; row++) {
        const struct keyed_sums *control = &sums.sums[row][0], *test = &sums.sums[row][1];
        double c = (double)(device ? control->device_time : control->host_time);
        double t = (double)(device ? test->device_time : test->host_time);
        double c_events = (double)(device ? control->kernels : control->events);
        double t_events = (double)(device ? test->kernels : test->events);
        if (c > 0 && t > 0 && (device || sums.ids[2 * row + 1] == operators))
            ratios[(*common)++] = t / t_events / (c / c_events);
    }
    *unit = ratios ? trust_unit(ratios, *common) : 0;
    memory_free(ratios);
    keyed_clear(&sums);
    return done && (ratios || failure_memory(&call->failure));
}

/* I15.2 */
static bool find_unit(struct call *call, const struct call_trace *opened, struct trust *trust)
{
    int64_t device, host;
    size_t kernels, operators;
    if (!find_unit_of(call, opened, DEVICE_GPU, &device, &kernels) ||
        !find_unit_of(call, opened, DEVICE_CPU, &host, &operators))
        return false;
    int64_t unit = kernels >= UNIT_LEAST ? device : host;
    if (unit != 0 && (operators < UNIT_LEAST || host == unit))
        trust->items[trust->count++] = (struct trust_item){.code = TRUST_UNIT,
                                                           .side = unit > 0,
                                                           .decides = true,
                                                           .times = unit > 0 ? unit : -unit};
    return true;
}

/* Adds the findings in the files of a side, and whether the files have device work. */
static bool add_side(struct call *call, const struct call_trace *opened, int side, bool of_host,
                     struct trust *trust, bool *works)
{
    const struct trace *trace = &opened->trace;
    struct trace_findings notes = {.count = 0};
    struct health health;
    *works = false;
    if (!trace_notes_find(&notes, trace, &call->failure))
        return false;
    for (size_t i = 0; i < notes.count; i++) {
        health = (struct health){.items = {notes.items[i].finding}, .count = 1};
        trust_add(trust, side, notes.items[i].rank, &health, of_host);
    }
    trace_findings_clear(&notes);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        const struct columns *columns = &member->file->columns;
        if (!member->chosen)
            continue;
        if (!health_find(&health, member, call_trace_steps(opened, i), call_stopper(call),
                         &call->failure))
            return false;
        trust_add(trust, side, member->rank, &health, of_host);
        *works = *works || columns_find(columns, 0, KIND_WORK) < columns->count;
    }
    return true;
}

bool call_trust_find(struct call *call, const struct call_trace *opened, enum step_clock clock,
                     const double means[2], struct trust *trust)
{
    bool of_host = clock == CLOCK_HOST, works[2], one_rank[2];
    *trust = (struct trust){.count = 0};
    for (int side = 0; side < 2; side++) {
        if (!add_side(call, &opened[side], side, of_host, trust, &works[side]))
            return false;
        one_rank[side] = opened[side].trace.rank_count <= 1;
    }
    if (works[0] != works[1])
        trust->items[trust->count++] =
            (struct trust_item){.code = TRUST_ONE_SIDE, .side = works[0], .decides = !of_host};
    if (may_be_unit(means) && !find_unit(call, opened, trust))
        return false;
    trust_finish(trust, one_rank);
    return true;
}
