#include "check_words.h"

#include "analysis/answer/thresholds.h"
#include "label_words.h"
#include "text/ascii.h"

static const struct {
    const char *topic, *item;
} names_of_checks[] = {
    [CHECK_HEALTH_OF_BOTH] = {"health", NULL},
    [CHECK_HEALTH] = {"health", NULL},
    [CHECK_STEPS] = {"steps", "number"},
    [CHECK_WORK] = {"device", "work"},
    [CHECK_DEVICE] = {"device", "name"},
    [CHECK_DEVICES] = {"device", "number"},
    [CHECK_MULTIPROCESSORS] = {"device", "multiprocessors"},
    [CHECK_MEMORY] = {"device", "memory"},
    [CHECK_RANKS] = {"ranks", "compared"},
    [CHECK_RECORDED] = {"ranks", "recorded"},
    [CHECK_BACKEND] = {"ranks", "backend"},
    [CHECK_FEW_STEPS] = {"steps", "few"},
    [CHECK_CHOSEN] = {"steps", "chosen"},
    [CHECK_PHASES] = {"steps", "phases"},
    [CHECK_LONG_STEP] = {"steps", "longest"},
    [CHECK_FIRST_CALLS + FIRST_LAUNCH] = {"warmup", "launches"},
    [CHECK_FIRST_CALLS + FIRST_MODULE] = {"warmup", "modules"},
    [CHECK_FIRST_CALLS + FIRST_MEMORY] = {"warmup", "memory"},
    [CHECK_FIRST_CALLS + FIRST_LIBRARY] = {"warmup", "libraries"},
    [CHECK_FIRST_CALLS + FIRST_OTHER] = {"warmup", "calls"},
    [CHECK_COPIES] = {"shapes", "copies to the device"},
    [CHECK_SHAPES] = {"shapes", "operators"},
    [CHECK_OPERATOR_SHAPES] = {"shapes", NULL},
    [CHECK_FLOATS] = {"types", "floats"},
    [CHECK_RETYPED] = {"types", "operators"},
    [CHECK_OPERATOR_TYPES] = {"types", NULL},
    [CHECK_PROBLEMS] = {"files", "problems"},
    [CHECK_PROFILER] = {"profiler", "name"},
    [CHECK_OPTION] = {"options", NULL},
    [CHECK_MODULES] = {"modules", "recorded"},
    [CHECK_VERSION] = {"versions", NULL},
    [CHECK_RESOLUTION] = {"time", "resolution"},
};

const char *check_words_topic(enum check_code code)
{
    return names_of_checks[code].topic;
}

const char *check_words_item(enum check_code code)
{
    return names_of_checks[code].item;
}

static void put_name(sqlite3_str *text, const struct checks *checks, uint32_t id)
{
    const struct name *name = &checks->texts.items[id];
    sqlite3_str_append(text, name->text, (int)name->length);
}

/* Writes the compared ranks of a side: `rank 0`, `4 ranks (0-3) of 8`. */
static void put_ranks(sqlite3_str *text, const struct check_side *side)
{
    if (side->ranks == 1)
        sqlite3_str_appendf(text, "rank %lld", side->rank);
    else
        sqlite3_str_appendf(text, "%lld ranks (%lld-%lld)", side->ranks, side->rank,
                            side->last_rank);
    if (side->world != NUMBER_NONE)
        sqlite3_str_appendf(text, " of %lld", side->world);
}

/* Writes the phases of a side: `decode 80 %, prefill 20 %`. */
static void put_phases(sqlite3_str *text, const struct checks *checks, int side)
{
    const char *before = "";
    for (size_t i = 0; i < checks->phases.count; i++) {
        const struct tally_row *phase = &checks->phases.rows[i];
        if (!phase->on[side])
            continue;
        sqlite3_str_appendall(text, before);
        if (phase->key[0] != NAME_NONE)
            put_name(text, checks, phase->key[0]);
        sqlite3_str_appendf(text, " %lld %%", check_phase_percent(checks, i, side));
        before = ", ";
    }
}

static void put_floats(sqlite3_str *text, int64_t floats)
{
    static const char *const names[CHECK_FLOAT_TYPES] = {"float64", "float32", "bfloat16",
                                                         "float16", "float8",  "float4"};
    const char *before = "";
    for (int i = 0; i < CHECK_FLOAT_TYPES; i++)
        if (floats >> i & 1) {
            sqlite3_str_appendf(text, "%s%s", before, names[i]);
            before = ", ";
        }
}

