#include "rocpd.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "text/ascii.h"
#include "text/number.h"
#include "text/scan.h"
#include "text/text.h"

const char *const rocpd_table_names[ROCPD_TABLES] = {[ROCPD_REGION] = "rocpd_region",
                                                     [ROCPD_DISPATCH] = "rocpd_kernel_dispatch",
                                                     [ROCPD_COPY] = "rocpd_memory_copy",
                                                     [ROCPD_SAMPLE] = "rocpd_sample"};

bool rocpd_table(struct database_read *read, size_t part, const char *name,
                 struct readonly_table **table)
{
    const struct rocpd *rocpd = read->state;
    char *whole = sqlite3_mprintf("%s_%s", name, rocpd->parts[part].suffix);
    if (!whole)
        return failure_memory(read->failure);
    *table = readonly_table(read->readonly, whole);
    sqlite3_free(whole);
    return true;
}

const char *rocpd_suffix(const char *table, const char *name)
{
    size_t length = strlen(name);
    bool same = strncasecmp(table, name, length) == 0 && table[length] == '_';
    return same && table[length + 1] ? table + length + 1 : NULL;
}

/* Notes the suffix of a table, if its base name matches. */
static bool take_suffix(struct database_read *read, const char *table, const char *name)
{
    struct rocpd *rocpd = read->state;
    const char *suffix = rocpd_suffix(table, name);
    if (!suffix)
        return true;
    for (size_t i = 0; i < rocpd->part_count; i++)
        if (strcasecmp(rocpd->parts[i].suffix, suffix) == 0)
            return true;
    char *copy = memory_allocate(strlen(suffix) + 1);
    if (!copy || !MEMORY_GROW(rocpd->parts, rocpd->part_capacity, rocpd->part_count + 1)) {
        memory_free(copy);
        return failure_memory(read->failure);
    }
    strcpy(copy, suffix);
    rocpd->parts[rocpd->part_count++] =
        (struct rocpd_part){.suffix = copy, .rank = -1, .pid = NUMBER_NONE};
    return true;
}

static int part_order(const void *a, const void *b)
{
    const struct rocpd_part *x = a, *y = b;
    return strcmp(x->suffix, y->suffix);
}

/* Copies a text that may be a JSON object, with room to decode one of its strings. False if it is
** not an object, or on failure. */
static bool read_object(struct rocpd *rocpd, const unsigned char *text, size_t length,
                        struct token *object, struct failure *failure)
{
    struct scan scan;
    if (!MEMORY_GROW(rocpd->json, rocpd->json_capacity, 4 * length + SCAN_PADDING))
        return failure_memory(failure);
    memcpy(rocpd->json, text, length);
    memset(rocpd->json + length, 0, SCAN_PADDING);
    scan = (struct scan){rocpd->json + length, NULL};
    const unsigned char *start = scan_space(rocpd->json);
    const unsigned char *stop = *start == '{' ? scan_value(&scan, start, object) : NULL;
    return stop && scan_space(stop) == scan.end && object->kind == TOKEN_NESTED;
}

/* Opens the messages of a part. False on failure, or with trouble. */
static bool open_messages(struct database_read *read, size_t i)
{
    struct rocpd_part *part = &((struct rocpd *)read->state)->parts[i];
    struct readonly_table *table = NULL;
    if (part->opened)
        return true;
    part->opened = true;
    return rocpd_table(read, i, "rocpd_event", &table) &&
           strings_open(&part->messages, read->readonly, table, "id", "extdata", read->failure);
}

bool rocpd_message(struct database_read *read, size_t part, int64_t event,
                   const unsigned char **text, size_t *length)
{
    struct rocpd *rocpd = read->state;
    struct problems unused = {0};
    struct token object, message;
    size_t whole;
    const unsigned char *extdata;
    *text = NULL;
    *length = 0;
    if (!open_messages(read, part) ||
        !strings_find(&rocpd->parts[part].messages, event, &extdata, &whole, read->failure))
        return false;
    if (!extdata || !read_object(rocpd, extdata, whole, &object, read->failure))
        return read->failure->code == FAILURE_NONE;
    if (!scan_member(&object, "message", &message) ||
        (message.kind != TOKEN_TEXT && message.kind != TOKEN_ODD_TEXT))
        return true;
    unsigned char *room = rocpd->json + whole + SCAN_PADDING;
    *text = message.kind == TOKEN_TEXT ? message.at : room;
    *length = message.kind == TOKEN_TEXT
                  ? message.length
                  : text_decode(message.at, message.length, room, &unused, 0);
    return true;
}

