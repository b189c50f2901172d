#include "brief_document.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "functions/args/shapes.h"
#include "text/shown.h"

/* Z5: most characters of a trace's text, or of a text with more than WIDE_DATA bytes as JSON. */
enum { LONGEST_DATA = 100, LONGEST_WIDE_DATA = 50, WIDE_DATA = 150 };

/* Z7: bytes available to objects, and bytes between them. */
enum { ROOM = 7000, BETWEEN = 13 };

/* Keys of the parts in the document. Objects of priority 0 always fit; the others follow from the
** highest priority down. */
static const struct {
    const char *key, *left_out;
    bool is_list;
    int priority;
} parts[BRIEF_PARTS] = {
    [BRIEF_VERDICT] = {"verdict", NULL, false, 0},
    [BRIEF_CERTAINTY] = {"certainty", NULL, false, 0},
    [BRIEF_UNRECORDED] = {"unrecorded", NULL, false, 0},
    [BRIEF_UNTRACED] = {"untraced", NULL, false, 0},
    [BRIEF_COMPARABILITY] = {"comparability", NULL, false, 0},
    [BRIEF_DIAGNOSES] = {"diagnoses", "diagnosis", true, 2},
    [BRIEF_CAUSES] = {"causes", "cause", true, 4},
    [BRIEF_REST] = {"rest", NULL, false, 0},
    [BRIEF_GRAPHS] = {"graphs", NULL, false, 0},
    [BRIEF_WORK] = {"work", "work", true, 2},
    [BRIEF_CAUTIONS] = {"cautions", NULL, true, 0},
    [BRIEF_CANNOT_SAY] = {"cannot_say", "cannot_say", true, 1},
    [BRIEF_NEXT] = {"next", "next", true, 3},
    [BRIEF_EVIDENCE] = {"evidence", "evidence", false, 5},
};
enum { LAST_PRIORITY = 5 };

static void write_quoted(struct writer *to, const char *text, size_t length)
{
    char *room = memory_items(length + 1, JSON_STRING_ROOM);
    write_string(to, "\"");
    if (room)
        write_bytes(to, room, shapes_write_string((const unsigned char *)text, length, room));
    to->failed = to->failed || !room;
    write_string(to, "\"");
    memory_free(room);
}

static void write_start(struct writer *to, const char *before, const char *key)
{
    write_string(to, before);
    write_string(to, "\"");
    write_string(to, key);
    write_string(to, "\":");
}

static struct writer *current(struct brief_document *document)
{
    return &document->objects[document->count - 1].json;
}

void brief_begin(struct brief_document *document, enum brief_part part, size_t item)
{
    document->columns.length = 0;
    document->failed = document->failed || !MEMORY_GROW(document->objects, document->capacity,
                                                        document->count + 1);
    if (document->failed)
        return;
    document->objects[document->count++] = (struct brief_object){.part = part, .item = item};
    write_string(current(document), "{");
}

static void add_key(struct brief_document *document, const char *key)
{
    write_start(current(document), current(document)->length > 1 ? "," : "", key);
}

static void add_column(struct brief_document *document, const char *column)
{
    write_string(&document->columns, document->columns.length ? ", " : "SELECT ");
    write_string(&document->columns, column);
}

void brief_text(struct brief_document *document, const char *key, const char *text)
{
    if (document->failed || !text)
        return;
    add_key(document, key);
    write_quoted(current(document), text, strlen(text));
}

void brief_query(struct brief_document *document, const char *key, const struct writer *sql)
{
    if (document->failed)
        return;
    add_key(document, key);
    write_quoted(current(document), sql->bytes, sql->length);
    document->failed = sql->failed;
}

void brief_integer(struct brief_document *document, const char *key, const char *column,
                   int64_t number)
{
    if (document->failed)
        return;
    add_key(document, key);
    write_integer(current(document), number);
    add_column(document, column ? column : key);
}

void brief_real(struct brief_document *document, const char *key, const char *column,
                double number)
{
    if (document->failed || !isfinite(number))
        return;
    add_key(document, key);
    write_real(current(document), number);
    add_column(document, column ? column : key);
}

/* Returns the length of a text up to a NUL. */
static size_t length_of(const struct name *name)
{
    const char *end = memchr(name->text, '\0', name->length);
    return end ? (size_t)(end - name->text) : name->length;
}

/* Returns how many characters of a text may be written. */
static size_t most_characters(const char *text, size_t length)
{
    char room[4 * LONGEST_DATA * JSON_STRING_ROOM];
    size_t first = shown_first(text, length, LONGEST_DATA);
    return shapes_write_string((const unsigned char *)text, first, room) > WIDE_DATA
               ? LONGEST_WIDE_DATA
               : LONGEST_DATA;
}

static void write_visible(struct writer *to, const char *text, size_t length)
{
    bool shown;
    for (size_t i = 0, count; i < length; i += count) {
        count = shown_character(text + i, length - i, &shown);
        if (shown)
            write_bytes(to, text + i, count);
        else
            write_string(to, "\xef\xbf\xbd");
    }
}

