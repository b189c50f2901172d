#include "compile_regions.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "text/ascii.h"

static const char timed[] = " (dynamo_timed)", region_name[] = "Torch-Compiled Region: ";

/* The information in the name of an event. */
enum name_says { SAYS_NOTHING, SAYS_SPAN, SAYS_ID, SAYS_REGION };

static size_t without_timed(const char *name, size_t length)
{
    return ends(name, name + length, timed) ? length - strlen(timed) : length;
}

enum compile_part compile_part_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum compile_part part;
    } parts[] = {{"dynamo", COMPILE_FORWARD},
                 {"entire_frame_compile", COMPILE_FORWARD},
                 {"_compile.compile_inner", COMPILE_FORWARD},
                 {"_compile.<locals>.compile_inner", COMPILE_FORWARD},
                 {"entire_backward_compile", COMPILE_BACKWARD},
                 {"compile_fx_aot", COMPILE_AHEAD}};
    length = without_timed(name, length);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (text_is(name, length, parts[i].name))
            return parts[i].part;
    return COMPILE_RUNTIME;
}

enum compile_phase compile_phase_of(const char *name, size_t length, enum compile_phase around)
{
    static const struct {
        const char *name;
        enum compile_phase phase;
    } phases[] = {{"dynamo", COMPILE_DYNAMO},
                  {"entire_frame_compile", COMPILE_DYNAMO},
                  {"entire_backward_compile", COMPILE_DYNAMO},
                  {"_compile.compile_inner", COMPILE_DYNAMO},
                  {"_compile.<locals>.compile_inner", COMPILE_DYNAMO},
                  {"backend_compile", COMPILE_AOT},
                  {"create_aot_dispatcher_function", COMPILE_AOT},
                  {"OutputGraph.call_user_compiler", COMPILE_AOT},
                  {"inductor_compile", COMPILE_INDUCTOR},
                  {"compile_fx_inner", COMPILE_INDUCTOR},
                  {"code_gen", COMPILE_CODEGEN},
                  {"GraphLowering.compile_to_module", COMPILE_CODEGEN}};
    length = without_timed(name, length);
    for (size_t i = 0; around != COMPILE_CODEGEN && i < sizeof phases / sizeof *phases; i++)
        if (text_is(name, length, phases[i].name))
            return phases[i].phase;
    return around;
}

int64_t compile_number(const char *id, size_t length)
{
    int64_t number = 0;
    size_t at = length;
    while (at > 0 && is_digit(id[at - 1]))
        at--;
    if (at > 0 && id[at - 1] == '/')
        number_integer((const unsigned char *)id + at, length - at, &number);
    return number;
}

/* Returns the id in `dynamo_data: fn_name=f, compile_id=0/1`, or in the name of a compiled
** region. */
static const char *id_in(const struct name *name, size_t *length)
{
    static const char key[] = "compile_id=";
    const char *at = name->text, *end = at + name->length;
    if (begins(at, end, region_name))
        at += strlen(region_name);
    else
        while (at < end && !begins(at, end, key))
            at++;
    at += begins(at, end, key) ? strlen(key) : 0;
    for (*length = 0; at + *length < end && (is_digit(at[*length]) || at[*length] == '/' ||
                                             at[*length] == '!');)
        ++*length;
    return at;
}

/* Returns enum name_says by name id. NULL without failure: the file has no compiler events. */
static unsigned char *read_names(const struct trace_file *file, struct failure *failure)
{
    bool any = false;
    for (size_t i = 0; i < file->names.count && !any; i++) {
        const struct name *name = &file->names.items[i];
        any = ends(name->text, name->text + name->length, timed);
    }
    unsigned char *says = any ? memory_zeroed(file->names.count, 1) : NULL;
    if (any && !says)
        failure_memory(failure);
    for (size_t i = 0; says && i < file->names.count; i++) {
        const struct name *name = &file->names.items[i];
        const char *end = name->text + name->length;
        if (ends(name->text, end, timed) ||
            compile_phase_of(name->text, name->length, COMPILE_NO_PHASE) != COMPILE_NO_PHASE)
            says[i] = SAYS_SPAN;
        else if (begins(name->text, end, region_name))
            says[i] = SAYS_REGION;
        else if (name_contains(name, "_data: ") && name_contains(name, "compile_id="))
            says[i] = SAYS_ID;
    }
    return says;
}

/* Whether times are small enough to add and subtract without overflow. */
static bool is_usual(int64_t start, int64_t dur)
{
    enum { USUAL_BITS = 61 };
    int64_t most = (int64_t)1 << USUAL_BITS;
    return start > -most && start < most && dur >= 0 && dur < most;
}

/* An event of the compiler, or one that carries an id. */
struct compile_event {
    int64_t start, end;
    uint32_t row, track;
    enum name_says says;
};

static int event_order(const void *a, const void *b)
{
    const struct compile_event *x = a, *y = b;
    return x->track != y->track   ? COMPARE(x->track, y->track)
           : x->start != y->start ? COMPARE(x->start, y->start)
           : x->end != y->end     ? COMPARE(y->end, x->end)
                                  : COMPARE(x->row, y->row);
}

static int region_order(const void *a, const void *b)
{
    const struct compile_region *x = a, *y = b;
    return x->start != y->start ? COMPARE(x->start, y->start) : COMPARE(x->row, y->row);
}

struct compile_events {
    struct compile_event *items;
    size_t count, capacity;
};

