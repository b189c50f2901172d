#include "brief.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "brief_claims.h"
#include "brief_document.h"
#include "brief_evidence.h"
#include "brief_facts.h"
#include "brief_queries.h"
#include "functions/answer/answer_words.h"
#include "functions/words/label_words.h"
#include "functions/words/verdict_words.h"
#include "sqlite/sql_function.h"

/* A brief while it is written. */
struct brief {
    struct answer *answer;
    const struct pair_side *sides;
    bool trusted;        /* the recordings can be compared */
    bool there[2], both; /* a side, or both, have events to compare */
    struct brief_queries queries;
    struct brief_facts facts;
    bool claimed[MOST_LINES + 1]; /* by line: whether the brief reports it as a cause */
    sqlite3_stmt *total;
    struct brief_document document;
    struct writer from; /* FROM clause of the current object's query */
};

static const char *const line_kinds[] = {
    [LINE_UNTRACED] = "untraced", [LINE_CAUTION] = "caution", [LINE_CAUSE] = "cause"};

static double if_there(bool there, double number)
{
    return there ? number : NAN;
}

/* Sets the FROM clause of the current object's query. */
static void read_from(struct brief *brief, const char *sql)
{
    brief->from.length = 0;
    brief_query_write(&brief->queries, &brief->from, sql);
}

/* Returns the text of an id of the answer; NULL: none. */
static const struct name *text_of(const struct brief *brief, uint32_t id)
{
    return id == NAME_NONE ? NULL : &brief->answer->causes.texts.items[id];
}

static void say_verdict(struct brief *brief)
{
    const struct answer_facts *facts = &brief->answer->facts;
    const struct pair_side *sides = brief->sides;
    struct brief_document *document = &brief->document;
    double diff = if_there(brief->both, pair_diff(&facts->pair.pair));
    read_from(brief, "trace_verdict(:judged)");
    brief_begin(document, BRIEF_VERDICT, 0);
    brief_text(document, "is", judged_code(facts->judged, &facts->pair.verdict));
    brief_data(document, "words", text_of(brief, brief->answer->lines[0].words), false);
    brief_real(document, "control_ms", NULL, if_there(brief->there[0], sides[0].mean));
    brief_real(document, "test_ms", NULL, if_there(brief->there[1], sides[1].mean));
    brief_real(document, "diff_ms", NULL, diff);
    brief_real(document, "percent", "100 * diff_ms / control_ms AS percent",
               100 * diff / sides[0].mean);
    brief_end(document, &brief->from);
}

/* Z3 */
static void say_certainty(struct brief *brief)
{
    static const char *const steps[] = {"control_steps", "test_steps"};
    static const char *const ranges[][2] = {{"control_low_ms", "control_high_ms"},
                                            {"test_low_ms", "test_high_ms"}};
    const struct pair_side *sides = brief->sides;
    struct brief_document *document = &brief->document;
    double diff = if_there(brief->both, pair_diff(&brief->answer->facts.pair.pair));
    read_from(brief, "trace_verdict(:judged)");
    brief_begin(document, BRIEF_CERTAINTY, 0);
    brief_integer(document, "control_runs", "1 AS control_runs", 1);
    brief_integer(document, "test_runs", "1 AS test_runs", 1);
    for (int side = 0; side < 2; side++)
        if (brief->there[side])
            brief_integer(document, steps[side], NULL, sides[side].windows);
    for (int side = 0; side < 2; side++) {
        brief_real(document, ranges[side][0], NULL, if_there(brief->there[side], sides[side].low));
        brief_real(document, ranges[side][1], NULL,
                   if_there(brief->there[side], sides[side].high));
    }
    brief_real(document, "noise_percent", "100 * abs(diff_ms) / control_ms / 2.77 AS noise_percent",
               100 * fabs(diff) / sides[0].mean / NOISE_OF);
    brief_end(document, &brief->from);
}

static int take_silent(void *to, sqlite3_stmt *row)
{
    double *silent = to;
    for (int side = 0; side < 2; side++)
        silent[side] = sqlite3_column_double(row, side);
    return SQLITE_OK;
}