void brief_data(struct brief_document *document, const char *key, const struct name *text,
                bool asked)
{
    struct writer shown = {0};
    if (document->failed || !text)
        return;
    size_t length = length_of(text), most = most_characters(text->text, length);
    if (length < text->length || shown_first(text->text, length, most) < length) {
        write_visible(&shown, text->text, shown_first(text->text, length, most - 1));
        write_string(&shown, "…");
    } else {
        write_visible(&shown, text->text, length);
    }
    add_key(document, key);
    write_quoted(current(document), shown.length ? shown.bytes : "", shown.length);
    if (asked)
        add_column(document, key);
    document->failed = shown.failed;
    writer_clear(&shown);
}

void brief_end(struct brief_document *document, struct writer *from)
{
    struct writer *columns = &document->columns;
    if (!document->failed && columns->length > 0) {
        write_string(columns, " FROM ");
        write_bytes(columns, from->bytes, from->length);
        brief_query(document, "sql", columns);
    }
    if (!document->failed)
        write_string(current(document), "}");
    document->failed = document->failed || from->failed || columns->failed ||
                       current(document)->failed;
    from->length = 0;
}

bool brief_can_quote(const struct name *name)
{
    return name && shown_text(name->text, name->length) &&
           shown_first(name->text, name->length, LONGEST_DATA) == name->length;
}

/* Marks the objects that do not fit (Z7). */
static void fit(struct brief_document *document)
{
    size_t bytes = 0, rest = 0;
    for (int priority = 0; priority <= LAST_PRIORITY; priority++)
        for (size_t i = 0; i < document->count; i++) {
            struct brief_object *object = &document->objects[i];
            if (parts[object->part].priority != priority)
                continue;
            if (object->part == BRIEF_REST)
                rest = object->json.length > rest ? object->json.length : rest;
            else
                bytes += object->json.length + BETWEEN;
            object->left_out = priority > 0 && rest + bytes > ROOM;
        }
}

/* Returns the evidence of a cause, if it fits. */
static const struct brief_object *evidence_of(const struct brief_document *document, size_t item)
{
    for (size_t i = 0; i < document->count; i++) {
        const struct brief_object *object = &document->objects[i];
        if (object->part == BRIEF_EVIDENCE && object->item == item && !object->left_out)
            return object;
    }
    return NULL;
}

/* Whether an object of a part is written. `last` is the last cause that is written. */
static bool is_written(const struct brief_object *object, enum brief_part part, size_t last)
{
    return object->part == part && !object->left_out &&
           (part != BRIEF_REST || object->item == last);
}

static void write_object(const struct brief_document *document, struct writer *to,
                         const struct brief_object *object)
{
    const struct brief_object *evidence =
        object->part == BRIEF_CAUSES ? evidence_of(document, object->item) : NULL;
    write_bytes(to, object->json.bytes, object->json.length - (evidence != NULL));
    if (!evidence)
        return;
    write_string(to, ",\"evidence\":");
    write_bytes(to, evidence->json.bytes, evidence->json.length);
    write_string(to, "}");
}

static void write_part(const struct brief_document *document, struct writer *to,
                       enum brief_part part, size_t last)
{
    size_t written = 0;
    for (size_t i = 0; i < document->count; i++) {
        const struct brief_object *object = &document->objects[i];
        if (!is_written(object, part, last))
            continue;
        if (written++ > 0)
            write_string(to, ",");
        else
            write_start(to, ",", parts[part].key);
        if (written == 1 && parts[part].is_list)
            write_string(to, "[");
        write_object(document, to, object);
    }
    if (written == 0 && parts[part].is_list) {
        write_start(to, ",", parts[part].key);
        write_string(to, "[");
    }
    write_string(to, parts[part].is_list ? "]" : "");
}

/* Writes how many objects of a part are left out. Returns whether there are any. */
static bool write_count(const struct brief_document *document, struct writer *to,
                        enum brief_part part, const char *before)
{
    int64_t count = 0;
    for (size_t i = 0; i < document->count; i++)
        count += document->objects[i].part == part && document->objects[i].left_out;
    if (count == 0)
        return false;
    write_start(to, before, parts[part].left_out);
    write_integer(to, count);
    return true;
}

static void write_left_out(const struct brief_document *document, struct writer *to)
{
    const char *before = "";
    write_start(to, ",", "left_out");
    write_string(to, "{");
    for (int priority = LAST_PRIORITY; priority > 0; priority--)
        for (enum brief_part part = 0; part < BRIEF_PARTS; part++)
            if (parts[part].priority == priority && write_count(document, to, part, before))
                before = ",";
    write_string(to, "}");
}

void brief_document_write(struct brief_document *document, struct writer *to)
{
    size_t last = 0;
    fit(document);
    for (size_t i = 0; i < document->count; i++)
        if (document->objects[i].part == BRIEF_CAUSES && !document->objects[i].left_out)
            last = document->objects[i].item;
    write_string(to, "{\"schema\":\"tracediff/brief/1\"");
    for (enum brief_part part = 0; part < BRIEF_EVIDENCE; part++)
        write_part(document, to, part, last);
    write_left_out(document, to);
    write_string(to, "}");
    to->failed = to->failed || document->failed;
}

void brief_document_clear(struct brief_document *document)
{
    for (size_t i = 0; i < document->count; i++)
        writer_clear(&document->objects[i].json);
    memory_free(document->objects);
    writer_clear(&document->columns);
}
