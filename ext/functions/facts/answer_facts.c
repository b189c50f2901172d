#include "answer_facts.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "call_work.h"
#include "text/ascii.h"
#include "work_sums.h"

bool name_is_loader(const struct name *name)
{
    return name && begins(name->text, name->text + name->length, "enumerate(DataLoader)");
}

/* Opens both sides with the kept steps. */
static bool open_sides(struct answer_facts *facts, const struct selection *control,
                       const struct selection *test, struct call_trace *opened, bool *open)
{
    const struct call_sides_request request = {
        .ranks = {control, test},
        .iterations = {facts->pair.iterations[0], facts->pair.iterations[1]}};
    *open = *open || call_sides_open_as(facts->call, &request, opened);
    return *open;
}

bool facts_kept(struct answer_facts *facts)
{
    const struct selection *ranks = facts->pair.ranks.chosen;
    return open_sides(facts, &ranks[0], &ranks[1], facts->kept, &facts->has_kept);
}

bool facts_each(struct answer_facts *facts)
{
    const struct selection *ranks = facts->pair.ranks.each;
    return open_sides(facts, &ranks[0], &ranks[1], facts->each, &facts->has_each);
}

/* Whether a rank of a side is compared. */
static bool has_rank(const struct answer_facts *facts, int side, int64_t rank)
{
    const struct selection *each = &facts->pair.ranks.each[side];
    const struct trace *trace = &facts->each[side].trace;
    return each->kind == SELECT_ALL ? has_integer(trace->ranks, trace->rank_count, rank)
                                    : has_integer(each->values, each->count, rank);
}

/* Counts the compared ranks of a side. */
static size_t rank_count(const struct answer_facts *facts, int side)
{
    const struct selection *each = &facts->pair.ranks.each[side];
    return each->kind == SELECT_ALL ? facts->each[side].trace.rank_count : each->count;
}

/* Lists the units, whose steps are compared separately. */
static bool list_units(struct answer_facts *facts)
{
    const struct trace *control = &facts->each[0].trace;
    size_t most = facts->pair.is_job ? control->rank_count : 1;
    facts->units = memory_zeroed(most, sizeof *facts->units);
    if (!facts->units)
        return failure_memory(&facts->call->failure);
    if (!facts->pair.is_job)
        facts->units[facts->unit_count++].rank = NUMBER_NONE;
    for (size_t i = 0; facts->pair.is_job && i < most; i++)
        if (has_rank(facts, 0, control->ranks[i]) && has_rank(facts, 1, control->ranks[i]))
            facts->units[facts->unit_count++].rank = control->ranks[i];
    return true;
}

/* Opens a rank of a job, whose files are open already. */
static bool open_rank(struct answer_facts *facts, struct answer_unit *unit)
{
    bool done = true;
    for (int side = 0; side < 2 && done; side++)
        done = call_trace_of_rank(facts->call, &facts->each[side], side, unit->rank,
                                  facts->pair.iterations[side], &unit->opened[side]);
    unit->open = true;
    return done;
}

static bool facts_units(struct answer_facts *facts)
{
    const struct selection *each = facts->pair.ranks.each;
    bool done = facts->has_units || (facts_each(facts) && list_units(facts));
    for (size_t i = 0; done && !facts->has_units && i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        done = facts->pair.is_job
                   ? open_rank(facts, unit)
                   : open_sides(facts, &each[0], &each[1], unit->opened, &unit->open);
    }
    facts->has_units = done;
    return done;
}

bool facts_differ(const struct answer_facts *facts)
{
    const struct pair *pair = &facts->pair.pair;
    return fabs(pair_diff(pair)) >= CLEAR_PART * pair->sides[0].mean;
}

bool facts_may_have_clock(const struct answer_facts *facts, const struct checks *checks)
{
    const struct pair_side *sides = facts->pair.pair.sides;
    for (size_t i = 0; i < checks->count; i++)
        if (checks->items[i].code == CHECK_DEVICE && checks->items[i].matters == MATTERS_YES)
            return false;
    return facts_differ(facts) && facts->pair.clock == CLOCK_DEVICE && !sides[0].of_host &&
           !sides[1].of_host;
}

bool facts_clock(struct answer_facts *facts, struct answer_unit *unit)
{
    unit->has_clock = unit->has_clock ||
                      call_clock_factor_find(facts->call, unit->opened,
                                             unit->has_device ? &unit->device : NULL, &unit->clock);
    return unit->has_clock;
}

