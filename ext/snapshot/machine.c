#include "machine.h"

#include <string.h>

#include "base/memory.h"

static const uint64_t most_memory = UINT64_C(4) << 30; /* pickle.h, rule 3 */

bool machine_refuse(struct machine *machine, enum failure_code code, const char *what)
{
    machine->truncated = machine->p > machine->end;
    if (machine->truncated)
        return failure_at(machine->failure, FAILURE_DAMAGE, machine->path,
                          "the pickle is truncated",
                          machine->origin + (machine->end - machine->chunk) + 1);
    return failure_at(machine->failure, code, machine->path, what, machine->opcode);
}

bool machine_lost(struct machine *machine)
{
    return failure_memory(machine->failure);
}

static bool check_memory(struct machine *machine)
{
    size_t bytes = values_memory(machine->values) + machine->memo_count * sizeof(pickled);
    if (bytes > most_memory)
        return machine_refuse(machine, FAILURE_DAMAGE, "values of more than 4 GiB");
    return values_fit(bytes, machine->origin, source_identity(machine->source)->size) ||
           machine_refuse(machine, FAILURE_DAMAGE, "too many values for a file of this size");
}

bool machine_fill(struct machine *machine)
{
    size_t rest = machine->p < machine->end ? (size_t)(machine->end - machine->p) : 0;
    if (!stopper_ask(machine->stopper, machine->failure) || !check_memory(machine))
        return false;
    machine->origin += machine->end - machine->chunk - (ptrdiff_t)rest;
    if (rest > 0)
        memmove(machine->chunk, machine->p, rest);
    while (rest < CHUNK_SIZE && !machine->ended) {
        ptrdiff_t got = source_read(machine->source, machine->chunk + rest, CHUNK_SIZE - rest,
                                    machine->failure);
        if (got < 0)
            return false;
        machine->ended = got == 0;
        rest += (size_t)got;
    }
    if (machine->stopper->read)
        atomic_store_explicit(machine->stopper->read, source_position(machine->source),
                              memory_order_relaxed);
    machine->p = machine->chunk;
    machine->end = machine->chunk + rest;
    memset(machine->chunk + rest, 0, CHUNK_PADDING);
    return true;
}

bool machine_grow(struct machine *machine)
{
    if (machine->top >= MOST_STACK)
        return machine_refuse(machine, FAILURE_DAMAGE,
                              "more than 4,194,304 values on the stack of the pickle");
    if (!MEMORY_GROW(machine->stack, machine->capacity, machine->top + 1))
        return machine_lost(machine);
    if (machine->capacity > MOST_STACK)
        machine->capacity = MOST_STACK;
    return true;
}

bool machine_push(struct machine *machine, pickled value)
{
    if (value == 0)
        return machine_lost(machine);
    if (machine->top == machine->capacity && !machine_grow(machine))
        return false;
    machine->stack[machine->top++] = value;
    return true;
}

bool machine_has(struct machine *machine, size_t count)
{
    return machine->top - machine->fence >= count ||
           machine_refuse(machine, FAILURE_DAMAGE, "the stack of the pickle is empty");
}

bool machine_put(struct machine *machine, uint64_t index)
{
    enum { SLACK = 1024 };
    if (!machine_has(machine, 1))
        return false;
    if (index > 2 * machine->puts + SLACK) /* picklers use indices 0, 1, 2, ... */
        return machine_refuse(machine, FAILURE_DAMAGE, "an index of the memo is too large");
    size_t i = (size_t)index;
    if (i >= machine->memo_count) {
        if (!MEMORY_GROW(machine->memo, machine->memo_capacity, i + 1))
            return machine_lost(machine);
        memset(machine->memo + machine->memo_count, 0,
               (i + 1 - machine->memo_count) * sizeof *machine->memo);
        machine->memo_count = i + 1;
    }
    machine->puts++;
    machine->memoized += machine->memo[i] == 0;
    machine->memo[i] = machine->stack[machine->top - 1];
    return true;
}

bool machine_get(struct machine *machine, uint64_t i)
{
    if (i >= machine->memo_count || machine->memo[i] == 0)
        return machine_refuse(machine, FAILURE_DAMAGE, "the memo does not have what is asked for");
    return machine_push(machine, machine->memo[i]);
}

bool machine_mark(struct machine *machine)
{
    if (machine->depth == MOST_MARKS)
        return machine_refuse(machine, FAILURE_DAMAGE, "nested deeper than 1,000 levels");
    machine->marks[machine->depth++] = (uint32_t)machine->top;
    machine->fence = machine->top;
    return true;
}

bool machine_unmark(struct machine *machine, size_t *from)
{
    if (machine->depth == 0)
        return machine_refuse(machine, FAILURE_DAMAGE, "the stack of the pickle has no mark");
    *from = machine->marks[--machine->depth];
    machine->fence = machine->depth > 0 ? machine->marks[machine->depth - 1] : 0;
    return true;
}

