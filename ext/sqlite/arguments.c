#include "arguments.h"

#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "text/number.h"
#include "json_array.h"

/* If an argument may be given by position, ends the error about it with the order of the arguments
** of the function that the user called. Returns false. */
static bool tell_order(struct call *call, int argument)
{
    const struct call *user = call->connection->speaking ? call->connection->speaking : call;
    const struct argument *arguments = user->function->arguments;
    const char *name = call->function->arguments[argument].name;
    struct failure failure = {.code = FAILURE_NONE};
    int place = 1; /* the first argument stands where it always did */
    while (place < user->by_position && strcmp(arguments[place].name, name) != 0)
        place++;
    if (place >= user->by_position || !call->failure.text)
        return false;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "%s; the arguments are %s", call->failure.text, arguments[0].name);
    for (int i = 1; i < user->function->argument_count; i++)
        sqlite3_str_appendf(text, ", %s", arguments[i].name);
    char *whole = sqlite3_str_finish(text);
    if (whole)
        failure_set(&failure, call->failure.code, "%s", whole);
    else
        failure_memory(&failure);
    sqlite3_free(whole);
    failure_clear(&call->failure);
    failure_move(&call->failure, &failure);
    return false;
}

static const struct kind_facts *facts_of(const struct call *call, int argument)
{
    return &kind_facts[call->function->arguments[argument].takes];
}

int argument_of(const struct call *call, enum argument_role role, int side)
{
    const struct table_function *function = call->function;
    for (int i = 0; i < function->argument_count; i++)
        if (facts_of(call, i)->role == role && side-- == 0)
            return i;
    return -1;
}

/* Reports what an argument must be, unless a failure is already set. Shows the value as a SQL
** literal. Returns false. */
static bool refuse(struct call *call, int argument, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    const char *shown = NULL;
    if (call->failure.code != FAILURE_NONE)
        return false;
    if (sqlite3_prepare_v2(call->connection->db,
                           "SELECT CASE WHEN length(q) > 200 THEN substr(q, 1, 200) || '...'"
                           " ELSE q END FROM (SELECT quote(?1) AS q)",
                           -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_value(statement, 1, call->values[argument]);
        if (sqlite3_step(statement) == SQLITE_ROW)
            shown = (const char *)sqlite3_column_text(statement, 0);
    }
    failure_set(&call->failure, FAILURE_REQUEST, "%s must be %s, not %s",
                call->function->arguments[argument].name, expected, shown ? shown : "this");
    sqlite3_finalize(statement);
    return tell_order(call, argument);
}

/* Like refuse(), for an argument that must be one of some words; `several`: one or more. */
static bool refuse_words(struct call *call, int argument, const char *const *words, int count,
                         bool several)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *quote = several ? "" : "'", *last = several ? " and " : " or ";
    sqlite3_str_appendall(text, several ? "one or more of " : "");
    for (int i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s%s%s%s",
                            i == 0          ? ""
                            : i + 1 < count ? ", "
                                            : last,
                            quote, words[i], quote);
    sqlite3_str_appendall(text, several ? ", each once, separated by commas" : "");
    char *expected = sqlite3_str_finish(text);
    if (expected)
        refuse(call, argument, expected);
    else
        failure_memory(&call->failure);
    sqlite3_free(expected);
    return false;
}

/* The text of a value; NULL if it is not a text or contains a NUL, and on failure. */
static const char *plain_text(struct call *call, sqlite3_value *value)
{
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text)
        failure_memory(&call->failure);
    else if (strlen(text) != (size_t)sqlite3_value_bytes(value))
        return NULL;
    return text;
}

static const char trace_expected[] =
    "the path of a directory or a file, a pattern, or a JSON array of these";

/* paths_add() or paths_add_runs(). */
typedef bool add_paths(struct trace_paths *paths, const char *text, const struct stopper *stopper,
                       struct failure *failure);

