#include "readonly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access/roots.h"
#include "base/memory.h"
#include "platform/path.h"

enum {
    LONGEST = 16 * 1024 * 1024, /* bytes of a row */
    OPERATIONS = 1000           /* of SQLite's machine between two questions whether to stop */
};

static int asked_to_stop(void *argument)
{
    const struct readonly *readonly = argument;
    return readonly->stopper.stop && readonly->stopper.stop(readonly->stopper.argument);
}

bool readonly_damaged(struct readonly *readonly, const char *what, const char *table,
                      struct failure *failure)
{
    if (table)
        failure_set(&readonly->trouble, FAILURE_DAMAGE, "'%s': %s (table %s)", readonly->path, what,
                    table);
    else
        failure_set(&readonly->trouble, FAILURE_DAMAGE, "'%s': %s", readonly->path, what);
    return readonly->trouble.text ? false : failure_memory(failure);
}

bool readonly_check(struct readonly *readonly, int code, const char *table, struct failure *failure)
{
    int error = 0;
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return true;
    case SQLITE_NOMEM:
        return failure_memory(failure);
    case SQLITE_INTERRUPT:
        return failure_set(failure, FAILURE_INTERRUPTED, "interrupted");
    case SQLITE_CORRUPT: /* EIO, too */
        sqlite3_file_control(readonly->db, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
        if (error != 0)
            return failure_set(failure, FAILURE_READ, "cannot read '%s': %s", readonly->path,
                               strerror(file_system_error(error)));
        return readonly_damaged(readonly, sqlite3_errmsg(readonly->db), table, failure);
    case SQLITE_ERROR: /* what a schema says makes no sense */
        return readonly_damaged(readonly, sqlite3_errmsg(readonly->db), table, failure);
    default:
        return failure_set(failure, FAILURE_READ, "cannot read '%s': %s", readonly->path,
                           sqlite3_errmsg(readonly->db));
    }
}

/* The path as a URI. It changes nothing beside the file: a database in WAL mode is read without
** -wal and -shm. NULL if out of memory. */
static char *uri_of(const char *path)
{
    static const char hexadecimal[] = "0123456789ABCDEF", tail[] = "?mode=ro&immutable=1";
    size_t length = strlen(path), used = 0;
    char *uri = memory_allocate(3 * length + sizeof "file:///" + sizeof tail);
    if (!uri)
        return NULL;
    for (const char *begin = path_uri(path); *begin; begin++)
        uri[used++] = *begin;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr("/-_.~", c)) {
            uri[used++] = (char)c;
        } else {
            uri[used++] = '%';
            uri[used++] = hexadecimal[c >> 4];
            uri[used++] = hexadecimal[c & 15];
        }
    }
    memcpy(uri + used, tail, sizeof tail);
    return uri;
}

/* Tables can be read, their columns and indexes listed. Nothing else. */
static int authorize(void *argument, int action, const char *what, const char *b, const char *c,
                     const char *d)
{
    (void)argument, (void)b, (void)c, (void)d;
    bool lists = action == SQLITE_PRAGMA && what &&
                 (strcmp(what, "table_xinfo") == 0 || strcmp(what, "index_list") == 0);
    return action == SQLITE_SELECT || action == SQLITE_READ || lists ? SQLITE_OK : SQLITE_DENY;
}

