#include "call_keyed.h"

#include <string.h>

#include "base/memory.h"
#include "functions/args/kernel_work.h"
#include "functions/args/shapes.h"
#include "functions/args/sync_args.h"

/* Where args are read from, and what is made of them beside the keys. */
struct args_source {
    struct call *call;
    struct names *names; /* that values get */
    bool syncs;
    struct kernel_work *work; /* NULL: not asked for */
    struct work *found;       /* of the same */
    struct keyed_request *request;
};

/* The args to read of a file. */
struct args_list {
    const char *keys[KEYED_ARGS + SYNC_KEYS + WORK_ARGS];
    uint32_t *values[KEYED_ARGS + SYNC_KEYS + WORK_ARGS];
    int count;
};

/* Adds a key, whose values may be NULL: it is not wanted. */
static void add_key(struct args_list *list, const char *key, uint32_t *values)
{
    if (!values)
        return;
    list->keys[list->count] = key;
    list->values[list->count++] = values;
}

/* The values of a key that is wanted already; NULL: it is not. */
static uint32_t *find_values(const struct args_list *list, const char *key)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->keys[i], key) == 0)
            return list->values[i];
    return NULL;
}

/* Adds what work wants. What is wanted twice is read once. */
static void add_work_keys(struct args_list *list, const struct kernel_work *work, size_t rows)
{
    for (int arg = 0; arg < WORK_ARGS; arg++) {
        uint32_t *own = kernel_work_args(work)[arg];
        uint32_t *shared = find_values(list, kernel_work_keys[arg]);
        if (!shared)
            add_key(list, kernel_work_keys[arg], own);
        for (size_t row = 0; shared && row < rows; row++)
            if (own[row] != NAME_NONE)
                shared[row] = own[row];
    }
}

/* Computes the work of the file from what was read. */
static bool find_work(struct args_source *source, const struct args_list *list, size_t rows)
{
    for (int arg = 0; arg < WORK_ARGS; arg++) {
        uint32_t *own = kernel_work_args(source->work)[arg];
        const uint32_t *shared = find_values(list, kernel_work_keys[arg]);
        for (size_t row = 0; row < rows; row++)
            if (own[row] != NAME_NONE)
                own[row] = shared[row];
    }
    source->request->work = source->found = kernel_work_end(source->work, source->names);
    return source->found;
}

static bool read_args(void *from, struct trace_file *file, uint32_t *const *values)
{
    static const char *const keys[] = {[ARG_SHAPES] = "Input Dims",
                                       [ARG_TYPES] = "Input type",
                                       [ARG_GRID] = "grid",
                                       [ARG_BLOCK] = "block"};
    struct args_source *source = from;
    struct args_list list = {.count = 0};
    struct sync_wish wish = {.keys = {NULL}};
    size_t rows = file->columns.count;
    bool done = !source->syncs || sync_wish_make(source->call, file, &wish);
    for (int i = 0; i < KEYED_ARGS; i++)
        add_key(&list, keys[i], values[i]);
    for (int i = 0; i < SYNC_KEYS && source->syncs; i++)
        add_key(&list, wish.keys[i], wish.values[i]);
    if (source->work)
        add_work_keys(&list, source->work, rows);
    done = done &&
           args_values_read(source->call, file, list.keys, list.values, list.count,
                            source->names) &&
           (!source->syncs || sync_wish_keep(source->call, file, &wish, source->names)) &&
           (!source->work || find_work(source, &list, rows));
    sync_wish_clear(&wish);
    return done;
}

/* Adds a file, with the work of its operators if it is asked for. */
static bool add_keyed_file(struct call *call, struct keyed *keyed, struct keyed_request *request,
                           bool syncs)
{
    struct args_source source = {
        .call = call, .names = &keyed->names, .syncs = syncs, .request = request};
    if (keyed->wants_work)
        source.work = kernel_work_begin(call, request->member);
    request->read_args = read_args;
    request->from = &source;
    bool done = (source.work || !keyed->wants_work) &&
                keyed_add(keyed, request, call_stopper(call), &call->failure);
    kernel_work_free(source.work);
    memory_free(source.found);
    return done;
}

bool call_keyed_add(struct call *call, const struct call_trace *opened,
                    enum device_type device_type, bool syncs, struct keyed *keyed)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < opened[side].trace.count; i++) {
            const struct trace_member *member = &opened[side].trace.members[i];
            struct keyed_request request = {.member = member,
                                            .chosen = call_trace_steps(&opened[side], i),
                                            .device_type = device_type,
                                            .side = side};
            if (member->chosen && !add_keyed_file(call, keyed, &request, syncs))
                return false;
        }
    return true;
}
