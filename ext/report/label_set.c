#include "label_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "naming/label.h"

enum { DETAIL = 36 };

struct label_text {
    uint32_t id;
    size_t at, length;            /* in `bytes` */
    size_t detail, detail_length; /* in the name */
    unsigned number;              /* 2, 3, ... of those with this label and detail; 0: none */
    const struct label_set *set;  /* copied in: qsort comparators take no context */
};

uint32_t label_set_add(struct label_set *set, const char *name, size_t length)
{
    return names_intern(&set->names, name, length);
}

static bool make_label(struct label_set *set, uint32_t id)
{
    const struct name *name = &set->names.items[id];
    char *label = memory_allocate(2 * (size_t)name->length + LABEL_ROOM);
    if (!label)
        return false;
    size_t length = label_write(name->text, name->length, label + name->length + LABEL_ROOM, label);
    set->items[id] =
        (struct label_text){.id = id, .at = set->bytes.length, .length = length, .set = set};
    write_bytes(&set->bytes, label, length);
    memory_free(label);
    return !set->bytes.failed;
}

static int compare_bytes(const char *one, size_t one_length, const char *other, size_t other_length)
{
    size_t least = one_length < other_length ? one_length : other_length;
    int order = least > 0 ? memcmp(one, other, least) : 0;
    return order != 0 ? order : (one_length > other_length) - (one_length < other_length);
}

static int by_label(const struct label_text *a, const struct label_text *b)
{
    const char *bytes = a->set->bytes.bytes;
    return a->length + b->length == 0
               ? 0
               : compare_bytes(bytes + a->at, a->length, bytes + b->at, b->length);
}

static const char *detail_of(const struct label_text *text)
{
    return text->set->names.items[text->id].text + text->detail;
}

static int by_detail(const struct label_text *a, const struct label_text *b)
{
    return compare_bytes(detail_of(a), a->detail_length, detail_of(b), b->detail_length);
}

static int label_order(const void *one, const void *other)
{
    const struct label_text *a = one, *b = other;
    int order = by_label(a, b);
    order = order != 0 ? order : by_detail(a, b);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static int id_order(const void *one, const void *other)
{
    const struct label_text *a = one, *b = other;
    return (a->id > b->id) - (a->id < b->id);
}

/* Bytes that all names of some labels begin with, up to a bracket or a comma and with it. */
static size_t common_start(const struct label_text *items, size_t count)
{
    const struct name *names = items->set->names.items, *first = &names[items->id];
    size_t common = first->length;
    for (size_t i = 1; i < count; i++) {
        const struct name *name = &names[items[i].id];
        size_t at = 0;
        while (at < common && at < name->length && first->text[at] == name->text[at])
            at++;
        common = at;
    }
    while (common > 0 && !strchr("<(,", first->text[common - 1]))
        common--;
    while (first->text[common] == ' ')
        common++;
    return common;
}

/* Tells names of one label apart. */
static void tell_apart(struct label_text *items, size_t count)
{
    size_t start = common_start(items, count);
    for (size_t i = 0; i < count; i++) {
        const struct name *name = &items->set->names.items[items[i].id];
        size_t at = start < name->length ? start : name->length, left = name->length - at;
        size_t length = left < DETAIL ? left : DETAIL;
        while (length < left && ((unsigned char)name->text[at + length] & 0xc0) == 0x80)
            length++; /* no part of a character */
        items[i].detail = at;
        items[i].detail_length = length;
    }
    qsort(items, count, sizeof *items, label_order);
    for (size_t i = 1; i < count; i++)
        if (by_detail(&items[i - 1], &items[i]) == 0)
            items[i].number = items[i - 1].number > 0 ? items[i - 1].number + 1 : 2;
}

bool label_set_finish(struct label_set *set, bool apart)
{
    size_t count = set->names.count, same;
    set->items = memory_zeroed(count + 1, sizeof *set->items);
    if (!set->items)
        return false;
    for (size_t id = 0; id < count; id++)
        if (!make_label(set, (uint32_t)id))
            return false;
    if (!apart)
        return true;
    qsort(set->items, count, sizeof *set->items, label_order);
    for (size_t i = 0; i < count; i += same) {
        same = 1;
        while (i + same < count && by_label(&set->items[i], &set->items[i + same]) == 0)
            same++;
        if (same > 1)
            tell_apart(&set->items[i], same);
    }
    qsort(set->items, count, sizeof *set->items, id_order);
    return true;
}

bool label_set_write(const struct label_set *set, uint32_t id, struct writer *to,
                     void (*escape)(struct writer *to, const char *text, size_t length))
{
    const struct label_text *text = &set->items[id];
    const struct name *name = &set->names.items[id];
    struct writer whole = {0};
    write_bytes(&whole, set->bytes.bytes + text->at, text->length);
    if (text->detail_length > 0) {
        write_string(&whole, " · ");
        write_bytes(&whole, detail_of(text), text->detail_length);
    }
    if (text->number > 0) {
        write_string(&whole, " #");
        write_integer(&whole, text->number);
    }
    escape(to, whole.length > 0 ? whole.bytes : "", whole.length);
    bool is_name = compare_bytes(whole.length > 0 ? whole.bytes : "", whole.length, name->text,
                                 name->length) == 0;
    to->failed = to->failed || whole.failed;
    writer_clear(&whole);
    return is_name;
}

void label_set_clear(struct label_set *set)
{
    names_clear(&set->names);
    memory_free(set->items);
    writer_clear(&set->bytes);
    set->items = NULL;
}
