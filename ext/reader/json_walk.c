#include "json_walk.h"

#include <string.h>

#include "base/memory.h"

enum { CHUNK = 256 * 1024, LONGEST = 16 * 1024 * 1024 };

bool json_walk_open(struct json_walk *walk, const char *path, bool by_zlib,
                    const struct stopper *stopper, struct failure *failure)
{
    *walk = (struct json_walk){.path = path, .first = true};
    walk->in.stopper = *stopper;
    walk->in.chunk = CHUNK;
    walk->in.longest = LONGEST;
    walk->in.source = source_open(path, by_zlib, failure);
    return walk->in.source;
}

void json_walk_close(struct json_walk *walk)
{
    excerpt_clear(&walk->in);
    failure_clear(&walk->trouble);
    memory_free(walk->key);
    *walk = (struct json_walk){.path = NULL};
}

static enum walked damage(struct json_walk *walk, const char *what, size_t at)
{
    walk->damaged = true;
    if (walk->in.last && walk->in.damage.code != FAILURE_NONE)
        failure_move(&walk->trouble, &walk->in.damage);
    else
        failure_at(&walk->trouble, FAILURE_DAMAGE, walk->path, what, excerpt_byte(&walk->in, at));
    return WALK_DAMAGED;
}

static enum walked truncated(struct json_walk *walk)
{
    return damage(walk, "the document is truncated", walk->in.end);
}

/* Skips white space and gives the next byte in `*c`. */
static enum walked peek(struct json_walk *walk, int *c, struct failure *failure)
{
    *c = excerpt_peek(&walk->in, failure);
    return *c == EXCERPT_END ? truncated(walk) : *c == EXCERPT_FAILED ? WALK_FAILED : WALK_VALUE;
}

static enum walked read_value(struct json_walk *walk, struct token *value, struct failure *failure)
{
    struct excerpt *in = &walk->in;
    for (;;) {
        struct scan scan = {in->bytes + in->end, NULL};
        const unsigned char *stop = scan_value(&scan, in->bytes + in->at, value);
        if (scan.bad)
            return damage(walk, "not JSON", (size_t)(scan.bad - in->bytes));
        if (stop) {
            in->at = (size_t)(stop - in->bytes);
            return WALK_VALUE;
        }
        bool last = in->last; /* a bare word at the end is only complete once the end is known */
        enum more more = excerpt_read(in, in->at, failure);
        if (more == MORE_FAILED)
            return WALK_FAILED;
        if (more == MORE_TOO_LONG)
            return damage(walk, "a value longer than 16 MiB", in->at);
        if (more == MORE_END && last)
            return truncated(walk);
    }
}

/* Reads a key and the colon after it. */
static enum walked read_key(struct json_walk *walk, struct failure *failure)
{
    struct token key;
    int c;
    enum walked walked = peek(walk, &c, failure);
    if (walked != WALK_VALUE)
        return walked;
    if (c != '"')
        return damage(walk, "not JSON", walk->in.at);
    walked = read_value(walk, &key, failure);
    if (walked != WALK_VALUE)
        return walked;
    if (!MEMORY_GROW(walk->key, walk->key_capacity, key.length + SCAN_PADDING)) {
        failure_memory(failure);
        return WALK_FAILED;
    }
    memcpy(walk->key, key.at, key.length);
    walk->key_length = key.length;
    walk->key_kind = key.kind;
    walked = peek(walk, &c, failure);
    if (walked == WALK_VALUE && c != ':')
        return damage(walk, "not JSON", walk->in.at);
    walk->in.at++;
    return walked;
}

/* Advances to the next value without skipping the previous one. */
static enum walked go_on(struct json_walk *walk, struct failure *failure)
{
    struct excerpt *in = &walk->in;
    int c;
    walk->key_kind = TOKEN_NONE;
    if (walk->depth == 0 && !walk->first) {
        c = excerpt_peek(in, failure);
        if (c == EXCERPT_END && in->damage.code == FAILURE_NONE)
            return WALK_END;
        return c == EXCERPT_FAILED ? WALK_FAILED
               : c == EXCERPT_END  ? truncated(walk)
                                   : damage(walk, "bytes after the document", in->at);
    }
    enum walked walked = peek(walk, &c, failure);
    if (walked != WALK_VALUE)
        return walked;
    if (walk->depth > 0) {
        unsigned char close = walk->closes[walk->depth - 1];
        if (c == close) {
            in->at++;
            walk->depth--;
            walk->first = false;
            return WALK_END;
        }
        if (!walk->first && c != ',')
            return damage(walk, "not JSON", in->at);
        in->at += !walk->first;
        if (close == '}' && (walked = read_key(walk, failure)) != WALK_VALUE)
            return walked;
        walked = peek(walk, &c, failure);
    }
    walk->first = false;
    walk->pending = true;
    walk->byte = excerpt_byte(in, in->at);
    return walked;
}

enum walked json_walk_enter(struct json_walk *walk, unsigned char open, struct failure *failure)
{
    int c;
    enum walked walked = peek(walk, &c, failure);
    if (walked != WALK_VALUE)
        return walked;
    if ((c != '{' && c != '[') || (open && c != open))
        return WALK_END;
    if (walk->depth == WALK_DEPTH)
        return damage(walk, "brackets nested too deep", walk->in.at);
    walk->in.at++;
    walk->closes[walk->depth++] = c == '{' ? '}' : ']';
    walk->first = true;
    walk->pending = false;
    return WALK_VALUE;
}

enum walked json_walk_take(struct json_walk *walk, struct token *value, struct failure *failure)
{
    walk->pending = false;
    return read_value(walk, value, failure);
}

/* Skips the current value. */
static enum walked pass(struct json_walk *walk, struct failure *failure)
{
    size_t depth = walk->depth;
    struct token unused;
    enum walked walked = WALK_VALUE;
    while (walk->pending || walk->depth > depth) {
        if (walk->pending) {
            walked = json_walk_enter(walk, 0, failure);
            if (walked == WALK_END)
                walked = json_walk_take(walk, &unused, failure);
        } else {
            walked = go_on(walk, failure);
        }
        if (walked != WALK_VALUE && walked != WALK_END)
            return walked;
    }
    return WALK_VALUE;
}

enum walked json_walk_next(struct json_walk *walk, struct failure *failure)
{
    if (walk->damaged)
        return WALK_DAMAGED;
    enum walked walked = pass(walk, failure);
    return walked == WALK_VALUE ? go_on(walk, failure) : walked;
}

bool json_walk_key_is(const struct json_walk *walk, const char *key)
{
    struct token token = {walk->key, walk->key_length, walk->key_kind};
    return scan_equal(&token, key);
}
