#include "changes_argument.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sqlite/json_array.h"
#include "sqlite/nearest.h"

enum {
    LONGEST_PATTERN = 1000, /* bytes; matching takes its length times the length of the name */
    MOST_CHANGES = 1000
};
#define LARGEST 1e12 /* largest factor, and largest time in us */

/* The members of an object, each with its type. Labels are by level. */
enum {
    MEMBER_WHAT,
    MEMBER_FACTOR,
    MEMBER_SET,
    MEMBER_ADD,
    MEMBER_REMOVE,
    MEMBER_RANK,
    MEMBER_STEP,
    MEMBER_CLASS,
    MEMBER_LABELS,
    MEMBERS = MEMBER_LABELS + LEVEL_COUNT
};

static const char *const member_names[] = {
    "what", "factor", "set_us", "add_us", "remove", "rank",  "step",
    "class", "op",    "top_op", "module", "annotation", "name",
};

/* Columns of the statement: the type of the element, the element, the first unknown key, and each
** member's type and value. */
enum { ELEMENT_TYPE, ELEMENT, ELEMENT_KEY, ELEMENT_MEMBERS };

static const char element_sql[] =
    "SELECT json_type(?1), ?1, CASE json_type(?1) WHEN 'object' THEN (SELECT key FROM json_each("
    "json_remove(?1, '$.what', '$.factor', '$.set_us', '$.add_us', '$.remove', '$.rank', '$.step',"
    " '$.class', '$.op', '$.top_op', '$.module', '$.annotation', '$.name'))) END"
#define MEMBER(name) ", json_type(?1, '$." name "'), ?1 ->> '$." name "'"
    MEMBER("what") MEMBER("factor") MEMBER("set_us") MEMBER("add_us") MEMBER("remove")
        MEMBER("rank") MEMBER("step") MEMBER("class") MEMBER("op") MEMBER("top_op") MEMBER("module")
            MEMBER("annotation") MEMBER("name");
#undef MEMBER

/* State of reading an element. */
struct changes_element {
    struct call *call;
    sqlite3_stmt *row;
    struct changes_argument *changes;
    struct sim_change *change;
};

static bool refuse(const struct changes_element *element, const char *what)
{
    return failure_set(&element->call->failure, FAILURE_REQUEST, "changes[%lld] %s",
                       (long long)element->changes->count, what);
}

static bool refuse_member(const struct changes_element *element, int member, const char *expected)
{
    return failure_set(&element->call->failure, FAILURE_REQUEST, "changes[%lld]: '%s' must be %s",
                       (long long)element->changes->count, member_names[member], expected);
}

/* Returns the JSON type of a member; NULL: missing. */
static const char *type_of(const struct changes_element *element, int member)
{
    return (const char *)sqlite3_column_text(element->row, ELEMENT_MEMBERS + 2 * member);
}

static sqlite3_value *value_of(const struct changes_element *element, int member)
{
    return sqlite3_column_value(element->row, ELEMENT_MEMBERS + 2 * member + 1);
}

static bool has(const struct changes_element *element, int member)
{
    return type_of(element, member) != NULL;
}

/* Returns the text of a member; NULL: not a text, or empty. */
static const char *text_of(const struct changes_element *element, int member)
{
    const char *type = type_of(element, member);
    if (!type || strcmp(type, "text") != 0)
        return NULL;
    const char *text = (const char *)sqlite3_value_text(value_of(element, member));
    return text && *text && strlen(text) == (size_t)sqlite3_value_bytes(value_of(element, member))
               ? text
               : NULL;
}

