#include "compile_lines.h"

#include <math.h>
#include <string.h>

#include "text/ascii.h"

enum { MOST_LOG_LINES = 3, MOST_STEPS_SHOWN = 4 };

/* Whether a compilation counts: it is in a step that compiles, and its part is not runtime. */
static bool counts(const struct answer_facts *facts, int side, const struct compile_in_step *item)
{
    const struct pair_side *steps = &facts->pair.pair.sides[side];
    if (item->part == COMPILE_RUNTIME)
        return false;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->steps[i].iteration == item->step)
            return pair_step_compiles(&steps->steps[i]);
    return false;
}

/* Whether all compilations of a side that count are recompilations. */
static bool all_again(const struct answer_facts *facts, int side)
{
    const struct compile_join *join = &facts->compile[side];
    bool any = false;
    for (size_t i = 0; i < join->count; i++)
        if (counts(facts, side, &join->items[i])) {
            if (join->items[i].recompile != 1)
                return false;
            any = true;
        }
    return any;
}

void compile_write_clause(struct writer *text, const struct answer_facts *facts)
{
    const struct pair_side *sides = facts->pair.pair.sides;
    double unused;
    size_t steps[] = {pair_compiling(&sides[0], &unused), pair_compiling(&sides[1], &unused)};
    int side = steps[1] > 0;
    bool both = steps[0] > 0 && steps[1] > 0;
    write_integer(text, (int64_t)steps[side]);
    write_string(text, " of ");
    write_integer(text, (int64_t)sides[side].count);
    write_string(text, sides[side].count == 1 ? " step " : " steps ");
    write_string(text, all_again(facts, side) ? "recompile" : "compile");
    write_string(text, steps[side] == 1 ? "s" : "");
    if (both && steps[0] == steps[1] && sides[0].count == sides[1].count) {
        write_string(text, " on both sides");
    } else if (both || side == 0) {
        write_string(text, side == 0 ? " in control" : ", in control ");
        if (side == 1)
            write_integer(text, (int64_t)steps[0]);
    }
}

/* Returns the log's record of a compilation in a step, and the log; NULL: no log has it. */
static const struct compilation *logged(const struct compile_join *join,
                                        const struct compile_in_step *item)
{
    return item->compilation == COMPILE_NONE ? NULL : &join->log.compilations[item->compilation];
}

/* Writes the function of a compilation, such as `inner (prog.py:19)`, or its stand-in. */
static void write_function(struct writer *text, const struct compile_join *join,
                           const struct compile_in_step *item)
{
    static const char module[] = "_dynamo/external_utils.py"; /* compiled modules */
    const struct compilation *of = logged(join, item);
    const struct name *function = of ? compile_text(&join->log, of->function) : NULL;
    const struct name *file = of ? compile_text(&join->log, of->file) : NULL;
    const struct name *place = of ? compile_text(&join->log, of->place) : NULL;
    const struct name *caller = of ? compile_text(&join->log, of->caller) : NULL;
    if (caller && (!function || (file && strcmp(file->text, module) == 0))) {
        const char *name = strchr(caller->text, ' ');
        write_string(text, "what ");
        write_bytes(text, caller->text, name ? (size_t)(name - caller->text) : caller->length);
        write_string(text, " calls");
    } else if (function) {
        write_string(text, function->text);
        const char *slash = place ? strrchr(place->text, '/') : NULL;
        if (place) {
            write_string(text, " (");
            write_string(text, slash ? slash + 1 : place->text);
            write_string(text, ")");
        }
    } else {
        write_string(text, "compiled code");
        if (item->frame >= 0) {
            write_string(text, " of frame ");
            write_integer(text, item->frame);
        }
    }
}