/* G3. */
static int harden(struct readonly *readonly)
{
    static const struct {
        int setting, value;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                    {SQLITE_DBCONFIG_DQS_DML, 0}};
    sqlite3 *db = readonly->db;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        sqlite3_db_config(db, settings[i].setting, settings[i].value, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_drop_modules(db, NULL);    /* a virtual table runs its module when it is prepared */
    if (sqlite3_api->progress_handler) /* NULL: SQLite was built without it, like the authorizer */
        sqlite3_progress_handler(db, OPERATIONS, asked_to_stop, readonly);
    int code = sqlite3_exec(db,
                            "PRAGMA cell_size_check=1; PRAGMA mmap_size=0;"
                            "PRAGMA cache_size=-2048; PRAGMA temp_store=2; PRAGMA query_only=1",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK && sqlite3_api->set_authorizer)
        code = sqlite3_set_authorizer(db, authorize, NULL);
    return code;
}

static char *copied(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_allocate(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Lists the tables, without views and virtual tables, which have no root page or another SQL. */
static bool list_tables(struct readonly *readonly, struct failure *failure)
{
    static const char create[] = "CREATE TABLE ";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        readonly->db,
        "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0", -1,
        &statement, NULL);
    bool done = readonly_check(readonly, code, NULL, failure);
    while (done && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *sql = (const char *)sqlite3_column_text(statement, 1);
        if (!name || !sql || strncasecmp(sql, create, sizeof create - 1) != 0)
            continue;
        done = MEMORY_GROW(readonly->tables, readonly->table_capacity, readonly->table_count + 1);
        char *copy = done ? copied(name) : NULL;
        if (!copy)
            done = failure_memory(failure);
        else
            readonly->tables[readonly->table_count++] = (struct readonly_table){.name = copy};
    }
    done = done && readonly_check(readonly, code, NULL, failure);
    sqlite3_finalize(statement);
    return done;
}

/* Opens a database; `*db` is to be closed whatever the result. */
static int open_file(const char *path, sqlite3 **db)
{
    const char *vfs = sqlite3_vfs_find("unix")    ? "unix" /* not that of a host, if there is */
                      : sqlite3_vfs_find("win32") ? "win32"
                                                  : NULL;
    char *uri = uri_of(path);
    *db = NULL;
    if (!uri)
        return SQLITE_NOMEM;
    int code = sqlite3_open_v2(uri, db,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                                   SQLITE_OPEN_PRIVATECACHE,
                               vfs);
    memory_free(uri);
    return *db ? code : SQLITE_NOMEM;
}

static const char magic[] = "SQLite format 3"; /* and the NUL */

/* Whether an open file begins as a database does, or cannot be read. */
static bool begins(sqlite3 *db)
{
    char first[sizeof magic];
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK && file && file->pMethods)
        code = file->pMethods->xRead(file, first, sizeof first, 0);
    if (code == SQLITE_OK)
        return memcmp(first, magic, sizeof magic) == 0;
    return code != SQLITE_IOERR_SHORT_READ;
}

bool readonly_look(const char *path, bool *is, struct failure *failure)
{
    struct identity identity;
    sqlite3 *db;
    if (!source_identify(path, &identity, failure))
        return false;
    *is = identity.size == 0; /* of a database that a host is making, too */
    if (*is)
        return true;
    int code = open_file(path, &db);
    if (code == SQLITE_NOMEM)
        failure_memory(failure);
    else if (code == SQLITE_CANTOPEN) /* as of a long path; what cannot be read will say why */
        *is = source_begins(path, magic, sizeof magic);
    else
        *is = code != SQLITE_OK || begins(db);
    sqlite3_close(db);
    return failure->code == FAILURE_NONE;
}

bool readonly_open(struct readonly *readonly, const char *path, const struct stopper *stopper,
                   struct failure *failure)
{
    *readonly = (struct readonly){.path = path, .stopper = *stopper};
    if (!source_identify(path, &readonly->identity, failure))
        return false;
    int code = open_file(path, &readonly->db);
    if (code == SQLITE_ERROR) /* an extension that the host adds to every connection */
        return failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path,
                           sqlite3_errmsg(readonly->db));
    bool done = readonly_check(readonly, code, NULL, failure) &&
                readonly_check(readonly, harden(readonly), NULL, failure) &&
                list_tables(readonly, failure);
    return done || failure->code == FAILURE_NONE;
}

void readonly_close(struct readonly *readonly)
{
    sqlite3_close(readonly->db);
    for (size_t i = 0; i < readonly->table_count; i++) {
        struct readonly_table *table = &readonly->tables[i];
        for (size_t j = 0; j < table->column_count; j++)
            memory_free(table->columns[j]);
        memory_free(table->columns);
        memory_free(table->name);
    }
    memory_free(readonly->tables);
    failure_clear(&readonly->trouble);
    *readonly = (struct readonly){.db = NULL};
}

/* Sets the failure if the file `path` `tail` has content, which SQLite would read with it. */
static void check_beside(const char *path, const char *tail, const char *shown,
                         struct failure *failure)
{
    struct file_status status;
    char *beside = sqlite3_mprintf("%s%s", path, tail);
    if (!beside)
        failure_memory(failure);
    else if (file_status(beside, &status) == 0 && status.identity.size > 0)
        failure_set(failure, FAILURE_READ,
                    "cannot read '%s': it has changes in '%s' that are not in it yet", shown,
                    beside);
    sqlite3_free(beside);
}

