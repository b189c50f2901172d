#include "diagnoses.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "base/sort.h"
#include "diagnosis_facts.h"
#include "functions/words/label_words.h"
#include "sqlite/sql_function.h"

/* A row that a pattern returned. */
struct said {
    size_t diagnosis;
    size_t cause; /* SIZE_MAX: none */
};

struct diagnosing {
    struct answer_facts *facts;
    struct diagnoses *found;
    sqlite3 *db;
    bool alike, within; /* DG3 */
    bool in_steps;
    const struct pattern **patterns; /* by rank, then name */
    size_t pattern_count;
    struct said *said;
    size_t said_count, said_capacity;
    struct writer text, cut;
};

static bool fails(struct diagnosing *finder, int code)
{
    struct failure *failure = &finder->facts->call->failure;
    return code == SQLITE_INTERRUPT ? failure_set(failure, FAILURE_INTERRUPTED, "interrupted")
                                    : failure_memory(failure);
}

static int pattern_order(const void *a, const void *b)
{
    const struct pattern *x = *(const struct pattern *const *)a;
    const struct pattern *y = *(const struct pattern *const *)b;
    return x->rank != y->rank ? COMPARE(x->rank, y->rank) : strcmp(x->name, y->name);
}

/* Adds a diagnosis, or finds one with the same pattern and sentence from index `first` on.
** SIZE_MAX: out of memory. */
static size_t add_diagnosis(struct diagnosing *finder, size_t first, const struct diagnosis *of)
{
    struct diagnoses *found = finder->found;
    for (size_t i = first; i < found->count; i++)
        if (found->items[i].pattern == of->pattern && found->items[i].sentence == of->sentence)
            return i;
    if (!MEMORY_GROW(found->items, found->capacity, found->count + 1))
        return SIZE_MAX;
    found->items[found->count] = *of;
    return found->count++;
}

/* Adds the error of a pattern as a diagnosis. */
static bool add_error(struct diagnosing *finder, const struct pattern *pattern, const char *why,
                      size_t length)
{
    struct names *texts = &finder->found->texts;
    struct diagnosis error = {.place = pattern->rank,
                              .is_error = true,
                              .advice = NAME_NONE,
                              .rank = NUMBER_NONE,
                              .ms = NAN,
                              .share = NAN};
    error.pattern = names_intern(texts, pattern->name, strlen(pattern->name));
    error.sentence = names_intern(texts, why, length);
    return (error.pattern != NAME_NONE && error.sentence != NAME_NONE &&
            add_diagnosis(finder, 0, &error) != SIZE_MAX) ||
           failure_memory(&finder->facts->call->failure);
}

static bool add_told(struct diagnosing *finder, const struct pattern *pattern, const char *why)
{
    return add_error(finder, pattern, why, strlen(why));
}

/* Interns a sentence, cut to SENTENCE_LENGTH characters (DG6). Without steps, counts are per
** trace. */
static uint32_t keep_sentence(struct diagnosing *finder, const char *text)
{
    static const char step[] = "per step";
    struct writer *to = &finder->text, *cut = &finder->cut;
    to->length = cut->length = 0;
    for (const char *p; !finder->in_steps && (p = strstr(text, step)); text = p + sizeof step - 1) {
        write_bytes(to, text, (size_t)(p - text));
        write_string(to, "per trace");
    }
    write_string(to, text);
    if (!to->failed && to->length > 0)
        write_cut(cut, to->bytes, to->length, SENTENCE_LENGTH);
    return to->failed || cut->failed
               ? NAME_NONE
               : names_intern(&finder->found->texts, cut->length ? cut->bytes : "", cut->length);
}