/* Reports the time without any host events, if it is long. SQL sums it up, so that the query of the
** brief gives the same number. */
static bool say_unrecorded(struct brief *brief)
{
    static const char sql[] =
        "SELECT total(control_time) / 1000, total(test_time) / 1000"
        " FROM \"tracediff:trace_step_diff\"(:control, :test, :control_rank, :test_rank,"
        " :control_iteration, :test_iteration, 'annotation', :clock, NULL, NULL, :steps)"
        " WHERE class LIKE '%unrecorded'";
    struct call *call = brief->answer->facts.call;
    struct brief_document *document = &brief->document;
    double silent[2];
    if (!(brief->facts.silent[0] > SILENT_PART) && !(brief->facts.silent[1] > SILENT_PART))
        return true;
    if (sql_enter(call) != SQLITE_OK)
        return false;
    bool done = sql_run(call, sql, take_silent, silent) == SQLITE_OK;
    sql_leave(call);
    if (!done)
        return false;
    read_from(brief, "trace_step_diff(:six, 'annotation', :clock, NULL, NULL, :steps)"
                     " WHERE class LIKE '%unrecorded'");
    brief_begin(document, BRIEF_UNRECORDED, 0);
    brief_real(document, "control_ms", "total(control_time) / 1000 AS control_ms", silent[0]);
    brief_real(document, "test_ms", "total(test_time) / 1000 AS test_ms", silent[1]);
    brief_end(document, &brief->from);
    return true;
}

static void say_comparability(struct brief *brief)
{
    struct brief_document *document = &brief->document;
    const struct brief_facts *facts = &brief->facts;
    brief_begin(document, BRIEF_COMPARABILITY, 0);
    brief_text(document, "is",
               brief->trusted && !brief->both ? "empty"
               : facts->matter > 0            ? "doubtful"
                                              : "good");
    if (brief->queries.chosen) {
        read_from(brief, "trace_comparability(:sides, :chosen, :clock, NULL, :steps)");
        brief_integer(document, "matter", "sum(matters = 'yes') AS matter", facts->matter);
        brief_integer(document, "may_matter", "sum(matters = 'maybe') AS may_matter",
                      facts->may_matter);
    }
    brief_end(document, &brief->from);
}

/* Returns the index of a line among lines of its kind. Unlike the number of the line, it does not
** change with another caution. */
static int number_of(const struct brief *brief, size_t i)
{
    int count = 0;
    for (size_t j = 0; j < i; j++)
        count += brief->answer->lines[j].kind == brief->answer->lines[i].kind;
    return count;
}

static void read_line(struct brief *brief, size_t i)
{
    read_from(brief, "trace_summary(:given)");
    write_format(&brief->from, " WHERE diagnoses = 0 AND kind = '%s' LIMIT 1 OFFSET %d",
                 line_kinds[brief->answer->lines[i].kind], number_of(brief, i));
}

/* Returns the caution of a line; NULL: the line is no caution, or its caution is about gains. */
static const struct caution *caution_of(const struct brief *brief, size_t i)
{
    const struct answer *answer = brief->answer;
    const struct answer_line *line = &answer->lines[i];
    return line->kind == LINE_CAUTION && line->of < answer->cautions.chosen.count
               ? &answer->cautions.chosen.items[line->of]
               : NULL;
}

/* Writes the diagnoses (DG2), except patterns that fail. */
static void say_diagnoses(struct brief *brief)
{
    const struct diagnoses *found = &brief->answer->causes.diagnoses;
    struct brief_document *document = &brief->document;
    for (size_t i = 0; i < found->count; i++) {
        const struct diagnosis *of = &found->items[i];
        const struct name *advice =
            of->advice == NAME_NONE ? NULL : &found->texts.items[of->advice];
        if (of->is_error)
            continue;
        read_from(brief, "trace_diagnoses(:six, :clock, NULL, :steps)");
        write_format(&brief->from, " WHERE pattern IS NOT NULL LIMIT 1 OFFSET %d", (int)i);
        brief_begin(document, BRIEF_DIAGNOSES, i);
        brief_text(document, "pattern", found->texts.items[of->pattern].text);
        brief_data(document, "words", &found->texts.items[of->sentence], false);
        if (advice)
            brief_text(document, "advice", advice->text);
        brief_real(document, "time_ms", NULL, of->ms);
        brief_real(document, "share", NULL, of->share);
        brief_end(document, &brief->from);
    }
}

