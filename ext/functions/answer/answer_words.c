#include "answer_words.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "functions/words/check_words.h"
#include "functions/words/class_words.h"
#include "functions/words/factor_words.h"
#include "functions/words/health_words.h"
#include "functions/words/label_words.h"
#include "functions/words/rank_words.h"
#include "functions/words/repeat_words.h"
#include "functions/words/verdict_words.h"
#include "functions/words/work_words.h"
#include "compile_lines.h"
#include "line_words.h"
#include "text/text.h"

/* Writes a time without sign and unit. */
static void write_time(struct words *words, struct writer *text, double ms)
{
    write_format(text, "%.*f", words->amounts.digits, ms / words->amounts.size);
}

/* Writes the difference at like sizes in percent of control's step. */
static void write_alike_percent(struct words *words, struct writer *text)
{
    double control = words->answer->facts.pair.pair.sides[0].mean;
    if (control != 0)
        write_format(text, " (%+.1f %%)", 100 * words->answer->causes.alike_ms / control);
}

static void write_rise(struct writer *text, double control, double test)
{
    double rise = 100 * (test - control) / control;
    if (control == 0)
        return;
    if (rise >= TIMES_FROM) {
        write_string(text, " (x ");
        write_grouped(text, (int64_t)round(test / control));
        write_string(text, ")");
    } else {
        write_format(text, " (%+.*f %%)", decimals_for(rise, RATIO_DIGITS), rise);
    }
}

static void write_verdict(struct words *words)
{
    const struct answer_facts *facts = &words->answer->facts;
    const struct pair *pair = &facts->pair.pair;
    const struct pair_side *sides = pair->sides;
    struct writer *text = &words->body;
    bool steps = sides[0].windows > 0 || sides[1].windows > 0;
    if (facts->judged == JUDGED_CANNOT) {
        trust_write_cannot(text, trust_decides(&facts->trust));
        return;
    }
    write_own_rank(text, &facts->pair.ranks.own);
    write_judged(text, facts->judged, &facts->pair.verdict, pair);
    if (!words->answer->compared) {
        write_string(text, ": no events in ");
        write_string(text, sides[0].count > 0   ? "test"
                           : sides[1].count > 0 ? "control"
                                                : "control and in test");
        return;
    }
    if (pair->strata_count > 1 && facts->judged == JUDGED_CLEAR) {
        write_string(text, ": ");
        write_change_of(words, text, words->answer->causes.alike_ms);
        write_alike_percent(words, text);
        write_string(text, "; over all sizes ");
        write_both(words, text, sides[0].mean, sides[1].mean);
        write_string(text, " per step");
        return;
    }
    write_string(text, pair->strata_count > 1 ? " over all sizes: " : ": ");
    if (facts->pair.verdict.of == OF_COMPILING) {
        compile_write_clause(text, facts);
        write_string(text, ": ");
    }
    write_both(words, text, sides[0].mean, sides[1].mean);
    write_string(text, steps ? " per step, " : " per trace, ");
    if (fabs(pair_diff(pair)) < words->amounts.least) {
        write_format(text, "0 %s", words->amounts.unit);
    } else {
        write_change_of(words, text, pair_diff(pair));
        write_rise(text, sides[0].mean, sides[1].mean);
    }
}

/* Writes `device busy 12.3 -> 45.6 ms, exposed communication 0, idle 1.2 -> 3.4 ms per step`. */
static void write_totals_by(struct words *words, int brevity)
{
    const char *names[] = {"device busy ",
                           brevity < 2 ? ", exposed communication " : ", communication ",
                           ", idle "};
    const struct pair_side *sides = words->answer->facts.pair.pair.sides;
    struct writer *text = &words->body;
    text->length = 0;
    for (int i = 0; i < TOTALS; i++) {
        const double *ms = words->answer->totals[i];
        write_string(text, names[i]);
        if (ms[0] == 0 && ms[1] == 0)
            write_string(text, "0");
        else
            write_both(words, text, ms[0], ms[1]);
    }
    if (brevity < 1)
        write_string(text, sides[0].windows + sides[1].windows > 0 ? " per step" : " per trace");
}