static void put_in_words(sqlite3_str *text, const struct checks *checks, const struct check *check,
                         int side)
{
    const struct check_side *of = &checks->sides[side];
    if (check->code == CHECK_RANKS)
        put_ranks(text, of);
    else if (check->code == CHECK_RECORDED)
        sqlite3_str_appendf(text, "%lld of %lld", of->recorded, of->world);
    else if (check->code == CHECK_CHOSEN && of->numbers == 1)
        sqlite3_str_appendf(text, "%lld", of->first);
    else if (check->code == CHECK_CHOSEN)
        sqlite3_str_appendf(text, "%lld-%lld", of->first, of->last);
    else if (check->code == CHECK_PHASES)
        put_phases(text, checks, side);
    else if (check->code == CHECK_FLOATS)
        put_floats(text, check->values[side].integer);
    else
        sqlite3_str_appendall(text, check->values[side].integer ? "ns" : "us"); /* resolution */
}

static void put_value(sqlite3_str *text, const struct checks *checks,
                      const struct check_value *value)
{
    if (value->kind == VALUE_INTEGER)
        sqlite3_str_appendf(text, "%lld", value->integer);
    else if (value->kind == VALUE_REAL)
        sqlite3_str_appendf(text, "%!.15g", value->real); /* in SQLite's format */
    else
        put_name(text, checks, value->text);
}

void check_words_value(sqlite3_str *text, const struct checks *checks, const struct check *check,
                       int side)
{
    if (check->values[side].kind == VALUE_IN_WORDS) {
        put_in_words(text, checks, check, side);
        return;
    }
    put_value(text, checks, &check->values[side]);
    if (check->highest[side].kind != VALUE_NONE) {
        sqlite3_str_appendall(text, ", ");
        put_value(text, checks, &check->highest[side]);
    }
}

/* Writes both values, separated by `between`. */
static void put_values(sqlite3_str *text, const struct checks *checks, const struct check *check,
                       const char *between)
{
    check_words_value(text, checks, check, 0);
    sqlite3_str_appendall(text, between);
    check_words_value(text, checks, check, 1);
}

/* Writes one of three texts, depending on which sides have a property. With `one`, names the side
** that has it before the other. */
static void put_which(sqlite3_str *text, const bool *are, const char *both, const char *neither,
                     const char *one)
{
    if (are[0] == are[1])
        sqlite3_str_appendall(text, are[0] ? both : neither);
    else
        sqlite3_str_appendf(text, one, side_words[are[1]], side_words[are[0]]);
}

static void put_steps(sqlite3_str *text, const struct check_side *sides)
{
    const bool empty[] = {sides[0].steps == NUMBER_NONE, sides[1].steps == NUMBER_NONE};
    const bool unmarked[] = {sides[0].steps == 0, sides[1].steps == 0};
    if (empty[0] || empty[1])
        put_which(text, empty, "nothing to compare: no events in control and in test", "",
                 "nothing to compare: no events in %s");
    else
        put_which(text, unmarked, "no steps are marked: whole traces are compared",
                 "times are means over the steps",
                 "%s has no steps: its whole trace is compared with a step");
}

static void put_ranks_compared(sqlite3_str *text, const struct checks *checks,
                               const struct check *check)
{
    const struct check_side *c = &checks->sides[0], *t = &checks->sides[1];
    bool known = c->world != NUMBER_NONE && t->world != NUMBER_NONE;
    if (check->same > 0) {
        sqlite3_str_appendall(text, "the same ranks");
        return;
    }
    put_values(text, checks, check, c->ranks == 1 ? " is compared with " : " are compared with ");
    if (c->recorded == 1 && t->recorded == 1 && known && (c->world > 1 || t->world > 1))
        sqlite3_str_appendall(text, "; no other rank is recorded");
}

static void put_recorded(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    const struct check_side *c = &checks->sides[0], *t = &checks->sides[1];
    if (check->matters == MATTERS_NO) {
        sqlite3_str_appendall(text, "all ranks are recorded");
        return;
    }
    if (c->world != t->world)
        sqlite3_str_appendall(text, "not all ranks");
    else if (c->recorded == t->recorded)
        sqlite3_str_appendf(text, "%lld of %lld ranks", c->recorded, c->world);
    else
        sqlite3_str_appendf(text, "%lld and %lld of %lld ranks", c->recorded, t->recorded,
                            c->world);
    sqlite3_str_appendall(text, " recorded: who waits for whom is not known");
}