/* Takes bytes into `text`, or only skips them. */
static bool take_bytes(struct machine *machine, uint64_t length, bool kept)
{
    uint64_t taken = 0;
    while (taken < length) {
        if (machine->p >= machine->end && !machine_fill(machine))
            return false;
        size_t here = machine->p < machine->end ? (size_t)(machine->end - machine->p) : 0;
        if (here == 0) {
            machine->p = machine->end + 1;
            return machine_refuse(machine, FAILURE_DAMAGE, "");
        }
        if (here > length - taken)
            here = (size_t)(length - taken);
        if (kept && !MEMORY_GROW(machine->text, machine->text_capacity, (size_t)taken + here))
            return machine_lost(machine);
        if (kept)
            memcpy(machine->text + taken, machine->p, here);
        machine->p += here;
        taken += here;
    }
    return true;
}

bool machine_text(struct machine *machine, uint64_t length, bool kept)
{
    if (machine->p > machine->end)
        return machine_refuse(machine, FAILURE_DAMAGE, "");
    if (!kept)
        return take_bytes(machine, length, false) &&
               machine_push(machine, pickled_of(PICKLED_OTHER, 0));
    if (length <= (size_t)(machine->end - machine->p)) {
        pickled text = values_text(machine->values, (const char *)machine->p, (size_t)length);
        machine->p += length;
        return machine_push(machine, text);
    }
    if (length > MOST_TEXT)
        return machine_refuse(machine, FAILURE_DAMAGE, "a text of more than 16 MiB");
    return take_bytes(machine, length, true) &&
           machine_push(machine, values_text(machine->values, machine->text, (size_t)length));
}

bool machine_long(struct machine *machine, uint64_t length)
{
    enum { WORD = 8 };
    uint64_t number = 0;
    if (length > WORD)
        return machine_text(machine, length, false);
    for (size_t i = 0; i < length; i++) /* fits into the padding */
        number |= (uint64_t)machine->p[i] << 8 * i;
    if (length > 0 && length < WORD && machine->p[length - 1] & 0x80)
        number |= UINT64_MAX << 8 * length;
    machine->p += length;
    return machine_push(machine, values_integer(machine->values, (int64_t)number));
}

/* Checks pickle.h, rule 2. */
static bool is_acyclic(struct machine *machine, pickled container)
{
    return !machine->values->nodes[pickled_id(container)].placed ||
           machine_refuse(machine, FAILURE_DAMAGE,
                          "a container is filled after it was put into another one, as in a cycle");
}

/* The container below the values from `from` on; 0 if it is missing or of another kind. */
static pickled container_below(struct machine *machine, size_t from, enum pickled_kind kind)
{
    pickled container = from > machine->fence ? machine->stack[from - 1] : 0;
    if (pickled_kind(container) == kind)
        return container;
    machine_refuse(machine, FAILURE_DAMAGE, "values are added to what is not a container for them");
    return 0;
}

bool machine_append(struct machine *machine, size_t from, enum pickled_kind kind)
{
    pickled list = container_below(machine, from, kind);
    if (list == 0)
        return false;
    if (!values_append(machine->values, list, machine->stack + from, machine->top - from))
        return machine_lost(machine);
    machine->top = from;
    return is_acyclic(machine, list);
}

bool machine_set(struct machine *machine, size_t from)
{
    pickled dict = container_below(machine, from, PICKLED_DICT);
    size_t count = machine->top - from;
    if (dict == 0)
        return false;
    if (count % 2 != 0)
        return machine_refuse(machine, FAILURE_DAMAGE, "a key of a dict has no value");
    if (count / 2 > MOST_PAIRS)
        return machine_refuse(machine, FAILURE_DAMAGE, "more than 65,535 keys at once");
    for (size_t i = from; i < machine->top; i += 2)
        if (pickled_kind(machine->stack[i]) > PICKLED_TUPLE)
            return machine_refuse(machine, FAILURE_DAMAGE, "a key of a dict is a container");
    if (!values_set(machine->values, dict, machine->stack + from, count / 2))
        return machine_lost(machine);
    machine->top = from;
    return is_acyclic(machine, dict);
}

bool machine_build(struct machine *machine, size_t from, enum pickled_kind kind)
{
    pickled made = values_container(machine->values, kind);
    size_t count = machine->top - from;
    if (made == 0)
        return machine_lost(machine);
    if (kind != PICKLED_DICT) {
        if (!values_append(machine->values, made, machine->stack + from, count))
            return machine_lost(machine);
        machine->top = from;
        return machine_push(machine, made);
    }
    /* like a dict below its pairs */
    if (!machine_push(machine, made))
        return false;
    memmove(machine->stack + from + 1, machine->stack + from, count * sizeof *machine->stack);
    machine->stack[from] = made;
    return machine_set(machine, from + 1);
}