static bool is_same(const struct writer *a, const struct writer *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

/* Writes ` in step 3` or ` in steps 1, 2`: the steps of the marked items. */
static void write_steps_of(struct writer *text, const struct answer_facts *facts, int side)
{
    const struct compile_join *join = &facts->compile[side];
    const struct pair_side *steps = &facts->pair.pair.sides[side];
    size_t count = 0, written = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < steps->count && written < MOST_STEPS_SHOWN; i++) {
            bool any = false;
            for (size_t k = 0; k < join->count && !any; k++)
                any = join->items[k].step == steps->steps[i].iteration &&
                      counts(facts, side, &join->items[k]);
            count += any && pass == 0;
            if (!any || pass == 0)
                continue;
            write_string(text, written == 0 ? count == 1 ? " in step " : " in steps " : ", ");
            write_integer(text, steps->steps[i].iteration);
            written++;
        }
    if (count > written)
        write_string(text, ", ...");
}

/* Whether control hits a cache that test misses. */
static bool lost_cache(const struct answer_facts *facts, const struct compilation *of)
{
    const struct compile_log *logs[] = {&facts->compile[0].log, &facts->compile[1].log};
    const struct name *function = of ? compile_text(logs[1], of->function) : NULL;
    if (!function || compile_cache_of(of) != CACHE_MISS)
        return false;
    for (size_t i = 0; i < facts->compile[0].count; i++) {
        const struct compilation *other = logged(&facts->compile[0], &facts->compile[0].items[i]);
        const struct name *name = other ? compile_text(logs[0], other->function) : NULL;
        if (name && name_compare(name, function) == 0 && compile_cache_of(other) == CACHE_HIT)
            return true;
    }
    return false;
}

bool compile_write_cause(struct writer *text, const struct answer_facts *facts, double diff_ms)
{
    enum { MOST_FUNCTIONS = 8 };
    int side = diff_ms > 0;
    const struct compile_join *join = &facts->compile[side];
    struct writer functions[MOST_FUNCTIONS] = {{0}};
    size_t count = 0, items = 0;
    const struct compilation *first = NULL;
    const struct name *guard = NULL;
    for (size_t i = 0; i < join->count; i++) {
        const struct compile_in_step *item = &join->items[i];
        struct writer own = {0};
        size_t k = 0;
        if (!counts(facts, side, item))
            continue;
        write_function(&own, join, item);
        text->failed = text->failed || own.failed;
        items++;
        first = first ? first : logged(join, item);
        if (!guard && logged(join, item))
            guard = compile_text(&join->log, logged(join, item)->guard);
        while (k < count && !is_same(&functions[k], &own))
            k++;
        if (k == count && count < MOST_FUNCTIONS)
            functions[count++] = own;
        else
            writer_clear(&own);
    }
    if (count > 1) {
        write_integer(text, (int64_t)count);
        write_string(text, " functions");
    } else if (count == 1) {
        write_bytes(text, functions[0].bytes, functions[0].length);
    }
    if (count > 0) {
        write_string(text, all_again(facts, side) ? " recompiled" : " compiled");
        if (items > 1 && count == 1) {
            write_string(text, " ");
            write_integer(text, (int64_t)items);
            write_string(text, " times");
        }
        write_steps_of(text, facts, side);
    }
    if (count == 1 && guard) {
        write_string(text, ": ");
        write_string(text, guard->text);
    } else if (count == 1 && side == 1 && lost_cache(facts, first)) {
        write_string(text, ", cache hit -> miss");
    }
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            write_string(text, i == 0 ? ": " : ", ");
            write_bytes(text, functions[i].bytes, functions[i].length);
        }
        writer_clear(&functions[i]);
    }
    return count > 0;
}

/* Whether a change in compilation gets a line. */
static bool has_line(const struct answer_facts *facts, const struct compile_change *change)
{
    return change->kind <= CHANGE_BREAK ||
           (change->kind == CHANGE_RECOMPILES && facts->pair.pair.sides[1].all_compiling == 0);
}

/* Returns the change that a line reports; NULL: the line is a hint. */
static const struct compile_change *change_of_line(const struct answer_facts *facts, size_t line)
{
    for (size_t i = 0; i < facts->compile_changes.count; i++)
        if (has_line(facts, &facts->compile_changes.items[i]) && line-- == 0)
            return &facts->compile_changes.items[i];
    return NULL;
}