static void put_few_steps(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    int64_t c = checks->sides[0].numbers, t = checks->sides[1].numbers;
    int64_t numbers = check->side ? t : c, of = checks->sides[check->side].steady_of;
    bool one = numbers == 1 && of > 1 && (c != t || of == checks->sides[!check->side].steady_of);
    if (one) {
        if (c == t)
            sqlite3_str_appendf(text, "only 1 step of %lld per side is steady", of);
        else
            sqlite3_str_appendf(text, "'steady' leaves %s 1 step of %lld", side_words[check->side],
                                of);
        if (c != t && check->same >= 0)
            sqlite3_str_appendf(text, ", test %lld", t);
        sqlite3_str_appendall(text, ": too few to tell how much steps vary");
        return;
    }
    if (c != t)
        sqlite3_str_appendf(text, "%s has ", side_words[check->side]);
    sqlite3_str_appendf(text, "%lld step%s", numbers, numbers == 1 ? "" : "s");
    if (c == t)
        sqlite3_str_appendall(text, " per side");
    else if (check->same >= 0)
        sqlite3_str_appendf(text, ", test %lld", t);
    sqlite3_str_appendall(text, ": too few to tell how much steps vary");
}

/* Writes the ratio of tensor sizes (J4). */
static void put_scale(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    int64_t from = check->scale[0], to = check->scale[1];
    sqlite3_str_appendall(text, "tensors are ");
    if (to == 1)
        sqlite3_str_appendf(text, "1/%lld as large", from);
    else if (from == 1)
        sqlite3_str_appendf(text, "%lld times as large", to);
    else
        sqlite3_str_appendf(text, "%.4g times as large", (double)to / (double)from);
    if (checks->texts.items[check->scaled[0]].length == 0)
        return;
    sqlite3_str_appendall(text, ": ");
    put_name(text, checks, check->scaled[0]);
    sqlite3_str_appendall(text, " -> ");
    put_name(text, checks, check->scaled[1]);
}

/* Writes a sentence about shapes or types. */
static void put_work(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    bool yes = check->matters == MATTERS_YES, no = check->matters == MATTERS_NO;
    if (check->code == CHECK_COPIES && check->same < 0)
        sqlite3_str_appendall(text, "a side has no shapes of copies to the device");
    else if (check->code == CHECK_COPIES)
        sqlite3_str_appendf(
            text, "%lld of %lld shapes of copies to the device differ%s",
            check->values[0].integer + check->values[1].integer - 2 * check->common,
            check->values[0].integer + check->values[1].integer - check->common,
            yes ? ": same input?" : "");
    else if (check->code == CHECK_SHAPES && check->scale[0] > 0)
        put_scale(text, checks, check);
    else if (check->code == CHECK_SHAPES)
        sqlite3_str_appendf(text, "shapes differ for %.0f %% of the time of common operators%s",
                            100 - 100 * check->share, yes ? ": same model?" : "");
    else if (check->code == CHECK_FLOATS && (no || check->same < 0))
        sqlite3_str_appendall(text, no ? "the same types of floats"
                                       : "a side has no types of floats");
    else if (check->code == CHECK_FLOATS) {
        sqlite3_str_appendall(text, "types of operators differ: ");
        put_values(text, checks, check, " / ");
    } else if (check->code == CHECK_RETYPED) {
        sqlite3_str_appendall(text, "types differ: ");
        put_values(text, checks, check, " -> ");
        sqlite3_str_appendf(text, " in %.0f %% of operators' time", 100 * check->share);
    } else {
        sqlite3_str_appendf(text, no ? "the %s with the most time of the operator"
                                     : "other %s have the most time of the operator: same work?",
                            check_words_topic(check->code));
    }
}

static void put_problems(sqlite3_str *text, const struct check *check)
{
    int64_t bad = check->values[check->side].integer;
    if (bad > 0)
        sqlite3_str_appendf(text, "%s: %lld file%s problems (trace_files)",
                            side_words[check->side], bad, bad == 1 ? " has" : "s have");
    else
        sqlite3_str_appendall(text, "no file is cut short, no event is skipped");
}

/* Writes a sentence about values in the files. */
static void put_told(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    const char *item = check_words_item(check->code);
    if (check->same != 0) {
        if (check->same > 0)
            sqlite3_str_appendall(text, "the same");
        else
            sqlite3_str_appendf(text, "only %s has it",
                                side_words[check->values[0].kind == VALUE_NONE]);
        return;
    }
    item = item ? item : checks->texts.items[check->item].text;
    if (check->code == CHECK_DEVICE || check->code == CHECK_PROFILER)
        sqlite3_str_appendf(text, "%ss differ: ", check_words_topic(check->code));
    else if (check->code == CHECK_OPTION)
        sqlite3_str_appendf(text, "the profiler's %s differs: ", item);
    else
        sqlite3_str_appendf(text, "%s differ%s: ", item,
                            ends(item, item + strlen(item), "s") ? "" : "s");
    put_values(text, checks, check, " / ");
    if (check_slows_host(checks, check))
        sqlite3_str_appendall(text, ", which makes the host slower");
    else if (check->code == CHECK_RESOLUTION)
        sqlite3_str_appendall(text, ": short kernels are rounded");
    else if (check->code == CHECK_PHASES)
        sqlite3_str_appendall(text, ": diff_within compares like with like");
}