static void write_totals(struct words *words)
{
    int brevity = 0;
    write_totals_by(words, brevity);
    while (words->body.length > LINE_LENGTH && brevity < 2)
        write_totals_by(words, ++brevity);
}

/* How much the text about coverage omits to fit into the line; later levels omit more. */
enum brevity { BRIEF_UNIT = 1, BRIEF_ALL, BRIEF_STEPS, BRIEF_RECORDING, BREVITIES };

/* Writes `3.044-3.072`. */
static void write_range(struct words *words, const struct pair_side *side,
                        const struct time_format *own)
{
    struct writer *text = &words->body;
    size_t low = text->length;
    write_format(text, "%.*f", own->digits, side->low / own->size);
    size_t length = text->length - low;
    write_format(text, "-%.*f", own->digits, side->high / own->size);
    if (!text->failed && text->length == low + 2 * length + 1 &&
        memcmp(text->bytes + low, text->bytes + low + length + 1, length) == 0)
        text->length = low + length;
}

static void write_ranks_of(struct words *words)
{
    const struct call_pair *pair = &words->answer->facts.pair;
    const struct pair_side *sides = pair->pair.sides;
    struct writer *text = &words->body;
    if (pair->is_job)
        write_format(text, "job of %lld ranks", (long long)pair->ranks.ranks);
    else if (sides[0].ranks > 1 && sides[0].ranks == sides[1].ranks)
        write_format(text, "%lld ranks", (long long)sides[0].ranks);
    else if (sides[0].ranks > 1)
        write_format(text, "%lld ranks and %lld", (long long)sides[0].ranks,
                     (long long)sides[1].ranks);
    else if (sides[1].ranks > 1)
        write_format(text, "1 rank and %lld", (long long)sides[1].ranks);
    else if (sides[0].lowest_rank == sides[1].lowest_rank)
        write_format(text, "rank %lld", (long long)sides[0].lowest_rank);
    else
        write_format(text, "ranks %lld, %lld", (long long)sides[0].lowest_rank,
                     (long long)sides[1].lowest_rank);
}

static void write_order(struct words *words, int brevity)
{
    const struct answer_facts *facts = &words->answer->facts;
    const struct pair *pair = &facts->pair.pair;
    struct writer *text = &words->body;
    bool longer = pair->sides[1].low > pair->sides[0].high;
    if (facts->judged == JUDGED_SAME)
        write_string(text, brevity < BRIEF_ALL ? ": all parts are equal; " : ": parts are equal; ");
    else if (pair->strata_count > 1)
        write_format(text, ", of %lld sizes; ", (long long)pair->strata_count);
    else if (pair->sides[0].windows <= 1 && pair->sides[1].windows <= 1) /* one sample per side */
        write_string(text, "; ");
    else if (pair_is_apart(pair))
        write_format(text, ": %s%s; ", brevity < BRIEF_ALL ? "all " : "",
                     longer ? "longer" : "shorter");
    else
        write_string(text, ": they overlap; ");
}

static void write_coverage_by(struct words *words, int brevity)
{
    const struct pair_side *sides = words->answer->facts.pair.pair.sides;
    const struct time_format own[] = {
        time_format_beside(&words->amounts, sides[0].mean, sides[1].mean),
        time_format_beside(&words->amounts, sides[1].mean, sides[0].mean)};
    bool alike = own[0].size == own[1].size;
    const char *of = brevity < BRIEF_ALL     ? " steps of "
                     : brevity < BRIEF_STEPS ? " steps "
                                             : " of ";
    struct writer *text = &words->body;
    text->length = 0;
    if (sides[0].windows == 1)
        write_string(text, "1 step of ");
    else if (sides[0].windows > 0)
        write_format(text, "%lld%s", (long long)sides[0].windows, of);
    else
        write_string(text, sides[1].windows > 0 ? "a whole trace of " : "whole traces of ");
    write_range(words, &sides[0], &own[0]);
    if (brevity < BRIEF_UNIT || own[0].size > 1 || !alike)
        write_format(text, " %s", own[0].unit);
    if (sides[1].windows > 0)
        write_format(text, ", %lld of ", (long long)sides[1].windows);
    else
        write_string(text, sides[0].windows > 0 ? ", a whole trace of " : " and ");
    write_range(words, &sides[1], &own[1]);
    if (!alike)
        write_format(text, " %s", own[1].unit);
    write_order(words, brevity);
    write_ranks_of(words);
    if (words->answer->facts.judged != JUDGED_SAME)
        write_format(text, "; %s per side: see trace_ab",
                     brevity < BRIEF_RECORDING ? "one recording" : "one");
}