bool facts_host(struct answer_facts *facts, struct answer_unit *unit)
{
    unit->has_host =
        unit->has_host || call_host_factor_find(facts->call, unit->opened, NULL, &unit->host);
    return unit->has_host;
}

bool facts_causes(struct answer_facts *facts)
{
    const struct call_causes_request request = {
        .clock = facts->pair.clock,
        .iterations = {facts->pair.iterations[0], facts->pair.iterations[1]}};
    facts->has_causes =
        facts->has_causes ||
        (facts_kept(facts) && call_causes_find(facts->call, &request, facts->kept, &facts->causes));
    return facts->has_causes;
}

bool facts_work(struct answer_facts *facts)
{
    facts->has_work = facts->has_work ||
                      (facts_each(facts) && call_work_find(facts->call, facts->each, &facts->work));
    return facts->has_work;
}

bool facts_sums(struct answer_facts *facts)
{
    facts->has_sums = facts->has_sums || (facts_each(facts) &&
                                          host_sums_find(facts->call, facts->each, &facts->sums));
    return facts->has_sums;
}

static const struct keyed *give_host(void *from)
{
    struct answer_facts *facts = from;
    return facts_sums(facts) ? &facts->sums : NULL;
}

bool facts_device(struct answer_facts *facts, struct answer_unit *unit)
{
    const struct device_wish wish = {.runs = facts->wants_runs, .work = facts->wants_work};
    unit->has_device = unit->has_device ||
                       device_sums_find(facts->call, unit->opened, &wish, &unit->device);
    return unit->has_device;
}

/* Finds the device work of all units, with launch grids only if there may be a clock factor. */
static bool give_device(void *from, const struct checks *checks, const struct keyed *const **sums,
                        size_t *count)
{
    struct answer_facts *facts = from;
    const struct device_wish wish = {.grids = facts_may_have_clock(facts, checks),
                                     .runs = facts->wants_runs,
                                     .work = facts->wants_work};
    facts->device = memory_items(facts->unit_count, sizeof *facts->device);
    bool done = facts->device || failure_memory(&facts->call->failure);
    for (size_t i = 0; done && i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        done = unit->has_device = device_sums_find(facts->call, unit->opened, &wish, &unit->device);
        facts->device[i] = &unit->device;
    }
    *sums = facts->device;
    *count = facts->unit_count;
    return done;
}

bool facts_checks(struct answer_facts *facts)
{
    if (facts->has_checks)
        return true;
    if (!facts_units(facts))
        return false;
    bool all = !facts->pair.is_job || (facts->unit_count == rank_count(facts, 0) &&
                                       facts->unit_count == rank_count(facts, 1));
    const struct checks_request request = {.opened = facts->each,
                                           .clock = facts->pair.clock,
                                           .trust = &facts->trust,
                                           .shapes = true,
                                           .device = all ? give_device : NULL,
                                           .host = give_host,
                                           .from = facts};
    return facts->has_checks = call_checks_find(facts->call, &request, &facts->checks);
}

void facts_forget_device(struct answer_facts *facts)
{
    for (size_t i = 0; i < facts->unit_count; i++) {
        keyed_clear(&facts->units[i].device);
        facts->units[i].has_device = false;
    }
}

/* Whether waits, gaps and calls make half of the difference (C7). */
static bool find_waiting(struct answer_facts *facts)
{
    wide_time waits = 0;
    if (!facts_causes(facts))
        return false;
    const struct causes *causes = &facts->causes.causes;
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        const struct name *name =
            cause->name == NAME_NONE ? NULL : &causes->names.items[cause->name];
        if (cause->kind == CAUSE_NOT_RECORDED || cause->step_class == CLASS_CALL ||
            name_is_loader(name))
            waits += cause->diff;
    }
    facts->load.is_waiting = (double)waits / (double)causes->windows[0] /
                                 (double)causes->windows[1] / 1e6 / pair_diff(&facts->pair.pair) >=
                             LOAD_WAITS;
    return true;
}

/* Whether work changed: operators run more or less often, or take longer than load explains. */
static bool find_other_work(struct answer_facts *facts)
{
    bool done = facts_work(facts);
    facts->load.other_work = done && facts->work.count > 0;
    for (size_t i = 0; done && i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        done = facts_host(facts, unit);
        facts->load.other_work =
            facts->load.other_work ||
            (done && unit->host.outcome != FACTOR_NOTHING &&
             unit->host.beyond / 1000 / pair_diff(&facts->pair.pair) >= LOAD_BEYOND);
    }
    return done;
}

