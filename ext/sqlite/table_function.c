#include "table_function.h"

#include <string.h>

#include "base/memory.h"
#include "text/text.h"
#include "create_arguments.h"
#include "kept_rows.h"

struct function_table {
    sqlite3_vtab base; /* must be first */
    struct connection *connection;
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
    struct connection *connection;
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
    const struct call *call = table->connection->speaking;
    return call ? call->function->name : table->function->name;
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

static char *declaration(const struct table_function *function)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < function->column_count; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", function->columns[i].name,
                            function->columns[i].type);
    for (int i = 0; i < function->argument_count; i++)
        sqlite3_str_appendf(text, ", \"%w\" HIDDEN", function->arguments[i].name);
    if (function->hidden) /* after the arguments, which values by position go to */
        sqlite3_str_appendf(text, ", \"%w\" %s HIDDEN", function->hidden->name,
                            function->hidden->type);
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int functionDisconnect(sqlite3_vtab *vtab)
{
    struct function_table *table = (struct function_table *)vtab;
    kept_clear(&table->kept);
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        sqlite3_value_free(table->defaults[i]);
    connection_release(table->connection);
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
    table->connection = registration->connection;
    table->connection->references++;
    table->function = function;
    char *declared = declaration(function);
    int code = declared ? sqlite3_declare_vtab(db, declared) : SQLITE_NOMEM;
    sqlite3_free(declared);
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(db, function->reads_nothing ? SQLITE_VTAB_INNOCUOUS
                                                               : SQLITE_VTAB_DIRECTONLY);
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
    table->connection->cursors++;
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
    if (to)
        kept_enter(&table->kept, to);
    if (from)
        kept_leave(&table->kept, from);
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
    kept_trim(&table->kept, --table->cursors == 0);
    connection_cursor_closed(table->connection);
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
    if (argument == table->function->argument_count) {
        column = table->function->column_count; /* `hidden` */
    } else if (argument >= 0) {
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
    *rowid = kept_rowid(cursor->kept, cursor->position.row);
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
                       sqlite3_errmsg(call->connection->db));
}

/* Whether a call failed because it was interrupted (S23); the failure is then replaced by that. */
static bool was_interrupted(struct connection *connection, struct failure *failure)
{
    struct failure interrupt = {.code = FAILURE_NONE};
    connection->polled = 0; /* ask in any case */
    if (failure->code == FAILURE_MEMORY || !connection_interrupted(connection, &interrupt))
        return false;
    failure_clear(failure);
    failure_move(failure, &interrupt);
    return true;
}

/* Computes the rows of a call. Sets the table's error on failure. */
static int compute_rows(struct function_table *table, struct call *call, struct rows **rows)
{
    connection_begin_work(table->connection);
    int code = table->function->produce(call, rows);
    if (code == SQLITE_ERROR && was_interrupted(table->connection, &call->failure))
        code = SQLITE_INTERRUPT;
    connection_end_work(table->connection);
    if (table->connection->working == 0)
        cache_trim(&table->connection->cache, false);
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
    uint32_t tuple = kept_tuple(kept, call);
    if (tuple == NAME_NONE)
        return SQLITE_NOMEM;
    if (!kept_find(kept, tuple, call)) {
        struct rows *rows = NULL;
        /* otherwise two cursors that need different columns would replace each other's rows */
        if (kept->by_tuple[tuple])
            call->columns |= kept->by_tuple[tuple]->columns;
        int code = compute_rows(table, call, &rows);
        if (code == SQLITE_OK && !kept_add(kept, tuple, call, rows))
            code = SQLITE_NOMEM;
        if (code != SQLITE_OK)
            return code;
    }
    struct kept_rows *found = kept_find(kept, tuple, call);
    if (cursor->kept != found)
        move_to(table, cursor, found);
    kept_trim(kept, false);
    return SQLITE_OK;
}

