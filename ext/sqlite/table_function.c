#include "table_function.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"
#include "../reader/text.h"
#include "../trace/names.h"
#include "arguments.h"

#define KEPT_MEMORY ((size_t)64 << 20)

/* A rowid is the number of a tuple, from 1 on, and 40 bits for the row. */
enum { ROW_BITS = 40, MOST_TUPLES = (1 << (63 - ROW_BITS)) - 1 };

/* The rows of a tuple of arguments, shared by the cursors that are on them. When the last
** cursor leaves them they are freed if the tuple has others by then, else kept among the
** unused. */
struct kept_rows {
    struct rows *rows;
    uint64_t columns; /* of those on demand: which the rows have */
    uint32_t tuple;
    int cursors;                     /* that are on these rows */
    struct kept_rows *newer, *older; /* among the unused, by when they were left */
};

struct function_table {
    sqlite3_vtab base; /* must be first */
    struct database *database;
    const struct table_function *function;
    sqlite3_value *defaults[MOST_ARGUMENTS]; /* from CREATE VIRTUAL TABLE; NULL: none */
    struct names tuples;     /* keys of the arguments it was called with; their ids are in rowids,
                             ** so they stay as long as the table */
    struct kept_rows **kept; /* by tuple: those with most columns; NULL: none */
    size_t capacity;         /* of `kept` */
    struct kept_rows *newest, *oldest; /* rows that no cursor is on */
    size_t unused_memory;              /* bytes of these */
    int cursors;
};

struct function_cursor {
    sqlite3_vtab_cursor base;             /* must be first */
    sqlite3_value *given[MOST_ARGUMENTS]; /* NULL: not given by the call */
    struct kept_rows *kept;               /* NULL: no rows */
    struct row_scan *scan;                /* of those rows; NULL: they are gone through by number */
    struct position position;
    bool end;
};

/* What a module's registration carries. */
struct registration {
    const struct table_function *function;
    struct database *database;
};