/* `by the host's clock: 20.0 -> 20.1 ms per step`, with the argument that selects this clock,
** unless that clock cannot be trusted either. */
static void write_by_host(struct words *words)
{
    const struct trust_item *decides = trust_decides(&words->answer->facts.trust);
    bool of_host = decides->code == TRUST_UNIT ||
                   (decides->code == TRUST_FINDING && decides->finding.host);
    struct writer *text = &words->body;
    words->amounts = time_format_of(&words->answer->by_host.pair);
    write_string(text, "by the host's clock: ");
    write_both(words, text, words->line->control_ms, words->line->test_ms);
    write_string(text, of_host ? " per step" : " per step (WHERE clock = 'host')");
}

static void write_coverage(struct words *words)
{
    int brevity = 0;
    if (words->answer->facts.judged == JUDGED_CANNOT) {
        write_by_host(words);
        return;
    }
    write_coverage_by(words, brevity);
    while (words->body.length > LINE_LENGTH && brevity + 1 < BREVITIES)
        write_coverage_by(words, ++brevity);
}

static void write_mix(struct words *words)
{
    struct writer *text = &words->body;
    write_string(text, "at like sizes ");
    write_change_of(words, text, words->answer->causes.alike_ms);
    write_alike_percent(words, text);
    write_string(text, "; from another mix of requests ");
    write_change_of(words, text, words->answer->causes.mix_ms);
}

static void write_untraced(struct words *words)
{
    struct writer *text = &words->body;
    write_string(text, "untraced: ");
    write_both(words, text, words->line->control_ms, words->line->test_ms);
    write_string(text, " per step, ");
    write_change_of(words, text, words->line->diff_ms);
    write_string(text, "; traced ");
    write_change_of(words, text, pair_diff(&words->answer->facts.pair.pair));
}

const char *caution_code(const struct answer *answer, const struct caution *caution)
{
    static const char *const codes[] = {
        [CAUTION_MODE] = "modes",          [CAUTION_OVERHEAD] = "overhead",
        [CAUTION_LOAD] = "load",           [CAUTION_CLOCK] = "clock",
        [CAUTION_RANKS] = "ranks",         [CAUTION_OUTLIER] = "outlier",
        [CAUTION_LONG_STEP] = "long_step", [CAUTION_REPEAT] = "range",
        [CAUTION_GAINS] = "gains"};
    return caution->code == CAUTION_CHECK
               ? check_words_topic(answer->facts.checks.items[caution->of].code)
               : codes[caution->code];
}

bool caution_names_rank(const struct answer *answer, const struct caution *caution)
{
    const struct call_pair *pair = &answer->facts.pair;
    bool of_step = caution->code == CAUTION_OUTLIER || caution->code == CAUTION_LONG_STEP;
    bool of_rank =
        caution->code == CAUTION_CLOCK || (caution->code == CAUTION_LOAD && caution->of_load);
    return pair->is_job && pair->ranks.ranks > 1 && (of_step || (of_rank && caution->parts == 1));
}

