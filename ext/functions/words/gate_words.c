#include "gate_words.h"

#include "check_words.h"
#include "label_words.h"
#include "rank_words.h"
#include "text/text.h"
#include "verdict_words.h"

const char *gate_words(enum gate_outcome outcome)
{
    static const char *const words[] = {
        [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_NOT_KNOWN] = "not known"};
    return words[outcome];
}

const char *gate_code(enum gate_reason reason)
{
    static const char *const codes[] = {
        [GATE_STEPS] = "steps",  [GATE_HEALTH] = "health", [GATE_RANKS] = "ranks",
        [GATE_WORLD] = "world",  [GATE_WORK] = "work",     [GATE_DEVICE] = "device",
        [GATE_MEAN] = "mean",    [GATE_MEDIAN] = "median", [GATE_UNCLEAR] = "unclear",
        [GATE_LOAD] = "load"};
    return codes[reason];
}

static void write_missing(struct writer *text, const struct pair *pair)
{
    int side = gate_has_steps(&pair->sides[0]);
    const struct pair_side *of = &pair->sides[side];
    write_string(text, of->windows > 0 ? "steps of " : "");
    write_string(text, side_words[side]);
    write_string(text, of->windows > 0  ? " have no length"
                       : of->count == 0 ? " has no events"
                                        : " has no steps: record it with profiler.step()");
}

static void write_worlds(struct writer *text, const struct check_side *sides)
{
    write_string(text, "other world sizes: ");
    write_integer(text, sides[0].world);
    write_string(text, " in control, ");
    write_integer(text, sides[1].world);
    write_string(text, " in test");
}

/* Writes the text of an SQLite string, and frees it. */
static void write_taken(struct writer *text, sqlite3_str *from)
{
    size_t length = (size_t)sqlite3_str_length(from);
    char *bytes = sqlite3_str_finish(from);
    if (bytes)
        write_bytes(text, bytes, text_visible(bytes, length));
    else
        text->failed = true;
    sqlite3_free(bytes);
}

static void write_devices(struct writer *text, const struct checks *checks)
{
    size_t i = 0;
    while (checks->items[i].code != CHECK_DEVICE)
        i++;
    sqlite3_str *names = sqlite3_str_new(NULL);
    sqlite3_str_appendall(names, "other devices: ");
    check_words_value(names, checks, &checks->items[i], 0);
    sqlite3_str_appendall(names, " in control, ");
    check_words_value(names, checks, &checks->items[i], 1);
    sqlite3_str_appendall(names, " in test");
    write_taken(text, names);
}

static void write_finding(struct writer *text, const struct checks *checks)
{
    sqlite3_str *why = sqlite3_str_new(NULL);
    check_words_why(why, checks, checks_worst_finding(checks));
    write_taken(text, why);
}

void write_gate_reason(struct writer *text, enum gate_reason reason, const struct gate_facts *facts)
{
    const struct pair *pair = facts->pair;
    if (reason == GATE_STEPS) {
        write_missing(text, pair);
    } else if (reason == GATE_HEALTH) {
        write_finding(text, facts->checks);
    } else if (reason == GATE_RANKS) {
        write_string(text, "other ranks: ");
        write_alone(text, facts->ranks);
    } else if (reason == GATE_WORLD) {
        write_worlds(text, facts->checks->sides);
    } else if (reason == GATE_WORK) {
        write_string(text, "only ");
        write_string(text, side_words[pair->sides[0].of_host]);
        write_string(text, " has device work");
    } else if (reason == GATE_DEVICE) {
        write_devices(text, facts->checks);
    } else if (reason == GATE_LOAD) {
        write_string(text, facts->judged == JUDGED_LOAD
                               ? "another load of the host explains the difference"
                               : "test does different work, under another load of the host");
    } else if (reason == GATE_UNCLEAR) {
        write_string(text, "the difference is not clear");
        write_string(text, facts->judged == JUDGED_CLEAR ? ": test is " : "");
        write_string(text, facts->judged == JUDGED_CLEAR ? verdict_words(facts->verdict) : "");
    } else {
        write_string(text,
                     reason == GATE_MEAN ? "only the mean is above" : "only the median is above");
    }
}
