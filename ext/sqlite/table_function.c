#include "table_function.h"

#include <string.h>

#include "base/memory.h"
#include "text/text.h"
#include "arguments.h"
#include "create_arguments.h"

#define UNUSED_MEMORY ((size_t)64 << 20)

/* A rowid is the number of a tuple of arguments, counted from 1, followed by 40 bits of row
** number. */
enum { ROW_BITS = 40, MOST_TUPLES = (1 << (63 - ROW_BITS)) - 1 };

/* The rows of a tuple, shared by the cursors that read them. A query that needs other columns
** ON_DEMAND replaces the rows; the old ones are freed when the last cursor leaves them. */
struct kept_rows {
    struct rows *rows;
    uint64_t columns; /* the columns ON_DEMAND that the rows have, by bit */
    uint32_t tuple;
    int cursors;                     /* the cursors that read these rows */
    struct kept_rows *newer, *older; /* list of unused rows, by when they were left */
};

/* The rows that the calls of a table have computed, by arguments. */
struct kept {
    struct names tuples; /* keys of the tuples; never removed, because rowids contain their ids */
    struct kept_rows **by_tuple; /* NULL: none */
    size_t capacity;
    struct kept_rows *newest, *oldest; /* rows that no cursor reads */
    size_t unused_memory;              /* bytes of the unused rows */
};

struct function_table {
    sqlite3_vtab base; /* must be first */
    struct database *database;
    const struct table_function *function;
    sqlite3_value *defaults[MOST_ARGUMENTS]; /* from CREATE VIRTUAL TABLE; NULL: none */
    struct kept kept;
    int cursors;
};

struct function_cursor {
    sqlite3_vtab_cursor base;             /* must be first */
    sqlite3_value *given[MOST_ARGUMENTS]; /* NULL: not given by the call */
    struct kept_rows *kept;               /* NULL: no rows */
    struct row_scan *scan;                /* a scan of these rows; NULL: they are read by number */
    struct position position;
    bool end;
};

/* The client data of a module. */
struct registration {
    const struct table_function *function;
    struct database *database;
};

/* Sets the error text of a table, which takes ownership of it. */
static int table_error(struct function_table *table, char *message)
{
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = message;
    return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* The name that begins an error: the outermost function's, which the user called. */
static const char *speaker(const struct function_table *table)
{
    return table->database->speaking ? table->database->speaking : table->function->name;
}

/* The error text of a failure: repaired, because it may contain a path that is not UTF-8, and with
** the speaker's name before it, unless inner SQL has added that already. */
static char *message_of(const struct function_table *table, const char *text)
{
    const char *name = speaker(table);
    size_t length = strlen(text), name_length = strlen(name);
    bool named = strncmp(text, name, name_length) == 0 && text[name_length] == ':';
    char *repaired = text_repaired(text, &length);
    char *message =
        repaired ? sqlite3_mprintf("%s%s%s", named ? "" : name, named ? "" : ": ", repaired) : NULL;
    memory_free(repaired);
    return message;
}

/* Converts a failure to a SQLite result code and sets the table's error. Frees the failure. */
static int failure_code(struct function_table *table, int code, struct failure *failure)
{
    if (failure->code == FAILURE_MEMORY)
        code = SQLITE_NOMEM;
    else if (failure->code == FAILURE_INTERRUPTED)
        code = SQLITE_INTERRUPT;
    else if (failure->text && table_error(table, message_of(table, failure->text)) == SQLITE_NOMEM)
        code = SQLITE_NOMEM;
    failure_clear(failure);
    return code;
}

/* The arguments of a call as bytes. Keys are equal if and only if the arguments are. */
static char *tuple_key(const struct call *call, size_t *length)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(text, 1, '.'); /* sqlite3_str_finish() returns NULL for an empty text */
    for (int i = 0; i < call->function->argument_count; i++) {
        sqlite3_value *value = call->values[i];
        int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
        sqlite3_int64 integer = 0;
        double real;
        sqlite3_str_appendchar(text, 1, (char)type);
        if (type == SQLITE_INTEGER) {
            integer = sqlite3_value_int64(value);
        } else if (type == SQLITE_FLOAT) {
            real = sqlite3_value_double(value);
            memcpy(&integer, &real, sizeof integer);
        } else if (type != SQLITE_NULL) {
            const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value)
                                                    : sqlite3_value_blob(value);
            integer = sqlite3_value_bytes(value);
            if (bytes)
                sqlite3_str_append(text, bytes, (int)integer);
        }
        sqlite3_str_append(text, (const char *)&integer, sizeof integer);
    }
    *length = (size_t)sqlite3_str_length(text);
    return sqlite3_str_finish(text);
}