/* Whether a line is the caution that explains most of the difference (L11). */
static bool is_most(const struct brief *brief, size_t i)
{
    const struct caution *caution = caution_of(brief, i);
    return caution && caution->is_most;
}

static const char *covers(const struct brief *brief, size_t i)
{
    const struct caution *caution = caution_of(brief, i);
    return !caution                           ? NULL
           : caution->code == CAUTION_CLOCK   ? "compute"
           : caution->code == CAUTION_OUTLIER ? "none"
                                              : "all";
}

static void say_rank(struct brief *brief, const struct answer_line *line)
{
    if (line->rank != NUMBER_NONE)
        brief_integer(&brief->document, "rank", NULL, line->rank);
}

static void say_cause(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    struct brief_document *document = &brief->document;
    read_line(brief, i);
    brief_begin(document, BRIEF_CAUSES, i + 1);
    brief_text(document, "kind", line->code);
    brief_text(document, "class", line->step_class);
    say_rank(brief, line);
    brief_data(document, "name", text_of(brief, line->name), false);
    brief_data(document, "words", text_of(brief, line->words), false);
    brief_real(document, "diff_ms", NULL, line->diff_ms);
    brief_real(document, "share", NULL, line->share);
    brief_real(document, "gain_ms", NULL, line->gain_ms);
    brief_data(document, "hidden_by", text_of(brief, line->hidden_by), false);
    brief_text(document, "covers", covers(brief, i));
    brief_end(document, &brief->from);
}

static void say_caution(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    struct brief_document *document = &brief->document;
    read_line(brief, i);
    brief_begin(document, BRIEF_CAUTIONS, i + 1);
    brief_text(document, "code", line->code);
    say_rank(brief, line);
    brief_data(document, "words", text_of(brief, line->words), false);
    brief_end(document, &brief->from);
}

static void say_untraced(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    struct brief_document *document = &brief->document;
    read_line(brief, i);
    brief_begin(document, BRIEF_UNTRACED, i + 1);
    brief_real(document, "control_ms", NULL, line->control_ms);
    brief_real(document, "test_ms", NULL, line->test_ms);
    brief_real(document, "diff_ms", NULL, line->diff_ms);
    brief_end(document, &brief->from);
}

/* Whether the name of a line can have evidence. */
static bool has_evidence(const struct brief *brief, const struct answer_line *line)
{
    return brief->queries.chosen && brief->answer->facts.pair.pair.strata_count == 1 &&
           brief_can_quote(text_of(brief, line->name));
}

static void say_counts(struct brief *brief, const struct evidence *evidence)
{
    brief_real(&brief->document, "control_counts", NULL, evidence->counts[0]);
    brief_real(&brief->document, "test_counts", NULL, evidence->counts[1]);
}

/* Sets the FROM clause of the current object's query to one row of evidence. */
static void read_row(struct brief *brief, const char *sql, const struct name *name)
{
    read_from(brief, sql);
    brief_text_write(&brief->from, name->text, name->length);
    write_string(&brief->from, " LIMIT 1");
}

static const char work_sql[] = "trace_work_diff(:sides, :chosen, :steps) WHERE name = ";

/* Z4 */
static bool say_evidence(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    const char *of = line->step_class ? line->step_class : "";
    bool of_kernel = strcmp(of, "comm") == 0;
    bool of_device = of_kernel || strcmp(of, "compute") == 0 || strcmp(of, "memory") == 0;
    const struct name *name = text_of(brief, line->name);
    struct brief_document *document = &brief->document;
    struct evidence evidence;
    bool found = false;
    if (!has_evidence(brief, line))
        return true;
    if (of_device && !brief_device_find(&brief->facts,
                                        of_kernel ? DEVICE_KERNEL : DEVICE_TOP_OP, name,
                                        &evidence, &found))
        return false;
    if (!of_device)
        found = run_evidence_find(&brief->facts.of->work, name, &evidence);
    if (!found)
        return true;
    read_row(brief,
             !of_device  ? work_sql
             : of_kernel ? "trace_diff_by(:sides, 'top_op,op,shapes,types,kernel', :chosen, 'GPU',"
                           " NULL, :steps) WHERE kernel = "
                         : "trace_diff_by(:sides, 'top_op,op,shapes,types,kernel', :chosen, 'GPU',"
                           " NULL, :steps) WHERE top_op = ",
             name);
    brief_begin(document, BRIEF_EVIDENCE, i + 1);
    if (of_device)
        brief_data(document, "shapes", evidence.shapes, true);
    say_counts(brief, &evidence);
    if (of_device) {
        brief_real(document, "control_kernels", NULL, evidence.kernels[0]);
        brief_real(document, "test_kernels", NULL, evidence.kernels[1]);
        brief_real(document, "control_tflops", NULL, evidence.tflops[0]);
        brief_real(document, "test_tflops", NULL, evidence.tflops[1]);
    }
    brief_end(document, &brief->from);
    return true;
}