/* Takes a row of a pattern. Returns a SQLite result code, and sets `*why` to the error, if any. */
static int take_row(struct diagnosing *finder, const struct pattern *pattern, sqlite3_stmt *row,
                    size_t first, const char **why)
{
    struct names *texts = &finder->found->texts;
    const char *sentence = (const char *)sqlite3_column_text(row, 0);
    const char *advice = (const char *)sqlite3_column_text(row, 1);
    sqlite3_int64 cause = sqlite3_column_int64(row, 2);
    bool owns = sqlite3_column_type(row, 2) != SQLITE_NULL;
    struct diagnosis of = {.place = pattern->rank,
                           .is_guess = pattern->is_guess,
                           .advice = NAME_NONE,
                           .rank = NUMBER_NONE};
    if (!sentence)
        return sqlite3_column_type(row, 0) == SQLITE_NULL ? SQLITE_OK : SQLITE_NOMEM;
    if (owns && (cause < 1 || (uint64_t)cause > finder->found->cause_count)) {
        *why = "its third column, cause, is not the id of a cause";
        return SQLITE_ERROR;
    }
    of.pattern = names_intern(texts, pattern->name, strlen(pattern->name));
    of.sentence = keep_sentence(finder, sentence);
    if (advice)
        of.advice = names_intern(texts, advice, strlen(advice));
    if (of.pattern == NAME_NONE || of.sentence == NAME_NONE ||
        (of.advice == NAME_NONE && sqlite3_column_type(row, 1) != SQLITE_NULL) ||
        !MEMORY_GROW(finder->said, finder->said_capacity, finder->said_count + 1))
        return SQLITE_NOMEM;
    struct said *said = &finder->said[finder->said_count++];
    said->diagnosis = add_diagnosis(finder, first, &of);
    said->cause = owns ? (size_t)cause - 1 : SIZE_MAX;
    return said->diagnosis == SIZE_MAX ? SQLITE_NOMEM : SQLITE_OK;
}

/* Prepares a pattern. Sets `*why` to the error, if any. */
static int prepare(struct diagnosing *finder, const struct pattern *pattern,
                   sqlite3_stmt **statement, const char **why)
{
    const char *rest = "";
    int code = sqlite3_prepare_v2(finder->db, pattern->text, -1, statement, &rest);
    if (code != SQLITE_OK)
        return code;
    if (!*statement || sqlite3_column_count(*statement) != 3 || !sqlite3_stmt_readonly(*statement))
        *why = "it must be one SELECT of three columns: sentence, advice, cause";
    else if (rest[strspn(rest, " \t\r\n;")] != '\0')
        *why = "it must be one statement";
    return *why ? SQLITE_ERROR : sql_bind(finder->facts->call, *statement);
}

/* Runs a pattern. If it fails, only the error is reported (DG5). */
static bool run_pattern(struct diagnosing *finder, const struct pattern *pattern)
{
    size_t first = finder->found->count, first_said = finder->said_count;
    sqlite3_stmt *statement = NULL;
    const char *why = NULL;
    int code = prepare(finder, pattern, &statement, &why);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        code = take_row(finder, pattern, statement, first, &why);
    bool done = code == SQLITE_OK || code == SQLITE_DONE;
    if (!done && code != SQLITE_NOMEM && code != SQLITE_INTERRUPT) {
        finder->found->count = first;
        finder->said_count = first_said;
        done = add_told(finder, pattern, why ? why : sqlite3_errmsg(finder->db));
    } else if (!done) {
        fails(finder, code);
    }
    sqlite3_finalize(statement);
    return done;
}

/* DG3 */
static bool may_speak(const struct diagnosing *finder, const struct pattern *pattern)
{
    return pattern->alike == ALIKE_ANY || finder->alike ||
           (pattern->alike == ALIKE_WITHIN && finder->within);
}

/* Reads how similar the names of both sides are. */
static bool read_alike(struct diagnosing *finder)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(finder->db, "SELECT alike, within FROM pair", -1, &statement,
                                  NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        finder->alike = sqlite3_column_double(statement, 0) > ALIKE_PART;
        finder->within = sqlite3_column_double(statement, 1) > WITHIN_PART;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || fails(finder, code);
}