/* Reports the first key of an element that is unknown or given twice. */
static bool refuse_key(const struct changes_element *element)
{
    enum { SHOWN = 60 /* bytes */ };
    long long number = (long long)element->changes->count;
    const char *key = (const char *)sqlite3_column_text(element->row, ELEMENT_KEY);
    if (!key)
        return failure_memory(&element->call->failure);
    size_t length = strlen(key);
    while (length > SHOWN || ((unsigned char)key[length] & 0xc0) == 0x80)
        length--;
    struct nearest nearest = {key, length, NULL, 0};
    for (int i = 0; i < MEMBERS; i++) {
        nearest_offer(&nearest, member_names[i]);
        if (strcmp(key, member_names[i]) == 0)
            return failure_set(&element->call->failure, FAILURE_REQUEST,
                               "changes[%lld] has the key '%s' twice", number, key);
    }
    return failure_set(&element->call->failure, FAILURE_REQUEST,
                       nearest.name ? "changes[%lld] has an unknown key '%.*s'; did you mean '%s'?"
                                    : "changes[%lld] has an unknown key '%.*s'; keys are %s",
                       number, (int)length, key, nearest.name ? nearest.name : CHANGE_KEYS_TEXT);
}

static bool take_word(const struct changes_element *element, int member, const char *const *words,
                      int count, const char *expected, int *chosen)
{
    const char *text = text_of(element, member);
    for (*chosen = 0; text && *chosen < count; ++*chosen)
        if (sqlite3_stricmp(text, words[*chosen]) == 0)
            return true;
    return refuse_member(element, member, expected);
}

static bool take_what(const struct changes_element *element)
{
    const char *const words[] = {sim_what_name(SIM_DEVICE), sim_what_name(SIM_HOST),
                                 sim_what_name(SIM_TRANSFER), sim_what_name(SIM_LAUNCH)};
    int what;
    bool done = take_word(element, MEMBER_WHAT, words, COUNT_OF(words),
                          "'device', 'host', 'transfer' or 'launch'", &what);
    element->change->what = (enum sim_what)what;
    return done;
}

static bool take_class(const struct changes_element *element)
{
    static const enum step_class classes[] = {CLASS_COMPUTE, CLASS_COMM, CLASS_MEMORY,
                                              CLASS_CALL,    CLASS_HOST, CLASS_UNRECORDED};
    const char *words[COUNT_OF(classes)];
    int chosen;
    element->change->step_class = CLASS_NONE;
    if (!has(element, MEMBER_CLASS))
        return true;
    for (int i = 0; i < COUNT_OF(classes); i++)
        words[i] = step_class_name(classes[i]);
    if (!take_word(element, MEMBER_CLASS, words, COUNT_OF(words),
                   "'compute', 'comm', 'memory', 'call', 'host' or 'unrecorded'", &chosen))
        return false;
    element->change->step_class = classes[chosen];
    return true;
}

static bool take_integer(const struct changes_element *element, int member, int64_t *to)
{
    const char *type = type_of(element, member);
    sqlite3_value *value = value_of(element, member);
    *to = NUMBER_NONE;
    if (!type)
        return true;
    if (strcmp(type, "integer") != 0 || sqlite3_value_type(value) != SQLITE_INTEGER ||
        sqlite3_value_int64(value) < 0)
        return refuse_member(element, member, "an integer of 0 or more");
    *to = sqlite3_value_int64(value);
    return true;
}

/* Takes the change itself, one of four members. */
static bool take_how(const struct changes_element *element)
{
    static const char *const expected[] = {"a number from 0 to 1e12", "a number from 0 to 1e12",
                                           "a number from -1e12 to 1e12", "true"};
    struct sim_change *change = element->change;
    int given = 0, member = MEMBER_FACTOR;
    for (int i = MEMBER_FACTOR; i <= MEMBER_REMOVE; i++)
        if (has(element, i)) {
            member = i;
            given++;
        }
    if (given != 1)
        return refuse(element, "must have one of 'factor', 'set_us', 'add_us' and 'remove'");
    change->how = (enum sim_how)(member - MEMBER_FACTOR);
    const char *type = type_of(element, member);
    double amount = sqlite3_value_double(value_of(element, member));
    bool valid = strcmp(type, "integer") == 0 || strcmp(type, "real") == 0;
    if (change->how == CHANGE_REMOVE)
        valid = strcmp(type, "true") == 0;
    else
        valid = valid && fabs(amount) <= LARGEST && (amount >= 0 || change->how == CHANGE_ADD);
    change->amount = amount;
    if (!valid)
        return refuse_member(element, member, expected[change->how]);
    return change->how != CHANGE_REMOVE || change->what != SIM_LAUNCH ||
           refuse(element, "removes a launch: remove its device work, or give a factor of 0");
}