static void say_graphs(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    brief_begin(&brief->document, BRIEF_GRAPHS, i + 1);
    brief_text(&brief->document, "code", line->code);
    brief_data(&brief->document, "words", text_of(brief, line->words), false);
    brief_end(&brief->document, &brief->from);
}

static void say_work(struct brief *brief, size_t i)
{
    const struct answer_line *line = &brief->answer->lines[i];
    const struct name *name = text_of(brief, line->name);
    struct evidence evidence;
    brief_begin(&brief->document, BRIEF_WORK, i + 1);
    brief_data(&brief->document, "name", name, false);
    brief_data(&brief->document, "words", text_of(brief, line->words), false);
    if (has_evidence(brief, line) &&
        run_evidence_find(&brief->facts.of->work, name, &evidence)) {
        read_row(brief, work_sql, name);
        say_counts(brief, &evidence);
    }
    brief_end(&brief->document, &brief->from);
}

/* Sums up the rest and all causes except the claimed ones before `last`, with the same SQL as the
** query in the brief. */
static bool find_rest(struct brief *brief, size_t last, double *rest)
{
    struct call *call = brief->answer->facts.call;
    int code = SQLITE_OK;
    sqlite3_reset(brief->total);
    sqlite3_clear_bindings(brief->total);
    for (size_t i = 0; i < brief->answer->line_count && code == SQLITE_OK; i++) {
        const struct answer_line *line = &brief->answer->lines[i];
        bool is_rest = line->kind == LINE_REST ||
                       (line->kind == LINE_CAUSE && !(i < last && brief->claimed[i]));
        if (is_rest && !isnan(line->diff_ms))
            code = sqlite3_bind_double(brief->total, (int)i + 1, line->diff_ms);
    }
    code = code == SQLITE_OK ? sqlite3_step(brief->total) : code;
    *rest = code == SQLITE_ROW ? sqlite3_column_double(brief->total, 0) : 0;
    return call_check(call, code == SQLITE_ROW ? SQLITE_OK : code, "");
}

/* Writes the rest, if the line before `last` is the last cause that there is room for (Z3). */
static bool say_rest(struct brief *brief, size_t last)
{
    static const char rows[] =
        "trace_summary(:given) WHERE diagnoses = 0 AND kind IN ('cause', 'rest')";
    const char *before = "(SELECT diff_ms, row_number() OVER (ORDER BY line) AS n FROM ";
    const char *between = ") WHERE n NOT IN (";
    double rest;
    if (!find_rest(brief, last, &rest))
        return false;
    read_from(brief, "");
    for (size_t i = 0; i < last; i++)
        if (brief->claimed[i]) {
            if (*before)
                write_string(&brief->from, before);
            if (*before)
                brief_query_write(&brief->queries, &brief->from, rows);
            write_format(&brief->from, "%s%d", between, number_of(brief, i) + 1);
            before = "";
            between = ", ";
        }
    if (*before)
        brief_query_write(&brief->queries, &brief->from, rows);
    else
        write_string(&brief->from, ")");
    brief_begin(&brief->document, BRIEF_REST, last);
    brief_real(&brief->document, "diff_ms", "total(diff_ms) AS diff_ms", rest);
    brief_end(&brief->document, &brief->from);
    return true;
}

