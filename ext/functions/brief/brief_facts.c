#include "brief_facts.h"

#include <string.h>

#include "functions/facts/work_sums.h"
#include "text/ascii.h"

/* Whether a value is a number other than 0, or a text that begins with one. */
static bool is_on(const struct checks *checks, const struct check_value *value)
{
    const char *text =
        value->kind == VALUE_TEXT ? checks->texts.items[value->text].text : "";
    return (value->kind == VALUE_INTEGER && value->integer != 0) ||
           (value->kind == VALUE_REAL && value->real != 0) || (*text >= '1' && *text <= '9');
}

static bool is_option(const struct checks *checks, const struct check *check, const char *option)
{
    return check->code == CHECK_OPTION &&
           strcmp(checks->texts.items[check->item].text, option) == 0;
}

/* Summarizes the checks of both traces. */
static void look_at_checks(const struct checks *checks, struct brief_facts *facts)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->items[i];
        bool both = is_on(checks, &check->values[0]) && is_on(checks, &check->values[1]);
        facts->matter += check->matters == MATTERS_YES;
        facts->may_matter += check->matters == MATTERS_MAYBE;
        if (check->code == CHECK_SHAPES || check->code == CHECK_OPERATOR_SHAPES ||
            (is_option(checks, check, "record_shapes") && both))
            facts->has_shapes = true;
        if ((check->code == CHECK_MODULES || is_option(checks, check, "with_stack")) && both)
            facts->has_stacks = true;
        for (int side = 0; side < 2 && check->code == CHECK_RECORDED; side++)
            if (check->values[side].kind != VALUE_NONE &&
                checks->sides[side].recorded != checks->sides[side].world)
                facts->lacks_ranks = true;
    }
}

bool brief_facts_find(struct answer *answer, bool all, struct brief_facts *facts)
{
    const struct call_pair *pair = &answer->facts.pair;
    const struct pair_side *sides = pair->pair.sides;
    bool both = sides[0].count > 0 && sides[1].count > 0;
    *facts = (struct brief_facts){.of = &answer->facts};
    if (all && (pair->iterations[0] || pair->iterations[1])) {
        facts->asked = (struct answer_facts){.call = answer->facts.call,
                                             .pair = *pair,
                                             .trust = answer->facts.trust,
                                             .wants_work = true};
        facts->asked.pair.iterations[0] = facts->asked.pair.iterations[1] = NULL;
        facts->of = &facts->asked;
    }
    for (int side = 0; both && side < 2; side++)
        facts->silent[side] = (double)sides[side].all_silent / (double)sides[side].all_windows /
                              1e6 / sides[side].mean;
    if (!facts_checks(facts->of) ||
        (pair->pair.strata_count == 1 && both && !facts_work(facts->of)))
        return false;
    look_at_checks(&facts->of->checks, facts);
    return true;
}

bool brief_device_find(struct brief_facts *facts, int key,
                       const struct name *name, struct evidence *evidence, bool *found)
{
    const struct device_wish wish = {.work = true};
    struct answer_facts *of = facts->of;
    struct device_work work = {.sums = of->device, .count = of->unit_count};
    if (!of->device && !facts->own) {
        if (!device_sums_find(of->call, of->each, &wish, &facts->device))
            return false;
        facts->own = &facts->device;
    }
    if (facts->own)
        work = (struct device_work){.sums = &facts->own, .count = 1};
    for (int side = 0; side < 2; side++)
        work.steps[side] = of->each[side].steps.steps;
    return device_evidence_find(of->call, &work, key, name, evidence, found);
}

void brief_facts_close(struct brief_facts *facts)
{
    keyed_clear(&facts->device);
    if (facts->of != &facts->asked)
        return;
    facts->asked.pair = (struct call_pair){.open = false}; /* the answer owns and closes it */
    facts_close(&facts->asked);
}