bool readonly_complete(const char *path, struct failure *failure)
{
    char *real = NULL;
    if (file_is_link(path) && file_real_path(path, &real) == ENOMEM)
        return failure_memory(failure);
    check_beside(real ? real : path, "-wal", path, failure);
    check_beside(real ? real : path, "-journal", path, failure);
    memory_free(real);
    return failure->code == FAILURE_NONE;
}

bool readonly_same(const struct readonly *readonly, const struct identity *identity,
                   struct failure *failure)
{
    return source_same(identity, &readonly->identity) ||
           failure_set(failure, FAILURE_READ,
                       "'%s' has changed while it was read: run the query again", readonly->path);
}

bool readonly_unchanged(const struct readonly *readonly, struct failure *failure)
{
    struct identity now;
    return source_identify(readonly->path, &now, failure) && readonly_same(readonly, &now, failure);
}

struct readonly_table *readonly_table(const struct readonly *readonly, const char *name)
{
    for (size_t i = 0; i < readonly->table_count; i++)
        if (strcasecmp(readonly->tables[i].name, name) == 0)
            return &readonly->tables[i];
    return NULL;
}

const char *readonly_column(const struct readonly_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcasecmp(table->columns[i], name) == 0)
            return table->columns[i];
    return NULL;
}

/* Prepares to list something of a table. */
static bool prepare_list(struct readonly *readonly, const char *pragma,
                         const struct readonly_table *table, sqlite3_stmt **statement,
                         struct failure *failure)
{
    char *sql = sqlite3_mprintf("PRAGMA main.%s(\"%w\")", pragma, table->name);
    int code = sql ? sqlite3_prepare_v2(readonly->db, sql, -1, statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return readonly_check(readonly, code, table->name, failure);
}

/* Forgets the key unless it is the rowid, which has no index. INTEGER PRIMARY KEY DESC has one. */
static bool check_key(struct readonly *readonly, struct readonly_table *table,
                      struct failure *failure)
{
    enum { ORIGIN = 3 };
    int code = SQLITE_OK;
    sqlite3_stmt *statement = NULL;
    bool done = prepare_list(readonly, "index_list", table, &statement, failure);
    while (done && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *origin = (const char *)sqlite3_column_text(statement, ORIGIN);
        if (!origin || strcmp(origin, "pk") == 0)
            table->key = NULL;
    }
    done = done && readonly_check(readonly, code, table->name, failure);
    sqlite3_finalize(statement);
    return done;
}

bool readonly_columns(struct readonly *readonly, struct readonly_table *table,
                      struct failure *failure)
{
    enum { NAME = 1, KEY = 5, HIDDEN = 6, ROWIDS = 3 };
    static const char *const rowids[ROWIDS] = {"rowid", "_rowid_", "oid"};
    bool taken[ROWIDS] = {false};
    size_t capacity = 0;
    int code = SQLITE_OK;
    sqlite3_stmt *statement = NULL;
    if (table->columns)
        return true;
    bool done = prepare_list(readonly, "table_xinfo", table, &statement, failure);
    while (done && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, NAME);
        for (size_t i = 0; name && i < ROWIDS; i++)
            taken[i] = taken[i] || sqlite3_stricmp(name, rowids[i]) == 0;
        if (sqlite3_column_int(statement, HIDDEN) != 0)
            continue;
        char *copy = name && MEMORY_GROW(table->columns, capacity, table->column_count + 1)
                         ? copied(name)
                         : NULL;
        if (!copy) {
            done = failure_memory(failure);
            break;
        }
        table->columns[table->column_count++] = copy;
        if (sqlite3_column_int(statement, KEY) != 0)
            table->key = copy;
    }
    for (size_t i = 0; !table->rowid && i < ROWIDS; i++)
        table->rowid = taken[i] ? NULL : rowids[i];
    done = done && readonly_check(readonly, code, table->name, failure);
    sqlite3_finalize(statement);
    return done && (!table->key || check_key(readonly, table, failure));
}
