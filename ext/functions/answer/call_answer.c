#include "call_answer.h"

#include <math.h>

#include "analysis/causes/cause_parts.h"
#include "answer_words.h"
#include "compile_lines.h"
#include "functions/call/step_parts.h"
#include "functions/words/verdict_words.h"

/* State of the layout of lines. */
struct layout {
    struct answer *answer;
    double least;   /* ms; smaller times round to 0 */
    size_t heads;   /* lines before the causes, and the line of graphs */
    size_t graphs;  /* lines of graphs: 1 or 0 */
    size_t lines;   /* room for causes and work */
    size_t of_work; /* share of `lines` that work may take */
    size_t sure;    /* lines that work leaves to causes */
    size_t changes; /* diagnoses without a time */
    size_t works;   /* lines of work */
    size_t logs;    /* lines of logs and hints */
};

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Adds a line. `lines` has room for one more than MOST_LINES. */
static struct answer_line *add_line(struct answer *answer, enum line_kind kind)
{
    struct answer_line *line = &answer->lines[answer->line_count++];
    *line = (struct answer_line){.kind = kind,
                                 .name = NAME_NONE,
                                 .control_ms = NAN,
                                 .test_ms = NAN,
                                 .diff_ms = NAN,
                                 .share = NAN,
                                 .gain_ms = NAN,
                                 .rank = NUMBER_NONE,
                                 .hidden_by = NAME_NONE,
                                 .advice = NAME_NONE,
                                 .counts = NAME_NONE,
                                 .text = NAME_NONE,
                                 .words = NAME_NONE};
    return line;
}

/* C19: adds step times to the caution about the scale of tensors. The time of the side with larger
** tensors is divided by the scale. */
static void add_scaled(const struct answer *answer, const struct caution *caution,
                       struct answer_line *line)
{
    const struct pair *pair = &answer->facts.pair.pair;
    const struct check *check = &answer->facts.checks.items[caution->of];
    if (caution->code != CAUTION_CHECK || check->scale[0] == 0 || pair->strata_count > 1)
        return;
    double scale = (double)check->scale[1] / (double)check->scale[0];
    line->control_ms = pair->sides[0].mean * fmin(scale, 1);
    line->test_ms = pair->sides[1].mean / fmax(scale, 1);
}

static enum total total_of(enum step_class step_class)
{
    return step_class == CLASS_COMPUTE || step_class == CLASS_MEMORY ? TOTAL_BUSY
           : step_class == CLASS_COMM                                ? TOTAL_COMMUNICATION
                                                                     : TOTAL_IDLE;
}

/* Whether the answer has totals (C18). */
static bool has_totals(const struct answer *answer)
{
    const struct call_pair *pair = &answer->facts.pair;
    const struct pair_side *sides = pair->pair.sides;
    return answer->compared && answer->facts.judged != JUDGED_SAME &&
           pair->clock == CLOCK_DEVICE && pair->pair.strata_count == 1 && !sides[0].of_host &&
           !sides[1].of_host;
}

static bool find_totals(struct answer *answer)
{
    if (!has_totals(answer))
        return true;
    if (!facts_causes(&answer->facts))
        return false;
    for (int side = 0; side < 2; side++) {
        const struct attributed_step *total = &answer->facts.causes.sides[side].total;
        wide_time sums[TOTALS] = {0};
        for (size_t i = 0; i < total->count; i++) {
            struct attributed part;
            if (part_at_level(&total->rows[i], LEVEL_TOP_OP, false, &part))
                sums[total_of(part.step_class)] += part.time;
        }
        for (int i = 0; i < TOTALS; i++)
            answer->totals[i][side] = (double)sums[i] / (double)total->steps / 1e6;
    }
    return true;
}

