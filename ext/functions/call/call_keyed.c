#include "call_keyed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "functions/args/collective_args.h"
#include "functions/args/device_peaks.h"
#include "functions/args/kernel_work.h"
#include "functions/args/shapes.h"
#include "functions/args/sync_args.h"

/* Source of args, and the results that are read in the same pass as the keys. */
struct args_source {
    struct call *call;
    struct names *names; /* table of the values' names */
    bool keeps; /* also read the args that the rest of an answer needs */
    struct kernel_work *work; /* NULL: not requested */
    struct work *found;       /* result of `work` */
    bool wants_transfers, wants_peaks;
    struct ideal_times ideal;
    struct keyed_request *request;
};

/* The args to read from a file. */
struct args_list {
    const char *keys[KEYED_ARGS + SYNC_KEYS + WORK_ARGS + COLLECTIVE_ARGS];
    uint32_t *values[KEYED_ARGS + SYNC_KEYS + WORK_ARGS + COLLECTIVE_ARGS];
    int count;
};

/* Adds a key, unless its values are NULL. */
static void add_key(struct args_list *list, const char *key, uint32_t *values)
{
    if (!values)
        return;
    list->keys[list->count] = key;
    list->values[list->count++] = values;
}

/* Returns the values of a requested key; NULL: not requested. */
static uint32_t *find_values(const struct args_list *list, const char *key)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->keys[i], key) == 0)
            return list->values[i];
    return NULL;
}

/* Adds keys, some of which may be requested already, and lets equal keys share one read. Their
** values may be NULL. */
static void share_keys(struct args_list *list, const char *const *keys, uint32_t *const *values,
                       int count, size_t rows)
{
    for (int arg = 0; arg < count; arg++) {
        uint32_t *own = values[arg];
        uint32_t *shared = find_values(list, keys[arg]);
        if (!shared)
            add_key(list, keys[arg], own);
        for (size_t row = 0; shared && own && row < rows; row++)
            if (own[row] != NAME_NONE)
                shared[row] = own[row];
    }
}

/* Copies the values of shared keys after reading. */
static void take_shared(const struct args_list *list, const char *const *keys,
                        uint32_t *const *values, int count, size_t rows)
{
    for (int arg = 0; arg < count; arg++) {
        uint32_t *own = values[arg];
        const uint32_t *shared = find_values(list, keys[arg]);
        for (size_t row = 0; own && row < rows; row++)
            if (own[row] != NAME_NONE)
                own[row] = shared[row];
    }
}

/* Computes the work of the file from its args. */
static bool find_work(struct args_source *source, const struct args_list *list,
                      const struct trace_file *file)
{
    take_shared(list, kernel_work_keys, kernel_work_args(source->work), WORK_ARGS,
                file->columns.count);
    source->request->work = source->found = kernel_work_end(source->work, source->names);
    if (!source->found || !source->wants_peaks)
        return source->found;
    bool done = ideal_times_find(source->call, file, source->work, source->found, &source->ideal);
    source->request->ideal_flops = source->ideal.flops;
    source->request->ideal_bytes = source->ideal.bytes;
    return done;
}

/* Sets the key `collective` of a row. */
static bool name_collective(struct args_source *source, const struct collective_row *of,
                            uint32_t *value)
{
    const char *name = collective_name(of->collective);
    *value = name ? names_intern(source->names, name, strlen(name)) : NAME_NONE;
    return !name || *value != NAME_NONE || failure_memory(&source->call->failure);
}