bool rocpd_places(struct database_read *read, size_t i)
{
    static const char *const columns[] = {"id", "agent_id", "queue_id", "stream_id", NULL};
    struct rocpd_part *part = &((struct rocpd *)read->state)->parts[i];
    struct readonly_table *table = NULL;
    if (part->placed)
        return true;
    part->placed = true;
    return rocpd_table(read, i, "rocpd_track", &table) &&
           ids_read(&part->places, read, table, columns);
}

/* The rank in the environment variables, or -1 (R4). */
static int64_t rank_in(const struct token *environment)
{
    static const char *const keys[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                       "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct token value;
        int64_t rank;
        if (scan_member(environment, keys[i], &value) &&
            (value.kind == TOKEN_TEXT || value.kind == TOKEN_BARE) &&
            number_integer(value.at, value.length, &rank) && rank >= 0)
            return rank;
    }
    return -1;
}

static bool take_process(struct database_read *read, const struct table_scan *scan)
{
    struct rocpd *rocpd = read->state;
    struct rocpd_part *part = &rocpd->parts[rocpd->part];
    struct token environment;
    size_t length;
    const unsigned char *text = scan_text(scan, 1, &length);
    if (part->pid == NUMBER_NONE)
        part->pid = scan_integer(scan, 0);
    if (part->rank < 0 && text && read_object(rocpd, text, length, &environment, read->failure))
        part->rank = rank_in(&environment);
    return read->failure->code == FAILURE_NONE;
}

/* Takes the version of the schema: the part before its first dot. */
static bool take_version(struct database_read *read, const struct table_scan *scan)
{
    struct rocpd *rocpd = read->state;
    size_t tag_length, length, i = 0;
    const unsigned char *tag = scan_text(scan, 0, &tag_length);
    const unsigned char *value = scan_text(scan, 1, &length);
    if (rocpd->schema[0] || !tag || !text_is((const char *)tag, tag_length, "schema_version"))
        return true;
    rocpd->schema[0] = '3';
    for (; value && i < length && value[i] != '.' && i + 1 < sizeof rocpd->schema; i++)
        rocpd->schema[i] = value[i] > ' ' && value[i] < 0x7f ? (char)value[i] : '?';
    rocpd->schema[i > 0 ? i : 1] = 0;
    return true;
}

/* Refuses schemas whose tables have another meaning (R1). */
static bool check_schema(struct database_read *read)
{
    static const char *const columns[] = {"tag", "value", NULL};
    struct rocpd *rocpd = read->state;
    struct readonly_table *metadata = NULL, *dispatch = NULL;
    rocpd->schema[0] = 0;
    if (!rocpd_table(read, rocpd->part, "rocpd_metadata", &metadata) ||
        !rocpd_table(read, rocpd->part, rocpd_table_names[ROCPD_DISPATCH], &dispatch) ||
        !database_each(read, metadata, columns, NULL, take_version) ||
        (dispatch && !readonly_columns(read->readonly, dispatch, read->failure)))
        return false;
    if (!rocpd->schema[0])
        strcpy(rocpd->schema, dispatch && !readonly_column(dispatch, "pid") ? "4" : "3");
    return strcmp(rocpd->schema, "3") == 0 || strcmp(rocpd->schema, "4") == 0 ||
           failure_set(read->failure, FAILURE_READ, "'%s': rocpd schema %s is not known",
                       read->readonly->path, rocpd->schema);
}

bool rocpd_look(struct database_read *read)
{
    static const char *const columns[] = {"pid", "environment", NULL};
    struct rocpd *rocpd = read->state;
    const struct readonly *readonly = read->readonly;
    size_t part = rocpd->part;
    bool done = true;
    for (size_t i = 0; done && i < readonly->table_count; i++)
        done = take_suffix(read, readonly->tables[i].name, rocpd_table_names[ROCPD_REGION]) &&
               take_suffix(read, readonly->tables[i].name, rocpd_table_names[ROCPD_DISPATCH]);
    if (!done)
        return false;
    if (rocpd->part_count * ROCPD_TABLES > EVENT_TABLES)
        return failure_set(read->failure, FAILURE_READ, "cannot read '%s': more than %d processes",
                           readonly->path, EVENT_TABLES / ROCPD_TABLES);
    qsort(rocpd->parts, rocpd->part_count, sizeof *rocpd->parts, part_order);
    for (size_t i = 0; done && read->loading && i < rocpd->part_count; i++) {
        struct readonly_table *processes = NULL;
        rocpd->part = i;
        done = check_schema(read) && rocpd_table(read, i, "rocpd_info_process", &processes) &&
               database_each(read, processes, columns, NULL, take_process);
    }
    rocpd->part = part;
    return done;
}