/* Adds the totals. The line has the numbers of the total that changed most. */
static void add_totals(struct answer *answer)
{
    static const char *const codes[] = {"busy", "communication", "idle"};
    double (*totals)[2] = answer->totals;
    struct answer_line *line = add_line(answer, LINE_TOTALS);
    int most = 0;
    for (int i = 1; i < TOTALS; i++)
        if (fabs(totals[i][1] - totals[i][0]) > fabs(totals[most][1] - totals[most][0]))
            most = i;
    line->code = codes[most];
    line->control_ms = totals[most][0];
    line->test_ms = totals[most][1];
    line->diff_ms = line->test_ms - line->control_ms;
    line->share = line->diff_ms / pair_diff(&answer->facts.pair.pair);
}

/* Adds the steps by the host's clock, which are known even if the recording lost device work. */
static bool add_by_host(struct answer *answer)
{
    struct call *call = answer->facts.call;
    struct call_pair *by_host = &answer->by_host;
    if (answer->facts.pair.clock == CLOCK_HOST)
        return true;
    if (!call_pair_open(call, CLOCK_HOST, NULL, by_host))
        return false;
    const struct pair_side *sides = by_host->pair.sides;
    if (sides[0].windows > 0 && sides[1].windows > 0) {
        struct answer_line *line = add_line(answer, LINE_COVERAGE);
        line->code = "host";
        line->control_ms = sides[0].mean;
        line->test_ms = sides[1].mean;
        line->diff_ms = pair_diff(&by_host->pair);
    }
    return true;
}

/* C24: lays out all lines for traces that cannot be compared. */
static bool add_cannot(struct answer *answer)
{
    add_line(answer, LINE_VERDICT)->code = "cannot";
    if (!add_by_host(answer) || !call_findings_find(&answer->facts, &answer->cautions))
        return false;
    for (size_t i = 0; i < answer->cautions.chosen.count; i++) {
        struct answer_line *line = add_line(answer, LINE_CAUTION);
        line->of = i;
        line->code = caution_code(answer, &answer->cautions.chosen.items[i]);
    }
    return true;
}

/* Lays out the lines before the causes, at most `most`. */
static void add_heads(struct answer *answer, size_t most)
{
    const struct pair *pair = &answer->facts.pair.pair;
    const struct pair_side *sides = pair->sides;
    struct answer_line *line = add_line(answer, LINE_VERDICT);
    line->control_ms = sides[0].count > 0 ? sides[0].mean : NAN;
    line->test_ms = sides[1].count > 0 ? sides[1].mean : NAN;
    line->diff_ms = line->test_ms - line->control_ms;
    line->code = judged_code(answer->facts.judged, &answer->facts.pair.verdict);
    if (answer->facts.pair.ranks.own.there)
        add_line(answer, LINE_RANKS);
    if (has_totals(answer))
        add_totals(answer);
    if (answer->compared)
        add_line(answer, LINE_COVERAGE);
    if (pair->strata_count > 1)
        add_line(answer, LINE_MIX);
    if (!isnan(answer_untraced(answer))) {
        line = add_line(answer, LINE_UNTRACED);
        line->control_ms = answer->request.untraced[0];
        line->test_ms = answer->request.untraced[1];
        line->diff_ms = answer_untraced(answer);
    }
    double others[2];
    if (answer->facts.pair.verdict.of == OF_COMPILING &&
        pair_compiling(&sides[0], &others[0]) < sides[0].count &&
        pair_compiling(&sides[1], &others[1]) < sides[1].count) {
        line = add_line(answer, LINE_COMPILED);
        line->control_ms = others[0];
        line->test_ms = others[1];
    }
    if (compile_line_damaged(&answer->facts) && answer->line_count < most) {
        line = add_line(answer, LINE_CAUTION);
        line->of = answer->cautions.chosen.count + 1;
        line->code = "log";
    }
    for (size_t i = 0; i < answer->cautions.chosen.count && answer->line_count < most; i++) {
        const struct caution *caution = &answer->cautions.chosen.items[i];
        line = add_line(answer, LINE_CAUTION);
        line->of = i;
        line->code = caution_code(answer, caution);
        line->diff_ms = caution->is_told ? caution->ms : NAN;
        if (caution->code != CAUTION_OUTLIER)
            line->share = line->diff_ms / pair_diff(pair);
        if (caution_names_rank(answer, caution))
            line->rank = caution->rank;
        add_scaled(answer, caution, line);
    }
    answer->line_count = at_most(answer->line_count, most);
}