static bool say_rests(struct brief *brief)
{
    static const char sql[] = "SELECT total(column1) FROM (VALUES (?1), (?2), (?3), (?4), (?5),"
                              " (?6), (?7), (?8), (?9), (?10), (?11), (?12), (?13))";
    struct call *call = brief->answer->facts.call;
    if (!brief->both)
        return true;
    bool done = call_check(
        call, sqlite3_prepare_v2(call->connection->db, sql, -1, &brief->total, NULL), "");
    done = done && say_rest(brief, 0);
    for (size_t i = 0; i < brief->answer->line_count && done; i++)
        if (brief->claimed[i] || is_most(brief, i))
            done = say_rest(brief, i + 1);
    sqlite3_finalize(brief->total);
    return done;
}

static bool say_lines(struct brief *brief)
{
    bool done = true;
    for (size_t i = 0; i < brief->answer->line_count && done; i++) {
        enum line_kind kind = brief->answer->lines[i].kind;
        if (is_most(brief, i) || brief->claimed[i])
            say_cause(brief, i);
        else if (kind == LINE_CAUTION)
            say_caution(brief, i);
        else if (kind == LINE_GRAPHS)
            say_graphs(brief, i);
        else if (kind == LINE_WORK)
            say_work(brief, i);
        else if (kind == LINE_UNTRACED)
            say_untraced(brief, i);
        done = !brief->claimed[i] || say_evidence(brief, i);
    }
    return done;
}

/* Writes a follow-up query, unless it needs ranks and steps whose lists are too long. */
static void say_query(struct brief *brief, bool wanted, const char *question, const char *sql)
{
    struct brief_document *document = &brief->document;
    bool compared = brief->both || !brief->trusted;
    if (!wanted || !compared || (!brief->queries.chosen && strstr(sql, ":chosen")))
        return;
    read_from(brief, sql);
    brief_begin(document, BRIEF_NEXT, document->count);
    brief_text(document, "question", question);
    brief_query(document, "sql", &brief->from);
    brief_end(document, &brief->from);
}

static void say_next(struct brief *brief)
{
    const struct answer_facts *facts = &brief->answer->facts;
    bool clear = facts->judged == JUDGED_CLEAR;
    bool of_host = brief->sides[0].of_host || brief->sides[1].of_host;
    size_t works = 0;
    for (size_t i = 0; i < brief->answer->line_count; i++)
        works += brief->answer->lines[i].kind == LINE_WORK ||
                 brief->answer->lines[i].kind == LINE_GRAPHS;
    const struct trust_item *decides = trust_decides(&facts->trust);
    if (decides)
        say_query(brief, decides->code == TRUST_FINDING, "What is wrong with the recording?",
                  decides->side
                      ? "SELECT file, rank, severity, what FROM trace_health(:test, :steps)"
                      : "SELECT file, rank, severity, what FROM trace_health(:control, :steps)");
    say_query(brief, brief->facts.matter > 0, "What may be wrong with the comparison?",
              "SELECT topic, item, control_value, test_value, why FROM trace_comparability("
              ":sides, :chosen, :clock, NULL, :steps) WHERE matters = 'yes'");
    if (decides)
        return;
    say_query(brief, true, "Where does the time of a step go, and what changed?",
              "SELECT class, name, control_time, test_time, diff_time FROM trace_step_diff("
              ":six, NULL, :clock, NULL, NULL, :steps) LIMIT 12");
    say_query(brief, works == MOST_WORKS, "Which operators and kernels run more or less often?",
              "SELECT text, size FROM trace_work_diff(:sides, :chosen, :steps) LIMIT 12");
    say_query(brief, clear && !of_host,
              "Which shapes take longer, by more executions or by longer ones?",
              "SELECT key, diff_device_time, diff_from_counts, diff_from_mean FROM trace_diff_by("
              ":sides, 'op,shapes', :chosen, 'GPU', NULL, :steps) LIMIT 12");
    say_query(brief, facts->pair.is_job && !brief->sides[1].of_host,
              "Which rank do the others wait for?",
              "SELECT rank, wait_caused, class, name, diff_time FROM potential_stragglers(:test)"
              " LIMIT 12");
    say_query(brief, !clear && brief->sides[1].windows > 0, "How long is each step of test?",
              "SELECT rank, iteration, dur FROM trace_steps(:test, :steps) LIMIT 50");
}

static void say_unknown(struct brief *brief, bool unknown, const char *code, const char *words,
                        const char *record)
{
    struct brief_document *document = &brief->document;
    if (!unknown)
        return;
    brief_begin(document, BRIEF_CANNOT_SAY, document->count);
    brief_text(document, "code", code);
    brief_text(document, "words", words);
    brief_text(document, "record", record);
    brief_end(document, &brief->from);
}

