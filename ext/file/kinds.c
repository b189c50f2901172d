#include "kinds.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "roles.h"

static const struct {
    const char *name;
    size_t length;
    enum category category;
} categories[] = {
#define CATEGORY(name, category)        \
    {                                   \
        name, sizeof name - 1, category \
    }
    CATEGORY("cpu_op", CATEGORY_OPERATOR),
    CATEGORY("Operator", CATEGORY_OPERATOR),
    CATEGORY("kernel", CATEGORY_KERNEL),
    CATEGORY("Kernel", CATEGORY_KERNEL),
    CATEGORY("gpu_memcpy", CATEGORY_COPY),
    CATEGORY("gpu_memset", CATEGORY_COPY),
    CATEGORY("Memcpy", CATEGORY_COPY),
    CATEGORY("Memset", CATEGORY_COPY),
    CATEGORY("mtia_ccp_events", CATEGORY_MTIA),
    CATEGORY("user_annotation", CATEGORY_USER_ANNOTATION),
    CATEGORY("python_function", CATEGORY_PYTHON),
    CATEGORY("gpu_user_annotation", CATEGORY_GPU_ANNOTATION),
    CATEGORY("cuda_sync", CATEGORY_SYNC),
    CATEGORY("graph_host_node", CATEGORY_SYNC), /* A18 */
    CATEGORY("Trace", CATEGORY_TRACE),
    CATEGORY("Runtime", CATEGORY_CALL),
    CATEGORY("cuda_driver", CATEGORY_DRIVER_CALL),
    CATEGORY("cann_runtime", CATEGORY_DRIVER_CALL),
};

enum category category_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (categories[i].length == length && memcmp(categories[i].name, name, length) == 0)
            return categories[i].category;
    return ends(name, name + length, "_runtime") ? CATEGORY_CALL : CATEGORY_OTHER;
}

enum kind kind_of(enum category category, const char *name, size_t length)
{
    static const unsigned char kinds[] = {[CATEGORY_OTHER] = KIND_HOST,
                                          [CATEGORY_OPERATOR] = KIND_HOST,
                                          [CATEGORY_USER_ANNOTATION] = KIND_HOST,
                                          [CATEGORY_PYTHON] = KIND_HOST,
                                          [CATEGORY_CALL] = KIND_CALL,
                                          [CATEGORY_DRIVER_CALL] = KIND_DRIVER_CALL,
                                          [CATEGORY_TRACE] = KIND_TRACE,
                                          [CATEGORY_KERNEL] = KIND_WORK,
                                          [CATEGORY_COPY] = KIND_WORK,
                                          [CATEGORY_MTIA] = KIND_WORK,
                                          [CATEGORY_GPU_ANNOTATION] = KIND_ANNOTATION,
                                          [CATEGORY_SYNC] = KIND_SYNC};
    /* MTIA events that wait for other streams, or that record a point to wait for, do no work */
    bool waits = category == CATEGORY_MTIA &&
                 (text_is(name, length, "event_wait") || text_is(name, length, "event_record"));
    return waits ? KIND_SYNC : (enum kind)kinds[category];
}

/* The category by which an event without one is treated (T9, T10). */
static __attribute__((noinline)) enum category category_without(const struct trace_file *file,
                                                                size_t row)
{
    const struct columns *columns = &file->columns;
    enum role role = (enum role)file->tracks.items[row_place(columns, row)->track].role;
    if (role == ROLE_XLA_HOST && columns->correlation[row] != NUMBER_NONE)
        return CATEGORY_CALL;
    return role == ROLE_WORK         ? CATEGORY_KERNEL
           : role == ROLE_ANNOTATION ? CATEGORY_GPU_ANNOTATION
                                     : CATEGORY_OTHER;
}

static enum kind kind_of_row(const struct trace_file *file, size_t row)
{
    uint32_t cat = row_place(&file->columns, row)->cat, id = file->columns.name[row];
    const struct name none = {0}, *name = id == NAME_NONE ? &none : &file->names.items[id];
    enum category category =
        cat == NAME_NONE ? category_without(file, row) : (enum category)file->categories[cat];
    return kind_of(category, name->text, name->length);
}

enum { BY_ROW = 0xff }; /* the rows of a place differ in kind */

/* T9.8: sets the stream of device work without one to the number of its thread. */
static void take_stream(const struct trace_file *file, struct place *place)
{
    const struct identifier *tid = &file->tracks.items[place->track].tid;
    bool works = place->cat != NAME_NONE && (file->categories[place->cat] == CATEGORY_KERNEL ||
                                             file->categories[place->cat] == CATEGORY_COPY);
    if (works && !file->source && place->phase != 'M' && place->stream == NUMBER_NONE &&
        tid->kind == IDENTIFIER_INTEGER)
        place->stream = tid->value;
}

/* The kind of a place's rows, or BY_ROW. */
static unsigned char kind_of_place(const struct trace_file *file, const struct place *place)
{
    bool differ = place->cat == NAME_NONE || file->categories[place->cat] == CATEGORY_MTIA;
    return differ ? BY_ROW
                  : (unsigned char)kind_of((enum category)file->categories[place->cat], "", 0);
}

bool kinds_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    const struct name *names;
    if (!roles_find(file, failure))
        return false;
    names = file->names.items;
    file->categories = memory_allocate(file->names.count + 1);
    unsigned char *kinds = memory_allocate(columns->places.count + 1);
    bool done = (file->categories && kinds) || failure_memory(failure);
    for (size_t id = 0; done && id < file->names.count; id++) {
        file->categories[id] = (unsigned char)category_of(names[id].text, names[id].length);
        done = stopper_goes_on(stopper, id, failure);
    }
    for (size_t i = 0; done && i < columns->places.count; i++) {
        take_stream(file, &columns->places.items[i]);
        kinds[i] = kind_of_place(file, &columns->places.items[i]);
        done = stopper_goes_on(stopper, i, failure);
    }
    for (size_t row = 0; done && row < columns->count; row++) {
        unsigned char kind = kinds[columns->place[row]];
        columns->kind[row] = kind == BY_ROW ? (unsigned char)kind_of_row(file, row) : kind;
        done = stopper_goes_on(stopper, row, failure);
    }
    memory_free(kinds);
    return done;
}
