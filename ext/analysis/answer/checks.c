#include "checks.h"

#include <math.h>

#include "base/integers.h"
#include "pair.h"
#include "text/ascii.h"
#include "thresholds.h"

struct check_value check_integer(int64_t value)
{
    return (struct check_value){.kind = value == NUMBER_NONE ? VALUE_NONE : VALUE_INTEGER,
                                .integer = value};
}

struct check_value check_in_words(int64_t value)
{
    return (struct check_value){.kind = VALUE_IN_WORDS, .integer = value};
}

struct check_value check_text(uint32_t text)
{
    return (struct check_value){.kind = text == NAME_NONE ? VALUE_NONE : VALUE_TEXT, .text = text};
}

/* SQLite's order of values: numbers before texts. */
static int value_order(const struct names *texts, const struct check_value *a,
                       const struct check_value *b)
{
    if ((a->kind == VALUE_TEXT) != (b->kind == VALUE_TEXT))
        return a->kind == VALUE_TEXT ? 1 : -1;
    if (a->kind == VALUE_TEXT)
        return name_compare(&texts->items[a->text], &texts->items[b->text]);
    if (a->kind != VALUE_REAL && b->kind != VALUE_REAL)
        return COMPARE(a->integer, b->integer);
    return COMPARE(a->kind == VALUE_REAL ? a->real : (double)a->integer,
                   b->kind == VALUE_REAL ? b->real : (double)b->integer);
}

struct check *check_add(struct checks *checks, enum check_code code, enum matters matters,
                        struct check_value control, struct check_value test)
{
    bool some = control.kind != VALUE_NONE || test.kind != VALUE_NONE;
    bool both = control.kind != VALUE_NONE && test.kind != VALUE_NONE;
    if (!some)
        return &checks->dropped;
    if (!MEMORY_GROW(checks->items, checks->capacity, checks->count + 1)) {
        checks->failed = true;
        return &checks->dropped;
    }
    struct check *check = &checks->items[checks->count++];
    *check = (struct check){.code = code, .matters = matters, .item = NAME_NONE,
                            .values = {control, test}};
    check->same = both ? value_order(&checks->texts, &control, &test) == 0 : -1;
    return check;
}

/* J2.4: finds the ratio of the longest step to the median, and whether it is long. Overwrites
** `times`. */
static void find_longest(struct check_side *side, double *times, size_t count)
{
    double median = median_of(times, count), longest = times[count - 1];
    side->longest = median > 0 ? longest / median : 0;
    for (size_t i = 0; i < count; i++)
        times[i] = fabs(times[i] - median);
    double deviation = median_of(times, count);
    side->is_long = longest > LONG_STEP_RATIO * median &&
                    (side->numbers < LONG_STEP_OF ||
                     longest - median > LONG_STEP_DEVIATIONS * deviation);
}

bool check_steps_add(struct check_side *side, const struct check_step *steps, size_t count,
                     struct failure *failure)
{
    double *times = memory_items(count, sizeof *times);
    int64_t *numbers = memory_items(count, sizeof *numbers);
    bool done = (times && numbers) || failure_memory(failure);
    side->steps = count > 0 ? 0 : NUMBER_NONE;
    for (size_t i = 0; done && i < count; i++) {
        times[i] = quotient(steps[i].time, 1);
        if (steps[i].iteration != NUMBER_NONE)
            numbers[side->steps++] = steps[i].iteration;
        side->ranks += i == 0 || steps[i].rank != steps[i - 1].rank;
        side->mean += times[i] / (double)count;
    }
    if (done && count > 0) {
        side->rank = steps[0].rank;
        side->last_rank = steps[count - 1].rank;
        side->numbers = (int64_t)sort_integers(numbers, (size_t)side->steps);
        side->first = side->numbers > 0 ? numbers[0] : NUMBER_NONE;
        side->last = side->numbers > 0 ? numbers[side->numbers - 1] : NUMBER_NONE;
        find_longest(side, times, count);
    }
    memory_free(times);
    memory_free(numbers);
    return done;
}