/* Lists the patterns in the order of their ranks. */
static bool list_patterns(struct diagnosing *finder, struct pattern *embedded,
                          const struct own_patterns *more)
{
    struct answer_facts *facts = finder->facts;
    size_t count = (size_t)embedded_pattern_count;
    finder->patterns = memory_items(count + more->count, sizeof *finder->patterns);
    if (!finder->patterns)
        return failure_memory(&facts->call->failure);
    for (size_t i = 0; i < count; i++) {
        pattern_read(&embedded[i], embedded_patterns[i].name, embedded_patterns[i].text);
        finder->patterns[i] = &embedded[i];
    }
    for (size_t i = 0; i < more->count; i++)
        finder->patterns[count + i] = &more->items[i];
    finder->pattern_count = count + more->count;
    return sort_items(finder->patterns, finder->pattern_count, sizeof *finder->patterns,
                      pattern_order, call_stopper(facts->call), &facts->call->failure);
}

/* Returns the fraction of the difference that a diagnosis explains. */
static double share_of(const struct diagnosing *finder, const struct diagnosis *of)
{
    const struct causes *causes = &finder->facts->causes.causes;
    return causes->diff == 0 ? 0 : (double)of->diff / (double)causes->diff;
}

/* Assigns causes to the diagnosis that covers them, unless a pattern of lower rank owns them. */
static void own(struct diagnosing *finder, size_t i)
{
    const struct cause *causes = finder->facts->causes.causes.items;
    struct diagnosis *of = &finder->found->items[i];
    for (size_t j = 0; j < finder->said_count; j++) {
        const struct said *said = &finder->said[j];
        if (said->diagnosis != i || said->cause == SIZE_MAX ||
            finder->found->owners[said->cause] != SIZE_MAX)
            continue;
        finder->found->owners[said->cause] = i;
        of->rank = of->causes == 0 || of->rank == causes[said->cause].rank
                       ? causes[said->cause].rank
                       : NUMBER_NONE;
        of->causes++;
        of->diff += causes[said->cause].diff;
    }
}

/* Releases the causes of a diagnosis. */
static void disown(struct diagnosing *finder, size_t i)
{
    for (size_t j = 0; j < finder->found->cause_count; j++)
        if (finder->found->owners[j] == i)
            finder->found->owners[j] = SIZE_MAX;
}

/* DG2, DG4: assigns causes to diagnoses, and leaves out guesses that explain less than a tenth of
** the difference or, if the difference is not clear, accompany a proven diagnosis. */
static void decide(struct diagnosing *finder)
{
    struct diagnoses *found = finder->found;
    bool clear = facts_are_clear(finder->facts), proven = false;
    for (size_t i = 0; i < found->count; i++)
        proven = proven || (!found->items[i].is_error && !found->items[i].is_guess);
    for (size_t i = 0; i < found->count; i++) {
        struct diagnosis *of = &found->items[i];
        own(finder, i);
        if (of->is_guess && (fabs(share_of(finder, of)) < GUESS_PART || (!clear && proven))) {
            disown(finder, i);
            of->pattern = NAME_NONE;
        }
    }
}

struct by_time {
    const struct diagnosis *of;
    size_t i;
};

static int diagnosis_order(const void *a, const void *b)
{
    const struct diagnosis *x = ((const struct by_time *)a)->of;
    const struct diagnosis *y = ((const struct by_time *)b)->of;
    double of_x = isnan(x->ms) ? -1 : fabs(x->ms), of_y = isnan(y->ms) ? -1 : fabs(y->ms);
    if (of_x != of_y)
        return COMPARE(of_y, of_x);
    return COMPARE(((const struct by_time *)a)->i, ((const struct by_time *)b)->i);
}