static bool list_events(struct compile_events *events, const struct trace_file *file,
                        const unsigned char *says, const struct stopper *stopper,
                        struct failure *failure)
{
    const struct columns *columns = &file->columns;
    for (size_t row = 0; row < columns->count; row++) {
        uint32_t name = columns->name[row];
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (name == NAME_NONE || says[name] == SAYS_NOTHING ||
            !is_usual(columns->ts[row], columns->dur[row]) || kind_is_device(columns->kind[row]))
            continue;
        if (!MEMORY_GROW(events->items, events->capacity, events->count + 1))
            return failure_memory(failure);
        events->items[events->count++] =
            (struct compile_event){columns->ts[row], columns->ts[row] + columns->dur[row],
                                   (uint32_t)row, row_place(columns, row)->track, says[name]};
    }
    return sort_items(events->items, events->count, sizeof *events->items, event_order, stopper,
                      failure);
}

/* A span that still encloses later events. */
struct open_region {
    int64_t end, own; /* own: time without the spans inside it */
    enum compile_phase phase;
};

enum { MOST_DEEP = 1024 };

struct region_walk {
    struct open_region open[MOST_DEEP];
    size_t depth;
    struct compile_region *region;
};

/* Closes the spans that end at an instant or before. */
static void end_spans(struct region_walk *walk, int64_t instant)
{
    while (walk->depth > 0 && walk->open[walk->depth - 1].end <= instant) {
        const struct open_region *span = &walk->open[--walk->depth];
        if (span->phase != COMPILE_NO_PHASE)
            walk->region->phases[span->phase] += span->own;
    }
}

/* Adds a span to the region around it, or starts a region. */
static bool add_span(struct compile_regions *regions, struct region_walk *walk,
                     const struct compile_event *event, const struct name *name)
{
    struct open_region *around = walk->depth > 0 ? &walk->open[walk->depth - 1] : NULL;
    if (!around) {
        if (!MEMORY_GROW(regions->items, regions->capacity, regions->count + 1))
            return false;
        walk->region = &regions->items[regions->count++];
        *walk->region = (struct compile_region){.start = event->start,
                                                .end = event->end,
                                                .row = event->row,
                                                .track = event->track,
                                                .part = compile_part_of(name->text, name->length)};
    } else {
        around->own -= (event->end < around->end ? event->end : around->end) - event->start;
    }
    if (walk->depth < MOST_DEEP)
        walk->open[walk->depth++] = (struct open_region){
            event->end, event->end - event->start,
            compile_phase_of(name->text, name->length,
                             around ? around->phase : COMPILE_NO_PHASE)};
    return true;
}

/* Whether an event is the first of its name in the file. */
static bool is_first_run(const struct compile_events *events, const struct columns *columns,
                         const struct compile_event *event)
{
    for (size_t i = 0; i < events->count; i++)
        if (columns->name[events->items[i].row] == columns->name[event->row] &&
            events->items[i].start < event->start)
            return false;
    return true;
}

static void take_id(struct compile_region *region, const struct name *name)
{
    region->id = id_in(name, &region->id_length);
    region->id = region->id_length > 0 ? region->id : NULL;
}

/* Makes regions from events, which are sorted by thread and start. */
static bool make_regions(struct compile_regions *regions, const struct trace_file *file,
                         const struct compile_events *events, struct region_walk *walk)
{
    const struct columns *columns = &file->columns;
    size_t waiting = SIZE_MAX; /* a region without an id; the next compiled region may supply it */
    for (size_t i = 0; i < events->count; i++) {
        const struct compile_event *event = &events->items[i];
        const struct name *name = &file->names.items[columns->name[event->row]];
        bool other = i > 0 && events->items[i - 1].track != event->track;
        end_spans(walk, other ? INT64_MAX : event->start);
        waiting = other ? SIZE_MAX : waiting;
        bool inside = walk->depth > 0;
        if (event->says == SAYS_SPAN) {
            if (!add_span(regions, walk, event, name))
                return false;
            waiting = inside ? waiting : regions->count - 1;
        } else if (event->says == SAYS_ID && inside && !walk->region->id) {
            take_id(walk->region, name);
        } else if (event->says == SAYS_REGION && !inside && waiting != SIZE_MAX) {
            struct compile_region *region = &regions->items[waiting];
            if (!region->id && region->part == COMPILE_FORWARD &&
                is_first_run(events, columns, event))
                take_id(region, name);
            waiting = SIZE_MAX;
        }
    }
    end_spans(walk, INT64_MAX);
    return true;
}

bool compile_regions_find(struct compile_regions *regions, const struct trace_file *file,
                          const struct stopper *stopper, struct failure *failure)
{
    struct compile_events events = {.items = NULL};
    *regions = (struct compile_regions){.items = NULL};
    unsigned char *says = read_names(file, failure);
    if (!says)
        return failure->code == FAILURE_NONE;
    struct region_walk *walk = memory_zeroed(1, sizeof *walk);
    bool done = (walk || failure_memory(failure)) &&
                list_events(&events, file, says, stopper, failure) &&
                (make_regions(regions, file, &events, walk) || failure_memory(failure)) &&
                sort_items(regions->items, regions->count, sizeof *regions->items, region_order,
                           stopper, failure);
    memory_free(walk);
    memory_free(events.items);
    memory_free(says);
    return done;
}

void compile_regions_clear(struct compile_regions *regions)
{
    memory_free(regions->items);
    *regions = (struct compile_regions){.items = NULL};
}