static bool take_labels(const struct changes_element *element)
{
    for (int level = 0; level < LEVEL_COUNT; level++) {
        int member = MEMBER_LABELS + level;
        const char *text = text_of(element, member);
        if (!has(element, member))
            continue;
        if (!text || strlen(text) > LONGEST_PATTERN)
            return refuse_member(element, member, "a LIKE pattern of at most 1000 bytes");
        char **label = &element->change->label[level];
        *label = memory_allocate(strlen(text) + 1);
        if (!*label)
            return failure_memory(&element->call->failure);
        memcpy(*label, text, strlen(text) + 1);
    }
    return true;
}

static bool is_like(const char *pattern, const char *name)
{
    return sqlite3_strlike(pattern, name, 0) == 0;
}

static bool take_change(struct call *call, struct changes_argument *changes, sqlite3_stmt *row,
                        const char *type)
{
    struct changes_element element = {call, row, changes, NULL};
    if (strcmp(type, "object") != 0)
        return refuse(&element, "must be an object");
    if (changes->count == MOST_CHANGES)
        return refuse(&element, "is one too many: 1000 are the most");
    if (sqlite3_column_type(row, ELEMENT_KEY) != SQLITE_NULL)
        return refuse_key(&element);
    if (!MEMORY_GROW(changes->items, changes->capacity, changes->count + 1))
        return failure_memory(&call->failure);
    element.change = &changes->items[changes->count];
    *element.change = (struct sim_change){.like = is_like};
    bool done = take_what(&element) && take_how(&element) && take_class(&element) &&
                take_integer(&element, MEMBER_RANK, &element.change->rank) &&
                take_integer(&element, MEMBER_STEP, &element.change->step) &&
                take_labels(&element);
    changes->count++; /* even on failure, so that its memory is freed */
    return done;
}

bool changes_argument_read(struct call *call, int argument, struct changes_argument *changes)
{
    struct json_array array = {.sql = element_sql};
    const char *type;
    *changes = (struct changes_argument){.count = 0};
    while ((type = json_array_next(call, argument, &array)) != NULL)
        (void)take_change(call, changes, array.element, type);
    return array.next
               ? call->failure.code == FAILURE_NONE
               : failure_set(&call->failure, FAILURE_REQUEST,
                             "changes must be a JSON array of objects, as "
                             "'[{\"what\": \"device\", \"op\": \"aten::mm\", \"factor\": 0.5}]'");
}

bool changes_argument_make(struct call *call, const struct changes_argument *changes,
                           const struct sim_parts *parts, int64_t *longer)
{
    for (size_t i = 0; i < changes->count; i++) {
        size_t selected;
        if (!sim_change_make(parts, &changes->items[i], longer, &selected,
                             call_stopper(call), &call->failure))
            return false;
        if (selected == 0)
            return failure_set(&call->failure, FAILURE_REQUEST,
                               "changes[%lld] selects nothing: no '%s' of these ranks has such "
                               "names, rank and step",
                               (long long)i, sim_what_name(changes->items[i].what));
    }
    return true;
}

void changes_argument_clear(struct changes_argument *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        for (int level = 0; level < LEVEL_COUNT; level++)
            memory_free(changes->items[i].label[level]);
    memory_free(changes->items);
    *changes = (struct changes_argument){.count = 0};
}
