/*
** Snapshots of an allocator: the machine that reads pickles, opcode by opcode and at every place of
** a chunk, and the lifetimes and the peak of allocations, against a simulation that looks at all
** allocations after each event.
*/
#include "unit.h"

#include "snapshot/machine.h"
#include "snapshot/snapshot_load.h"

static const struct stopper no_stopper;
static const char *const known_keys[] = {"a", "frames"};
enum { KNOWN_KEYS = sizeof known_keys / sizeof *known_keys };

/* A text that grows: a pickle, or what one says. */
struct bytes {
    char *at;
    size_t length, capacity;
};

static void put(struct bytes *to, const void *from, size_t length)
{
    while (to->length + length + 1 > to->capacity) {
        to->capacity = 2 * to->capacity + 256;
        to->at = realloc(to->at, to->capacity);
        if (!to->at)
            exit(2);
    }
    if (length > 0)
        memcpy(to->at + to->length, from, length);
    to->length += length;
    to->at[to->length] = 0;
}

static void put_text(struct bytes *to, const char *text)
{
    put(to, text, strlen(text));
}

/* The lowest bytes of a number, the lowest first. */
static void put_little(struct bytes *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        char byte = (char)(number >> 8 * i & 0xff);
        put(to, &byte, 1);
    }
}

/* --- The machine --------------------------------------------------------- */

static void show(struct bytes *to, const struct values *values, pickled value);

static void show_dict(struct bytes *to, const struct values *values, uint32_t id)
{
    const char *between = "";
    put_text(to, "{");
    for (; id != NODE_NONE; id = values->nodes[id].next) {
        const struct value_node *node = &values->nodes[id];
        for (uint32_t i = 0; i < node->count; i++) {
            put_text(to, between);
            show(to, values, values->keys[values->shapes[node->shape].first + i]);
            put_text(to, ": ");
            show(to, values, values->cells[node->first + i]);
            between = ", ";
        }
    }
    put_text(to, "}");
}

/* As Python shows it; `?` is a value of which nothing is kept, and a set is `<...>`. */
static void show(struct bytes *to, const struct values *values, pickled value)
{
    enum pickled_kind kind = pickled_kind(value);
    int64_t number;
    char text[40];
    if (kind == PICKLED_REAL) {
        snprintf(text, sizeof text, "%.17g", values_double(values, value));
        put_text(to, text);
    } else if (values_number(values, value, &number)) {
        snprintf(text, sizeof text, "%lld", (long long)number);
        put_text(to, text);
    } else if (kind == PICKLED_TEXT) {
        const struct name *name = values_name(values, value);
        put_text(to, "'");
        put(to, name->text, name->length);
        put_text(to, "'");
    } else if (kind == PICKLED_DICT) {
        show_dict(to, values, pickled_id(value));
    } else if (kind >= PICKLED_TUPLE) {
        struct value_walk walk = {values, &values->nodes[pickled_id(value)], 0};
        pickled item;
        put_text(to, kind == PICKLED_LIST ? "[" : kind == PICKLED_TUPLE ? "(" : "<");
        for (int i = 0; (item = walk_next(&walk)) != 0; i++) {
            put_text(to, i > 0 ? ", " : "");
            show(to, values, item);
        }
        put_text(to, kind == PICKLED_LIST ? "]" : kind == PICKLED_TUPLE ? ")" : ">");
    } else {
        put_text(to, kind == PICKLED_NONE    ? "None"
                     : kind == PICKLED_BOOL  ? value & 1 ? "True" : "False"
                     : kind == PICKLED_OTHER ? "?"
                                             : "absent");
    }
}

/* What a file says, or its error without the path; the caller frees it. */
static char *answer_of(const char *path, const struct stopper *stopper)
{
    struct bytes said = {0};
    struct pickle pickle;
    struct identity identity;
    struct failure failure = {.code = FAILURE_NONE};
    if (pickle_read(&pickle, path, known_keys, KNOWN_KEYS, &identity, stopper, &failure))
        show(&said, &pickle.values, pickle.root);
    else
        put_text(&said, failure.code == FAILURE_MEMORY        ? "out of memory"
                        : failure.code == FAILURE_INTERRUPTED ? "interrupted"
                        : failure.text                        ? strstr(failure.text, "': ") + 3
                                                              : "no text");
    failure_clear(&failure);
    pickle_clear(&pickle);
    return said.at;
}