static int begin_scan(struct function_table *table, struct function_cursor *cursor,
                      const struct wish *wish)
{
    struct failure failure = {0};
    cursor->position = (struct position){-1, 0, 0};
    struct rows *rows = cursor->kept->rows;
    if (rows->methods->begin) {
        connection_begin_work(table->connection);
        int code = rows->methods->begin(rows, wish, &cursor->scan, &failure);
        connection_end_work(table->connection);
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
    struct call call = {.connection = table->connection, .function = function};
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
        call.by_position += call.by_position == i && (given[i] || table->defaults[i]);
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
    return plan_make(table->function, table->connection->db, table->defaults, info, &vtab->zErrMsg);
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
    connection_release(registration->connection);
    memory_free(registration);
}

/* The two modules of a function: `NAME` and `tracediff:NAME`. */
enum { PLAIN, HIDDEN, MODULES };

static const char *module_name(const struct table_function *function, int which, char *to, int size)
{
    return sqlite3_snprintf(size, to, which == PLAIN ? "%s" : "tracediff:%s", function->name);
}

/* Finds out which modules are there. */
static int find_modules(sqlite3 *db, const struct table_function *(*at)(int i),
                        bool (*there)[MODULES])
{
    static const char prefix[] = "tracediff:";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA module_list", -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name) {
            code = SQLITE_NOMEM;
            break;
        }
        int which = sqlite3_strnicmp(name, prefix, sizeof prefix - 1) == 0 ? HIDDEN : PLAIN;
        name += which == HIDDEN ? sizeof prefix - 1 : 0;
        for (int i = 0; at(i); i++)
            if (sqlite3_stricmp(name, at(i)->name) == 0)
                there[i][which] = true;
    }
    int finalized = sqlite3_finalize(statement);
    return code == SQLITE_OK ? finalized : code;
}

/* Whether the arguments of a function fit the arrays above and of struct call. */
static bool has_room(const struct table_function *function)
{
    int most = function->argument_count;
    bool room = most <= MOST_ARGUMENTS;
    for (int i = MOST_REQUIRED; i < most && room; i++)
        room = !function->arguments[i].required;
    return room;
}

static int register_modules(struct connection *connection, sqlite3 *db,
                            const struct table_function *function, const bool *there, char **error)
{
    int code = SQLITE_OK;
    if (!has_room(function)) {
        *error = sqlite3_mprintf("%s has too many arguments", function->name);
        return *error ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    for (int which = PLAIN; which < MODULES && code == SQLITE_OK; which++) {
        char name[64];
        if (there[which])
            continue;
        struct registration *registration = memory_allocate(sizeof *registration);
        if (!registration)
            return SQLITE_NOMEM;
        *registration = (struct registration){function, connection};
        connection->references++;
        module_name(function, which, name, sizeof name);
        code = sqlite3_create_module_v2(db, name,
                                        which == PLAIN ? &function_module : &hidden_module,
                                        registration, registration_free);
    }
    return code;
}

int table_functions_register(struct connection *connection, sqlite3 *db, bool files, char **error)
{
    const struct table_function *(*at)(int i) = connection->functions->table_function_at;
    int count = 0;
    while (at(count))
        count++;
    bool(*there)[MODULES] = memory_zeroed((size_t)count, sizeof *there);
    int code = there ? find_modules(db, at, there) : SQLITE_NOMEM;
    bool known = code == SQLITE_OK;
    for (int i = 0; i < count && code == SQLITE_OK; i++)
        if (files || at(i)->reads_nothing)
            code = register_modules(connection, db, at(i), there[i], error);
    for (int i = 0; known && i < MODULES * count && code != SQLITE_OK; i++) {
        char name[64];
        module_name(at(i / MODULES), i % MODULES, name, sizeof name);
        if (!there[i / MODULES][i % MODULES])
            sqlite3_create_module_v2(db, name, NULL, NULL, NULL);
    }
    memory_free(there);
    return code;
}
