#include "brief_queries.h"

#include <string.h>

#include "base/memory.h"
#include "functions/words/rank_words.h"
#include "functions/words/verdict_words.h"
#include "sqlite/sql_function.h"
#include "text/shown.h"

/* Z6: an argument becomes a parameter if it, or all together, have more characters than this. */
enum { LONGEST_ARGUMENT = 200, SHORT_ARGUMENT = 20, LONGEST_ARGUMENTS = 250 };

enum { LONGEST_CHOSEN = 50 /* Z7: most characters of a list of ranks or steps */ };

/* Positions of arguments. */
enum { ITERATIONS = 4, CLOCK = 6, DIAGNOSES = 10, LAST_LOG = 12 };

/* State while arguments are read. */
struct given {
    struct brief_queries *queries;
    int count;
    bool is_text[BRIEF_ARGUMENTS], is_shown[BRIEF_ARGUMENTS];
    int64_t lengths[BRIEF_ARGUMENTS]; /* characters; 0 for NULL */
};

static int take_argument(void *to, sqlite3_stmt *row)
{
    struct given *given = to;
    int i = given->count++;
    const char *text = (const char *)sqlite3_column_text(row, 0);
    given->is_text[i] = sqlite3_column_type(row, 0) == SQLITE_TEXT;
    given->is_shown[i] =
        !text || shown_text(text, (size_t)sqlite3_column_bytes(row, 0));
    given->lengths[i] = sqlite3_column_int64(row, 2);
    given->queries->arguments[i] = sqlite3_mprintf("%s", sqlite3_column_text(row, 1));
    return given->queries->arguments[i] ? SQLITE_OK : SQLITE_NOMEM;
}

/* Reads the arguments, and replaces arguments that cannot be literals by their names (Z6). */
static bool read_arguments(struct call *call, struct given *given)
{
    struct brief_queries *queries = given->queries;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    int64_t all = 0;
    for (int i = 0; i < BRIEF_ARGUMENTS; i++)
        sqlite3_str_appendf(sql, "%s(:%s)",
                            i ? ", " : "SELECT column1, quote(column1), length(column1)"
                                       " FROM (VALUES ",
                            queries->names[i].name);
    sqlite3_str_appendchar(sql, 1, ')');
    char *text = sqlite3_str_finish(sql);
    bool done = text ? sql_run(call, text, take_argument, given) == SQLITE_OK
                     : failure_memory(&call->failure);
    sqlite3_free(text);
    if (done) { /* queries omit diagnoses; where that matters, they have a condition */
        sqlite3_free(queries->arguments[DIAGNOSES]);
        bool more = false;
        for (int i = DIAGNOSES + 1; i < BRIEF_ARGUMENTS; i++)
            more = more || strcmp(queries->arguments[i], "NULL") != 0;
        queries->arguments[DIAGNOSES] = sqlite3_mprintf(more ? "0" : "NULL");
        done = queries->arguments[DIAGNOSES] || failure_memory(&call->failure);
    }
    for (int i = 0; i < BRIEF_ARGUMENTS; i++)
        all += given->lengths[i];
    for (int i = 0; i < BRIEF_ARGUMENTS && done; i++) {
        if (!given->is_text[i] ||
            (given->is_shown[i] && given->lengths[i] <= LONGEST_ARGUMENT &&
             (given->lengths[i] <= SHORT_ARGUMENT || all <= LONGEST_ARGUMENTS)))
            continue;
        sqlite3_free(queries->arguments[i]);
        queries->arguments[i] = sqlite3_mprintf(":%s", queries->names[i].name);
        done = queries->arguments[i] || failure_memory(&call->failure);
    }
    return done;
}

/* Writes ranks in the form of an argument. Returns its length without quotes. */
static size_t write_chosen_ranks(struct writer *text, const struct selection *ranks)
{
    struct writer own = {0};
    write_ranks(&own, ranks);
    bool number = ranks->kind == SELECT_LIST && ranks->count == 1 && !ranks->job;
    size_t length = own.length;
    if (length == 0)
        write_string(text, "NULL");
    else if (number)
        write_bytes(text, own.bytes, length);
    else
        brief_text_write(text, own.bytes, length);
    text->failed = text->failed || own.failed;
    writer_clear(&own);
    return length;
}