/* Writes the time of first calls (C21). */
static void put_first_calls(sqlite3_str *text, const struct check *check)
{
    static const struct {
        const char *one, *several, *why;
    } words[] = {
        [FIRST_LAUNCH] = {"first launch takes", "first launches take", "kernels load"},
        [FIRST_MODULE] = {"call takes", "calls take", "modules load"},
        [FIRST_MEMORY] = {"first call takes", "first calls take", "memory is set up"},
        [FIRST_LIBRARY] = {"first call takes", "first calls take", "libraries are set up"},
        [FIRST_OTHER] = {"first call takes", "first calls take", "the runtime is set up"},
    };
    int kind = (int)check->code - CHECK_FIRST_CALLS, side = check->calls[0] == 0;
    double ms[2] = {check->values[0].real / 1000, check->values[1].real / 1000};
    double most = ms[0] > ms[1] ? ms[0] : ms[1], size = most >= SECONDS_FROM ? 1000 : 1;
    const char *unit = size > 1 ? "s" : "ms";
    int digits = decimals_for(most / size, AMOUNT_DIGITS);
    if (check->calls[0] > 0 && check->calls[1] > 0)
        sqlite3_str_appendf(text, "%s %.*f %s in control, %.*f in test", words[kind].several,
                            digits, ms[0] / size, unit, digits, ms[1] / size);
    else
        sqlite3_str_appendf(text, "%lld %s %.*f %s in %s", check->calls[side],
                            check->calls[side] == 1 ? words[kind].one : words[kind].several, digits,
                            ms[side] / size, unit, side_words[side]);
    sqlite3_str_appendf(text, ": %s; record after a warm-up", words[kind].why);
}

/* Writes `test: 3 of 5 launches have no kernel, in 3 of 5 steps`. */
static void put_finding(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    if (check->code == CHECK_HEALTH)
        sqlite3_str_appendf(text, "%s: ", side_words[check->side]);
    put_name(text, checks, check->values[check->side].text);
}

void check_words_why(sqlite3_str *text, const struct checks *checks, const struct check *check)
{
    const struct check_side *sides = checks->sides;
    int64_t c = sides[0].of_host, t = sides[1].of_host; /* unknown: the same as the other side */
    const bool of_host[] = {c > 0 || (c < 0 && t > 0), t > 0 || (t < 0 && c > 0)};
    const bool of_modules[] = {sides[0].of_modules, sides[1].of_modules};
    enum check_code code = check->code;
    if (code <= CHECK_HEALTH)
        put_finding(text, checks, check);
    else if (code == CHECK_STEPS)
        put_steps(text, sides);
    else if (code == CHECK_WORK)
        put_which(text, of_host, "neither has device work: a step is what its host is in",
                 "both have device work",
                 "%s has no device work: its host is compared with a device");
    else if (code == CHECK_RANKS)
        put_ranks_compared(text, checks, check);
    else if (code == CHECK_RECORDED)
        put_recorded(text, checks, check);
    else if (code == CHECK_FEW_STEPS)
        put_few_steps(text, checks, check);
    else if (code == CHECK_CHOSEN)
        sqlite3_str_appendall(text, "numbers of steps count from the start of a run");
    else if (code == CHECK_LONG_STEP)
        sqlite3_str_appendf(text, "a step of %s takes %.2f times the median",
                            side_words[check->side], check->values[check->side].real);
    else if (code >= CHECK_FIRST_CALLS && code < CHECK_COPIES)
        put_first_calls(text, check);
    else if (code >= CHECK_COPIES && code <= CHECK_OPERATOR_TYPES)
        put_work(text, checks, check);
    else if (code == CHECK_PROBLEMS)
        put_problems(text, check);
    else if (code == CHECK_MODULES)
        put_which(text, of_modules, "both have modules",
                 "neither has modules: level 'module' gives operators",
                 "only %s has modules: of %s, level 'module' gives operators");
    else
        put_told(text, checks, check);
}
