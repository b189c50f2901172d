#include "own_patterns.h"

#include <string.h>

#include "access/roots.h"
#include "base/memory.h"

enum { MOST_BYTES = 1 << 16 /* of a file */ };

/* Adds a pattern, and takes ownership of both texts. */
static bool add(struct call *call, struct own_patterns *found, char *name, char *text)
{
    if (name && text && MEMORY_GROW(found->items, found->capacity, found->count + 1)) {
        pattern_read(&found->items[found->count++], name, text);
        return true;
    }
    sqlite3_free(name);
    sqlite3_free(text);
    return failure_memory(&call->failure);
}

/* Reads a file of a directory. */
static bool read_file(struct call *call, const char *path, const char *name, size_t length,
                      struct own_patterns *found)
{
    char *text = sqlite3_malloc(MOST_BYTES + 1);
    size_t size = 0, got = 1;
    intptr_t file;
    int error = file_open(path, &file);
    while (!error && text && got > 0 && size < MOST_BYTES) {
        error = file_read(file, text + size, MOST_BYTES - size, &got);
        size += error ? 0 : got;
    }
    if (file != -1)
        file_close(file);
    if (error || size == MOST_BYTES) {
        sqlite3_free(text);
        return failure_set(&call->failure, FAILURE_READ, "cannot read '%s': %s", path,
                           error ? strerror(error) : "it is no pattern");
    }
    if (text)
        text[size] = '\0';
    return add(call, found, sqlite3_mprintf("%.*s", (int)length, name), text);
}

static bool read_folder(struct call *call, const char *folder, struct own_patterns *found)
{
    static const char ending[] = ".sql";
    int error = 0;
    bool done = true;
    struct listing *listing = listing_open(folder, &error);
    const char *name = NULL;
    while (listing && done && (name = listing_next(listing, &error))) {
        size_t length = strlen(name);
        if (length < sizeof ending || strcmp(name + length - strlen(ending), ending) != 0)
            continue;
        char *path = sqlite3_mprintf("%s/%s", folder, name);
        done = path ? read_file(call, path, name, length - strlen(ending), found)
                    : failure_memory(&call->failure);
        sqlite3_free(path);
    }
    if (listing)
        listing_close(listing);
    return error ? failure_set(&call->failure, FAILURE_READ, "cannot read '%s': %s", folder,
                               strerror(error))
                 : done;
}

/* Reads temp.patterns, if it exists. */
static bool read_table(struct call *call, struct own_patterns *found)
{
    static const char there[] = "SELECT 1 FROM temp.sqlite_master WHERE name = 'patterns'";
    static const char rows[] = "SELECT name, coalesce(head || char(10), '') || sql"
                               " FROM temp.patterns WHERE name || sql IS NOT NULL";
    sqlite3_stmt *statement = NULL;
    bool done = true;
    int code = sqlite3_prepare_v2(call->connection->db, there, -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW)
        return call_check(call, code, "");
    code = sqlite3_prepare_v2(call->connection->db, rows, -1, &statement, NULL);
    while (code == SQLITE_OK && done && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        done = add(call, found, sqlite3_mprintf("%s", sqlite3_column_text(statement, 0)),
                   sqlite3_mprintf("%s", sqlite3_column_text(statement, 1)));
        code = SQLITE_OK;
    }
    done = done && call_check(call, code, "temp.patterns: ");
    sqlite3_finalize(statement);
    return done;
}

bool own_patterns_read(struct call *call, const char *folder, struct own_patterns *found)
{
    *found = (struct own_patterns){.count = 0};
    return (!folder || read_folder(call, folder, found)) && read_table(call, found);
}

void own_patterns_clear(struct own_patterns *found)
{
    for (size_t i = 0; i < found->count; i++) {
        sqlite3_free((char *)found->items[i].name);
        sqlite3_free((char *)found->items[i].text);
    }
    memory_free(found->items);
}