/* Adds the compared ranks, and the number of recorded ranks. */
static void add_ranks(struct checks *checks, const struct check_side *c, const struct check_side *t)
{
    bool known = c->world != NUMBER_NONE && t->world != NUMBER_NONE;
    bool moved = c->rank != t->rank || c->last_rank - c->rank != t->last_rank - t->rank;
    bool other = c->ranks != t->ranks || (known && c->world != t->world);
    struct check *check =
        check_add(checks, CHECK_RANKS,
                  other || (c->ranks == 1 && moved)      ? MATTERS_YES
                  : c->world != t->world || moved ? MATTERS_MAYBE
                                                  : MATTERS_NO,
                  check_in_words(c->world), check_in_words(t->world));
    check->same = check->same && c->ranks == t->ranks && !moved;
    bool missing[2], alone = c->ranks == 1 && t->ranks == 1 && c->rank != t->rank;
    struct check_value values[2];
    for (int side = 0; side < 2; side++) {
        const struct check_side *of = &checks->sides[side];
        missing[side] = of->world != NUMBER_NONE && of->recorded < of->world;
        values[side] = of->world == NUMBER_NONE ? check_integer(NUMBER_NONE)
                                                : check_in_words(of->recorded);
    }
    bool any = missing[0] || missing[1];
    check = check_add(checks, CHECK_RECORDED,
                      any && known && c->world == t->world && !alone ? MATTERS_YES
                      : any                                          ? MATTERS_MAYBE
                                                                     : MATTERS_NO,
                      values[0], values[1]);
    check->same = check->same > 0 ? c->world == t->world : check->same;
}

/* Adds a check of one side. */
static void add_of_side(struct checks *checks, enum check_code code, int side,
                        struct check_value value)
{
    const struct check_value none = check_integer(NUMBER_NONE);
    check_add(checks, code, MATTERS_YES, side ? none : value, side ? value : none)->side = side;
}

static bool is_few(const struct check_side *side)
{
    return side->numbers > 0 && side->numbers < FEW_STEPS;
}

static void add_steps(struct checks *checks, const struct check_side *c, const struct check_side *t)
{
    bool one_stratum = checks->strata.count == 1;
    if (is_few(c) && is_few(t))
        check_add(checks, CHECK_FEW_STEPS, MATTERS_YES, check_integer(c->numbers),
                  check_integer(t->numbers));
    else if (is_few(c) || is_few(t))
        add_of_side(checks, CHECK_FEW_STEPS, is_few(t),
                    check_integer(is_few(t) ? t->numbers : c->numbers));
    struct check *check =
        check_add(checks, CHECK_CHOSEN, MATTERS_NO,
                  c->numbers > 0 ? check_in_words(c->first) : check_integer(NUMBER_NONE),
                  t->numbers > 0 ? check_in_words(t->first) : check_integer(NUMBER_NONE));
    check->same = check->same > 0 ? c->last == t->last : check->same;
    for (int side = 0; side < 2; side++) {
        const struct check_side *of = &checks->sides[side];
        double longest = (double)(int64_t)(1000 * of->longest + 0.5) / 1000;
        if (of->is_long && of->longest > 0 && of->steps >= FEW_STEPS && one_stratum)
            add_of_side(checks, CHECK_LONG_STEP, side,
                        (struct check_value){.kind = VALUE_REAL, .real = longest});
    }
}

/* C21.4: returns the first calls that matter, whose times differ most, or FIRST_KINDS for none. */
static int first_calls_that_matter(const struct check_side *sides)
{
    double most = fmax(FIRST_CALLS_PART * fabs(sides[1].mean - sides[0].mean),
                       FIRST_CALLS_OF_STEP * fmax(sides[0].mean, sides[1].mean));
    int found = FIRST_KINDS;
    for (int kind = 0; kind < FIRST_KINDS; kind++) {
        double of_step[2];
        for (int side = 0; side < 2; side++)
            of_step[side] = quotient(sides[side].first_calls.time[kind], sides[side].windows);
        double differ = fabs(of_step[1] - of_step[0]);
        if (differ > 0 && differ >= most) {
            found = kind;
            most = differ;
        }
    }
    return found;
}

