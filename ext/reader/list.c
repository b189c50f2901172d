#include "list.h"

#include <string.h>

#include "base/memory.h"
#include "excerpt.h"
#include "source/foreign.h"

enum { CHUNK = 256 * 1024, LONGEST_VALUE = 16 * 1024 * 1024 };

struct list {
    const char *path, *member, *kind; /* borrowed */
    struct excerpt in;
    bool begun, found; /* the file is begun; the array is found */
    bool in_array;     /* `at` is inside the array */
    bool first;        /* nothing of the array or object has been read */
    int64_t byte;      /* offset of the latest element */
};

struct list *list_open(const char *path, const char *member, const char *kind,
                       const struct stopper *stopper, struct failure *failure)
{
    struct list *list = memory_zeroed(1, sizeof *list);
    if (!list) {
        failure_memory(failure);
        return NULL;
    }
    list->path = path;
    list->member = member;
    list->kind = kind;
    list->in.stopper = *stopper;
    list->in.chunk = CHUNK;
    list->in.longest = LONGEST_VALUE;
    list->in.source = source_open(path, true, failure);
    if (list->in.source)
        return list;
    list_close(list);
    return NULL;
}

void list_close(struct list *list)
{
    if (!list)
        return;
    excerpt_clear(&list->in);
    memory_free(list);
}

bool list_refuse(const struct list *list, const char *what, struct failure *failure)
{
    return failure_at(failure, FAILURE_REQUEST, list->path, what, list->byte);
}

static int not_json(struct list *list, size_t at, struct failure *failure)
{
    failure_at(failure, FAILURE_REQUEST, list->path, "not JSON", excerpt_byte(&list->in, at));
    return -1;
}

static int truncated(struct list *list, struct failure *failure)
{
    if (list->in.damage.code != FAILURE_NONE)
        failure_move(failure, &list->in.damage);
    else
        failure_at(failure, FAILURE_DAMAGE, list->path, "the document is truncated",
                   excerpt_byte(&list->in, list->in.end));
    return -1;
}

/* Skips white space and returns the next byte, then at `at`; -1 on failure. */
static int peek(struct list *list, struct failure *failure)
{
    int c = excerpt_peek(&list->in, failure);
    return c == EXCERPT_END ? truncated(list, failure) : c == EXCERPT_FAILED ? -1 : c;
}

/* Reads the value at `at`; afterwards `at` is the byte after it. */
static bool read_value(struct list *list, struct token *value, struct failure *failure)
{
    struct excerpt *in = &list->in;
    for (;;) {
        struct scan scan = {in->bytes + in->end, NULL};
        const unsigned char *stop = scan_value(&scan, in->bytes + in->at, value);
        if (scan.bad) {
            not_json(list, (size_t)(scan.bad - in->bytes), failure);
            return false;
        }
        if (stop) {
            list->byte = excerpt_byte(in, in->at);
            in->at = (size_t)(stop - in->bytes);
            return true;
        }
        bool last = in->last; /* a bare word at the end is only complete once the end is known */
        enum more more = excerpt_read(in, in->at, failure);
        if (more == MORE_FAILED)
            return false;
        if (more == MORE_TOO_LONG)
            return failure_at(failure, FAILURE_REQUEST, list->path, "a value longer than 16 MiB",
                              excerpt_byte(in, in->at));
        if (more == MORE_END && last) {
            truncated(list, failure);
            return false;
        }
    }
}

/* Skips the comma before the next element or key: 1; or skips `close`: 0; -1 on failure. */
static int separate(struct list *list, int close, struct failure *failure)
{
    int c = peek(list, failure);
    if (c == close || (c == ',' && !list->first))
        list->in.at++;
    else if (c >= 0 && !list->first)
        return not_json(list, list->in.at, failure);
    if (c == close || c < 0)
        return c < 0 ? -1 : 0;
    list->first = false;
    return 1;
}

static int no_list(struct list *list, struct failure *failure)
{
    failure_set(failure, FAILURE_REQUEST, "'%s': not %s", list->path, list->kind);
    return -1;
}

/* Enters the document. Returns 0; -1 on failure if it cannot have the array. */
static int begin(struct list *list, struct failure *failure)
{
    struct excerpt *in = &list->in;
    while (in->end < FOREIGN_BYTES && !in->last)
        if (excerpt_read(in, 0, failure) == MORE_FAILED)
            return -1;
    const char *kind = foreign_kind(in->bytes, in->end);
    if (kind) {
        failure_set(failure, FAILURE_REQUEST, "'%s' is %s", list->path, kind);
        return -1;
    }
    int c = peek(list, failure);
    if (c != '[' && c != '{')
        return c < 0 ? -1 : not_json(list, in->at, failure);
    if ((c == '[') != !list->member)
        return no_list(list, failure);
    list->begun = list->first = true;
    list->in_array = list->found = !list->member;
    in->at++;
    return 0;
}

/* Reads keys and values up to the array. Returns 1 inside it, 0 after the object, -1 on failure. */
static int read_keys(struct list *list, struct failure *failure)
{
    int more;
    while ((more = separate(list, '}', failure)) > 0) {
        struct token value;
        int c = peek(list, failure);
        if (c != '"')
            return c < 0 ? -1 : not_json(list, list->in.at, failure);
        if (!read_value(list, &value, failure))
            return -1;
        bool wanted = !list->found && scan_equal(&value, list->member);
        c = peek(list, failure);
        if (c != ':')
            return c < 0 ? -1 : not_json(list, list->in.at, failure);
        list->in.at++;
        c = peek(list, failure);
        if (c == '[' && wanted) {
            list->in.at++;
            list->in_array = list->found = list->first = true;
            return 1;
        }
        if (c < 0 || !read_value(list, &value, failure))
            return -1;
    }
    return more == 0 && !list->found ? no_list(list, failure) : more;
}

/* Checks that nothing follows the document. */
static int end(struct list *list, struct failure *failure)
{
    int c = excerpt_peek(&list->in, failure);
    if (c == EXCERPT_END)
        return list->in.damage.code == FAILURE_NONE ? 0 : truncated(list, failure);
    return c == EXCERPT_FAILED ? -1 : not_json(list, list->in.at, failure);
}

int list_next(struct list *list, struct token *element, struct failure *failure)
{
    if (!list->begun && begin(list, failure) < 0)
        return -1;
    int more = list->in_array ? 1 : read_keys(list, failure);
    if (more > 0)
        more = separate(list, ']', failure);
    if (more > 0)
        return peek(list, failure) < 0 || !read_value(list, element, failure) ? -1 : 1;
    if (more == 0 && list->in_array && list->member) {
        list->in_array = list->first = false;
        more = read_keys(list, failure);
    }
    return more < 0 ? -1 : end(list, failure);
}
