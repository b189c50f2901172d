#include "pickle.h"

#include <string.h>

#include "source/foreign.h"
#include "base/memory.h"
#include "machine.h"

/* The opcodes of protocols 2 to 5, named like in Python's pickletools. */
enum opcode {
    MARK = '(',
    STOP = '.',
    POP = '0',
    POP_MARK = '1',
    DUP = '2',
    BINBYTES = 'B',
    SHORT_BINBYTES = 'C',
    BINFLOAT = 'G',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    NONE = 'N',
    BINSTRING = 'T',
    SHORT_BINSTRING = 'U',
    BINUNICODE = 'X',
    EMPTY_LIST = ']',
    APPEND = 'a',
    DICT = 'd',
    APPENDS = 'e',
    BINGET = 'h',
    LONG_BINGET = 'j',
    LIST = 'l',
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    SETITEM = 's',
    TUPLE = 't',
    EMPTY_TUPLE = ')',
    SETITEMS = 'u',
    EMPTY_DICT = '}',
    PROTO = 0x80,
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8a,
    LONG4 = 0x8b,
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE8 = 0x8d,
    BINBYTES8 = 0x8e,
    EMPTY_SET = 0x8f,
    ADDITEMS = 0x90,
    FROZENSET = 0x91,
    MEMOIZE = 0x94,
    FRAME = 0x95,
    BYTEARRAY8 = 0x96
};

/* Refused opcodes. */
static const struct refused {
    unsigned char opcode;
    const char *what;
} refused[] = {
#define RUNS(name) "this pickle would run code: opcode " name
    {'c', RUNS("GLOBAL")},
    {0x93, RUNS("STACK_GLOBAL")},
    {'R', RUNS("REDUCE")},
    {'b', RUNS("BUILD")},
    {'i', RUNS("INST")},
    {'o', RUNS("OBJ")},
    {0x81, RUNS("NEWOBJ")},
    {0x92, RUNS("NEWOBJ_EX")},
    {0x82, RUNS("EXT1")},
    {0x83, RUNS("EXT2")},
    {0x84, RUNS("EXT4")},
    {'P', RUNS("PERSID")},
    {'Q', RUNS("BINPERSID")},
#undef RUNS
    {'I', "INT is an opcode of protocol 0"},
    {'L', "LONG is an opcode of protocol 0"},
    {'F', "FLOAT is an opcode of protocol 0"},
    {'S', "STRING is an opcode of protocol 0"},
    {'V', "UNICODE is an opcode of protocol 0"},
    {'g', "GET is an opcode of protocol 0"},
    {'p', "PUT is an opcode of protocol 0"},
    {0x97, "NEXT_BUFFER needs data that is not in the file"},
    {0x98, "READONLY_BUFFER needs data that is not in the file"},
};

static bool refuse_opcode(struct machine *machine, unsigned char opcode)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].opcode == opcode)
            return machine_refuse(machine, FAILURE_REQUEST, refused[i].what);
    return machine_refuse(machine, FAILURE_DAMAGE, "not an opcode of a pickle");
}

/* Takes an integer of `bytes` bytes, lowest first. */
static uint64_t take(struct machine *machine, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        number |= (uint64_t)machine->p[i] << 8 * i;
    machine->p += bytes;
    return number;
}