/* Adds the texts of an argument if it is a JSON array. */
static bool add_elements(struct call *call, int argument, add_paths *add, struct trace_paths *paths,
                         int64_t *count)
{
    struct json_array array = {.count = 0};
    const char *type;
    while ((type = json_array_next(call, argument, &array)) != NULL) {
        const char *path = strcmp(type, "text") == 0 ? plain_text(call, array.value) : NULL;
        if (path)
            add(paths, path, call_stopper(call), &call->failure);
        else
            refuse(call, argument, trace_expected);
    }
    *count = array.count;
    if (array.next && array.count == 0)
        refuse(call, argument, trace_expected);
    return call->failure.code == FAILURE_NONE;
}

static bool read_paths(struct call *call, int argument, add_paths *add, struct trace_paths *paths)
{
    const char *text = plain_text(call, call->values[argument]);
    int64_t elements = 0;
    if (!text || (!*text && argument > 1)) /* an error about a side names it */
        return refuse(call, argument, trace_expected);
    if (text[0] == '[' && !add_elements(call, argument, add, paths, &elements))
        return false;
    bool added = elements > 0 || add(paths, text, call_stopper(call), &call->failure);
    paths_sort(paths);
    if (added &&
        (paths->count > 0 || paths_none(paths, text, call_stopper(call), &call->failure)))
        return true;
    return !call->function->arguments[argument].required && tell_order(call, argument);
}

bool argument_trace(struct call *call, int argument, struct trace_paths *paths)
{
    bool ours = !paths->snapshots && !paths->logs && call->connection->working > 0;
    const char *text = ours ? plain_text(call, call->values[argument]) : NULL;
    if (text && connection_listed(call->connection, text, paths))
        return true;
    if (!read_paths(call, argument, paths_add, paths))
        return false;
    if (text)
        connection_list(call->connection, text, paths);
    return true;
}

bool argument_runs(struct call *call, int argument, bool files, struct trace_paths *runs)
{
    return read_paths(call, argument, files ? paths_add : paths_add_runs, runs) &&
           paths_join(runs, call_stopper(call), &call->failure);
}

static bool select_value(struct call *call, struct selection *selection, size_t *capacity,
                         int64_t value)
{
    if (!MEMORY_GROW(selection->values, *capacity, selection->count + 1))
        return failure_memory(&call->failure);
    selection->values[selection->count++] = value;
    selection->kind = SELECT_LIST;
    return true;
}

/* Whether a value is an integer. Some hosts pass integers as 0.0 or '0', so these count. */
static bool whole_number(sqlite3_value *value, sqlite3_int64 *number)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_TEXT) {
        const unsigned char *text = sqlite3_value_text(value);
        int64_t found;
        bool whole = text && number_integer(text, (size_t)sqlite3_value_bytes(value), &found);
        *number = whole ? found : 0;
        return whole;
    }
    double real = sqlite3_value_double(value);
    *number = sqlite3_value_int64(value);
    return type == SQLITE_INTEGER ||
           (type == SQLITE_FLOAT && real >= -9e15 && real <= 9e15 && (double)*number == real);
}

/* Adds the integers of a JSON array: of the argument, or if `given`, of this text. */
static bool select_elements(struct call *call, int argument, const char *given,
                            const char *expected, struct selection *selection, size_t *capacity)
{
    struct json_array array = {.given = given};
    const char *type;
    while ((type = json_array_next(call, argument, &array)) != NULL) {
        if (strcmp(type, "integer") != 0 || sqlite3_value_type(array.value) != SQLITE_INTEGER)
            refuse(call, argument, expected);
        else
            select_value(call, selection, capacity, sqlite3_value_int64(array.value));
    }
    if (selection->count == 0)
        refuse(call, argument, expected);
    selection->count = sort_integers(selection->values, selection->count);
    return call->failure.code == FAILURE_NONE;
}

/* Whether a text may be the phase of a step, or its stratum: with a size after it (step_form.h). */
static bool is_phase(const char *text)
{
    size_t length = 0;
    while (is_word(text[length]))
        length++;
    if (length == 0 || is_digit(*text) || !text[length])
        return length > 0 && !is_digit(*text);
    text += length;
    return *text == ' ' && is_digit(text[1]) && !text[1 + strspn(text + 1, "0123456789")];
}

