#include "json_values.h"

#include <string.h>

#include "base/memory.h"
#include "reader/json_walk.h"
#include "text/ascii.h"
#include "text/number.h"
#include "text/text.h"

/* The values inside open containers, and where each container begins. */
struct json_building {
    struct values *values;
    struct json_walk walk;
    pickled *stack;
    size_t top, capacity;
    size_t marks[WALK_DEPTH + 1];
    bool objects[WALK_DEPTH + 1]; /* the container is an object, so keys precede its values */
    char *text;
    size_t text_capacity;
};

static bool push(struct json_building *building, pickled value, struct failure *failure)
{
    if (value == 0 ||
        !MEMORY_GROW(building->stack, building->capacity, building->top + 1))
        return failure_memory(failure);
    building->stack[building->top++] = value;
    return true;
}

/* Makes a string. 0 if out of memory. */
static pickled string_value(struct json_building *building, const struct token *token)
{
    enum { MOST_GROWTH = 3 }; /* text.h */
    struct problems unused = {.count = {0}};
    if (token->kind == TOKEN_TEXT)
        return values_text(building->values, (const char *)token->at, token->length);
    if (!MEMORY_GROW(building->text, building->text_capacity, MOST_GROWTH * token->length + 1))
        return 0;
    size_t length =
        text_decode(token->at, token->length, (unsigned char *)building->text, &unused, 0);
    return values_text(building->values, building->text, length);
}

static bool is_word_token(const struct token *token, const char *word)
{
    return token->length == strlen(word) && memcmp(token->at, word, token->length) == 0;
}

/* The double of a valid JSON number, accurate to one or two bits in any locale. */
static double real_of(const unsigned char *p, size_t length)
{
    enum { MOST_EXPONENT = 400 };
    const unsigned char *end = p + length;
    long double number = 0;
    int exponent = 0, written = 0;
    bool negative = *p == '-', fraction = false, down = false;
    for (p += negative; p < end && (is_digit(*p) || *p == '.'); p++) {
        fraction = fraction || *p == '.';
        number = *p == '.' ? number : number * 10 + (*p - '0');
        exponent -= fraction && *p != '.';
    }
    for (; p < end; p++) { /* an exponent: e, a sign, digits */
        down = down || *p == '-';
        if (is_digit(*p) && written < MOST_EXPONENT)
            written = written * 10 + (*p - '0');
    }
    exponent += down ? -written : written;
    for (; exponent > 0 && exponent <= MOST_EXPONENT; exponent--)
        number *= 10;
    long double divisor = 1;
    for (; exponent < 0 && exponent >= -MOST_EXPONENT; exponent++)
        divisor *= 10;
    return (double)((negative ? -number : number) / divisor);
}

/* Makes a number or a word; PICKLED_OTHER for anything else. 0 if out of memory. */
static pickled bare_value(struct values *values, const struct token *token)
{
    int64_t integer;
    if (number_integer(token->at, token->length, &integer))
        return values_integer(values, integer);
    if (is_word_token(token, "null"))
        return pickled_of(PICKLED_NONE, 0);
    if (is_word_token(token, "true") || is_word_token(token, "false"))
        return pickled_of(PICKLED_BOOL, *token->at == 't');
    if (!number_is_valid(token->at, token->length))
        return pickled_of(PICKLED_OTHER, 0);
    return values_real(values, real_of(token->at, token->length));
}

/* Makes a container of the values since its opening bracket. */
static bool close_container(struct json_building *building, size_t depth, struct failure *failure)
{
    struct values *values = building->values;
    size_t from = building->marks[depth], count = building->top - from;
    bool is_object = building->objects[depth];
    pickled made = values_container(values, is_object ? PICKLED_DICT : PICKLED_LIST);
    bool done = made != 0;
    for (size_t i = 0; is_object && done && i < count; i += 2 * (size_t)MOST_PAIRS) {
        size_t rest = (count - i) / 2;
        done = values_set(values, made, building->stack + from + i,
                          rest < MOST_PAIRS ? rest : MOST_PAIRS);
    }
    if (!is_object && done)
        done = count <= MOST_ITEMS &&
               values_append(values, made, building->stack + from, count);
    building->top = from;
    return done ? push(building, made, failure) : failure_memory(failure);
}

/* Takes or enters the current value. */
static enum walked take_value(struct json_building *building, struct failure *failure)
{
    struct json_walk *walk = &building->walk;
    struct token token;
    if (walk->depth > 0 && building->objects[walk->depth]) {
        struct token key = {walk->key, walk->key_length, walk->key_kind};
        if (!push(building, string_value(building, &key), failure))
            return WALK_FAILED;
    }
    enum walked walked = json_walk_enter(walk, 0, failure);
    if (walked == WALK_VALUE) {
        building->marks[walk->depth] = building->top;
        building->objects[walk->depth] = walk->closes[walk->depth - 1] == '}';
    }
    if (walked != WALK_END)
        return walked;
    walked = json_walk_take(walk, &token, failure);
    if (walked != WALK_VALUE)
        return walked;
    pickled value = token.kind == TOKEN_BARE ? bare_value(building->values, &token)
                                             : string_value(building, &token);
    return push(building, value, failure) ? WALK_VALUE : WALK_FAILED;
}

/* Whether the memory of the values is plausible for the file; checked at intervals. */
static bool fits(struct json_building *building, int64_t *checked, struct failure *failure)
{
    enum { OFTEN = 1 << 18 /* bytes */ };
    struct json_walk *walk = &building->walk;
    if (walk->byte < *checked + OFTEN)
        return true;
    *checked = walk->byte;
    size_t memory = values_memory(building->values) + building->top * sizeof *building->stack;
    return values_fit(memory, walk->byte, source_identity(walk->in.source)->size) ||
           failure_at(failure, FAILURE_DAMAGE, walk->path,
                      "too many values for a file of this size", walk->byte);
}

static bool build(struct json_building *building, struct pickle *pickle, struct failure *failure)
{
    struct json_walk *walk = &building->walk;
    int64_t checked = 0;
    for (;;) {
        size_t depth = walk->depth;
        enum walked walked = json_walk_next(walk, failure);
        if (walked == WALK_END && depth == 0)
            break;
        if (walked == WALK_END && !close_container(building, depth, failure))
            return false;
        if (walked == WALK_VALUE)
            walked = take_value(building, failure);
        if (walked == WALK_DAMAGED)
            failure_move(failure, &walk->trouble);
        if (walked == WALK_DAMAGED || walked == WALK_FAILED || !fits(building, &checked, failure))
            return false;
    }
    pickle->root = building->top > 0 ? building->stack[0] : 0;
    return building->top == 1 && values_place(building->values, pickle->root);
}

bool json_values_read(struct pickle *pickle, const char *path, const char *const *keys,
                      size_t key_count, const struct stopper *stopper, struct failure *failure)
{
    memset(pickle, 0, sizeof *pickle);
    struct json_building *building = memory_zeroed(1, sizeof *building);
    if (!building || !values_begin(&pickle->values, keys, key_count)) {
        memory_free(building);
        return failure_memory(failure);
    }
    building->values = &pickle->values;
    bool done = json_walk_open(&building->walk, path, false, stopper, failure) &&
                build(building, pickle, failure);
    json_walk_close(&building->walk);
    memory_free(building->stack);
    memory_free(building->text);
    memory_free(building);
    return done || failure_memory(failure); /* unless another failure is already set */
}