/* Whether a cause may have a line: it makes 1 % of the difference, or steps have several strata. */
static bool is_line(const struct layout *layout, const struct answer_cause *cause)
{
    const struct pair *pair = &layout->answer->facts.pair.pair;
    return fabs(cause->diff_ms) >= layout->least &&
           (fabs(cause->diff_ms) >= LINE_PART * fabs(pair_diff(pair)) || pair->strata_count > 1);
}

/* Whether this name is among the names that a cause replaced. */
static bool replaces(const struct answer *answer, const struct answer_cause *cause, uint32_t name)
{
    const struct causes *causes = &answer->facts.causes.causes;
    const struct name *text = &answer->causes.texts.items[name];
    if (cause->of == SIZE_MAX)
        return false;
    const struct cause *of = &causes->items[cause->of];
    for (size_t i = 0; i < of->replaced_count; i++) {
        uint32_t other = causes->replaced[of->replaced_first + i];
        if (other != NAME_NONE && name_compare(&causes->names.items[other], text) == 0)
            return true;
    }
    return false;
}

/* Whether a diagnosis owns the causes with this name. */
static bool is_in_diagnosis(const struct answer *answer, const struct answer_cause *cause,
                            uint32_t name)
{
    const struct causes *causes = &answer->facts.causes.causes;
    const struct name *text = &answer->causes.texts.items[name];
    if (cause->diagnosis == SIZE_MAX)
        return false;
    for (size_t part = causes->items[cause->of].parts; part > 0;) {
        const struct cause_part *of = &causes->parts->items[part - 1];
        for (size_t i = of->first; i < of->first + of->count; i++) {
            const struct cause_place *place = &causes->parts->places[i];
            const uint32_t ids[] = {place->name, place->op, place->unit};
            for (size_t j = 0; j < sizeof ids / sizeof *ids; j++)
                if (ids[j] != NAME_NONE && name_compare(&causes->names.items[ids[j]], text) == 0)
                    return true;
        }
        part = of->next;
    }
    return false;
}

/* Whether a change in execution counts has this name. */
static bool is_change(const struct answer *answer, size_t change, uint32_t name)
{
    const struct run_changes *work = &answer->facts.work;
    return name_compare(&work->names.items[work->items[change].name],
                        &answer->causes.texts.items[name]) == 0;
}

/* Whether a caution, or one of the first `sure` causes, names the work. */
static bool is_named(const struct layout *layout, const struct answer_work *work, size_t sure)
{
    const struct answer *answer = layout->answer;
    const struct answer_causes *causes = &answer->causes;
    for (size_t i = 0; i < answer->cautions.chosen.count; i++) {
        const struct caution *caution = &answer->cautions.chosen.items[i];
        if (caution->code == CAUTION_MODE && is_change(answer, caution->of, work->name))
            return true;
    }
    for (size_t i = 0; i < causes->count && i < sure; i++) {
        const struct answer_cause *cause = &causes->items[i];
        if (is_line(layout, cause) &&
            ((cause->name == work->name && cause->named) ||
             replaces(answer, cause, work->name) || is_in_diagnosis(answer, cause, work->name)))
            return true;
    }
    return false;
}

/* Chooses the work that gets lines; `places` has room for `of_work`. */
static void choose_works(struct layout *layout, size_t *places)
{
    const struct answer_causes *causes = &layout->answer->causes;
    size_t causes_shown = layout->lines + 1;
    do { /* a cause may name the work that would need its line */
        causes_shown--;
        layout->works = 0;
        for (size_t i = 0; i < causes->work_count && layout->works < layout->of_work; i++)
            if (!is_named(layout, &causes->works[i], causes_shown))
                places[layout->works++] = i;
    } while (layout->works > layout->lines - causes_shown && causes_shown > layout->sure);
}

