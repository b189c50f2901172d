#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "table_function.h"

/*
** A plan is a number and a text. The number (idxNum) has a bit for each argument that is given.
** EXPLAIN QUERY PLAN shows the text (idxStr). It has
**
** 1. a word for each term, in the order of the values: `name=`, `ts<`, `rank*`;
** 2. `+ts` or `-ts` for an order;
** 3. `#` with the bits of the columns ON_DEMAND that the query names.
*/

static int serves(const struct table_function *function, int column)
{
    return function->serves && column >= 0 && column < function->column_count
               ? function->serves[column]
               : 0;
}

/* The columns that a query names and that have one of these flags, by bit. */
static uint64_t named(const struct table_function *function, const sqlite3_index_info *info,
                      int flag)
{
    uint64_t columns = 0;
    for (int i = 0; i < function->column_count && i < 63; i++)
        if (serves(function, i) & flag)
            columns |= info->colUsed & (uint64_t)1 << i;
    return columns;
}

/* The argument that a constraint is on; negative: none, as it is on a column. */
static int argument_of(const struct table_function *function, const sqlite3_index_info *info, int i)
{
    int argument = info->aConstraint[i].iColumn - function->column_count;
    return argument < function->argument_count ? argument : -1;
}

/* Finds the first usable term on each argument. False if an argument has terms, none of them
** usable. */
static bool find_arguments(const struct table_function *function, const sqlite3_index_info *info,
                           int *term)
{
    bool asked[MOST_ARGUMENTS] = {false};
    for (int i = 0; i < info->nConstraint; i++) {
        unsigned char op = info->aConstraint[i].op;
        if (op != SQLITE_INDEX_CONSTRAINT_EQ && op != SQLITE_INDEX_CONSTRAINT_IS)
            continue;
        int argument = argument_of(function, info, i);
        if (argument < 0)
            continue;
        asked[argument] = true;
        if (info->aConstraint[i].usable && term[argument] < 0)
            term[argument] = i;
    }
    for (int i = 0; i < function->argument_count; i++)
        if (asked[i] && term[i] < 0)
            return false;
    return true;
}

static bool is_comparison(unsigned char op)
{
    return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE ||
           op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ||
           op == SQLITE_INDEX_CONSTRAINT_NE || op == SQLITE_INDEX_CONSTRAINT_LIKE ||
           op == SQLITE_INDEX_CONSTRAINT_GLOB;
}

/* An argument that is compared, but not given: it is NULL, so no row would be found. NULL: none. */
static const char *only_compared(const struct table_function *function,
                                 sqlite3_value *const *defaults, const sqlite3_index_info *info,
                                 const int *term)
{
    for (int i = 0; i < info->nConstraint; i++) {
        int argument = argument_of(function, info, i);
        if (is_comparison(info->aConstraint[i].op) && argument >= 0 && term[argument] < 0 &&
            !defaults[argument])
            return function->arguments[argument].name;
    }
    return NULL;
}

/* The op of a constraint as in struct term; 0: the scan does not serve it. */
static char term_op(const struct table_function *function, sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    unsigned char asked = constraint->op;
    bool below = asked == SQLITE_INDEX_CONSTRAINT_LT || asked == SQLITE_INDEX_CONSTRAINT_LE;
    bool above = asked == SQLITE_INDEX_CONSTRAINT_GT || asked == SQLITE_INDEX_CONSTRAINT_GE;
    char op = below ? '<' : above ? '>' : '=';
    if (!below && !above && asked != SQLITE_INDEX_CONSTRAINT_EQ)
        return 0;
    if (!constraint->usable)
        return 0;
    int served = serves(function, constraint->iColumn);
    if (op == '=' ? !(served & (SERVES_EQUAL | SERVES_RANGE)) : !(served & SERVES_RANGE))
        return 0;
    const char *collation = sqlite3_vtab_collation(info, i);
    return collation && sqlite3_stricmp(collation, "BINARY") == 0 ? op : 0;
}

/* Uses the terms on columns. Returns a guess of the factor by which they reduce the rows. */
static double take_terms(const struct table_function *function, sqlite3_index_info *info, int *used,
                         sqlite3_str *text)
{
    uint64_t equal = 0, below = 0, above = 0;
    double fewer = 1;
    int terms = 0;
    for (int i = 0; i < info->nConstraint && terms < MOST_TERMS; i++) {
        char op = term_op(function, info, i);
        if (!op)
            continue;
        uint64_t bit = (uint64_t)1 << info->aConstraint[i].iColumn;
        uint64_t *taken = op == '<' ? &below : op == '>' ? &above : &equal;
        if (*taken & bit)
            continue;
        *taken |= bit;
        if (op == '=' && serves(function, info->aConstraint[i].iColumn) & SERVES_EQUAL &&
            sqlite3_vtab_in(info, i, 1))
            op = '*';
        info->aConstraintUsage[i].argvIndex = ++*used;
        sqlite3_str_appendf(text, "%s%s%c", terms++ ? " " : "",
                            function->columns[info->aConstraint[i].iColumn].name, op);
        fewer *= op == '=' || op == '*' ? 10 : 3;
    }
    return fewer;
}

