#include "pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "access/roots.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "platform/path.h"
#include "text/ascii.h"

enum { INVALID = 0x110000 /* a byte that is not UTF-8 is this character and those that follow */ };

/* A directory that was searched for a rest of the pattern. */
struct visit {
    uint64_t device, inode;
    const char *rest;
};

struct pattern_search {
    bool strict;
    bool leads_back; /* a name of the pattern may be `..`: visits are kept */
    const struct stopper *stopper;
    struct failure *failure; /* of the stopper */
    struct visit *visits;
    size_t visit_count, visit_capacity;
    struct table visit_table;
    bool below; /* the path was found, so that it need not be that of a directory */
    struct found_paths *found;
    char *path; /* the beginning that was found, and a NUL; owned */
    size_t length, capacity;
};

static bool is_special(const char *p)
{
    return *p == '*' || *p == '?' || *p == '[';
}

/* Whether the character stands before one that is to be itself (rule 3). */
static bool escapes(const char *p, const char *end)
{
    return *p == '\\' && !path_separates('\\') && p + 1 < end;
}

bool pattern_is(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* Takes a character from a text that ends with a NUL or a character of ASCII. */
static uint32_t take_character(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    int i = 1, length = *p < 0xc2 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 1;
    uint32_t c = length == 1 ? *p : *p & (0x7fu >> length);
    for (; i < length && (p[i] & 0xc0) == 0x80; i++)
        c = c << 6 | (p[i] & 0x3f);
    bool valid = i == length && (length > 1 || c < 0x80);
    *text += valid ? length : 1;
    return valid ? c : (uint32_t)INVALID + *p;
}

/* Takes a character of a pattern that stands for itself. */
static uint32_t take_literal(const char **p, const char *end)
{
    *p += escapes(*p, end);
    return take_character(p);
}

static bool is_between(uint32_t c, uint32_t low, uint32_t high)
{
    bool is = low <= c && c <= high;
    if (path_ignores_case && c < 0x80 && is_letter((int)c))
        is = is || (low <= (c ^ 0x20) && (c ^ 0x20) <= high);
    return is;
}

/* Takes `[:name:]` if the list goes on with that; `*is` is set if the character is of the class. */
static bool take_class(const char **p, const char *end, uint32_t c, bool *is)
{
    static const struct {
        const char *name;
        int (*has)(int c);
    } classes[] = {{"[:alnum:]", isalnum}, {"[:alpha:]", isalpha}, {"[:blank:]", isblank},
                   {"[:cntrl:]", iscntrl}, {"[:digit:]", isdigit}, {"[:graph:]", isgraph},
                   {"[:lower:]", islower}, {"[:print:]", isprint}, {"[:punct:]", ispunct},
                   {"[:space:]", isspace}, {"[:upper:]", isupper}, {"[:xdigit:]", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (begins(*p, end, classes[i].name)) {
            *is = *is || (c < 0x80 && classes[i].has((int)c));
            *p += strlen(classes[i].name);
            return true;
        }
    }
    return false;
}

/* Whether a character is one that the list after `[` means; `*p` is moved after its `]`. False,
** with `*p` unchanged, if there is none. */
static bool in_list(const char **p, const char *end, uint32_t c)
{
    const char *at = *p;
    bool negated = at < end && (*at == '!' || *at == '^'), is = false;
    at += negated;
    for (const char *first = at; at < end && (*at != ']' || at == first);) {
        if (take_class(&at, end, c, &is))
            continue;
        uint32_t low = take_literal(&at, end), high = low;
        if (end - at >= 2 && *at == '-' && at[1] != ']') {
            at++;
            high = take_literal(&at, end);
        }
        is = is || is_between(c, low, high);
    }
    if (at >= end)
        return false;
    *p = at + 1;
    return is != negated;
}

/* Whether what a pattern has at `*p`, not a `*`, matches a character; moves `*p` after it. */
static bool takes(const char **p, const char *end, uint32_t c)
{
    if (*p == end)
        return false;
    if (**p == '?') {
        ++*p;
        return true;
    }
    const char *list = *p + 1;
    bool listed = **p == '[' && in_list(&list, end, c);
    if (**p == '[' && list > *p + 1) {
        *p = list;
        return listed;
    }
    uint32_t itself = take_literal(p, end);
    return is_between(c, itself, itself);
}

/* Whether the pattern from `p` to `end`, which has no separators, matches a name. */
static bool matches(const char *p, const char *end, const char *name)
{
    const char *star = NULL, *from = NULL; /* after the last `*`; what it does not match yet */
    if (*name == '.' && (is_special(p) || *(p + escapes(p, end)) != '.'))
        return false;
    while (*name) {
        const char *after = name;
        uint32_t c = take_character(&after);
        if (p < end && *p == '*') {
            star = ++p;
            from = name;
        } else if (takes(&p, end, c)) {
            name = after;
        } else if (star) {
            (void)take_character(&from);
            name = from;
            p = star;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

static bool append(struct pattern_search *search, const char *bytes, size_t length)
{
    if (!MEMORY_GROW(search->path, search->capacity, search->length + length + 1))
        return false;
    memcpy(search->path + search->length, bytes, length);
    search->length += length;
    search->path[search->length] = 0;
    return true;
}

/* Adds a path to a list. */
static int add_to(struct found_paths *found, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = memory_allocate(size);
    if (!copy || !MEMORY_GROW(found->paths, found->capacity, found->count + 1)) {
        memory_free(copy);
        return ENOMEM;
    }
    found->paths[found->count++] = memcpy(copy, path, size);
    return 0;
}

/* Appends a name in which nothing is special. */
static bool append_literal(struct pattern_search *search, const char *p, const char *end)
{
    bool done = true;
    for (; p < end && done; p++) {
        p += escapes(p, end);
        done = append(search, p, 1);
    }
    return done;
}

static uint64_t hash_of_visit(const void *search, uint32_t i)
{
    const struct visit *visit = &((const struct pattern_search *)search)->visits[i];
    uint64_t hash = hash_with(hash_key(), visit->device);
    return hash_with(hash_with(hash, visit->inode), (uint64_t)(uintptr_t)visit->rest);
}

static bool is_visit(const void *key, uint32_t i)
{
    const struct pattern_search *search = key; /* the last visit is the one that is looked up */
    const struct visit *wanted = &search->visits[search->visit_count], *visit = &search->visits[i];
    return visit->device == wanted->device && visit->inode == wanted->inode &&
           visit->rest == wanted->rest;
}

/* Whether the directory at the path is searched for the rest of the pattern for the first time;
** notes that it is. */
static int note_visit(struct pattern_search *search, const char *rest, bool *first)
{
    struct file_status status;
    *first = true;
    if (!search->leads_back || file_status(search->length > 0 ? search->path : ".", &status) != 0)
        return 0;
    if (!MEMORY_GROW(search->visits, search->visit_capacity, search->visit_count + 1) ||
        !table_reserve(&search->visit_table, search->visit_count, hash_of_visit, search))
        return ENOMEM;
    search->visits[search->visit_count] =
        (struct visit){status.identity.device, status.identity.inode, rest};
    uint32_t *slot =
        table_slot(&search->visit_table, hash_of_visit(search, (uint32_t)search->visit_count),
                   is_visit, search);
    *first = *slot == 0;
    if (*first)
        *slot = (uint32_t)++search->visit_count;
    return 0;
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the names in the directory at the path that the pattern from `p` to `end` matches, in
** order. */
static int list_names(struct pattern_search *search, const char *p, const char *end,
                      struct found_paths *names)
{
    int error;
    const char *name;
    struct listing *listing = listing_open(search->length > 0 ? search->path : ".", &error);
    if (!listing && (error == ENOTDIR || (error == ENOENT && search->below)))
        error = 0;
    for (size_t i = 0; listing && error == 0 && (name = listing_next(listing, &error)) != NULL; i++)
        if (!stopper_goes_on(search->stopper, i, search->failure))
            error = EINTR;
        else if (matches(p, end, name))
            error = add_to(names, name);
    if (listing)
        listing_close(listing);
    if (names->count > 1)
        qsort(names->paths, names->count, sizeof *names->paths, name_order);
    return (error == EACCES || error == ELOOP) && !search->strict ? 0 : error;
}

static int find_rest(struct pattern_search *search, const char *pattern);

/* Finds the names in a directory that the pattern from `p` to `end` matches, and goes on there. */
static int find_names(struct pattern_search *search, const char *p, const char *end)
{
    struct found_paths names = {.count = 0};
    size_t before = search->length;
    bool first = true;
    bool goes_on = stopper_ask(search->stopper, search->failure);
    int error = goes_on ? note_visit(search, p, &first) : EINTR;
    if (error == 0 && first)
        error = list_names(search, p, end, &names);
    search->below = true;
    for (size_t i = 0; i < names.count && error == 0; i++) {
        error = !append(search, names.paths[i], strlen(names.paths[i])) ? ENOMEM
                : *end                                                 ? find_rest(search, end)
                                                : add_to(search->found, search->path);
        search->length = before;
        search->path[before] = 0;
    }
    found_paths_clear(&names);
    return error;
}

/* Finds what the rest of a pattern matches below the path so far. */
static int find_rest(struct pattern_search *search, const char *pattern)
{
    while (*pattern) {
        size_t gap = strspn(pattern, path_separators);
        const char *name = pattern + gap, *end = name + strcspn(name, path_separators);
        bool special = false;
        for (const char *p = name; p < end && !special; p++) {
            special = is_special(p);
            p += escapes(p, end);
        }
        if (!append(search, pattern, gap))
            return ENOMEM;
        if (special)
            return find_names(search, name, end);
        if (!append_literal(search, name, end))
            return ENOMEM;
        pattern = end;
    }
    struct file_status status;
    bool there = file_status(search->path, &status) == 0 || file_is_link(search->path);
    return there ? add_to(search->found, search->path) : 0;
}

/* Whether a name of a pattern begins with a dot, and may be `..`. */
static bool leads_back(const char *pattern)
{
    while (*pattern) {
        const char *name = pattern + strspn(pattern, path_separators);
        size_t length = strcspn(name, path_separators);
        name += escapes(name, name + length);
        if (name[0] == '.' && name[1] != 0 && !path_separates(name[1]))
            return true;
        pattern = name + strcspn(name, path_separators);
    }
    return false;
}

int pattern_find(const char *pattern, bool strict, struct found_paths *found,
                 const struct stopper *stopper, struct failure *failure)
{
    struct pattern_search search = {.strict = strict,
                                    .leads_back = leads_back(pattern),
                                    .stopper = stopper,
                                    .failure = failure,
                                    .found = found};
    *found = (struct found_paths){.count = 0};
    int error = append(&search, "", 0) ? find_rest(&search, pattern) : ENOMEM;
    memory_free(search.path);
    memory_free(search.visits);
    table_clear(&search.visit_table);
    return error;
}

void found_paths_clear(struct found_paths *found)
{
    for (size_t i = 0; i < found->count; i++)
        memory_free(found->paths[i]);
    memory_free(found->paths);
    *found = (struct found_paths){.count = 0};
}