/* Returns the execution counts of a cause's operator, unless an earlier cause names it: an id in
** the texts of causes, or NAME_NONE. */
static uint32_t counts_of(const struct answer *answer, size_t i)
{
    const struct answer_causes *causes = &answer->causes;
    const struct answer_cause *cause = &causes->items[i];
    const struct name *texts = causes->texts.items;
    uint32_t counts = NAME_NONE;
    if (cause->name == NAME_NONE || !cause->named || cause->of == SIZE_MAX ||
        answer->facts.causes.causes.items[cause->of].kind == CAUSE_REPLACED)
        return NAME_NONE;
    for (size_t j = 0; j < i; j++)
        if (causes->items[j].name == cause->name)
            return NAME_NONE;
    for (size_t j = 0; j < causes->work_count; j++) {
        uint32_t text = causes->works[j].text;
        if (causes->works[j].name == cause->name &&
            (counts == NAME_NONE || name_compare(&texts[counts], &texts[text]) < 0))
            counts = text;
    }
    return counts;
}

/* C9: sorts waits of the device that changed in the other direction than the step after the other
** causes, and the mix last. */
static int group_of(const struct answer *answer, const struct answer_cause *cause)
{
    const struct pair *pair = &answer->facts.pair.pair;
    bool wait = cause->is_wait && !(pair->sides[0].of_host && pair->sides[1].of_host);
    return cause->is_mix ? 2 : wait && cause->diff_ms * pair_diff(pair) < 0 ? 1 : 0;
}

/* Gives a line the pattern and the advice of a diagnosis. */
static void name_diagnosis(struct answer_line *line, const struct diagnoses *of, size_t i)
{
    line->code = of->texts.items[of->items[i].pattern].text;
    line->advice = of->items[i].advice;
}

/* Whether a line reports a diagnosis. */
static bool is_said(const struct answer *answer, size_t diagnosis)
{
    const struct answer_causes *causes = &answer->causes;
    for (size_t i = 0; i < answer->line_count; i++) {
        const struct answer_line *line = &answer->lines[i];
        if ((line->kind == LINE_DIAGNOSIS && causes->items[line->of].diagnosis == diagnosis) ||
            (line->kind == LINE_CAUSE && causes->items[line->of].advised == diagnosis))
            return true;
    }
    return false;
}

/* Lays out diagnoses that have no line yet, without their times. They take the room of work. */
static void add_changes(struct layout *layout)
{
    struct answer *answer = layout->answer;
    const struct diagnoses *diagnoses = &answer->causes.diagnoses;
    for (size_t i = 0, said = 0; i < diagnoses->count && said < MOST_CHANGES; i++) {
        if (diagnoses->items[i].is_error || is_said(answer, i))
            continue;
        if (answer->line_count + layout->graphs + layout->works >= MOST_LINES) {
            if (layout->works == 0)
                return;
            layout->works--;
        }
        struct answer_line *line = add_line(answer, LINE_CHANGE);
        line->of = i;
        name_diagnosis(line, diagnoses, i);
        said++;
    }
}

/* Counts the diagnoses that have no time or do not replace their causes. */
static size_t count_changes(const struct answer *answer)
{
    const struct diagnoses *diagnoses = &answer->causes.diagnoses;
    size_t count = 0;
    for (size_t i = 0; i < diagnoses->count; i++)
        count += !diagnoses->items[i].is_error &&
                 (!answer->causes.joined || isnan(diagnoses->items[i].ms));
    return count;
}

static void add_cause(struct answer *answer, size_t i)
{
    const struct answer_cause *cause = &answer->causes.items[i];
    const struct diagnoses *diagnoses = &answer->causes.diagnoses;
    bool diagnosed = cause->diagnosis != SIZE_MAX;
    struct answer_line *line = add_line(answer, diagnosed ? LINE_DIAGNOSIS : LINE_CAUSE);
    line->of = i;
    line->code = cause->kind;
    if (diagnosed)
        name_diagnosis(line, diagnoses, cause->diagnosis);
    else if (cause->advised != SIZE_MAX)
        line->advice = diagnoses->items[cause->advised].advice;
    line->step_class = cause->step_class;
    line->name = cause->name;
    line->control_ms = cause->control_ms;
    line->test_ms = cause->test_ms;
    line->diff_ms = cause->diff_ms;
    line->share = cause->share;
    line->rank = cause->rank;
    line->gain_ms = cause->gain_ms;
    line->hidden_by = cause->hidden_by;
    line->counts = counts_of(answer, i);
    answer->rest.held += fabs(cause->diff_ms);
}

