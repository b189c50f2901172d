#include "call_keyed.h"

#include "base/memory.h"
#include "functions/args/kernel_work.h"
#include "functions/args/shapes.h"
#include "functions/args/sync_args.h"

/* Where args are read from, and the names that their values get. */
struct args_source {
    struct call *call;
    struct names *names;
    bool syncs;
};

static bool read_args(void *from, struct trace_file *file, uint32_t *const *values)
{
    static const char *const keys[] = {[ARG_SHAPES] = "Input Dims",
                                       [ARG_TYPES] = "Input type",
                                       [ARG_GRID] = "grid",
                                       [ARG_BLOCK] = "block"};
    const struct args_source *source = from;
    const char *all_keys[KEYED_ARGS + SYNC_KEYS];
    uint32_t *all[KEYED_ARGS + SYNC_KEYS];
    struct sync_wish wish;
    if (!source->syncs)
        return args_values_read(source->call, file, keys, values, KEYED_ARGS, source->names);
    bool done = sync_wish_make(source->call, file, &wish);
    for (int i = 0; i < KEYED_ARGS + SYNC_KEYS; i++) {
        all_keys[i] = i < KEYED_ARGS ? keys[i] : wish.keys[i - KEYED_ARGS];
        all[i] = i < KEYED_ARGS ? values[i] : wish.values[i - KEYED_ARGS];
    }
    done = done &&
           args_values_read(source->call, file, all_keys, all, COUNT_OF(all), source->names) &&
           sync_wish_keep(source->call, file, &wish, source->names);
    sync_wish_clear(&wish);
    return done;
}

/* Adds a file, with the work of its operators if it is asked for. */
static bool add_keyed_file(struct call *call, struct keyed *keyed, struct keyed_request *request,
                           bool syncs)
{
    struct args_source source = {call, &keyed->names, syncs};
    struct work *work = keyed->wants_work ? kernel_work_find(call, request->member) : NULL;
    request->read_args = read_args;
    request->from = &source;
    request->work = work;
    bool done = (work || !keyed->wants_work) &&
                keyed_add(keyed, request, call_stopper(call), &call->failure);
    memory_free(work);
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