static bool select_phase(struct call *call, struct selection *selection, const char *phase)
{
    size_t length = strlen(phase);
    selection->kind = SELECT_PHASE;
    selection->phase = memory_allocate(length + 1);
    if (!selection->phase)
        return failure_memory(&call->failure);
    memcpy(selection->phase, phase, length + 1);
    return true;
}

bool argument_takes_job(const struct call *call, int argument)
{
    return facts_of(call, argument)->job;
}

/* Whether a text is 'job', or 'job' and a list; `*ranks` is the list, empty if there is none. */
static bool is_job(const char *text, const char **ranks)
{
    if (sqlite3_strnicmp(text, "job", 3) != 0)
        return false;
    *ranks = text + 3 + strspn(text + 3, " ");
    return **ranks == '[' || !text[3] || text[3] == ' ';
}

bool argument_selection(struct call *call, int argument, struct selection *selection)
{
    const struct kind_facts *facts = facts_of(call, argument);
    bool steady = facts->role == NAMES_ITERATIONS;
    const char *ranks = "", *expected = facts->expected;
    sqlite3_value *value = call->values[argument];
    sqlite3_int64 number;
    size_t capacity = 0;
    *selection = (struct selection){.kind = steady ? SELECT_STEADY : SELECT_DEFAULT};
    if (!value)
        return true;
    if (whole_number(value, &number))
        return select_value(call, selection, &capacity, number);
    const char *text = plain_text(call, value);
    if (!text)
        return refuse(call, argument, expected);
    selection->job = facts->job && is_job(text, &ranks);
    if (sqlite3_stricmp(text, "all") == 0 || (selection->job && !*ranks))
        selection->kind = SELECT_ALL;
    else if (facts->worst && sqlite3_stricmp(text, "worst") == 0)
        selection->kind = SELECT_WORST;
    else if (steady && sqlite3_stricmp(text, "steady") == 0)
        selection->kind = SELECT_STEADY;
    else if (steady && sqlite3_stricmp(text, "first") == 0)
        selection->kind = SELECT_FIRST;
    else if (steady && is_phase(text))
        return select_phase(call, selection, text);
    else if (facts->role != NAMES_RANKS ||
             !selection_read_place(selection, selection->job ? ranks : text))
        return select_elements(call, argument, selection->job ? ranks : NULL, expected, selection,
                               &capacity);
    return true;
}

static bool add_pattern(struct call *call, int argument, struct step_patterns *patterns,
                        const char *text)
{
    enum {
        LONGEST = 1000 /* bytes: to match takes the product of its length and that of a name */
    };
    const char *name = call->function->arguments[argument].name;
    size_t length = strlen(text);
    if (length > LONGEST)
        return failure_set(&call->failure, FAILURE_REQUEST,
                           "a pattern of %s has at most %d bytes, not %lld", name, LONGEST,
                           (long long)length);
    char *copy = memory_allocate(length + 1);
    if (!copy || !MEMORY_GROW(patterns->items, patterns->capacity, patterns->count + 1)) {
        memory_free(copy);
        return failure_memory(&call->failure);
    }
    memcpy(copy, text, length + 1);
    patterns->items[patterns->count++] = copy;
    return true;
}

static bool is_like(const void *argument, size_t i, const char *name)
{
    return sqlite3_strlike(((const struct step_patterns *)argument)->items[i], name, 0) == 0;
}

/* Takes the patterns of an argument if it is a JSON array of texts; else leaves none. */
static bool take_patterns(struct call *call, int argument, struct step_patterns *patterns)
{
    struct json_array array = {.count = 0};
    const char *type;
    bool texts = true;
    while ((type = json_array_next(call, argument, &array)) != NULL) {
        const char *text =
            texts && strcmp(type, "text") == 0 ? plain_text(call, array.value) : NULL;
        texts = text && add_pattern(call, argument, patterns, text);
    }
    while (!texts && patterns->count > 0)
        memory_free(patterns->items[--patterns->count]);
    return call->failure.code == FAILURE_NONE;
}