/* Writes the surplus of a long step: the part that it has more of than other steps. */
static void write_surplus(struct words *words, const struct long_step *step)
{
    const struct answer *answer = words->answer;
    const char *own = step->step_class == CLASS_NONE ? "" : step_class_name(step->step_class);
    bool unrecorded =
        step->step_class == CLASS_IDLE_UNRECORDED || step->step_class == CLASS_UNRECORDED;
    struct writer *text = &words->body;
    if (answer->facts.pair.is_job)
        write_format(text, "rank %lld has ", (long long)step->rank);
    write_string(text, unrecorded ? "more time " : "more of ");
    if (step->name != NAME_NONE)
        write_label_of_name(text, &answer->cautions.long_steps.names.items[step->name]);
    else
        write_string(text, unrecorded ? "in which nothing is recorded" : own);
}

static void write_clock(struct words *words, const struct caution *caution)
{
    const struct call_pair *pair = &words->answer->facts.pair;
    struct writer *text = &words->body;
    if (caution_names_rank(words->answer, caution))
        write_format(text, "rank %lld: ", (long long)caution->rank);
    write_format(text, "kernels are %s by one factor ", caution->factor > 1 ? "slower" : "faster");
    if (pair->is_job && caution->parts > 1 && caution->parts < pair->ranks.ranks)
        write_format(text, "on %lld ranks, as rank %lld ", (long long)caution->parts,
                     (long long)caution->rank);
    write_format(text, "(x%.2f): look at the clock first", caution->factor);
}

static void write_load(struct words *words, const struct caution *caution)
{
    const struct call_pair *pair = &words->answer->facts.pair;
    struct writer *text = &words->body;
    if (!caution->of_load) {
        host_load_write(text, facts_load(&words->answer->facts));
        return;
    }
    if (caution_names_rank(words->answer, caution))
        write_format(text, "rank %lld: ", (long long)caution->rank);
    else if (pair->is_job && caution->parts < pair->ranks.ranks)
        write_format(text, "%lld ranks, as rank %lld: ", (long long)caution->parts,
                     (long long)caution->rank);
    host_load_write(text, &words->answer->facts.units[caution->of].host);
}

/* Writes the ratio of a step to the median. */
static void write_times(struct writer *text, const struct long_step *step)
{
    int decimals = decimals_for(step->ratio, RATIO_DIGITS);
    if (decimals == 0)
        write_grouped(text, (int64_t)round(step->ratio));
    else
        write_format(text, "%.*f", decimals, step->ratio);
}

static void write_outlier(struct words *words, const struct caution *caution)
{
    const struct long_step *step = &words->answer->cautions.long_steps.items[caution->of];
    struct writer *text = &words->body;
    const char *side = side_words[step->side];
    if (caution->parts + caution->others == 1) {
        write_format(text, "step %lld of %s is left out: ", (long long)step->iteration, side);
        write_times(text, step);
        write_string(text, " times as long; ");
    } else {
        write_format(text, "%lld %s of %s", (long long)caution->parts,
                     caution->parts == 1 ? "step" : "steps", side);
        if (caution->others > 0)
            write_format(text, " and %lld of %s", (long long)caution->others,
                         side_words[!step->side]);
        write_format(text, " are left out, as step %lld (x ", (long long)step->iteration);
        write_times(text, step);
        write_string(text, "): ");
    }
    write_surplus(words, step);
}

static void write_long_step(struct words *words, const struct caution *caution)
{
    const struct long_step *step = &words->answer->cautions.long_steps.items[caution->of];
    const struct call_pair *pair = &words->answer->facts.pair;
    const struct pair_side *side = &pair->pair.sides[step->side];
    bool one = pair->is_job || side->ranks == 1;
    struct writer *text = &words->body;
    if (one)
        write_format(text, "step %lld of ", (long long)step->iteration);
    else
        write_string(text, "a step of ");
    write_string(text, side_words[step->side]);
    const struct time_format own = time_format_beside(&words->amounts, side->median, side->high);
    write_string(text, " takes ");
    write_time(words, text, side->high);
    write_format(text, " %s, median ", words->amounts.unit);
    write_time_as(text, &own, side->median, &words->amounts);
    if (one) {
        write_string(text, "; ");
        write_surplus(words, step);
    }
}