static void add_first_calls(struct checks *checks)
{
    const struct first_calls *of[2] = {&checks->sides[0].first_calls,
                                       &checks->sides[1].first_calls};
    int matters = first_calls_that_matter(checks->sides);
    for (int kind = 0; kind < FIRST_KINDS; kind++) {
        struct check_value us[2];
        if (of[0]->calls[kind] == 0 && of[1]->calls[kind] == 0)
            continue;
        for (int side = 0; side < 2; side++)
            us[side] = (struct check_value){.kind = VALUE_REAL,
                                            .real = quotient(of[side]->time[kind], 1000)};
        struct check *check =
            check_add(checks, (enum check_code)(CHECK_FIRST_CALLS + kind),
                      kind == matters ? MATTERS_YES : MATTERS_MAYBE, us[0], us[1]);
        check->calls[0] = of[0]->calls[kind];
        check->calls[1] = of[1]->calls[kind];
    }
}

/* Adds the checks that need events on both sides. */
static void add_pair(struct checks *checks)
{
    const struct check_side *c = &checks->sides[0], *t = &checks->sides[1];
    struct check *check =
        check_add(checks, CHECK_WORK, MATTERS_NO,
                  check_integer(c->of_host == NUMBER_NONE ? NUMBER_NONE : !c->of_host),
                  check_integer(t->of_host == NUMBER_NONE ? NUMBER_NONE : !t->of_host));
    check->matters = check->same == 0 ? MATTERS_YES : MATTERS_NO;
    add_ranks(checks, c, t);
    add_steps(checks, c, t);
    add_first_calls(checks);
    for (int side = 0; side < 2; side++)
        if (checks->sides[side].bad > 0)
            add_of_side(checks, CHECK_PROBLEMS, side, check_integer(checks->sides[side].bad));
    if (c->bad == 0 && t->bad == 0)
        check_add(checks, CHECK_PROBLEMS, MATTERS_NO, check_integer(0), check_integer(0));
    check_add(checks, CHECK_MODULES, c->of_modules != t->of_modules ? MATTERS_YES : MATTERS_NO,
              check_integer(c->of_modules), check_integer(t->of_modules));
}

const struct check *checks_worst_finding(const struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        if (checks->items[i].code <= CHECK_HEALTH && checks->items[i].matters == MATTERS_YES)
            return &checks->items[i];
    return NULL;
}

bool check_slows_host(const struct checks *checks, const struct check *check)
{
    if (check->code != CHECK_OPTION)
        return false;
    const struct name *option = &checks->texts.items[check->item];
    return text_is(option->text, option->length, "with_stack") ||
           text_is(option->text, option->length, "profile_memory");
}

/* Sets whether a check of the files' metadata matters. Its values must be set. */
static void judge_told(const struct checks *checks, struct check *check)
{
    enum check_code code = check->code;
    bool hard = code == CHECK_DEVICE || code == CHECK_PROFILER || check_slows_host(checks, check);
    check->matters = check->same > 0                      ? MATTERS_NO
                     : check->same == 0 && hard           ? MATTERS_YES
                     : code == CHECK_DEVICES              ? MATTERS_NO
                                                          : MATTERS_MAYBE;
}

static int told_order(const void *a, const void *b)
{
    const struct check_told *x = a, *y = b;
    int order = COMPARE(x->code, y->code);
    if (order == 0 && x->item != y->item)
        order = name_compare(&x->texts->items[x->item], &y->texts->items[y->item]);
    order = order ? order : COMPARE(x->side, y->side);
    return order ? order : value_order(x->texts, &x->value, &y->value);
}

/* Adds a check of the files' metadata; `values` are the lowest of each side. */
static void add_said(struct checks *checks, const struct check_told *told,
                     const struct check_value *values, const struct check_value *highest)
{
    struct check *check = check_add(checks, told->code, MATTERS_NO, values[0], values[1]);
    check->item = told->item;
    if (check->same > 0)
        check->same = value_order(&checks->texts, &highest[0], &highest[1]) == 0;
    for (int side = 0; side < 2; side++)
        if (value_order(&checks->texts, &values[side], &highest[side]) != 0)
            check->highest[side] = highest[side];
    judge_told(checks, check);
}