/* Opcodes between PROTO and STOP, and what they make. A literal ends where its bytes do. */
#define CODE(literal) literal, sizeof literal - 1
static const struct {
    const char *code;
    size_t length;
    const char *made;
} cases[] = {
    {CODE("N"), "None"},
    {CODE("\x88"), "True"},
    {CODE("\x89"), "False"},
    {CODE("K\xff"), "255"},
    {CODE("M\xff\xff"), "65535"},
    {CODE("J\xff\xff\xff\xff"), "-1"},
    {CODE("J\x00\x00\x00\x80"), "-2147483648"},
    {CODE("\x8a\x00"), "0"},
    {CODE("\x8a\x01\x80"), "-128"},
    {CODE("\x8a\x02\x80\x00"), "128"},
    {CODE("\x8a\x07\xff\xff\xff\xff\xff\xff\x7f"), "36028797018963967"},
    {CODE("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), "9223372036854775807"},
    {CODE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"), "-9223372036854775808"},
    {CODE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x08"), "576460752303423488"},
    {CODE("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xf7"), "-576460752303423489"},
    {CODE("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"), "?"},
    {CODE("\x8b\x02\x00\x00\x00\x39\x30"), "12345"},
    {CODE("\x8b\x00\x00\x00\x00"), "0"},
    {CODE("G\x3f\xf8\x00\x00\x00\x00\x00\x00"), "1.5"},
    {CODE("\x8c\x02\xc3\xa9"), "'\xc3\xa9'"},
    {CODE("\x8c\x00"), "''"},
    {CODE("X\x03\x00\x00\x00" "abc"), "'abc'"},
    {CODE("\x8d\x03\x00\x00\x00\x00\x00\x00\x00" "abc"), "'abc'"},
    {CODE("T\x01\x00\x00\x00" "a"), "'a'"},
    {CODE("U\x01" "a"), "'a'"},
    {CODE("\x8c\x02\xff\x61"), "'\xef\xbf\xbd" "a'"},
    {CODE("B\x02\x00\x00\x00\xff\x00"), "?"},
    {CODE("C\x02\xff\x00"), "?"},
    {CODE("\x8e\x01\x00\x00\x00\x00\x00\x00\x00x"), "?"},
    {CODE("\x96\x01\x00\x00\x00\x00\x00\x00\x00x"), "?"},
    {CODE("]"), "[]"},
    {CODE("]K\x01" "a"), "[1]"},
    {CODE("](K\x01K\x02" "e"), "[1, 2]"},
    {CODE("](K\x01" "e(K\x02K\x03" "eK\x04" "a"), "[1, 2, 3, 4]"},
    {CODE("](e"), "[]"},
    {CODE("](}}e"), "[{}, {}]"},
    {CODE("](}K\x01}e"), "[{}, 1, {}]"},
    {CODE("(K\x01K\x02l"), "[1, 2]"},
    {CODE("(l"), "[]"},
    {CODE(")"), "()"},
    {CODE("K\x01\x85"), "(1)"},
    {CODE("K\x01K\x02\x86"), "(1, 2)"},
    {CODE("K\x01K\x02K\x03\x87"), "(1, 2, 3)"},
    {CODE("(K\x01K\x02K\x03K\x04t"), "(1, 2, 3, 4)"},
    {CODE("\x8f(K\x01\x90"), "<1>"},
    {CODE("(K\x01\x91"), "<1>"},
    {CODE("}"), "{}"},
    {CODE("}\x8c\x01" "aK\x01s"), "{'a': 1}"},
    {CODE("}(\x8c\x01" "aK\x01\x8c\x01" "bK\x02u"), "{'a': 1, 'b': 2}"},
    {CODE("}(\x8c\x01" "aK\x01u(\x8c\x01" "aK\x02u"), "{'a': 2}"},
    {CODE("(K\x01NK\x02)d"), "{1: None, 2: ()}"},
    {CODE("(d"), "{}"},
    {CODE("})Ns"), "{(): None}"},
    {CODE("K\x01K\x02" "0"), "1"},
    {CODE("K\x01(0"), "1"},
    {CODE("K\x01(K\x02K\x03" "1"), "1"},
    {CODE("](K\x01" "2e"), "[1, 1]"},
    {CODE("]\x8c\x01" "a\x94" "ah\x00" "a"), "['a', 'a']"},
    {CODE("]\x8c\x01" "aq\x07" "ah\x07" "a"), "['a', 'a']"},
    {CODE("]\x8c\x01" "ar\x2c\x01\x00\x00" "aj\x2c\x01\x00\x00" "a"), "['a', 'a']"},
    {CODE("](]\x94h\x00h\x00" "e"), "[[], [], []]"},
    {CODE("\x80\x05\x95\x01\x00\x00\x00\x00\x00\x00\x00N"), "None"},
    {CODE("K\x01K\x02"), "2"},
};

/* Writes a pickle of the first bytes of a case, after bytes that leave nothing; the caller frees
** it. */
static struct bytes pickle_of(size_t i, size_t length, size_t before)
{
    struct bytes pickle = {0};
    put(&pickle, "\x80\x04", 2);
    if (before > 0) {
        char *text = calloc(before, 1);
        put_text(&pickle, "B");
        put_little(&pickle, before, 4);
        put(&pickle, text, before);
        put_text(&pickle, "0");
        free(text);
    }
    put(&pickle, cases[i].code, length);
    return pickle;
}

TEST(each_opcode_at_each_place_of_a_chunk)
{
    enum { AROUND = 40 };
    int step = unit_series(9, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 0; n < AROUND; n += step) {
            size_t before = n == 0 ? 0 : (size_t)(CHUNK_SIZE - AROUND + n);
            struct bytes pickle = pickle_of(i, cases[i].length, before);
            put_text(&pickle, ".");
            unit_trying("case %d after %d bytes", (int)i, (int)before);
            char *said = answer_of(unit_file(pickle.at, pickle.length), &no_stopper);
            CHECK_TEXT(said, cases[i].made);
            free(said);
            free(pickle.at);
        }
}

TEST(each_opcode_cut_at_each_byte)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t length = 0; length <= cases[i].length; length++) {
            struct bytes pickle = pickle_of(i, length, 0);
            char expected[60], *said = answer_of(unit_file(pickle.at, pickle.length), &no_stopper);
            snprintf(expected, sizeof expected, "the pickle is truncated at byte %d",
                     (int)pickle.length + 1);
            unit_trying("case %d, %d bytes of it", (int)i, (int)length);
            CHECK_TEXT(said, expected);
            free(said);
            free(pickle.at);
        }
}

/* A pickle with something of everything, for which arrays grow. */
static struct bytes large_pickle(void)
{
    struct bytes pickle = {0};
    put(&pickle, "\x80\x04](", 4);
    for (int i = 0, count = unit_series(500, 3000); i < count; i++) {
        put(&pickle, "}(\x8c\x06" "frames](\x8c", 13);
        char text[] = "\x08text0000";
        for (int rest = i % 500, at = 8; rest > 0; rest /= 10)
            text[at--] = (char)('0' + rest % 10);
        put_text(&pickle, text);
        put(&pickle, "\x94\x8a\x08", 3);
        put_little(&pickle, UINT64_C(0x7fffffffffffff00) + (uint64_t)(i % 9), 8);
        put(&pickle, "e\x8c\x01" "a)u", 6);
    }
    put(&pickle, "e.", 2);
    return pickle;
}

TEST(any_allocation_may_fail)
{
    struct bytes pickle = large_pickle();
    const char *path = unit_file(pickle.at, pickle.length);
    char *whole = answer_of(path, &no_stopper);
    CHECK(strlen(whole) > 20000);
    for (int for_good = 0; for_good < 2; for_good++)
        for (int64_t n = 1;; n++) {
            unit_trying("call %d for memory fails", (int)n);
            unit_fail_allocation(n, for_good);
            char *said = answer_of(path, &no_stopper);
            bool done = unit_asked < n;
            unit_fail_allocation(0, false);
            CHECK_TEXT(said, done ? whole : "out of memory");
            free(said);
            if (done)
                break;
        }
    free(whole);
    free(pickle.at);
}

static bool stop_after(void *left)
{
    return --*(int *)left < 0;
}

TEST(stops_when_asked)
{
    struct bytes pickle = pickle_of(0, 0, 8 * CHUNK_SIZE);
    put(&pickle, "N.", 2);
    const char *path = unit_file(pickle.at, pickle.length);
    for (int asked = 0; asked < 8; asked++) {
        int left = asked;
        struct stopper stopper = {stop_after, &left, NULL};
        char *said = answer_of(path, &stopper);
        unit_trying("asked %d times", asked);
        CHECK_TEXT(said, "interrupted");
        free(said);
    }
    free(pickle.at);
}

/* --- Lifetimes ----------------------------------------------------------- */

static void put_string(struct bytes *to, const char *text)
{
    put(to, "\x8c", 1);
    put_little(to, strlen(text), 1);
    put_text(to, text);
}

static void put_number(struct bytes *to, const char *key, int64_t number)
{
    put_string(to, key);
    put(to, "\x8a\x08", 2);
    put_little(to, (uint64_t)number, 8);
}

enum { MOST_EVENTS = 60, ADDRESSES = 6, SEGMENTS = 2 };
enum action { ALLOC, FREE, MAP, UNMAP, OTHER, ACTIONS };
static const char *const action_names[ACTIONS] = {"alloc", "free_completed", "segment_map",
                                                  "segment_unmap", "oom"};

struct made {
    int events;
    struct made_event {
        enum action action;
        int64_t address, size;
    } event[MOST_EVENTS];
    bool active[ADDRESSES]; /* a block at this address is */
    int64_t asked[ADDRESSES];
};

static struct made make(void)
{
    struct made made = {.events = (int)unit_random(MOST_EVENTS)};
    for (int i = 0; i < made.events; i++)
        made.event[i] = (struct made_event){(enum action)unit_random(ACTIONS),
                                            unit_random(ADDRESSES), unit_random(50)};
    for (int i = 0; i < ADDRESSES; i++) {
        made.active[i] = unit_random(2);
        made.asked[i] = unit_random(50);
    }
    return made;
}

static const char *write_snapshot(const struct made *made)
{
    struct bytes to = {0};
    put(&to, "\x80\x04}(", 4);
    put_string(&to, "device_traces");
    put(&to, "](](", 4);
    for (int i = 0; i < made->events; i++) {
        put_text(&to, "}(");
        put_string(&to, "action");
        put_string(&to, action_names[made->event[i].action]);
        put_number(&to, "addr", made->event[i].address);
        put_number(&to, "size", made->event[i].size);
        put_text(&to, "u");
    }
    put_text(&to, "ee");
    put_string(&to, "segments");
    put_text(&to, "](");
    for (int s = 0; s < SEGMENTS; s++) {
        put_text(&to, "}(");
        put_number(&to, "address", s * ADDRESSES / SEGMENTS);
        put_number(&to, "total_size", 1000 + s);
        put_string(&to, "blocks");
        put_text(&to, "](");
        for (int i = 0; i < ADDRESSES / SEGMENTS; i++) { /* without addresses: one after another */
            bool active = made->active[s * ADDRESSES / SEGMENTS + i];
            put_text(&to, "}(");
            put_number(&to, "size", 1);
            put_number(&to, "requested_size", made->asked[s * ADDRESSES / SEGMENTS + i]);
            put_string(&to, "state");
            put_string(&to, active ? "active_allocated" : "inactive");
            put_text(&to, "u");
        }
        put_text(&to, "eu");
    }
    put_text(&to, "eu.");
    const char *path = unit_file(to.at, to.length);
    free(to.at);
    return path;
}

/* An allocation by M4 and M5: alive after the events from `begin` to `end` - 1. */
struct lifetime {
    int begin, end; /* begin -1: before the first */
    int64_t address, size;
};

struct simulated {
    struct lifetime lifetimes[MOST_EVENTS + ADDRESSES];
    int count, twice, differs, no_block;
};

static int open_at(const struct simulated *is, int64_t address)
{
    int found = -1;
    for (int i = 0; i < is->count; i++)
        if (is->lifetimes[i].address == address && is->lifetimes[i].end == INT32_MAX)
            found = i;
    return found;
}

static struct simulated simulate(const struct made *made)
{
    struct simulated is = {.count = 0};
    for (int i = 0; i < made->events; i++) {
        const struct made_event *event = &made->event[i];
        int open = open_at(&is, event->address);
        if (event->action > FREE)
            continue;
        if (open >= 0)
            is.lifetimes[open].end = i;
        is.twice += event->action == ALLOC && open >= 0;
        if (event->action == ALLOC)
            is.lifetimes[is.count++] = (struct lifetime){i, INT32_MAX, event->address, event->size};
        else if (open < 0)
            is.lifetimes[is.count++] = (struct lifetime){-1, i, event->address, event->size};
    }
    for (int i = 0; i < ADDRESSES; i++) {
        int open = open_at(&is, i);
        if (made->active[i] && open < 0)
            is.lifetimes[is.count++] = (struct lifetime){-1, INT32_MAX, i, made->asked[i]};
        else if (made->active[i])
            is.differs += is.lifetimes[open].size != made->asked[i];
        else
            is.no_block += open >= 0;
    }
    return is;
}

static int64_t alive_after(const struct simulated *is, int event, int64_t *blocks)
{
    int64_t bytes = 0;
    *blocks = 0;
    for (int i = 0; i < is->count; i++)
        if (is->lifetimes[i].begin <= event && event < is->lifetimes[i].end) {
            bytes += is->lifetimes[i].size;
            ++*blocks;
        }
    return bytes;
}

static int64_t reserved_after(const struct made *made, int event)
{
    int64_t bytes = SEGMENTS * 1000 + SEGMENTS * (SEGMENTS - 1) / 2;
    for (int i = event + 1; i < made->events; i++)
        bytes += made->event[i].action == MAP     ? -made->event[i].size
                 : made->event[i].action == UNMAP ? made->event[i].size
                                                  : 0;
    return bytes;
}

TEST(peaks_and_lifetimes_as_simulated)
{
    int count = unit_series(200, 5000);
    for (int n = 0; n < count; n++) {
        struct made made = make();
        struct simulated is = simulate(&made);
        struct failure failure = {.code = FAILURE_NONE};
        struct snapshot *snapshot = snapshot_load(write_snapshot(&made), &no_stopper, &failure);
        int64_t peak = -1, peak_blocks = 0, blocks;
        int peak_event = -1;
        unit_trying("random snapshot %d", n);
        if (!CHECK(snapshot != NULL))
            break;
        for (int event = -1; event < made.events; event++) {
            int64_t bytes = alive_after(&is, event, &blocks);
            if (bytes > peak) {
                peak = bytes;
                peak_event = event;
                peak_blocks = blocks;
            }
        }
        const struct memory_device *device = &snapshot->devices[0];
        CHECK_INT(device->allocation_count, is.count);
        CHECK_INT(device->peak_bytes, peak);
        CHECK_INT(device->peak_event, peak_event);
        CHECK_INT(device->peak_blocks, peak_blocks);
        CHECK_INT(device->end_bytes, alive_after(&is, made.events - 1, &blocks));
        CHECK_INT(device->peak_reserved, reserved_after(&made, peak_event));
        CHECK_INT(device->reserved_before, reserved_after(&made, -1));
        CHECK_INT(device->problems[MEMORY_TWICE], is.twice);
        CHECK_INT(device->problems[MEMORY_DIFFERS], is.differs);
        CHECK_INT(device->problems[MEMORY_NO_BLOCK], is.no_block);
        CHECK_INT(device->problems[MEMORY_TWO_BLOCKS], 0);
        for (int event = -1; event < made.events; event++) {
            int64_t bytes = 0;
            for (size_t i = 0; i < device->allocation_count; i++)
                if (allocation_alive(&device->allocations[i], event))
                    bytes += device->allocations[i].bytes;
            CHECK_INT(bytes, alive_after(&is, event, &blocks));
        }
        snapshot_release(snapshot);
    }
}

TEST(any_allocation_of_a_snapshot_may_fail)
{
    struct made made = make();
    while (made.events < MOST_EVENTS / 2)
        made = make();
    const char *path = write_snapshot(&made);
    for (int64_t n = 1;; n++) {
        struct failure failure = {.code = FAILURE_NONE};
        unit_trying("call %d for memory fails", (int)n);
        unit_fail_allocation(n, false);
        struct snapshot *snapshot = snapshot_load(path, &no_stopper, &failure);
        bool done = unit_asked < n;
        unit_fail_allocation(0, false);
        CHECK_INT(failure.code, done ? FAILURE_NONE : FAILURE_MEMORY);
        CHECK_INT(snapshot != NULL, done);
        snapshot_release(snapshot);
        failure_clear(&failure);
        if (done)
            break;
    }
}
