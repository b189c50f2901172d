#include "line_words.h"

#include <math.h>
#include <string.h>

#include "compile_lines.h"
#include "functions/words/cause_words.h"
#include "functions/words/class_words.h"
#include "functions/words/label_words.h"

enum { DIAGNOSIS_FROM = 20 /* characters before a diagnosis, which has no class */ };

void write_change_of(struct words *words, struct writer *text, double ms)
{
    write_format(text, "%+.*f %s", words->amounts.digits, ms / words->amounts.size,
                 words->amounts.unit);
}

/* Writes a time in the format `own`, with its unit if that differs from the unit of `other`, or if
** there is no other. */
void write_time_as(struct writer *text, const struct time_format *own, double ms,
                          const struct time_format *other)
{
    write_format(text, "%.*f", own->digits, ms / own->size);
    if (!other || own->size != other->size)
        write_format(text, " %s", own->unit);
}

/* Writes `12.3 -> 45.6 ms` or `12.3 s -> 45.6 ms`. */
void write_both(struct words *words, struct writer *text, double control, double test)
{
    const struct time_format own[] = {time_format_beside(&words->amounts, control, test),
                                      time_format_beside(&words->amounts, test, control)};
    write_time_as(text, &own[0], control, &own[1]);
    write_string(text, " -> ");
    write_time_as(text, &own[1], test, NULL);
}

/* CL13: writes the steps that do not compile, with digits of their own. */
void write_compiled(struct words *words)
{
    const struct answer_line *line = words->line;
    const struct pair others = {.sides = {{.count = 1, .mean = line->control_ms},
                                          {.count = 1, .mean = line->test_ms}}};
    struct words own = {.amounts = time_format_of(&others)};
    write_string(&words->body, "the steps that do not compile: ");
    write_both(&own, &words->body, line->control_ms, line->test_ms);
}

static void write_share(struct words *words)
{
    const struct answer_line *line = words->line;
    char ms[64], share[32] = "";
    if (fabs(line->diff_ms) < words->amounts.least)
        strcpy(ms, "0");
    else
        sqlite3_snprintf(sizeof ms, ms, "%+.*f", words->amounts.digits,
                         line->diff_ms / words->amounts.size);
    if (judged_is_told(words->answer->facts.judged) && fabs(line->share) < SHARES_BELOW)
        sqlite3_snprintf(sizeof share, share, "%.0f %%", 100 * line->share);
    write_format(&words->prefix, "%8s %-2s %6s  %-13s  ", ms, words->amounts.unit, share,
                 line->kind == LINE_REST ? "" : cause_word(line->code, line->step_class));
    if (line->kind == LINE_DIAGNOSIS && !words->prefix.failed)
        words->prefix.length = DIAGNOSIS_FROM;
}

/* C16: writes how much a fix of this cause alone saves, if that differs from the time of the
** cause. */
static void write_gain(struct words *words)
{
    const struct answer_causes *causes = &words->answer->causes;
    const struct answer_cause *cause = &causes->items[words->line->of];
    double least = words->amounts.least;
    struct writer *text = &words->tail;
    if (cause->diff_ms < 0 && !cause->leads)
        return; /* C16.5 */
    if (cause->untold && cause->diff_ms >= GAIN_UNITS * least) {
        const struct call_causes *found = &words->answer->facts.causes;
        struct cause_split split;
        if (cause_split_find(&split, &found->causes, &found->causes.items[cause->of],
                             &found->rates) && cause_split_is_overlap(&split))
            return; /* its text already says so */
        write_string(text, "; same time, but less of it overlaps");
        return;
    }
    if (!(fabs(cause->gain_ms - cause->diff_ms) >
          fmax(GAIN_PART * cause->diff_ms, GAIN_UNITS * least)) ||
        (cause->gain_ms < least && words->line->kind == LINE_DIAGNOSIS))
        return;
    write_string(text, "; a fix saves ");
    if (cause->gain_ms < least)
        write_string(text, "nothing");
    else
        write_format(text, "%.*f %s", words->amounts.digits, cause->gain_ms / words->amounts.size,
                     words->amounts.unit);
    if (causes->simulated > 0)
        write_format(text, " (%lld of %lld steps)", (long long)causes->simulated,
                     (long long)causes->steps);
    if (cause->hidden_by == NAME_NONE)
        return;
    const struct name *hider = &causes->texts.items[cause->hidden_by];
    const struct name *own = &causes->texts.items[cause->text];
    if (hider->length <= own->length && memcmp(hider->text, own->text, hider->length) == 0)
        return;
    write_string(&words->behind, ", hidden by ");
    write_bytes(&words->behind, hider->text, hider->length);
}