static void add_number(double *to, double number)
{
    if (!isnan(number))
        *to = isnan(*to) ? number : *to + number;
}

static void leave(struct answer_rest *rest, const struct answer_cause *cause)
{
    rest->count++;
    add_number(&rest->control_ms, cause->control_ms);
    add_number(&rest->test_ms, cause->test_ms);
    add_number(&rest->ms, cause->diff_ms);
    add_number(&rest->share, cause->share);
    rest->more += cause->diff_ms > 0 ? cause->diff_ms : 0;
    rest->less += cause->diff_ms < 0 ? cause->diff_ms : 0;
}

/* Lays out causes, the rest, graphs and work. */
static void add_causes(struct layout *layout)
{
    struct answer *answer = layout->answer;
    size_t places[MOST_LINES], room;
    answer->rest = (struct answer_rest){.control_ms = NAN, .test_ms = NAN, .ms = NAN, .share = NAN};
    choose_works(layout, places);
    room = layout->lines - layout->works;
    for (int group = 0; group < 3; group++)
        for (size_t i = 0; i < answer->causes.count && i < room; i++)
            if (is_line(layout, &answer->causes.items[i]) &&
                group_of(answer, &answer->causes.items[i]) == group)
                add_cause(answer, i);
    for (size_t i = 0; i < answer->causes.count; i++) {
        answer->rest.all += answer->causes.items[i].changes;
        if (i >= room || !is_line(layout, &answer->causes.items[i]))
            leave(&answer->rest, &answer->causes.items[i]);
    }
    if (answer->rest.count > 0) {
        struct answer_line *line = add_line(answer, LINE_REST);
        line->control_ms = answer->rest.control_ms;
        line->test_ms = answer->rest.test_ms;
        line->diff_ms = answer->rest.ms;
        line->share = answer->rest.share;
    }
    if (!answer->request.evidence)
        add_changes(layout);
    if (layout->graphs > 0)
        add_line(answer, LINE_GRAPHS)->code = answer->facts.work.graphs.into ? "into" : "out of";
    for (size_t i = 0; i < layout->works; i++) {
        struct answer_line *line = add_line(answer, LINE_WORK);
        line->of = places[i];
        line->name = answer->causes.works[places[i]].name;
    }
    for (size_t i = 0; i < layout->logs; i++) {
        bool hint = compile_line_is_hint(&answer->facts, i);
        struct answer_line *line = add_line(answer, hint ? LINE_HINT : LINE_LOG);
        line->of = i;
        line->code = compile_line_code(&answer->facts, i);
    }
}

/* Whether gains can be simulated: some cause can be undone. */
static bool has_gains(const struct answer *answer)
{
    const struct call_pair *pair = &answer->facts.pair;
    return answer->request.gains && pair->pair.strata_count == 1 &&
           answer->facts.judged != JUDGED_SAME &&
           (pair->clock != CLOCK_HOST ||
            (pair->pair.sides[0].of_host && pair->pair.sides[1].of_host));
}

/* Adds a caution that comes from causes or gains, if there is room. */
static void add_late_caution(struct layout *layout, const char *code, size_t number)
{
    if (layout->heads >= MOST_HEADS)
        return;
    struct answer_line *line = add_line(layout->answer, LINE_CAUTION);
    line->of = layout->answer->cautions.chosen.count + number;
    line->code = code;
    layout->heads++;
    layout->lines--;
    layout->of_work = at_most(layout->of_work, MOST_HEADS - layout->heads);
    layout->sure--;
}