/* Whether SQLite compares texts by the bytes of UTF-8. Asked anew for each plan, as the encoding
** can be set until the database is created. In doubt, SQLite sorts. */
static bool compares_utf8(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    bool is = sqlite3_prepare_v2(db, "PRAGMA main.encoding", -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW &&
              sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "UTF-8") == 0;
    sqlite3_finalize(statement);
    return is;
}

/* Whether the scan keeps the order that a query asks for. */
static bool keeps_order(const struct table_function *function, sqlite3 *db,
                        const sqlite3_index_info *info)
{
    int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;
    return (serves(function, column) & SERVES_ORDER) && !named(function, info, IN_FILE_ORDER) &&
           (strcmp(function->columns[column].type, "TEXT") != 0 || compares_utf8(db));
}

int plan_make(const struct table_function *function, sqlite3 *db, sqlite3_value *const *defaults,
              sqlite3_index_info *info, char **error)
{
    int term[MOST_ARGUMENTS], used = 0;
    bool complete = true;
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        term[i] = -1;
    if (!find_arguments(function, info, term))
        return SQLITE_CONSTRAINT;
    info->idxNum = 0;
    for (int i = 0; i < function->argument_count; i++) {
        complete = complete && (term[i] >= 0 || !function->arguments[i].required || defaults[i]);
        if (term[i] < 0)
            continue;
        info->aConstraintUsage[term[i]].argvIndex = ++used;
        info->aConstraintUsage[term[i]].omit = 1;
        info->idxNum |= 1 << i;
    }
    const char *compared = complete ? only_compared(function, defaults, info, term) : NULL;
    if (compared) {
        *error = sqlite3_mprintf("%s: %s is an argument, not a column: write %s = VALUE",
                                 function->name, compared, compared);
        return SQLITE_ERROR;
    }
    sqlite3_str *text = sqlite3_str_new(NULL);
    int left_out = function->argument_count - used;
    double rows = function->typical_rows ? function->typical_rows : 1000;
    rows /= take_terms(function, info, &used, text);
    info->estimatedCost = complete ? 10 * rows + 100 * left_out : 1e200;
    info->estimatedRows = (sqlite3_int64)rows + 1;
    if (keeps_order(function, db, info)) {
        info->orderByConsumed = 1;
        sqlite3_str_appendf(text, " %c%s", info->aOrderBy[0].desc ? '-' : '+',
                            function->columns[info->aOrderBy[0].iColumn].name);
    }
    uint64_t on_demand = named(function, info, ON_DEMAND);
    if (on_demand)
        sqlite3_str_appendf(text, " #%llx", (unsigned long long)on_demand);
    info->needToFreeIdxStr = 1;
    int code = sqlite3_str_errcode(text);
    info->idxStr = sqlite3_str_finish(text);
    return code;
}

static int column_named(const struct table_function *function, const char *name, size_t length)
{
    int i = 0;
    while (i < function->column_count && (strncmp(function->columns[i].name, name, length) != 0 ||
                                          function->columns[i].name[length] != 0))
        i++;
    return i;
}

uint64_t plan_read(const struct table_function *function, int number, const char *text,
                   sqlite3_value **argv, sqlite3_value **given, struct wish *wish)
{
    uint64_t on_demand = 0;
    *wish = (struct wish){.order = -1};
    for (int i = 0; i < function->argument_count; i++)
        given[i] = number >> i & 1 ? *argv++ : NULL;
    for (const char *word = text ? text : ""; *word;) {
        size_t length = strcspn(word, " ");
        if (*word == '#') {
            on_demand = strtoull(word + 1, NULL, 16);
        } else if (*word == '+' || *word == '-') {
            wish->order = column_named(function, word + 1, length - 1);
            wish->descending = *word == '-';
        } else if (length > 0) {
            wish->terms[wish->term_count++] =
                (struct term){column_named(function, word, length - 1), word[length - 1], *argv++};
        }
        word += length;
        word += strspn(word, " ");
    }
    return on_demand;
}
