#include "shared_labels.h"

#include <string.h>

#include "base/memory.h"
#include "labels.h"

/* The state of the comparison. */
struct label_sides {
    struct names common;  /* labels in their common form */
    unsigned char *sides; /* by id: bit 0 if control has it, bit 1 if test has it */
    size_t capacity;
    bool works[2]; /* whether a side has an operator or device work */
    const struct stopper *stopper;
    struct failure *failure;
};

static bool is_label(const struct trace_file *file, size_t row)
{
    return file->columns.name[row] != NAME_NONE &&
           (row_is(file, row, CATEGORY_USER_ANNOTATION) || row_is(file, row, CATEGORY_PYTHON));
}

bool label_is_unshared(const struct trace_file *file, const bool *unshared, size_t row)
{
    return unshared && is_label(file, row) && unshared[file->columns.name[row]];
}

/* L13.2: writes the common form of a label. `to` has room for the label. */
static size_t write_common(const struct name *name, char *to)
{
    static const char *const by_torch[] = {"Optimizer.", "enumerate(DataLoader)"};
    const char *text = name->text, *end = text + name->length;
    for (size_t i = 0; i < sizeof by_torch / sizeof *by_torch; i++)
        if (begins(text, end, by_torch[i])) {
            const char *mark = memchr(text, '#', name->length);
            end = mark ? mark : end;
        }
    size_t length = 0;
    while (text < end) {
        bool number = is_digit(*text);
        to[length++] = number ? '#' : *text;
        do
            text++;
        while (number && text < end && is_digit(*text));
    }
    return length;
}

/* Returns the id of a label's common form; NAME_NONE if out of memory. */
static uint32_t common_of(struct label_sides *found, const struct trace_file *file, size_t row,
                          char *text)
{
    static const char frames[] = "python";
    const struct name *name = &file->names.items[file->columns.name[row]];
    uint32_t id = label_is_frame(file, (uint32_t)row)
                      ? names_intern(&found->common, frames, sizeof frames - 1)
                      : names_intern(&found->common, text, write_common(name, text));
    size_t before = found->capacity;
    if (id == NAME_NONE || !MEMORY_GROW(found->sides, found->capacity, (size_t)id + 1))
        return NAME_NONE;
    memset(found->sides + before, 0, found->capacity - before);
    return id;
}

/* Adds the labels of a member or, with `mark`, marks the labels of one side only. */
static bool add_member(struct label_sides *found, struct trace_member *member, int side,
                       bool mark)
{
    const struct trace_file *file = member->file;
    const struct columns *columns = &file->columns;
    char *text = memory_allocate(names_longest(&file->names) + 1);
    bool *seen = memory_zeroed(file->names.count + 1, sizeof *seen);
    bool done = (text && seen) || failure_memory(found->failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        uint32_t name = columns->name[row];
        found->works[side] |=
            columns->kind[row] == KIND_WORK || row_is(file, row, CATEGORY_OPERATOR);
        if (!is_label(file, row) || seen[name])
            continue;
        uint32_t id = common_of(found, file, row, text);
        seen[name] = true;
        done = id != NAME_NONE || failure_memory(found->failure);
        if (done && !mark)
            found->sides[id] |= (unsigned char)(1 << side);
        else if (done && found->sides[id] != 3) {
            member->unshared[name] = true;
            member->unshared_key = (member->unshared_key ^ name) * 0x100000001b3 + 1;
        }
        done = done && stopper_goes_on(found->stopper, row, found->failure);
    }
    memory_free(text);
    memory_free(seen);
    return done;
}

bool shared_labels_find(const struct trace *const *traces, const struct stopper *stopper,
                        struct failure *failure)
{
    struct label_sides found = {.stopper = stopper, .failure = failure};
    bool done = true;
    for (int mark = 0; mark < 2 && done; mark++) {
        if (mark && !(found.works[0] && found.works[1]))
            break;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < traces[side]->count && done; i++) {
                struct trace_member *member = &traces[side]->members[i];
                if (!member->chosen)
                    continue;
                if (mark) {
                    member->unshared_key = 0;
                    member->unshared =
                        memory_zeroed(member->file->names.count + 1, sizeof *member->unshared);
                    done = member->unshared || failure_memory(failure);
                }
                done = done && add_member(&found, member, side, mark);
            }
    }
    names_clear(&found.common);
    memory_free(found.sides);
    return done;
}

void shared_labels_clear(const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        memory_free(trace->members[i].unshared);
        trace->members[i].unshared = NULL;
        trace->members[i].unshared_key = 0;
    }
}