/* Finds causes, work and gains, and lays them out. */
static bool find_causes(struct layout *layout)
{
    struct answer *answer = layout->answer;
    struct answer_causes *causes = &answer->causes;
    if (answer->facts.pair.pair.strata_count == 1 && !answer_work_find(&answer->facts, causes))
        return false;
    layout->heads = answer->line_count + layout->graphs;
    if (!answer->request.evidence)
        layout->changes = at_most(MOST_CHANGES, count_changes(answer));
    layout->logs = compile_line_count(&answer->facts);
    layout->lines = MOST_LINES - 1 - layout->heads - layout->changes - layout->logs;
    layout->of_work = at_most(MOST_WORKS - layout->graphs, MOST_HEADS - layout->heads);
    layout->sure = layout->lines - at_most(layout->of_work, causes->work_count);
    if ((answer->facts.judged != JUDGED_SAME &&
         !answer_causes_find(&answer->facts, layout->sure, causes)) ||
        (has_gains(answer) && !answer_gains_find(&answer->facts, layout->lines, causes)))
        return false;
    if (causes->links != NAME_NONE)
        add_late_caution(layout, "links", 2); /* 1 is the caution about damaged logs */
    if (causes->failed != NAME_NONE)
        add_late_caution(layout, "gains", 0);
    add_causes(layout);
    return true;
}

bool answer_request_read(struct call *call, struct answer_request *request)
{
    enum { CLOCK = 6, UNTRACED, GAINS = 9, DIAGNOSES, LOGS };
    double gains = 1, diagnoses = 1;
    *request = (struct answer_request){.untraced = {NAN, NAN}};
    bool done = argument_step_clock(call, CLOCK, &request->clock) &&
                argument_real(call, UNTRACED, &request->untraced[0]) &&
                argument_real(call, UNTRACED + 1, &request->untraced[1]) &&
                argument_real(call, GAINS, &gains) && argument_real(call, DIAGNOSES, &diagnoses);
    request->gains = gains > 0;
    request->diagnoses = diagnoses > 0;
    request->first_log = LOGS;
    return done;
}

bool call_answer_find(struct call *call, const struct answer_request *request,
                      struct answer *answer)
{
    struct layout layout = {.answer = answer};
    *answer = (struct answer){.request = *request,
                              .causes = {.failed = NAME_NONE, .links = NAME_NONE}};
    if (!facts_open(call, request->clock, NULL, &answer->facts))
        return false;
    answer->facts.wants_work = request->evidence;
    answer->facts.wants_runs = request->diagnoses;
    if (answer->facts.judged == JUDGED_CANNOT)
        return add_cannot(answer) && (answer_words_write(answer) || failure_memory(&call->failure));
    answer->compared = answer->facts.judged != JUDGED_NOTHING;
    layout.least = time_format_of(&answer->facts.pair.pair).least;
    if (answer->compared &&
        !call_cautions_find(&answer->facts, answer_untraced(answer), &answer->cautions))
        return false;
    if (!find_totals(answer) ||
        (answer->compared && !facts_compile(&answer->facts, request->first_log)))
        return false;
    if (answer->compared && request->diagnoses &&
        !answer_diagnoses_find(&answer->facts, &answer->causes))
        return false;
    answer->causes.joined = !request->evidence && answer->causes.diagnoses.owners &&
                            answer->facts.pair.pair.strata_count == 1 &&
                            verdict_is_clear(&answer->facts.pair.verdict);
    if (!answer->facts.wants_work)
        facts_forget_device(&answer->facts);
    if (answer->compared && answer->facts.pair.pair.strata_count == 1) {
        if (!facts_work(&answer->facts))
            return false;
        layout.graphs = answer->facts.work.graphs.operators > 0;
    }
    add_heads(answer, MOST_HEADS - layout.graphs);
    return (!answer->compared || find_causes(&layout)) &&
           (answer_words_write(answer) || failure_memory(&call->failure));
}

void call_answer_close(struct answer *answer)
{
    answer_causes_clear(&answer->causes);
    call_pair_close(&answer->by_host);
    call_cautions_close(&answer->cautions);
    facts_close(&answer->facts);
}