/* Whether a claimed cause has no gain. */
static bool lacks_gain(const struct brief *brief)
{
    for (size_t i = 0; i < brief->answer->line_count; i++)
        if (brief->claimed[i] && isnan(brief->answer->lines[i].gain_ms))
            return true;
    return false;
}

static void say_what_is_not_known(struct brief *brief)
{
    const struct answer *answer = brief->answer;
    const struct brief_facts *facts = &brief->facts;
    const double *untraced = answer->request.untraced;
    int64_t c = brief->sides[0].windows, t = brief->sides[1].windows, fewest = c < t ? c : t;
    bool both = brief->both;
    say_unknown(brief, both && answer->facts.judged != JUDGED_SAME, "one_recording",
                "whether another recording would show the same",
                "several runs per side, in turns; trace_ab");
    say_unknown(brief,
                both && answer->facts.judged != JUDGED_SAME && answer->facts.judged != JUDGED_CLEAR,
                "unclear",
                "whether a step is slower: steps vary more than they differ, or other work was "
                "done",
                "more steps, an idle machine, several runs per side");
    say_unknown(brief, both && fewest == 0, "no_steps", "how long a step takes: a side has none",
                "profiler.step(), or ranges that the argument steps names");
    say_unknown(brief, both && fewest > 0 && fewest < FEW_STEPS, "few_steps",
                "how much steps vary: a side has fewer than three", "schedule(active=6) or more");
    say_unknown(brief, both && (brief->sides[0].of_host || brief->sides[1].of_host),
                "no_device_work", "what a device did: a side has no device work",
                "activities with ProfilerActivity.CUDA, if there is a device");
    say_unknown(brief, facts->lacks_ranks, "missing_ranks",
                "who waits for ranks that are not recorded", "a file of each rank");
    say_unknown(brief, !facts->has_shapes, "no_shapes", "shapes and TFLOP/s", "record_shapes=True");
    say_unknown(brief, !facts->has_stacks, "no_stacks", "which lines of Python ask for an operator",
                "with_stack=True, in a recording of its own");
    say_unknown(brief, facts->silent[0] > SILENT_MUCH || facts->silent[1] > SILENT_MUCH,
                "unrecorded", "what the host does where nothing is recorded",
                "record_function() around what it may be");
    say_unknown(brief, lacks_gain(brief), "no_gain",
                "what a fix of causes without gain_ms would bring", NULL);
    say_unknown(brief, isnan(untraced[0]) || isnan(untraced[1]), "untraced",
                "how long steps take without the profiler",
                "their ms, as control_untraced and test_untraced");
    say_unknown(brief, true, "no_memory", "where memory goes",
                "snapshots of the allocator; memory_summary");
}

bool brief_write(struct answer *answer, struct writer *to)
{
    const struct pair_side *sides = answer->facts.pair.pair.sides;
    struct brief brief = {.answer = answer,
                          .sides = sides,
                          .there = {sides[0].count > 0, sides[1].count > 0}};
    struct call *call = answer->facts.call;
    brief.trusted = answer->facts.judged != JUDGED_CANNOT;
    for (int side = 0; side < 2; side++)
        brief.there[side] = brief.there[side] && brief.trusted;
    brief.both = brief.there[0] && brief.there[1];
    bool done = brief_queries_find(call, &answer->facts.pair, &brief.queries) &&
                brief_facts_find(answer, brief.queries.is_long, &brief.facts) &&
                brief_claims_find(answer, brief.claimed);
    if (done) {
        say_verdict(&brief);
        say_certainty(&brief);
        say_comparability(&brief);
        say_diagnoses(&brief);
        done = (!brief.trusted || say_unrecorded(&brief)) && say_lines(&brief) && say_rests(&brief);
        if (brief.trusted)
            say_what_is_not_known(&brief);
        say_next(&brief);
    }
    if (done)
        brief_document_write(&brief.document, to);
    done = done && (!to->failed || failure_memory(&call->failure));
    brief_document_clear(&brief.document);
    brief_facts_close(&brief.facts);
    brief_queries_close(&brief.queries);
    writer_clear(&brief.from);
    return done;
}
