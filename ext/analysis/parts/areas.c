#include "areas.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "naming/short_name.h"
#include "base/sort.h"
#include "analysis/names/labels.h"

#define NOT_ASKED (NAME_NONE - 1)

/* An annotation that starts inside a step. */
struct instance {
    uint32_t stem;
    uint32_t step; /* STEP_NONE: the trace has no steps */
    uint32_t name; /* name id in the file */
};

struct instances {
    struct instance *items;
    size_t count, capacity;
};

static bool name_begins(const struct name *name, const char *with)
{
    return begins(name->text, name->text + name->length, with);
}

bool name_is_backward(const struct name *name)
{
    const char *end = name->text + name->length;
    end -= name->length > 0 && is_digit(end[-1]);
    return name_begins(name, "autograd::engine") ||
           name_begins(name, "torch::autograd::AccumulateGrad") ||
           ends(name->text, end, "Backward");
}

const struct name *area_of(const struct names *names, const struct attributed *part)
{
    static const struct name backward = {.text = "backward", .length = sizeof "backward" - 1};
    uint32_t annotation = part->name[LEVEL_ANNOTATION], module = part->name[LEVEL_MODULE];
    uint32_t top_op = top_name_of(part);
    if (annotation != NAME_NONE)
        return &names->items[annotation];
    if (module != NAME_NONE && label_is_module(&names->items[module]))
        return &names->items[module];
    if (top_op == NAME_NONE)
        return NULL;
    return name_is_backward(&names->items[top_op]) ? &backward : &names->items[top_op];
}

/* Returns the start of the digits at the end of a text; `end` if there are none. */
static const char *final_number(const char *text, const char *end)
{
    while (end > text && is_digit(end[-1]))
        end--;
    return end;
}

/* L1.1: returns the length of a module's name without its number. */
static size_t module_length(const char *name, size_t length)
{
    const char *end = name + length, *digits = final_number(name, end);
    return digits < end && digits > name && digits[-1] == '_' ? (size_t)(digits - 1 - name)
                                                              : length;
}

/* L1.2: writes an area with `*` for the numbers in its paths. `to` may be `name`. */
static size_t write_path(const char *name, size_t length, char *to)
{
    const char *p = name, *end = name + length;
    char *out = to;
    while (p < end) {
        bool is_path = is_letter(*p) || *p == '_';
        for (bool first = true; p < end && (is_word(*p) || (*p == '.' && !first)); first = false) {
            const char *component = *p == '.' ? p + 1 : p, *after = component;
            while (after < end && is_word(*after))
                after++;
            bool is_number = final_number(component, after) == component && after > component;
            if (component > p)
                *out++ = '.';
            if (is_path && !first && is_number)
                *out++ = '*';
            else
                for (p = component; p < after;)
                    *out++ = *p++;
            p = after;
        }
        if (p < end)
            *out++ = *p++;
    }
    return (size_t)(out - to);
}

/* L1.3: writes the stem of an annotation. Returns 0 if it does not end in a number. */
static size_t write_stem(const char *name, size_t length, char *to)
{
    size_t written = write_path(name, length, to);
    const char *end = to + written, *digits = final_number(to, end);
    if (digits == end || digits == to)
        return 0;
    to[digits - to] = '*';
    return (size_t)(digits - to) + 1;
}

/* Finds the id of an annotation's stem, or NAME_NONE if it has none. */
static bool find_stem(struct families *families, const struct name *name, char *scratch,
                      uint32_t *stem, struct failure *failure)
{
    size_t length = name_stable(name->text, name->length, scratch);
    length = write_stem(scratch, length, scratch);
    *stem = length ? names_intern(&families->stems, scratch, length) : NAME_NONE;
    return length == 0 || *stem != NAME_NONE || failure_memory(failure);
}

/* Collects the annotations of a member that have a stem. `stems` has room for every name. */
static bool collect(struct families *families, const struct trace_member *member,
                    struct instances *to, uint32_t *stems, char *scratch,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct trace_file *file = member->file;
    const struct columns *columns = &file->columns;
    for (size_t id = 0; id < file->names.count; id++)
        stems[id] = NOT_ASKED;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        uint32_t name = columns->name[row], step = step_of(member->steps, row);
        if (columns->kind[row] != KIND_HOST || !row_counts(columns, row) ||
            !row_is(file, row, CATEGORY_USER_ANNOTATION) ||
            (step == STEP_NONE && member->steps->count > 0))
            continue;
        if (stems[name] == NOT_ASKED &&
            !find_stem(families, &file->names.items[name], scratch, &stems[name], failure))
            return false;
        if (stems[name] == NAME_NONE)
            continue;
        if (!MEMORY_GROW(to->items, to->capacity, to->count + 1))
            return failure_memory(failure);
        to->items[to->count++] = (struct instance){stems[name], step, name};
    }
    return true;
}

static int instance_order(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;
    int order = COMPARE(x->stem, y->stem);
    order = order ? order : COMPARE(x->step, y->step);
    return order ? order : COMPARE(x->name, y->name);
}

/* Adds the stems of a member, and marks stems that repeat in one of its steps. */
static bool find_in_member(struct families *families, const struct trace_member *member,
                           const struct stopper *stopper, struct failure *failure)
{
    const struct names *names = &member->file->names;
    struct instances found = {.items = NULL};
    uint32_t *stems = memory_items(names->count, sizeof *stems);
    char *scratch = memory_allocate(names_longest(names) + 1);
    size_t known = families->stems.count;
    bool done = stems && scratch
                    ? collect(families, member, &found, stems, scratch, stopper, failure) &&
                          sort_items(found.items, found.count, sizeof *found.items, instance_order,
                                     stopper, failure)
                    : failure_memory(failure);
    if (done)
        done = memory_assign(&families->repeated,
                             memory_resize(families->repeated, families->stems.count + 1)) ||
               failure_memory(failure);
    for (size_t i = known; done && i < families->stems.count; i++)
        families->repeated[i] = false;
    for (size_t i = 1; done && i < found.count; i++) {
        const struct instance *a = &found.items[i - 1], *b = &found.items[i];
        if (a->stem == b->stem && a->step == b->step && a->name != b->name)
            families->repeated[a->stem] = true;
    }
    memory_free(found.items);
    memory_free(stems);
    memory_free(scratch);
    return done;
}

bool families_add(struct families *families, const struct trace *trace,
                  const struct stopper *stopper, struct failure *failure)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen &&
            !find_in_member(families, &trace->members[i], stopper, failure))
            return false;
    return true;
}

size_t family_write(const struct families *families, const struct name *area, char *to)
{
    if (label_is_module(area)) {
        size_t length = module_length(area->text, area->length);
        memcpy(to, area->text, length);
        return length;
    }
    size_t written = write_stem(area->text, area->length, to);
    uint32_t stem = written ? names_find(&families->stems, to, written) : NAME_NONE;
    return stem != NAME_NONE && families->repeated[stem]
               ? written
               : write_path(area->text, area->length, to);
}

void families_clear(struct families *families)
{
    names_clear(&families->stems);
    memory_free(families->repeated);
    *families = (struct families){.repeated = NULL};
}