/* Sums up the times of diagnoses, removes the diagnoses that are left out, and sorts the others. */
static bool put_in_order(struct diagnosing *finder)
{
    struct diagnoses *found = finder->found;
    struct answer_facts *facts = finder->facts;
    const struct causes *causes = &facts->causes.causes;
    double windows = 1e6 * (double)causes->windows[0] * (double)causes->windows[1];
    bool clear = facts_are_clear(facts) && windows > 0;
    struct by_time *order = memory_items(found->count, sizeof *order);
    struct diagnosis *items = memory_items(found->count, sizeof *items);
    size_t *places = memory_items(found->count, sizeof *places), count = 0;
    bool done = (order && items && places) || failure_memory(&facts->call->failure);
    wide_time rest = causes->diff;
    for (size_t i = 0; done && i < found->count; i++) {
        struct diagnosis *of = &found->items[i];
        if (of->pattern == NAME_NONE)
            continue;
        rest -= of->diff;
        of->ms = clear && of->causes > 0 ? (double)of->diff / windows : NAN;
        of->share = isnan(of->ms) ? NAN : share_of(finder, of);
        order[count++] = (struct by_time){of, i};
    }
    done = done && sort_items(order, count, sizeof *order, diagnosis_order,
                              call_stopper(facts->call), &facts->call->failure);
    for (size_t i = 0; done && i < count; i++) {
        items[i] = *order[i].of;
        places[order[i].i] = i;
    }
    for (size_t i = 0; done && i < found->cause_count; i++)
        if (found->owners[i] != SIZE_MAX)
            found->owners[i] = places[found->owners[i]];
    found->ms = clear ? (double)rest / windows : NAN;
    found->share = clear && causes->diff != 0 ? (double)rest / (double)causes->diff : NAN;
    if (done) {
        memory_free(found->items);
        found->items = items;
        found->count = found->capacity = count;
        items = NULL;
    }
    memory_free(order);
    memory_free(items);
    memory_free(places);
    return done;
}

/* Runs a pattern, if it applies. */
static bool ask(struct diagnosing *finder, const struct pattern *pattern)
{
    struct writer *text = &finder->text;
    if (!pattern->wrong)
        return !may_speak(finder, pattern) || run_pattern(finder, pattern);
    text->length = 0;
    write_string(text, "a line of its head is wrong: ");
    write_bytes(text, pattern->wrong, pattern->wrong_length);
    return text->failed ? failure_memory(&finder->facts->call->failure)
                        : add_error(finder, pattern, text->bytes, text->length);
}

static bool find(struct diagnosing *finder)
{
    struct answer_facts *facts = finder->facts;
    struct diagnoses *found = finder->found;
    if (!diagnosis_facts_open(facts, &finder->db) || !read_alike(finder))
        return false;
    found->cause_count = facts->causes.causes.count;
    found->owners = memory_filled(found->cause_count, sizeof *found->owners);
    finder->in_steps = facts->pair.pair.sides[0].windows > 0 &&
                       facts->pair.pair.sides[1].windows > 0;
    bool done = found->owners || failure_memory(&facts->call->failure);
    for (size_t i = 0; done && i < finder->pattern_count; i++)
        done = ask(finder, finder->patterns[i]);
    if (done)
        decide(finder);
    return done && put_in_order(finder);
}

bool diagnoses_find(struct answer_facts *facts, const struct own_patterns *more,
                    struct diagnoses *found)
{
    struct diagnosing finder = {.facts = facts, .found = found};
    *found = (struct diagnoses){.ms = NAN, .share = NAN};
    if (sql_enter(facts->call) != SQLITE_OK)
        return false;
    struct pattern *embedded = memory_items((size_t)embedded_pattern_count, sizeof *embedded);
    bool done = embedded ? list_patterns(&finder, embedded, more) && find(&finder)
                         : failure_memory(&facts->call->failure);
    sql_leave(facts->call);
    writer_clear(&finder.text);
    writer_clear(&finder.cut);
    memory_free(finder.patterns);
    memory_free(finder.said);
    memory_free(embedded);
    sqlite3_close_v2(finder.db);
    return done;
}

void diagnoses_clear(struct diagnoses *found)
{
    names_clear(&found->texts);
    memory_free(found->items);
    memory_free(found->owners);
}