/* C13.5: if there is no room, writes the replaced work without areas, and shortens the name rather
** than the replaced work. */
static bool write_shorter(struct words *words)
{
    struct answer *answer = words->answer;
    const struct answer_causes *causes = &answer->causes;
    const struct answer_cause *cause = &causes->items[words->line->of];
    size_t taken = characters_of(&words->prefix) + characters_of(&words->tail), length;
    struct writer name = {0}, label = {0};
    if (taken + characters_of(&words->body) <= LINE_LENGTH || cause->of == SIZE_MAX ||
        cause->name == NAME_NONE)
        return true;
    enum cause_kind kind = answer->facts.causes.causes.items[cause->of].kind;
    if (kind != CAUSE_REPLACED && kind != CAUSE_COMMUNICATION)
        return true;
    write_label_of_name(&label, &causes->texts.items[cause->name]);
    bool done = answer_cause_text(&answer->facts, causes, words->line->of, NULL, true,
                                  &words->shorter);
    length = taken + characters_of(&words->shorter);
    size_t most = characters_of(&label) + LINE_LENGTH;
    if (done && kind == CAUSE_REPLACED && length > LINE_LENGTH &&
        most > length + 3) { /* one character and the dots */
        write_first(&name, label.bytes, label.length, most - length);
        const struct name instead = {.text = name.bytes, .length = (uint32_t)name.length};
        words->shorter.length = 0;
        done = !name.failed && answer_cause_text(&answer->facts, causes, words->line->of, &instead,
                                                 true, &words->shorter);
    }
    writer_clear(&name);
    writer_clear(&label);
    return done;
}

static bool is_compile(const struct answer_cause *cause)
{
    return cause->step_class && strcmp(cause->step_class, step_class_name(CLASS_COMPILE)) == 0;
}

bool write_cause(struct words *words)
{
    const struct answer_causes *causes = &words->answer->causes;
    const struct answer_cause *cause = &causes->items[words->line->of];
    const struct name *text = &causes->texts.items[cause->text];
    write_share(words);
    if (is_compile(cause) && compile_write_cause(&words->body, &words->answer->facts,
                                                 cause->diff_ms))
        ;
    else if (words->line->counts == NAME_NONE)
        write_bytes(&words->body, text->text, text->length);
    else if (!answer_cause_text(&words->answer->facts, causes, words->line->of,
                                &causes->texts.items[words->line->counts], false, &words->body))
        return false;
    if (cause->of != SIZE_MAX && cause->diagnosis == SIZE_MAX)
        cause_words_ranks(&words->tail, &words->answer->facts.causes.causes,
                          &words->answer->facts.causes.causes.items[cause->of]);
    write_gain(words);
    return write_shorter(words);
}

void write_log(struct words *words)
{
    write_string(&words->prefix, words->line->kind == LINE_LOG ? "log: " : "hint: ");
    compile_write_line(&words->body, &words->answer->facts, words->line->of);
}

void write_rest(struct words *words)
{
    const struct answer_rest *rest = &words->answer->rest;
    struct writer *text = &words->body;
    write_share(words);
    write_format(text, "%lld smaller %s", (long long)rest->count,
                 rest->count == 1 ? "part" : "parts");
    if (rest->count == 1 || rest->held >= REST_PART * rest->all)
        return;
    write_format(text, ": %+.*f and ", words->amounts.digits, rest->more / words->amounts.size);
    write_change_of(words, text, rest->less);
}