static void write_check(struct words *words, const struct caution *caution)
{
    const struct checks *checks = &words->answer->facts.checks;
    sqlite3_str *text = sqlite3_str_new(NULL);
    check_words_why(text, checks, &checks->items[caution->of]);
    char *why = sqlite3_str_finish(text);
    if (why)
        write_string(&words->body, why);
    else
        words->body.failed = true;
    sqlite3_free(why);
}

/* Writes the times of the caution about the scale of tensors (C19). */
static void write_scaled(struct words *words, const struct check *check)
{
    struct writer *text = &words->tail;
    int larger = check->scale[1] > check->scale[0];
    double scale = (double)check->scale[larger] / (double)check->scale[!larger];
    write_format(text, "; divided by %.4g: ", scale);
    write_both(words, text, words->line->control_ms, words->line->test_ms);
    for (size_t i = 0; i < words->body.length; i++)
        if (words->body.bytes[i] == ':') {
            write_bytes(&words->shorter, words->body.bytes, i);
            break;
        }
}

static void write_caution(struct words *words)
{
    const struct answer *answer = words->answer;
    const struct caution *caution = &answer->cautions.chosen.items[words->line->of];
    size_t late = words->line->of - answer->cautions.chosen.count;
    struct writer *text = &words->body;
    write_string(&words->prefix, "caution: ");
    if (words->line->of > answer->cautions.chosen.count) {
        if (late == 2)
            write_string(text, answer->causes.texts.items[answer->causes.links].text);
        else
            compile_write_damage(text, &answer->facts);
        return;
    }
    if (words->line->of == answer->cautions.chosen.count) { /* the simulation failed */
        write_string(text, "gains are not known: ");
        write_string(text, answer->causes.texts.items[answer->causes.failed].text);
        return;
    }
    switch (caution->code) {
    case CAUTION_CHECK:
        write_check(words, caution);
        if (!isnan(words->line->test_ms))
            write_scaled(words, &answer->facts.checks.items[caution->of]);
        break;
    case CAUTION_MODE:
        write_change_of_runs(text, &answer->facts.work, &answer->facts.work.items[caution->of],
                             true);
        write_string(text, ": it runs Python in each operator");
        break;
    case CAUTION_OVERHEAD:
        write_string(text, "the profiler changes the difference: without it ");
        write_change_of(words, text, answer_untraced(answer));
        break;
    case CAUTION_LOAD:
        write_load(words, caution);
        break;
    case CAUTION_CLOCK:
        write_clock(words, caution);
        break;
    case CAUTION_RANKS:
        write_left_out(text, &answer->facts.pair.ranks.left_out);
        break;
    case CAUTION_OUTLIER:
        write_outlier(words, caution);
        break;
    case CAUTION_REPEAT:
        repeat_write(text, &answer->cautions.repeat, LINE_LENGTH - characters_of(&words->prefix));
        break;
    default:
        write_long_step(words, caution);
        break;
    }
    if (!isnan(words->line->diff_ms)) {
        write_string(&words->tail, caution->code == CAUTION_OUTLIER ? "; would add " : "; makes ");
        write_change_of(words, &words->tail, words->line->diff_ms);
    }
}

/* Writes the parts of a line. */
static bool write_line(struct words *words)
{
    const struct answer_causes *causes = &words->answer->causes;
    const struct name *work = NULL;
    switch (words->line->kind) {
    case LINE_VERDICT:
        write_verdict(words);
        break;
    case LINE_RANKS:
        write_own_ranks(&words->body, &words->answer->facts.pair.ranks.own);
        break;
    case LINE_TOTALS:
        write_totals(words);
        break;
    case LINE_COVERAGE:
        write_coverage(words);
        break;
    case LINE_MIX:
        write_mix(words);
        break;
    case LINE_UNTRACED:
        write_untraced(words);
        break;
    case LINE_COMPILED:
        write_compiled(words);
        break;
    case LINE_LOG:
    case LINE_HINT:
        write_log(words);
        break;
    case LINE_CAUTION:
        write_caution(words);
        break;
    case LINE_CAUSE:
    case LINE_DIAGNOSIS:
        return write_cause(words);
    case LINE_CHANGE:
        work = &causes->diagnoses.texts
                    .items[causes->diagnoses.items[words->line->of].sentence];
        write_string(&words->prefix, "change: ");
        write_bytes(&words->body, work->text, work->length);
        break;
    case LINE_REST:
        write_rest(words);
        break;
    case LINE_GRAPHS:
        write_string(&words->prefix, "change: ");
        write_change_to_graphs(&words->body, &words->answer->facts.work.graphs,
                               answer_in_steps(&words->answer->facts));
        break;
    case LINE_WORK:
        work = &causes->texts.items[causes->works[words->line->of].text];
        write_string(&words->prefix, "count: ");
        write_bytes(&words->body, work->text, work->length);
        break;
    }
    return true;
}