/* Takes the patterns of an argument whose text this is. */
static bool read_patterns(struct call *call, int argument, const char *text,
                          struct step_patterns *patterns)
{
    bool done = (text[strspn(text, " \t\r\n")] != '[' || take_patterns(call, argument, patterns)) &&
                (patterns->count > 0 || add_pattern(call, argument, patterns, text));
    patterns->wish.kind = STEPS_LIKE;
    patterns->wish.text = text;
    patterns->wish.count = patterns->count;
    return done;
}

bool argument_names(struct call *call, int argument, struct step_patterns *patterns)
{
    *patterns = (struct step_patterns){.wish = {STEPS_AUTO, is_like, patterns, 0, NULL}};
    if (!call->values[argument])
        return true;
    const char *text = plain_text(call, call->values[argument]);
    if (!text || !*text)
        return refuse(call, argument, "a LIKE pattern or a JSON array of patterns");
    return read_patterns(call, argument, text, patterns);
}

bool argument_steps(struct call *call, int argument, struct step_patterns *patterns)
{
    *patterns = (struct step_patterns){.wish = {STEPS_AUTO, is_like, patterns, 0, NULL}};
    if (!call->values[argument])
        return true;
    const char *text = plain_text(call, call->values[argument]);
    if (!text || !*text)
        return refuse(call, argument,
                      "'auto', 'profiler', a LIKE pattern or a JSON array of patterns");
    if (sqlite3_stricmp(text, "auto") == 0)
        return true;
    if (sqlite3_stricmp(text, "profiler") != 0)
        return read_patterns(call, argument, text, patterns);
    patterns->wish.kind = STEPS_PROFILER;
    patterns->wish.text = text;
    return true;
}

void step_patterns_clear(struct step_patterns *patterns)
{
    while (patterns->count > 0)
        memory_free(patterns->items[--patterns->count]);
    memory_free(patterns->items);
    patterns->items = NULL;
}

bool argument_word(struct call *call, int argument, const char *const *words, int count,
                   int *chosen)
{
    *chosen = 0;
    if (!call->values[argument])
        return true;
    const char *text = plain_text(call, call->values[argument]);
    for (int i = 0; text && i < count; i++)
        if (sqlite3_stricmp(text, words[i]) == 0) {
            *chosen = i;
            return true;
        }
    return refuse_words(call, argument, words, count, false);
}

bool argument_name(struct call *call, int argument, const char *expected, const char **name)
{
    *name = call->values[argument] ? plain_text(call, call->values[argument]) : NULL;
    return *name || !call->values[argument] || refuse(call, argument, expected);
}

/* The index of the word that a text begins with, up to a comma or the end and without the spaces
** around it; -1: none of `words`. `*rest` is the text after it. */
static int next_word(const char *text, const char *const *words, int count, const char **rest)
{
    text += strspn(text, " ");
    size_t length = strcspn(text, ",");
    *rest = text + length;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && sqlite3_strnicmp(text, words[i], (int)length) == 0)
            return i;
    return -1;
}

bool argument_words(struct call *call, int argument, const char *const *words, int count,
                    int *chosen, size_t *chosen_count)
{
    const char *text = plain_text(call, call->values[argument]);
    *chosen_count = 0;
    for (bool more = text != NULL; more; text += more) {
        int word = next_word(text, words, count, &text);
        bool twice = false;
        for (size_t i = 0; i < *chosen_count; i++)
            twice = twice || chosen[i] == word;
        if (word < 0 || twice)
            return refuse_words(call, argument, words, count, true);
        chosen[(*chosen_count)++] = word;
        more = *text == ',';
    }
    return *chosen_count > 0 || refuse_words(call, argument, words, count, true);
}

bool argument_device_type(struct call *call, int argument, enum device_type *device_type)
{
    static const char *const names[] = {
        [DEVICE_ALL] = "ALL", [DEVICE_CPU] = "CPU", [DEVICE_GPU] = "GPU"};
    int chosen;
    bool done = argument_word(call, argument, names, COUNT_OF(names), &chosen);
    *device_type = (enum device_type)chosen;
    return done;
}