/* Sets the keys of collectives, and their bytes (F8), from the args. */
static bool find_collectives(struct args_source *source, struct collective_args *args,
                             const struct args_list *list, struct trace_file *file,
                             uint32_t *const *values)
{
    uint32_t *names = values[ARG_COLLECTIVE];
    take_shared(list, collective_arg_keys, collective_args_values(args), COLLECTIVE_ARGS,
                file->columns.count);
    for (size_t row = 0; names && row < file->columns.count; row++)
        names[row] = NAME_NONE;
    const struct collective_rows *found = collective_args_end(args, source->names);
    bool done = found;
    for (size_t i = 0; done && i < found->count; i++) {
        const struct collective_row *of = &found->items[i];
        done = !names || name_collective(source, of, &names[of->row]);
        if (source->found && source->wants_transfers && of->bytes != NUMBER_NONE)
            source->found[of->row].bytes = of->bytes;
        if (source->ideal.bytes)
            source->ideal.bytes[of->row] = NAN; /* F9.1 */
    }
    return done;
}

/* Sets the key `process_group` of device work (W1). */
static bool find_groups(struct args_source *source, const struct trace_file *file, uint32_t *values)
{
    size_t next = 0;
    for (uint32_t row = 0; row < file->columns.count; row++) {
        if (values[row] == NAME_NONE)
            continue;
        uint32_t group = collective_group(file, row, &next);
        values[row] = group == NAME_NONE
                          ? NAME_NONE
                          : names_adopt(source->names, &file->names.items[group]);
        if (group != NAME_NONE && values[row] == NAME_NONE)
            return failure_memory(&source->call->failure);
    }
    return true;
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
    struct collective_args *collectives = NULL;
    size_t rows = file->columns.count;
    bool done = (!source->keeps || sync_wish_make(source->call, file, &wish)) &&
                (!(source->keeps || source->wants_transfers || values[ARG_COLLECTIVE]) ||
                 (collectives = collective_args_begin(source->call, file)));
    for (int i = 0; i < ARG_COLLECTIVE; i++)
        add_key(&list, keys[i], values[i]);
    for (int i = 0; i < SYNC_KEYS && source->keeps; i++)
        add_key(&list, wish.keys[i], wish.values[i]);
    if (source->work)
        share_keys(&list, kernel_work_keys, kernel_work_args(source->work), WORK_ARGS, rows);
    if (collectives)
        share_keys(&list, collective_arg_keys, collective_args_values(collectives),
                   COLLECTIVE_ARGS, rows);
    done = done &&
           args_values_read(source->call, file, list.keys, list.values, list.count,
                            source->names) &&
           (!source->keeps || sync_wish_keep(source->call, file, &wish, source->names)) &&
           (!source->work || find_work(source, &list, file)) &&
           (!collectives || find_collectives(source, collectives, &list, file, values)) &&
           (!values[ARG_PROCESS_GROUP] ||
            find_groups(source, file, values[ARG_PROCESS_GROUP]));
    collective_args_free(collectives);
    sync_wish_clear(&wish);
    return done;
}

/* Adds a file, with the work of its operators if it is requested. */
static bool add_keyed_file(struct call *call, struct keyed *keyed, struct keyed_request *request,
                           bool keeps)
{
    struct args_source source = {
        .call = call, .names = &keyed->names, .keeps = keeps, .request = request,
        .wants_transfers = keyed->wants_transfers, .wants_peaks = keyed->wants_peaks};
    if (keyed->wants_work)
        source.work = kernel_work_begin(call, request->member);
    request->read_args = read_args;
    request->from = &source;
    bool done = (source.work || !keyed->wants_work) &&
                keyed_add(keyed, request, call_stopper(call), &call->failure);
    kernel_work_free(source.work);
    memory_free(source.found);
    ideal_times_clear(&source.ideal);
    return done;
}

bool call_keyed_add(struct call *call, const struct call_trace *opened,
                    enum device_type device_type, bool keeps, struct keyed *keyed)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < opened[side].trace.count; i++) {
            const struct trace_member *member = &opened[side].trace.members[i];
            struct keyed_request request = {.member = member,
                                            .chosen = call_trace_steps(&opened[side], i),
                                            .device_type = device_type,
                                            .side = side};
            if (member->chosen && !add_keyed_file(call, keyed, &request, keeps))
                return false;
        }
    return true;
}