const struct common_factor *facts_load(const struct answer_facts *facts)
{
    return facts->pair.is_job ? &facts->host : &facts->units[0].host;
}

/* C7 */
static bool find_load(struct answer_facts *facts)
{
    const struct pair_side *sides = facts->pair.pair.sides;
    const struct common_factor *host;
    if (!sides[0].of_host || !sides[1].of_host || facts->pair.verdict.is <= VERDICT_SAME)
        return true;
    if (!facts_units(facts))
        return false;
    if (facts->pair.is_job ? !call_host_factor_find(facts->call, facts->each, NULL, &facts->host)
                           : !facts_host(facts, &facts->units[0]))
        return false;
    host = facts_load(facts);
    facts->load.there = host->outcome == FACTOR_ONE || host->outcome == FACTOR_DIFFERS;
    facts->load.one_factor = host->outcome == FACTOR_ONE;
    facts->load.ms = host->whole.explained / 1000;
    facts->load.low = host->low;
    facts->load.high = host->high;
    return !facts->load.there || facts->pair.verdict.is == VERDICT_UNCLEAR ||
           (find_waiting(facts) && find_other_work(facts));
}

static void close_sides(struct call_trace *opened, bool open)
{
    for (int side = 0; open && side < 2; side++)
        call_trace_close(&opened[side]);
}

/* Finds the findings about the compared ranks, even if each rank is compared with itself. */
static bool find_trust(struct answer_facts *facts)
{
    const struct compared_ranks *ranks = &facts->pair.ranks;
    const struct pair_side *sides = facts->pair.pair.sides;
    const double means[] = {sides[0].mean, sides[1].mean};
    struct call_trace opened[2];
    bool open = false;
    bool done = ranks->own.there
                    ? open_sides(facts, &ranks->of_own[0], &ranks->of_own[1], opened, &open)
                    : facts_each(facts);
    done = done && call_trust_find(facts->call, open ? opened : facts->each, facts->pair.clock,
                                   means, &facts->trust);
    close_sides(opened, open);
    return done;
}

bool facts_open(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                struct answer_facts *facts)
{
    *facts = (struct answer_facts){.call = call};
    if (!call_pair_open(call, clock, limits, &facts->pair))
        return false;
    bool empty = facts->pair.verdict.is == VERDICT_NOTHING;
    if (!empty && !find_trust(facts))
        return false;
    bool trusted = !trust_decides(&facts->trust); /* C24 */
    if (trusted && !find_load(facts))
        return false;
    facts->judged = trusted ? judge(&facts->pair.pair, &facts->pair.verdict, &facts->load)
                            : JUDGED_CANNOT;
    return true;
}

bool facts_compile(struct answer_facts *facts, int first_log)
{
    bool done = true;
    if (facts->has_compile)
        return true;
    facts->has_compile = true;
    for (int side = 0; done && side < 2; side++)
        done = compile_join_find(facts->call, &facts->pair.asked[side],
                                 first_log < 0 ? -1 : first_log + side, &facts->compile[side]);
    const struct compile_log *const logs[] = {&facts->compile[0].log, &facts->compile[1].log};
    const bool *const used[] = {facts->compile[0].used, facts->compile[1].used};
    return done && compile_changes_find(&facts->compile_changes, logs, used,
                                        call_stopper(facts->call), &facts->call->failure);
}

void facts_close(struct answer_facts *facts)
{
    facts_forget_device(facts);
    for (size_t i = 0; i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        if (unit->has_clock)
            common_factor_clear(&unit->clock);
        if (unit->has_host)
            common_factor_clear(&unit->host);
        close_sides(unit->opened, unit->open);
    }
    memory_free(facts->units);
    memory_free(facts->device);
    keyed_clear(&facts->sums);
    if (facts->has_checks)
        checks_clear(&facts->checks);
    if (facts->has_work)
        run_changes_clear(&facts->work);
    call_causes_close(&facts->causes);
    if (facts->has_compile)
        compile_changes_clear(&facts->compile_changes);
    for (int side = 0; facts->has_compile && side < 2; side++)
        compile_join_clear(&facts->compile[side]);
    close_sides(facts->kept, facts->has_kept);
    close_sides(facts->each, facts->has_each);
    call_pair_close(&facts->pair);
    *facts = (struct answer_facts){.call = NULL};
}