static bool add_told(struct checks *checks, struct check_told *told, size_t count,
                     const struct stopper *stopper, struct failure *failure)
{
    if (!sort_items(told, count, sizeof *told, told_order, stopper, failure))
        return false;
    for (size_t i = 0, first; i < count;) {
        const struct check_value none = check_integer(NUMBER_NONE);
        struct check_value lowest[2] = {none, none}, highest[2] = {none, none};
        for (first = i; i < count && told[i].code == told[first].code; i++) {
            int side = told[i].side;
            if (told[i].item != told[first].item)
                break;
            lowest[side] = lowest[side].kind == VALUE_NONE ? told[i].value : lowest[side];
            highest[side] = told[i].value;
        }
        add_said(checks, &told[first], lowest, highest);
    }
    return true;
}

int64_t check_phase_percent(const struct checks *checks, size_t phase, int side)
{
    wide_time of = 0;
    for (size_t i = 0; i < checks->phases.count; i++)
        of += checks->phases.rows[i].sum[side];
    return of > 0 ? (int64_t)((200 * checks->phases.rows[phase].sum[side] + of) / (2 * of)) : 0;
}

/* Adds the checks that work without events on both sides. */
static void add_alone(struct checks *checks)
{
    struct check_value phases[2], resolution[2];
    bool same = true;
    for (int side = 0; side < 2; side++) {
        int64_t fraction = checks->sides[side].fraction;
        phases[side] = resolution[side] = check_integer(NUMBER_NONE);
        if (fraction != NUMBER_NONE)
            resolution[side] = check_in_words(fraction > 0);
        for (size_t i = 0; i < checks->phases.count; i++)
            if (checks->phases.rows[i].on[side] && checks->phases.rows[i].key[0] != NAME_NONE)
                phases[side] = check_in_words(0);
    }
    for (size_t i = 0; i < checks->phases.count; i++)
        same = same && checks->phases.rows[i].on[0] == checks->phases.rows[i].on[1] &&
               check_phase_percent(checks, i, 0) == check_phase_percent(checks, i, 1);
    struct check *check = check_add(checks, CHECK_PHASES, MATTERS_NO, phases[0], phases[1]);
    check->same = check->same > 0 ? same : check->same;
    judge_told(checks, check);
    check = check_add(checks, CHECK_RESOLUTION, MATTERS_NO, resolution[0], resolution[1]);
    judge_told(checks, check);
}

bool checks_add(struct checks *checks, struct check_told *told, size_t count,
                const struct stopper *stopper, struct failure *failure)
{
    int64_t steps[2] = {checks->sides[0].steps, checks->sides[1].steps};
    bool pair = steps[0] != NUMBER_NONE && steps[1] != NUMBER_NONE;
    bool matters = !pair || (steps[0] == 0) != (steps[1] == 0);
    struct tally *phases = &checks->phases;
    if (!tallies_order(&phases, 1, &checks->texts, stopper, failure) ||
        !add_told(checks, told, count, stopper, failure))
        return false;
    check_add(checks, CHECK_STEPS, matters ? MATTERS_YES : MATTERS_NO,
              check_integer(checks->sides[0].numbers), check_integer(checks->sides[1].numbers));
    add_alone(checks);
    if (pair)
        add_pair(checks);
    return true;
}

static int check_order(const void *a, const void *b)
{
    const struct check *x = a, *y = b;
    return COMPARE(x->code, y->code);
}

bool checks_order(struct checks *checks, const struct stopper *stopper, struct failure *failure)
{
    if (checks->failed)
        return failure_memory(failure);
    return sort_items(checks->items, checks->count, sizeof *checks->items, check_order, stopper,
                      failure);
}

void checks_clear(struct checks *checks)
{
    memory_free(checks->items);
    tally_clear(&checks->phases);
    names_clear(&checks->strata);
    names_clear(&checks->texts);
}