/* The number of a call's arguments, new or known; NAME_NONE if out of memory, or out of numbers
** that fit in a rowid. */
static uint32_t tuple_of(struct kept *kept, const struct call *call)
{
    size_t length, known = kept->tuples.count;
    if (known >= MOST_TUPLES || !MEMORY_GROW(kept->by_tuple, kept->capacity, known + 1))
        return NAME_NONE;
    char *key = tuple_key(call, &length);
    uint32_t tuple = key ? names_intern(&kept->tuples, key, length) : NAME_NONE;
    sqlite3_free(key);
    if (tuple == known)
        kept->by_tuple[tuple] = NULL;
    return tuple;
}

static void free_rows(struct kept *kept, struct kept_rows *rows)
{
    if (kept->by_tuple[rows->tuple] == rows)
        kept->by_tuple[rows->tuple] = NULL;
    rows->rows->methods->destroy(rows->rows);
    memory_free(rows);
}

static void take_from_unused(struct kept *kept, struct kept_rows *rows)
{
    *(rows->newer ? &rows->newer->older : &kept->newest) = rows->older;
    *(rows->older ? &rows->older->newer : &kept->oldest) = rows->newer;
    rows->newer = rows->older = NULL;
    kept->unused_memory -= rows->rows->memory;
}

static void add_to_unused(struct kept *kept, struct kept_rows *rows)
{
    rows->older = kept->newest;
    *(kept->newest ? &kept->newest->newer : &kept->oldest) = rows;
    kept->newest = rows;
    kept->unused_memory += rows->rows->memory;
}

/* Frees unused rows, the longest unused first, until they take at most UNUSED_MEMORY bytes; `all`:
** all of them. */
static void trim_rows(struct kept *kept, bool all)
{
    while (kept->oldest && (all || kept->unused_memory > UNUSED_MEMORY)) {
        struct kept_rows *oldest = kept->oldest;
        take_from_unused(kept, oldest);
        free_rows(kept, oldest);
    }
}

/* The rows of a call; NULL if there are none with all of its columns. */
static struct kept_rows *rows_of_call(const struct kept *kept, uint32_t tuple,
                                      const struct call *call)
{
    struct kept_rows *found = kept->by_tuple[tuple];
    return found && (found->columns & call->columns) == call->columns ? found : NULL;
}

/* Keeps rows, and takes ownership of them. If a nested use has meanwhile computed rows with these
** columns, those stay instead. False if out of memory. */
static bool keep_rows(struct kept *kept, uint32_t tuple, const struct call *call, struct rows *rows)
{
    struct kept_rows *made = memory_zeroed(1, sizeof *made), *replaced = kept->by_tuple[tuple];
    if (!made || rows_of_call(kept, tuple, call)) {
        rows->methods->destroy(rows);
        memory_free(made);
        return made != NULL;
    }
    *made = (struct kept_rows){.rows = rows, .columns = call->columns, .tuple = tuple};
    kept->by_tuple[tuple] = made;
    add_to_unused(kept, made);
    if (replaced && replaced->cursors == 0) {
        take_from_unused(kept, replaced);
        free_rows(kept, replaced);
    }
    return true;
}