/* Whether an argument is a JSON array of texts. */
static bool check_texts(struct call *call, int argument)
{
    struct json_array array = {.count = 0};
    const char *type;
    int64_t texts = 0;
    while ((type = json_array_next(call, argument, &array)) != NULL)
        texts += strcmp(type, "text") == 0;
    if (!array.next || texts < array.count)
        refuse(call, argument, facts_of(call, argument)->expected);
    return call->failure.code == FAILURE_NONE;
}

/* Whether a value is a number, or a text of one. sqlite3_value_numeric_type() would say, but SQLite
** 3.52 crashes in it when it is given a copy of a text, as arguments are. */
static bool is_number(sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    if (type != SQLITE_TEXT)
        return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    const unsigned char *text = sqlite3_value_text(value);
    return text && number_is_valid(text, (size_t)sqlite3_value_bytes(value));
}

/* Reads a number, which may be a text of one. */
static bool read_number(struct call *call, int argument, double *real)
{
    const struct kind_facts *facts = facts_of(call, argument);
    sqlite3_value *value = call->values[argument];
    sqlite3_int64 integer;
    *real = sqlite3_value_double(value);
    bool fits = *real >= facts->minimum && *real <= facts->maximum &&
                (facts->whole ? whole_number(value, &integer) : is_number(value));
    return fits || refuse(call, argument, facts->expected);
}

int argument_bind(struct call *call, int argument, sqlite3_stmt *statement, int parameter)
{
    sqlite3_value *value = call->values[argument];
    enum argument_kind takes = call->function->arguments[argument].takes;
    sqlite3_int64 integer;
    double real;
    if (takes == TAKES_TEXTS && !check_texts(call, argument))
        return SQLITE_ERROR;
    if (!kind_facts[takes].number)
        return sqlite3_bind_value(statement, parameter, value);
    if (!read_number(call, argument, &real))
        return SQLITE_ERROR;
    return kind_facts[takes].whole && whole_number(value, &integer)
               ? sqlite3_bind_int64(statement, parameter, integer)
               : sqlite3_bind_double(statement, parameter, real);
}

bool argument_real(struct call *call, int argument, double *real)
{
    return !call->values[argument] || read_number(call, argument, real);
}

/* Reads an integer from 0 to `most`. Without the argument, leaves `*number` unchanged. */
static bool small_number(struct call *call, int argument, int most, const char *expected,
                         int *number)
{
    sqlite3_value *value = call->values[argument];
    sqlite3_int64 found = *number;
    if (value && (!whole_number(value, &found) || found < 0 || found > most))
        return refuse(call, argument, expected);
    *number = (int)found;
    return true;
}

bool argument_use_short_name(struct call *call, int argument, int *use_short_name)
{
    *use_short_name = 2;
    return small_number(call, argument, 2,
                        "0 (the full name), 1 (the short name) or 2 (the stable name)",
                        use_short_name);
}

bool argument_last_step(struct call *call, int argument, bool *included, bool *given)
{
    int number = 0;
    bool valid =
        small_number(call, argument, 1, "0 (without the last step) or 1 (with it)", &number);
    *given = call->values[argument] != NULL;
    *included = number == 1;
    return valid;
}

bool argument_phases(struct call *call, int argument, bool *phases, bool *given)
{
    *given = call->values[argument] != NULL;
    memset(phases, 0, 256 * sizeof *phases);
    if (!*given) {
        phases['X'] = phases['B'] = true;
        return true;
    }
    const char *text = plain_text(call, call->values[argument]);
    bool valid = text != NULL && text[0] != 0;
    if (valid && sqlite3_stricmp(text, "all") == 0) {
        memset(phases, 1, 256 * sizeof *phases);
        return true;
    }
    for (const char *p = text; valid && *p; p++) {
        valid = is_letter(*p) || strchr("(),=", *p) != NULL; /* all phases of the format */
        phases[(unsigned char)*p] = true;
    }
    return valid || refuse(call, argument, "phase letters such as 'XB' or 'iI', or 'all'");
}