/* Says an error for a table: its text goes to SQLite. */
static int table_error(struct function_table *table, char *message)
{
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = message;
    return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* A message of the layers below, which may hold a path that is no UTF-8. Frees
** nothing. */
static char *message_of(const char *name, const char *text)
{
    size_t length = strlen(text);
    char *repaired = sqlite3_malloc64(3 * length + 1), *message = NULL;
    if (repaired) {
        size_t size = text_repair((const unsigned char *)text, length, (unsigned char *)repaired);
        repaired[size] = 0;
        message = sqlite3_mprintf("%s: %s", name, repaired);
    }
    sqlite3_free(repaired);
    return message;
}

/* Whose name stands before an error: the outermost function's. */
static const char *speaker(const struct function_table *table)
{
    return table->database->speaking ? table->database->speaking : table->function->name;
}

/* What a failure is to SQLite: `code`, or what the failure says. Frees the failure. */
static int failed(struct function_table *table, int code, struct failure *failure)
{
    if (failure->code == FAILURE_MEMORY)
        code = SQLITE_NOMEM;
    else if (failure->code == FAILURE_INTERRUPTED)
        code = SQLITE_INTERRUPT;
    else if (failure->text)
        code = table_error(table, message_of(speaker(table), failure->text));
    failure_clear(failure);
    return code;
}

/* The declaration a reader would see. */
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

/* Frees rows that no cursor is on. */
static void free_kept(struct function_table *table, struct kept_rows *kept)
{
    if (table->kept[kept->tuple] == kept)
        table->kept[kept->tuple] = NULL;
    kept->rows->methods->destroy(kept->rows);
    memory_free(kept);
}

static void take_from_unused(struct function_table *table, struct kept_rows *kept)
{
    *(kept->newer ? &kept->newer->older : &table->newest) = kept->older;
    *(kept->older ? &kept->older->newer : &table->oldest) = kept->newer;
    kept->newer = kept->older = NULL;
    table->unused_memory -= kept->rows->memory;
}

static void add_to_unused(struct function_table *table, struct kept_rows *kept)
{
    kept->older = table->newest;
    *(table->newest ? &table->newest->newer : &table->oldest) = kept;
    table->newest = kept;
    table->unused_memory += kept->rows->memory;
}

/* Frees unused rows, the longest unused first, down to a limit of bytes; 0: all. */
static void drop_unused(struct function_table *table, size_t limit)
{
    while (table->oldest && (limit == 0 || table->unused_memory > limit)) {
        struct kept_rows *kept = table->oldest;
        take_from_unused(table, kept);
        free_kept(table, kept);
    }
}

static int functionDisconnect(sqlite3_vtab *vtab)
{
    struct function_table *table = (struct function_table *)vtab;
    drop_unused(table, 0);
    names_clear(&table->tuples);
    memory_free(table->kept);
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        sqlite3_value_free(table->defaults[i]);
    database_release(table->database);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Constructor: of the eponymous table, and of those that are created. */
static int functionConnect(sqlite3 *db, void *client, int argc, const char *const *argv,
                           sqlite3_vtab **vtab, char **error)
{
    const struct registration *registration = client;
    const struct table_function *function = registration->function;
    bool created = argc > 3 || sqlite3_stricmp(argv[0], argv[2]) != 0 ||
                   sqlite3_stricmp(argv[1], "main") != 0; /* there eponymous tables are */
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
    database_cursor_opened(table->database);
    *cursor = &made->base;
    return SQLITE_OK;
}

/* Puts a cursor on rows, or on none; those it leaves are kept, or freed if their tuple
** has others. */
static void move_to(struct function_table *table, struct function_cursor *cursor,
                    struct kept_rows *to)
{
    struct kept_rows *from = cursor->kept;
    if (cursor->scan)
        from->rows->methods->end(cursor->scan);
    cursor->scan = NULL;
    cursor->kept = to;
    if (to && to->cursors++ == 0)
        take_from_unused(table, to);
    if (!from || --from->cursors > 0)
        return;
    if (table->kept[from->tuple] == from)
        add_to_unused(table, from);
    else
        free_kept(table, from);
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
    drop_unused(table, --table->cursors > 0 ? KEPT_MEMORY : 0);
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
    return code == SQLITE_OK ? code : failed((struct function_table *)base->pVtab, code, &failure);
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
    return code == SQLITE_OK ? code : failed(table, code, &failure);
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

/* The arguments of a call as bytes that are equal if and only if they are. */
static char *tuple_key(const struct call *call, size_t *length)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(text, 1, '.'); /* an empty text would be no text */
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

/* The number of the tuple of a call, new or known; NAME_NONE if out of memory, or no
** number that fits in a rowid. */
static uint32_t tuple_of(struct function_table *table, const struct call *call)
{
    size_t length, known = table->tuples.count;
    if (known >= MOST_TUPLES || !MEMORY_GROW(table->kept, table->capacity, known + 1))
        return NAME_NONE;
    char *key = tuple_key(call, &length);
    uint32_t tuple = key ? names_intern(&table->tuples, key, length) : NAME_NONE;
    sqlite3_free(key);
    if (tuple == known)
        table->kept[tuple] = NULL;
    return tuple;
}

/* A message of inner SQL, with a name before it unless that stands there already. Frees
** the message. */
static char *with_name(const char *name, char *message)
{
    size_t length = strlen(name);
    if (strncmp(message, name, length) == 0 && message[length] == ':')
        return message;
    char *named = sqlite3_mprintf("%s: %s", name, message);
    sqlite3_free(message);
    return named;
}

/* Computes the rows of a call; the error goes to the table. */
static int produce(struct function_table *table, struct call *call, struct rows **rows)
{
    database_begin_work(table->database);
    int code = table->function->produce(call, rows);
    database_end_work(table->database);
    if (table->database->working == 0)
        cache_trim(&table->database->cache, false);
    if (code == SQLITE_OK || !call->error)
        return code == SQLITE_OK ? code : failed(table, code, &call->failure);
    table_error(table, with_name(speaker(table), call->error));
    call->error = NULL;
    failure_clear(&call->failure);
    return code;
}

/* Of required arguments. */
static const char *const ordinals[MOST_REQUIRED] = {"first", "second", "third", "fourth"};

/* Whether a tuple has rows with the columns of a call. */
static bool has_rows(const struct function_table *table, uint32_t tuple, const struct call *call)
{
    const struct kept_rows *kept = table->kept[tuple];
    return kept && (kept->columns & call->columns) == call->columns;
}

/* Computes the rows of a tuple. They also get the columns of those they replace, so that two
** cursors that want different columns do not replace each other's rows in turn. */
static int renew_rows(struct function_table *table, uint32_t tuple, struct call *call)
{
    struct rows *rows = NULL;
    if (table->kept[tuple])
        call->columns |= table->kept[tuple]->columns;
    int code = produce(table, call, &rows);
    if (code != SQLITE_OK)
        return code;
    struct kept_rows *made = memory_zeroed(1, sizeof *made);
    if (!made || has_rows(table, tuple, call)) { /* computed meanwhile, by a nested use */
        rows->methods->destroy(rows);
        memory_free(made);
        return made ? SQLITE_OK : SQLITE_NOMEM;
    }
    *made = (struct kept_rows){.rows = rows, .columns = call->columns, .tuple = tuple};
    struct kept_rows *replaced = table->kept[tuple];
    table->kept[tuple] = made;
    add_to_unused(table, made);
    if (replaced && replaced->cursors == 0) {
        take_from_unused(table, replaced);
        free_kept(table, replaced);
    }
    return SQLITE_OK;
}

/* Puts a cursor on the rows of a call, kept or computed; SQLITE_OK, or what xFilter
** returns. */
static int find_rows(struct function_table *table, struct function_cursor *cursor,
                     struct call *call)
{
    uint32_t tuple = tuple_of(table, call);
    if (tuple == NAME_NONE)
        return SQLITE_NOMEM;
    int code = has_rows(table, tuple, call) ? SQLITE_OK : renew_rows(table, tuple, call);
    if (code != SQLITE_OK)
        return code;
    if (cursor->kept != table->kept[tuple])
        move_to(table, cursor, table->kept[tuple]);
    drop_unused(table, KEPT_MEMORY);
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
            return failed(table, code, &failure);
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
    return plan_make(table->function, table->defaults, info);
}

#define FUNCTION_MODULE(create)                                                         \
    {                                                                                   \
        .iVersion = 0, .xCreate = (create), .xConnect = functionConnect,                \
        .xBestIndex = functionBestIndex, .xDisconnect = functionDisconnect,             \
        .xDestroy = functionDisconnect, .xOpen = functionOpen, .xClose = functionClose, \
        .xFilter = functionFilter, .xNext = functionNext, .xEof = functionEof,          \
        .xColumn = functionColumn, .xRowid = functionRowid,                             \
    }

/* Eponymous, and creatable. */
static const sqlite3_module function_module = FUNCTION_MODULE(functionConnect);
/* Eponymous only: `tracediff:NAME`. */
static const sqlite3_module hidden_module = FUNCTION_MODULE(NULL);

static void registration_free(void *client)
{
    struct registration *registration = client;
    database_release(registration->database);
    memory_free(registration);
}

/* Whether a module of this name is there already; an error code if that cannot
** be found out. */
static int is_registered(sqlite3 *db, const char *name, bool *registered)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA module_list", -1, &statement, NULL);
    while (code == SQLITE_OK && !*registered && sqlite3_step(statement) == SQLITE_ROW) {
        const char *there = (const char *)sqlite3_column_text(statement, 0);
        if (!there)
            code = SQLITE_NOMEM;
        else
            *registered = sqlite3_stricmp(there, name) == 0;
    }
    int finalized = sqlite3_finalize(statement);
    return code == SQLITE_OK ? finalized : code;
}

/* Both modules of a function, and what they are called. */
enum { PLAIN, HIDDEN };

static const char *module_name(const struct table_function *function, int which, char *to, int size)
{
    return sqlite3_snprintf(size, to, which == PLAIN ? "%s" : "tracediff:%s", function->name);
}

/* Whether tables have room for a function. */
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
        bool registered = false;
        module_name(function, which, name, sizeof name);
        code = is_registered(database->db, name, &registered);
        if (code != SQLITE_OK || registered)
            continue;
        struct registration *registration = memory_allocate(sizeof *registration);
        if (!registration)
            return SQLITE_NOMEM;
        *registration = (struct registration){function, database};
        database->references++;
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