/* Whether compilations that count lack a log. */
static bool wants_log(const struct answer_facts *facts)
{
    if (facts->pair.verdict.of != OF_COMPILING)
        return false;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < facts->compile[side].count; i++)
            if (counts(facts, side, &facts->compile[side].items[i]) &&
                !logged(&facts->compile[side], &facts->compile[side].items[i]))
                return true;
    return false;
}

size_t compile_line_count(const struct answer_facts *facts)
{
    size_t count = 0;
    while (count < MOST_LOG_LINES && change_of_line(facts, count))
        count++;
    return count + (count == 0 && wants_log(facts));
}

bool compile_line_is_hint(const struct answer_facts *facts, size_t i)
{
    return !change_of_line(facts, i);
}

const char *compile_line_code(const struct answer_facts *facts, size_t i)
{
    const struct compile_change *change = change_of_line(facts, i);
    return change ? compile_change_name(change->kind) : "record a log";
}

void compile_write_line(struct writer *text, const struct answer_facts *facts, size_t i)
{
    const struct compile_change *change = change_of_line(facts, i);
    const struct name *names = facts->compile_changes.names.items;
    if (!change) {
        write_string(text, "a log names the function and the guard: TORCH_TRACE=folder");
        return;
    }
    const char *function = names[change->function].text;
    const struct compile_new_break *found =
        change->first_break == UINT32_MAX ? NULL
                                          : &facts->compile_changes.breaks[change->first_break];
    uint32_t guard = change->kind == CHANGE_LIMIT ? change->limit_guard : change->guard;
    if (change->kind == CHANGE_BREAK && found) {
        write_string(text, "new graph break in ");
        write_string(text, function);
        if (found->place != NAME_NONE) {
            write_string(text, " at ");
            write_string(text, names[found->place].text);
        }
        if (found->reason != NAME_NONE) {
            write_string(text, ": ");
            write_string(text, names[found->reason].text);
        }
        return;
    }
    write_string(text, function);
    if (change->kind == CHANGE_FAILS) {
        write_string(text, " fails to compile: ");
        write_string(text, change->fail_type == NAME_NONE ? "" : names[change->fail_type].text);
        if (change->fail_reason != NAME_NONE) {
            write_string(text, ": ");
            write_string(text, names[change->fail_reason].text);
        }
        return;
    }
    if (change->kind == CHANGE_LIMIT) {
        write_string(text, " is no longer compiled: recompile limit");
    } else {
        write_string(text, " recompiles, ");
        write_integer(text, change->sides[0].recompiles);
        write_string(text, " -> ");
        write_integer(text, change->sides[1].recompiles);
        write_string(text, " times");
    }
    if (guard != NAME_NONE) {
        write_string(text, change->kind == CHANGE_LIMIT ? "; last guard " : ": ");
        write_string(text, names[guard].text);
    }
}

/* Finds the first problem of a log that belongs to a trace. */
static bool find_damage(const struct answer_facts *facts, int *side, size_t *process, int *problem)
{
    for (*side = 0; *side < 2; ++*side)
        for (*process = 0; *process < facts->compile[*side].log.process_count; ++*process)
            for (*problem = LOG_EVENT; *problem < LOG_PROBLEMS; ++*problem)
                if (facts->compile[*side].used[*process] &&
                    facts->compile[*side].log.processes[*process].problems[*problem] > 0)
                    return true;
    return false;
}

bool compile_line_damaged(const struct answer_facts *facts)
{
    int side, problem;
    size_t process;
    return facts->has_compile && find_damage(facts, &side, &process, &problem);
}

void compile_write_damage(struct writer *text, const struct answer_facts *facts)
{
    int side, problem;
    size_t process;
    if (!find_damage(facts, &side, &process, &problem))
        return;
    const struct compile_log *log = &facts->compile[side].log;
    write_string(text, side == 0 ? "control" : "test");
    write_string(text, ": the log of the compiler is damaged: ");
    write_string(text, log_problem_text((enum log_problem)problem));
    write_string(text, " (");
    write_integer(text, log->processes[process].problems[problem]);
    write_string(text, ")");
}