static char *declaration(const struct table_function *function)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < function->column_count; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", function->columns[i].name,
                            function->columns[i].type);
    for (int i = 0; i < function->argument_count; i++)
        sqlite3_str_appendf(text, ", \"%w\" HIDDEN", function->arguments[i].name);
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int functionDisconnect(sqlite3_vtab *vtab)
{
    struct function_table *table = (struct function_table *)vtab;
    trim_rows(&table->kept, true);
    names_clear(&table->kept.tuples);
    memory_free(table->kept.by_tuple);
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        sqlite3_value_free(table->defaults[i]);
    database_release(table->database);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* xConnect and xCreate: for the eponymous table and for those of CREATE VIRTUAL TABLE. */
static int functionConnect(sqlite3 *db, void *client, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **error)
{
    const struct registration *registration = client;
    const struct table_function *function = registration->function;
    bool created = argc > 3 || sqlite3_stricmp(argv[0], argv[2]) != 0 ||
                   sqlite3_stricmp(argv[1], "main") != 0; /* the schema of eponymous tables */
    if (created && sqlite3_stricmp(argv[1], "temp") != 0) {
        *error = sqlite3_mprintf("%s: create it in the temp schema: CREATE VIRTUAL TABLE "
                                 "temp.%s USING ... (elsewhere it would make the database "
                                 "unreadable without this extension)",
                                 function->name, argv[2]);
        return *error ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    struct function_table *table = sqlite3_malloc64(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->database = registration->database;
    table->database->references++;
    table->function = function;
    char *declared = declaration(function);
    int code = declared ? sqlite3_declare_vtab(db, declared) : SQLITE_NOMEM;
    sqlite3_free(declared);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, function->reads_files ? SQLITE_VTAB_DIRECTONLY
                                                             : SQLITE_VTAB_INNOCUOUS);
    if (code == SQLITE_OK)
        code = arguments_of_create(db, function, argc - 3, argv + 3, table->defaults, error);
    if (code != SQLITE_OK) {
        functionDisconnect(&table->base);
        return code;
    }
    *vtab = &table->base;
    return SQLITE_OK;
}

static int functionOpen(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct function_table *table = (struct function_table *)vtab;
    struct function_cursor *made = sqlite3_malloc64(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    table->cursors++;
    table->database->cursors++;
    *cursor = &made->base;
    return SQLITE_OK;
}

/* Moves a cursor to rows; NULL: to none. */
static void move_to(struct function_table *table, struct function_cursor *cursor,
                    struct kept_rows *to)
{
    struct kept_rows *from = cursor->kept;
    if (cursor->scan)
        from->rows->methods->end(cursor->scan);
    cursor->scan = NULL;
    cursor->kept = to;
    if (to && to->cursors++ == 0)
        take_from_unused(&table->kept, to);
    if (!from || --from->cursors > 0)
        return;
    if (table->kept.by_tuple[from->tuple] == from)
        add_to_unused(&table->kept, from);
    else
        free_rows(&table->kept, from);
}

static void forget_given(struct function_cursor *cursor)
{
    for (int i = 0; i < MOST_ARGUMENTS; i++) {
        sqlite3_value_free(cursor->given[i]);
        cursor->given[i] = NULL;
    }
}

static int functionClose(sqlite3_vtab_cursor *base)
{
    struct function_cursor *cursor = (struct function_cursor *)base;
    struct function_table *table = (struct function_table *)base->pVtab;
    move_to(table, cursor, NULL);
    forget_given(cursor);
    trim_rows(&table->kept, --table->cursors == 0);
    database_cursor_closed(table->database);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int functionNext(sqlite3_vtab_cursor *base)
{
    struct function_cursor *cursor = (struct function_cursor *)base;
    struct failure failure = {0};
    if (!cursor->scan) {
        cursor->end = ++cursor->position.row >= cursor->kept->rows->count;
        return SQLITE_OK;
    }
    int code =
        cursor->kept->rows->methods->next(cursor->scan, &cursor->position, &cursor->end, &failure);
    return code == SQLITE_OK ? code
                             : failure_code((struct function_table *)base->pVtab, code, &failure);
}

static int functionEof(sqlite3_vtab_cursor *base)
{
    const struct function_cursor *cursor = (const struct function_cursor *)base;
    return !cursor->kept || cursor->end;
}

static int functionColumn(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct function_cursor *cursor = (const struct function_cursor *)base;
    struct function_table *table = (struct function_table *)base->pVtab;
    int argument = column - table->function->column_count;
    if (argument >= 0) {
        if (cursor->given[argument])
            sqlite3_result_value(context, cursor->given[argument]);
        return SQLITE_OK;
    }
    struct failure failure = {0};
    struct rows *rows = cursor->kept->rows;
    int code =
        rows->methods->column(rows, cursor->scan, &cursor->position, column, context, &failure);
    return code == SQLITE_OK ? code : failure_code(table, code, &failure);
}

static int functionRowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    const struct function_cursor *cursor = (const struct function_cursor *)base;
    *rowid = ((sqlite3_int64)cursor->kept->tuple + 1) << ROW_BITS | cursor->position.row;
    return SQLITE_OK;
}

bool call_check(struct call *call, int code, const char *what)
{
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return true;
    if (code == SQLITE_NOMEM)
        return failure_memory(&call->failure);
    if (code == SQLITE_INTERRUPT)
        return failure_set(&call->failure, FAILURE_INTERRUPTED, "interrupted");
    return failure_set(&call->failure, FAILURE_REQUEST, "%s%s", what,
                       sqlite3_errmsg(call->database->db));
}

/* Whether a call failed because it was interrupted (S23); the failure is then replaced by that. */
static bool was_interrupted(struct database *database, struct failure *failure)
{
    struct failure interrupt = {.code = FAILURE_NONE};
    database->polled = 0; /* ask in any case */
    if (failure->code == FAILURE_MEMORY || !database_interrupted(database, &interrupt))
        return false;
    failure_clear(failure);
    failure_move(failure, &interrupt);
    return true;
}

/* Computes the rows of a call. Sets the table's error on failure. */
static int compute_rows(struct function_table *table, struct call *call, struct rows **rows)
{
    database_begin_work(table->database);
    int code = table->function->produce(call, rows);
    if (code == SQLITE_ERROR && was_interrupted(table->database, &call->failure))
        code = SQLITE_INTERRUPT;
    database_end_work(table->database);
    if (table->database->working == 0)
        cache_trim(&table->database->cache, false);
    return code == SQLITE_OK ? code : failure_code(table, code, &call->failure);
}

/* Names of required arguments in errors, by index. */
static const char *const ordinals[MOST_REQUIRED] = {"first", "second", "third", "fourth"};

/* Moves a cursor to the rows of a call, kept or newly computed. Returns SQLITE_OK, or the error
** code for xFilter. */
static int find_rows(struct function_table *table, struct function_cursor *cursor,
                     struct call *call)
{
    struct kept *kept = &table->kept;
    uint32_t tuple = tuple_of(kept, call);
    if (tuple == NAME_NONE)
        return SQLITE_NOMEM;
    if (!rows_of_call(kept, tuple, call)) {
        struct rows *rows = NULL;
        /* otherwise two cursors that need different columns would replace each other's rows */
        if (kept->by_tuple[tuple])
            call->columns |= kept->by_tuple[tuple]->columns;
        int code = compute_rows(table, call, &rows);
        if (code == SQLITE_OK && !keep_rows(kept, tuple, call, rows))
            code = SQLITE_NOMEM;
        if (code != SQLITE_OK)
            return code;
    }
    struct kept_rows *found = rows_of_call(kept, tuple, call);
    if (cursor->kept != found)
        move_to(table, cursor, found);
    trim_rows(kept, false);
    return SQLITE_OK;
}

static int begin_scan(struct function_table *table, struct function_cursor *cursor,
                      const struct wish *wish)
{
    struct failure failure = {0};
    cursor->position = (struct position){-1, 0, 0};
    struct rows *rows = cursor->kept->rows;
    if (rows->methods->begin) {
        database_begin_work(table->database);
        int code = rows->methods->begin(rows, wish, &cursor->scan, &failure);
        database_end_work(table->database);
        if (code != SQLITE_OK)
            return failure_code(table, code, &failure);
    }
    return functionNext(&cursor->base);
}

static int functionFilter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
                          sqlite3_value **argv)
{
    struct function_cursor *cursor = (struct function_cursor *)base;
    struct function_table *table = (struct function_table *)base->pVtab;
    const struct table_function *function = table->function;
    struct call call = {.database = table->database, .function = function};
    sqlite3_value *given[MOST_ARGUMENTS];
    struct wish wish;
    bool null_required = false;
    (void)argc;
    forget_given(cursor);
    cursor->end = true;
    call.columns = plan_read(function, number, text, argv, given, &wish);
    for (int i = 0; i < function->argument_count; i++) {
        bool null = !given[i] || sqlite3_value_type(given[i]) == SQLITE_NULL;
        if (given[i] && !(cursor->given[i] = sqlite3_value_dup(given[i])))
            return SQLITE_NOMEM;
        call.values[i] = null ? table->defaults[i] : cursor->given[i];
        null_required = null_required || (given[i] && null && function->arguments[i].required);
    }
    if (null_required)
        return SQLITE_OK;
    for (int i = 0; i < function->argument_count; i++)
        if (function->arguments[i].required && !call.values[i])
            return table_error(table,
                               sqlite3_mprintf("%s: %s argument (%s) is missing", function->name,
                                               ordinals[i], function->arguments[i].name));
    int code = find_rows(table, cursor, &call);
    return code == SQLITE_OK ? begin_scan(table, cursor, &wish) : code;
}

static int functionBestIndex(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct function_table *table = (const struct function_table *)vtab;
    return plan_make(table->function, table->database->db, table->defaults, info, &vtab->zErrMsg);
}

#define FUNCTION_MODULE(create)                                                         \
    {                                                                                   \
        .iVersion = 0, .xCreate = (create), .xConnect = functionConnect,                \
        .xBestIndex = functionBestIndex, .xDisconnect = functionDisconnect,             \
        .xDestroy = functionDisconnect, .xOpen = functionOpen, .xClose = functionClose, \
        .xFilter = functionFilter, .xNext = functionNext, .xEof = functionEof,          \
        .xColumn = functionColumn, .xRowid = functionRowid,                             \
    }

/* Eponymous, and usable in CREATE VIRTUAL TABLE. */
static const sqlite3_module function_module = FUNCTION_MODULE(functionConnect);
/* Eponymous only: `tracediff:NAME`. */
static const sqlite3_module hidden_module = FUNCTION_MODULE(NULL);

static void registration_free(void *client)
{
    struct registration *registration = client;
    database_release(registration->database);
    memory_free(registration);
}

/* The two modules of a function: `NAME` and `tracediff:NAME`. */
enum { PLAIN, HIDDEN };

static const char *module_name(const struct table_function *function, int which, char *to, int size)
{
    return sqlite3_snprintf(size, to, which == PLAIN ? "%s" : "tracediff:%s", function->name);
}

int table_function_find_all(struct database *database, const struct table_function *(*at)(int i))
{
    static const char prefix[] = "tracediff:";
    sqlite3_stmt *statement = NULL;
    const struct table_function *function;
    int code = sqlite3_prepare_v2(database->db, "PRAGMA module_list", -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name) {
            code = SQLITE_NOMEM;
            break;
        }
        int which = sqlite3_strnicmp(name, prefix, sizeof prefix - 1) == 0 ? HIDDEN : PLAIN;
        name += which == HIDDEN ? sizeof prefix - 1 : 0;
        for (int i = 0; i < MOST_FUNCTIONS && (function = at(i)) != NULL; i++)
            if (sqlite3_stricmp(name, function->name) == 0)
                database->there[i][which] = true;
    }
    int finalized = sqlite3_finalize(statement);
    return code == SQLITE_OK ? finalized : code;
}

/* Whether a function fits the fixed-size arrays above and of struct database. */
static bool has_room(const struct table_function *function, int number)
{
    int most = function->argument_count;
    bool room = number < MOST_FUNCTIONS && most <= MOST_ARGUMENTS;
    for (int i = MOST_REQUIRED; i < most && room; i++)
        room = !function->arguments[i].required;
    return room;
}

int table_function_register(struct database *database, const struct table_function *function,
                            int number)
{
    int code = has_room(function, number) ? SQLITE_OK : SQLITE_TOOBIG;
    for (int which = PLAIN; which <= HIDDEN && code == SQLITE_OK; which++) {
        char name[64];
        if (database->there[number][which])
            continue;
        struct registration *registration = memory_allocate(sizeof *registration);
        if (!registration)
            return SQLITE_NOMEM;
        *registration = (struct registration){function, database};
        database->references++;
        module_name(function, which, name, sizeof name);
        code = sqlite3_create_module_v2(database->db, name,
                                        which == PLAIN ? &function_module : &hidden_module,
                                        registration, registration_free);
        database->created[number][which] = code == SQLITE_OK;
    }
    return code;
}

void table_function_unregister(struct database *database, const struct table_function *function,
                               int number)
{
    for (int which = PLAIN; which <= HIDDEN; which++) {
        char name[64];
        if (database->created[number][which])
            sqlite3_create_module_v2(database->db, module_name(function, which, name, sizeof name),
                                     NULL, NULL, NULL);
    }
}