/* Takes a float, highest byte first. */
static double take_real(struct machine *machine)
{
    enum { BYTES = 8 };
    uint64_t bits = 0;
    double real;
    for (int i = 0; i < BYTES; i++)
        bits = bits << 8 | machine->p[i];
    machine->p += BYTES;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Runs BINGET and LONG_BINGET, the vast majority of opcodes, because events of a snapshot refer to
** frames. `p` is at the opcode. */
static bool run_gets(struct machine *machine)
{
    const unsigned char *p = machine->p,
                        *safe = machine->ended ? machine->end : machine->end - CHUNK_PADDING;
    const pickled *memo = machine->memo;
    pickled *to = machine->stack + machine->top, *most = machine->stack + machine->capacity;
    const size_t count = machine->memo_count;
    bool found = true;
    while (p < safe && to < most) {
        size_t i;
        if (*p == LONG_BINGET)
            i = p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16 | (size_t)p[4] << 24;
        else if (*p == BINGET)
            i = p[1];
        else
            break;
        found = i < count && memo[i] != 0;
        if (!found)
            break;
        *to++ = memo[i];
        p += *p == BINGET ? 2 : 5;
    }
    machine->p = p;
    machine->top = (size_t)(to - machine->stack);
    if (found)
        return to < most || machine_grow(machine);
    machine->opcode = machine->origin + (p - machine->chunk) + 1;
    machine->p += *p == BINGET ? 2 : 5;
    return machine_get(machine, SIZE_MAX);
}

/* Runs an opcode for texts or bytes; its argument is their length. */
static bool run_text(struct machine *machine, enum opcode opcode)
{
    switch (opcode) {
    case SHORT_BINUNICODE:
    case SHORT_BINSTRING:
        return machine_text(machine, take(machine, 1), true);
    case BINUNICODE:
        return machine_text(machine, take(machine, 4), true);
    case BINSTRING:
        return machine_text(machine, take(machine, 4), true);
    case BINUNICODE8:
        return machine_text(machine, take(machine, 8), true);
    case SHORT_BINBYTES:
        return machine_text(machine, take(machine, 1), false);
    case BINBYTES:
        return machine_text(machine, take(machine, 4), false);
    case BINBYTES8:
    case BYTEARRAY8:
        return machine_text(machine, take(machine, 8), false);
    case LONG4:
        return machine_long(machine, take(machine, 4));
    default:
        return refuse_opcode(machine, (unsigned char)opcode);
    }
}

/* Runs an opcode that is rare in snapshots. */
static bool run_rare(struct machine *machine, enum opcode opcode)
{
    size_t from;
    switch (opcode) {
    case PROTO:
        return take(machine, 1) <= 5 ||
               machine_refuse(machine, FAILURE_DAMAGE, "not a protocol of 2 to 5");
    case POP:
        if (machine->top == machine->fence) /* like Python, drops the mark */
            return machine_unmark(machine, &from);
        machine->top--;
        return true;
    case POP_MARK:
        if (!machine_unmark(machine, &from))
            return false;
        machine->top = from;
        return true;
    case DUP:
        return machine_has(machine, 1) &&
               machine_push(machine, machine->stack[machine->top - 1]);
    case BINFLOAT:
        return machine_push(machine, values_real(machine->values, take_real(machine)));
    case TUPLE:
        return machine_unmark(machine, &from) && machine_build(machine, from, PICKLED_TUPLE);
    case LIST:
        return machine_unmark(machine, &from) && machine_build(machine, from, PICKLED_LIST);
    case DICT:
        return machine_unmark(machine, &from) && machine_build(machine, from, PICKLED_DICT);
    case FROZENSET:
        return machine_unmark(machine, &from) && machine_build(machine, from, PICKLED_SET);
    case ADDITEMS:
        return machine_unmark(machine, &from) && machine_append(machine, from, PICKLED_SET);
    case EMPTY_SET:
        return machine_push(machine, values_container(machine->values, PICKLED_SET));
    case EMPTY_TUPLE:
        return machine_push(machine, values_container(machine->values, PICKLED_TUPLE));
    case TUPLE1:
    case TUPLE2:
    case TUPLE3:
        return machine_has(machine, (size_t)(opcode - TUPLE1) + 1) &&
               machine_build(machine, machine->top - (size_t)(opcode - TUPLE1) - 1, PICKLED_TUPLE);
    default:
        return run_text(machine, opcode);
    }
}

/* Runs an opcode. */
static bool run(struct machine *machine, enum opcode opcode)
{
    struct values *values = machine->values;
    size_t from;
    switch (opcode) {
    case MARK:
        return machine_mark(machine);
    case MEMOIZE:
        return machine_put(machine, machine->memoized);
    case BINPUT:
        return machine_put(machine, take(machine, 1));
    case LONG_BINPUT:
        return machine_put(machine, take(machine, 4));
    case EMPTY_DICT:
        return machine_push(machine, values_container(values, PICKLED_DICT));
    case EMPTY_LIST:
        return machine_push(machine, values_container(values, PICKLED_LIST));
    case SETITEMS:
        return machine_unmark(machine, &from) && machine_set(machine, from);
    case SETITEM:
        return machine_has(machine, 3) && machine_set(machine, machine->top - 2);
    case APPENDS:
        return machine_unmark(machine, &from) && machine_append(machine, from, PICKLED_LIST);
    case APPEND:
        return machine_has(machine, 2) &&
               machine_append(machine, machine->top - 1, PICKLED_LIST);
    case BININT1:
        return machine_push(machine, values_integer(values, (int64_t)take(machine, 1)));
    case BININT2:
        return machine_push(machine, values_integer(values, (int64_t)take(machine, 2)));
    case BININT:
        return machine_push(machine, values_integer(values, (int32_t)take(machine, 4)));
    case LONG1:
        return machine_long(machine, take(machine, 1));
    case NONE:
        return machine_push(machine, pickled_of(PICKLED_NONE, 0));
    case NEWTRUE:
    case NEWFALSE:
        return machine_push(machine, pickled_of(PICKLED_BOOL, opcode == NEWTRUE));
    case FRAME:
        machine->p += 8;
        return true;
    default:
        return run_rare(machine, opcode);
    }
}

/* Runs opcodes until STOP. */
static bool run_all(struct machine *machine, pickled *root)
{
    for (;;) {
        if (machine->end - machine->p <= CHUNK_PADDING && !machine->ended && !machine_fill(machine))
            return false;
        machine->opcode = machine->origin + (machine->p - machine->chunk) + 1;
        if (machine->p >= machine->end) {
            machine->p = machine->end + 1;
            return machine_refuse(machine, FAILURE_DAMAGE, "");
        }
        unsigned char opcode = *machine->p;
        if (opcode == LONG_BINGET || opcode == BINGET) {
            if ((machine->top == machine->capacity && !machine_grow(machine)) ||
                !run_gets(machine))
                return false;
            continue;
        }
        machine->p++;
        if (opcode == STOP)
            break;
        if (!run(machine, opcode))
            return false;
    }
    if (!machine_has(machine, 1))
        return false;
    *root = machine->stack[machine->top - 1];
    return values_place(machine->values, *root) || machine_lost(machine);
}

/* Reads the bytes after STOP (rule 4). */
static bool read_rest(struct machine *machine, int64_t *size)
{
    while (!machine->ended) {
        machine->p = machine->end;
        if (!machine_fill(machine))
            return false;
    }
    *size = machine->origin + (machine->end - machine->chunk);
    return true;
}

static bool begins_like_a_pickle(const unsigned char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == PROTO && bytes[1] >= 2 && bytes[1] <= 5;
}

/* Refuses files other than pickles. The error recognizes traces and archives. */
static bool refuse_other(const struct machine *machine)
{
    static const char database[] = "SQLite format 3";
    const unsigned char *p = machine->chunk, *end = machine->end;
    size_t length = (size_t)(end - p);
    const char *kind = "";
    while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
        p++;
    if (p < end && (*p == '{' || *p == '['))
        kind = "JSON, as a trace is, and ";
    else if (length >= sizeof database && memcmp(machine->chunk, database, sizeof database) == 0)
        kind = "a SQLite database and ";
    else if (foreign_kind(machine->chunk, length))
        return failure_set(machine->failure, FAILURE_NOT_TRACE, "'%s' is %s", machine->path,
                           foreign_kind(machine->chunk, length));
    return failure_set(machine->failure, FAILURE_NOT_TRACE,
                       "'%s' is %snot a pickle: name a file of torch.cuda.memory._dump_snapshot()",
                       machine->path, kind);
}

/* Notes the class of GLOBAL: two lines of text. */
static void note_class(struct pickle *pickle, struct machine *machine)
{
    size_t length = 0, lines = 0;
    if (machine->end - machine->p < LONGEST_REFUSED && !machine->ended && !machine_fill(machine))
        return;
    for (const unsigned char *p = machine->p; p < machine->end && lines < 2; p++) {
        bool ends = *p == '\n';
        lines += ends;
        if (length + 1 < LONGEST_REFUSED && lines < 2)
            pickle->refused[length++] = ends ? '.' : (char)*p;
    }
    pickle->refused[lines == 2 ? length : 0] = 0;
}

/* Notes the class of STACK_GLOBAL: two texts on the stack. */
static void note_texts(struct pickle *pickle, const struct machine *machine)
{
    const struct name *module, *name;
    if (machine->top < 2)
        return;
    module = values_name(machine->values, machine->stack[machine->top - 2]);
    name = values_name(machine->values, machine->stack[machine->top - 1]);
    if (module && name && module->length + name->length + 2 <= LONGEST_REFUSED) {
        memcpy(pickle->refused, module->text, module->length);
        pickle->refused[module->length] = '.';
        memcpy(pickle->refused + module->length + 1, name->text, name->length + 1);
    }
}

/* Notes the object that the refused last opcode would have made. */
static void note_refused(struct pickle *pickle, struct machine *machine)
{
    enum { GLOBAL = 'c', STACK_GLOBAL = 0x93 };
    pickle->truncated = machine->truncated;
    if (machine->failure->code != FAILURE_REQUEST || machine->p <= machine->chunk)
        return;
    if (machine->p[-1] == GLOBAL)
        note_class(pickle, machine);
    else if (machine->p[-1] == STACK_GLOBAL)
        note_texts(pickle, machine);
}

static bool read_by(bool by_zlib, struct pickle *pickle, struct machine *machine, bool *unsure)
{
    machine->source = source_open(machine->path, by_zlib, machine->failure);
    machine->chunk = memory_allocate(CHUNK_SIZE + CHUNK_PADDING);
    machine->p = machine->end = machine->chunk;
    bool done = machine->source && (machine->chunk || machine_lost(machine)) &&
                machine_fill(machine) && machine_grow(machine) &&
                (begins_like_a_pickle(machine->chunk, (size_t)(machine->end - machine->chunk)) ||
                 refuse_other(machine)) &&
                run_all(machine, &pickle->root) && read_rest(machine, &pickle->size) &&
                source_unchanged(machine->source, machine->failure);
    if (!done)
        note_refused(pickle, machine);
    *unsure = !done && machine->source && source_unsure(machine->source);
    return done;
}

static void clear_machine(struct machine *machine)
{
    source_close(machine->source);
    memory_free(machine->chunk);
    memory_free(machine->stack);
    memory_free(machine->memo);
    memory_free(machine->text);
}

bool pickle_read(struct pickle *pickle, const char *path, const char *const *keys, size_t key_count,
                 struct identity *identity, const struct stopper *stopper, struct failure *failure)
{
    bool done = false, again = true;
    memset(pickle, 0, sizeof *pickle);
    for (int by_zlib = 0; again; by_zlib++) {
        struct machine *machine = memory_zeroed(1, sizeof *machine);
        struct failure own = {FAILURE_NONE, NULL, NULL, 0};
        bool unsure = false;
        if (!machine || !values_begin(&pickle->values, keys, key_count)) {
            memory_free(machine);
            return failure_memory(failure);
        }
        machine->values = &pickle->values;
        machine->path = path;
        machine->stopper = stopper;
        machine->failure = &own;
        done = read_by(by_zlib > 0, pickle, machine, &unsure);
        if (machine->source)
            *identity = *source_identity(machine->source);
        clear_machine(machine);
        memory_free(machine);
        again = unsure && by_zlib == 0 && own.code != FAILURE_INTERRUPTED &&
                own.code != FAILURE_MEMORY;
        if (again) {
            failure_clear(&own);
            pickle_clear(pickle);
        } else if (!done) {
            failure_move(failure, &own);
        }
    }
    return done;
}

bool pickle_begins(const char *path, struct failure *failure)
{
    unsigned char first[2];
    size_t length = 0;
    ptrdiff_t got = 1;
    struct source *source = source_open(path, true, failure);
    while (source && length < sizeof first && got > 0) {
        got = source_read(source, first + length, sizeof first - length, failure);
        length += got > 0 ? (size_t)got : 0;
    }
    source_close(source);
    return begins_like_a_pickle(first, length);
}

void pickle_clear(struct pickle *pickle)
{
    values_clear(&pickle->values);
    memset(pickle, 0, sizeof *pickle);
}