/* Writes the compared steps of a side in the form of an argument. Returns its length. */
static int64_t write_iterations(struct call *call, struct writer *text, const struct given *given,
                                const struct call_pair *pair, int side)
{
    sqlite3_value *value = call->values[ITERATIONS + side];
    struct writer own = {0};
    if (!pair->iterations[side]) {
        const char *given_text = value ? (const char *)sqlite3_value_text(value) : NULL;
        if (given_text)
            brief_text_write(text, given_text, (size_t)sqlite3_value_bytes(value));
        else
            write_string(text, "NULL");
        return given->lengths[ITERATIONS + side];
    }
    write_steps(&own, &pair->pair.sides[side], false);
    brief_text_write(text, own.bytes, own.length);
    text->failed = text->failed || own.failed;
    int64_t length = (int64_t)own.length;
    writer_clear(&own);
    return length;
}

/* Finds the ranks and steps for functions that do not take 'job' (Z7). */
static bool find_chosen(struct call *call, const struct call_pair *pair, const struct given *given)
{
    struct brief_queries *queries = given->queries;
    struct writer text = {0};
    bool too_long = false;
    for (int side = 0; side < 2; side++) {
        too_long = write_chosen_ranks(&text, &pair->ranks.each[side]) > LONGEST_CHOSEN || too_long;
        write_string(&text, ", ");
    }
    size_t ranks = text.length;
    for (int side = 0; side < 2; side++) {
        write_string(&text, side ? ", " : "");
        queries->is_long = write_iterations(call, &text, given, pair, side) > LONGEST_CHOSEN ||
                           queries->is_long;
    }
    if (queries->is_long) {
        text.length = ranks;
        write_string(&text, queries->arguments[ITERATIONS]);
        write_string(&text, ", ");
        write_string(&text, queries->arguments[ITERATIONS + 1]);
    }
    if (!text.failed && !too_long)
        queries->chosen = sqlite3_mprintf("%.*s", (int)text.length, text.bytes);
    bool done = !text.failed && (too_long || queries->chosen);
    writer_clear(&text);
    return done || failure_memory(&call->failure);
}

bool brief_queries_find(struct call *call, const struct call_pair *pair,
                        struct brief_queries *queries)
{
    struct given given = {.queries = queries};
    *queries = (struct brief_queries){.names = call->function->arguments};
    return read_arguments(call, &given) && find_chosen(call, pair, &given);
}

static bool is_named(const char *word, size_t length, const char *expected)
{
    return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

/* Whether a placeholder includes an argument. */
static bool stands_for(const char *word, size_t length, int argument, const char *name)
{
    return is_named(word, length, name) || is_named(word, length, "given") ||
           (is_named(word, length, "sides") && argument < 2) ||
           (is_named(word, length, "six") && argument < CLOCK) ||
           (is_named(word, length, "judged") && (argument <= CLOCK || argument > LAST_LOG));
}

static void write_word(const struct brief_queries *queries, struct writer *to, const char *word,
                       size_t length)
{
    const char *before = "";
    if (is_named(word, length, "chosen"))
        write_string(to, queries->chosen);
    for (int i = 0; i < BRIEF_ARGUMENTS; i++)
        if (stands_for(word, length, i, queries->names[i].name)) {
            write_string(to, before);
            write_string(to, queries->arguments[i]);
            before = ", ";
        }
}

void brief_query_write(const struct brief_queries *queries, struct writer *to, const char *sql)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    for (size_t i = 0; sql[i]; i++) {
        size_t length = sql[i] == ':' ? strspn(sql + i + 1, letters) : 0;
        if (sql[i] == ')')
            while (to->length > 0 && strchr(", NUL", to->bytes[to->length - 1]))
                to->length--;
        if (length > 0)
            write_word(queries, to, sql + i + 1, length);
        else
            write_bytes(to, sql + i, 1);
        i += length;
    }
}

void brief_text_write(struct writer *to, const char *text, size_t length)
{
    write_string(to, "'");
    for (size_t i = 0; i < length; i++)
        write_bytes(to, text[i] == '\'' ? "''" : &text[i], text[i] == '\'' ? 2 : 1);
    write_string(to, "'");
}

void brief_queries_close(struct brief_queries *queries)
{
    for (int i = 0; i < BRIEF_ARGUMENTS; i++)
        sqlite3_free(queries->arguments[i]);
    sqlite3_free(queries->chosen);
}