/* Joins the parts of a line, and cuts the body if it is too long. */
static bool join(struct words *words, struct answer_line *line)
{
    struct names *texts = &words->answer->causes.texts;
    struct writer *body = &words->body, whole = {0};
    bool told = line->kind == LINE_TOTALS || line->kind == LINE_CAUTION ||
                (line->kind >= LINE_CAUSE && line->kind != LINE_REST);
    if (body->failed || words->prefix.failed || words->tail.failed || words->behind.failed ||
        words->shorter.failed)
        return false;
    body->length = text_visible(body->bytes, body->length);
    if (told)
        line->words = names_intern(texts, body->length ? body->bytes : "", body->length);
    size_t taken = characters_of(&words->prefix) + characters_of(&words->tail);
    if (taken + characters_of(body) + characters_of(&words->behind) <= LINE_LENGTH) {
        write_bytes(&words->tail, words->behind.bytes, words->behind.length);
        taken += characters_of(&words->behind);
    }
    if (taken + characters_of(body) > LINE_LENGTH && words->shorter.length > 0)
        body = &words->shorter;
    write_bytes(&whole, words->prefix.bytes, words->prefix.length);
    size_t room = LINE_LENGTH > taken ? LINE_LENGTH - taken : 0;
    write_cut(&whole, body->bytes, body->length, line->kind == LINE_VERDICT ? SIZE_MAX : room);
    write_bytes(&whole, words->tail.bytes, words->tail.length);
    bool done = !whole.failed;
    if (done)
        line->text = names_intern(texts, whole.bytes, whole.length);
    writer_clear(&whole);
    return done && line->text != NAME_NONE && (!told || line->words != NAME_NONE);
}

/* Writes the words of the verdict, which have no numbers. */
static bool judge_in_words(struct words *words, struct answer_line *line)
{
    const struct answer_facts *facts = &words->answer->facts;
    struct writer text = {0};
    if (facts->judged == JUDGED_CANNOT) {
        trust_write_cannot(&text, trust_decides(&facts->trust));
    } else {
        write_own_rank(&text, &facts->pair.ranks.own);
        write_judged(&text, facts->judged, &facts->pair.verdict, &facts->pair.pair);
    }
    line->words = text.failed ? NAME_NONE
                              : names_intern(&words->answer->causes.texts, text.bytes, text.length);
    writer_clear(&text);
    return line->words != NAME_NONE;
}

bool answer_words_write(struct answer *answer)
{
    struct words words = {.answer = answer, .amounts = time_format_of(&answer->facts.pair.pair)};
    bool done = true;
    for (size_t i = 0; i < answer->line_count && done; i++) {
        words.line = &answer->lines[i];
        done = write_line(&words) && join(&words, &answer->lines[i]) &&
               (answer->lines[i].kind != LINE_VERDICT || judge_in_words(&words, &answer->lines[i]));
        words.prefix.length = words.body.length = words.tail.length = words.behind.length = 0;
        words.shorter.length = 0;
    }
    writer_clear(&words.prefix);
    writer_clear(&words.body);
    writer_clear(&words.tail);
    writer_clear(&words.behind);
    writer_clear(&words.shorter);
    return done;
}
