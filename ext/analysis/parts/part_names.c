#include "part_names.h"

#include <string.h>

#include "naming/python_frame.h"
#include "naming/short_name.h"

/* Finds the id of a row's stable name (A9); NAME_NONE for ROW_NONE and for a row without a name. */
static bool name_of_row(struct part_names *names, uint32_t row, uint32_t *name)
{
    uint32_t own = row == ROW_NONE ? NAME_NONE : names->file->columns.name[row];
    *name = NAME_NONE;
    if (own == NAME_NONE)
        return true;
    uint32_t *id = &names->known->ids[own];
    if (*id == NOT_KNOWN) {
        const struct name *from = &names->file->names.items[own];
        size_t length = name_stable(from->text, from->length, names->known->scratch);
        uint32_t made = names_intern(names->names, names->known->scratch, length);
        if (made == NAME_NONE)
            return failure_memory(names->failure);
        *id = made;
    }
    *name = *id;
    return true;
}

/* Finds the name id of work in a graph, by level. False if it has none, or if out of memory; only
** the latter sets the failure. */
static bool name_in_graph(struct part_names *names, const struct name_origin *origin, int level,
                          uint32_t *name)
{
    if (origin->work == ROW_NONE || level >= LABEL_LEVELS)
        return false;
    uint32_t id = graph_name(&names->known->graphs, level, origin->work);
    if (id == GRAPH_LABEL)
        return false;
    *name = NAME_NONE;
    if (id == NAME_NONE)
        return true;
    uint32_t *own = &names->known->graph_ids[id];
    if (*own == NOT_KNOWN) {
        *own = names_adopt(names->names, &names->known->graphs.texts.items[id]);
        if (*own == NAME_NONE)
            failure_memory(names->failure);
    }
    *name = *own;
    return *name != NAME_NONE;
}

bool part_name_of_gap(struct part_names *names, const struct gap *gap, uint32_t *name)
{
    uint32_t before, after;
    *name = NAME_NONE;
    if (gap->function != ROW_NONE) { /* L4.5 */
        const struct trace_file *file = names->file;
        uint32_t own = file->columns.name[gap->function];
        size_t length = frame_function(names->known->scratch, &file->names.items[own]);
        *name = names_intern(names->names, names->known->scratch, length);
        return *name != NAME_NONE || failure_memory(names->failure);
    }
    if (!name_of_row(names, gap->before, &before) || !name_of_row(names, gap->after, &after))
        return false;
    if (before == NAME_NONE && after == NAME_NONE)
        return true;
    const struct name *items = names->names->items;
    size_t length = gap_name(names->known->scratch, before == NAME_NONE ? NULL : &items[before],
                             after == NAME_NONE ? NULL : &items[after]);
    *name = names_intern(names->names, names->known->scratch, length);
    return *name != NAME_NONE || failure_memory(names->failure);
}

/* Whether the top_op of a path is a Python frame or a module, because no operator encloses it. */
static bool is_in_frame(const struct part_names *names, const struct name_origin *origin)
{
    return origin->row[LEVEL_TOP_OP] != ROW_NONE &&
           row_is(names->file, origin->row[LEVEL_TOP_OP], CATEGORY_PYTHON);
}

static bool is_module(const struct part_names *names, uint32_t row)
{
    return row != ROW_NONE &&
           label_is_module(&names->file->names.items[names->file->columns.name[row]]);
}

/* L4.2: finds the name of a module and of the user's function in it, if there is one. */
static bool name_of_method(struct part_names *names, uint32_t module, uint32_t frame,
                           uint32_t *name)
{
    const struct columns *columns = &names->file->columns;
    const struct name *items = names->file->names.items;
    int order = 0; /* T5.2 */
    if (frame != ROW_NONE) {
        order = COMPARE(columns->ts[frame], columns->ts[module]);
        order = order ? order : COMPARE(columns->dur[module], columns->dur[frame]);
        order = order ? order : COMPARE(frame, module);
    }
    size_t length = frame_method(names->known->scratch, &items[columns->name[module]],
                                 order > 0 ? &items[columns->name[frame]] : NULL);
    *name = names_intern(names->names, names->known->scratch, length);
    return *name != NAME_NONE || failure_memory(names->failure);
}

bool part_needs_gap(const struct part_names *names, const struct name_origin *origin)
{
    return is_in_frame(names, origin) && origin->row[LEVEL_ANNOTATION] == ROW_NONE &&
           !is_module(names, origin->row[LEVEL_MODULE]) && origin->event == ROW_NONE;
}

/* Finds the substitute for a top_op that is a Python frame (L4). Keeps `*name` unless it is
** NAME_NONE. */
static bool name_for_frame(struct part_names *names, const struct name_origin *origin,
                           uint32_t *name)
{
    static const char python[] = "Python";
    uint32_t annotation = origin->row[LEVEL_ANNOTATION], module = origin->row[LEVEL_MODULE];
    if (!is_in_frame(names, origin) || *name != NAME_NONE)
        return true;
    if (annotation != ROW_NONE)
        return name_of_row(names, annotation, name);
    if (is_module(names, module))
        return name_of_method(names, module, origin->frame, name);
    if (origin->row[LEVEL_KERNEL] != ROW_NONE)
        return name_of_row(names, origin->row[LEVEL_KERNEL], name);
    if (origin->event != ROW_NONE)
        return name_of_row(names, origin->event, name);
    *name = names_intern(names->names, python, sizeof python - 1);
    return *name != NAME_NONE || failure_memory(names->failure);
}

/* CL12: whether a thread compiles at an instant. Then the outermost event becomes the label at
** every level except the annotation. */
static bool compiles(const struct part_names *names, uint32_t track, int64_t instant,
                     struct name_origin *origin, int64_t *end)
{
    struct known_file *known = names->known;
    const struct compile_region *regions = known->compiled.items;
    size_t count = known->compiled.count, *at = &known->next_compiled;
    *at = *at > count ? count : *at;
    while (*at > 0 && regions[*at - 1].end > instant)
        --*at;
    while (*at < count && regions[*at].end <= instant)
        ++*at;
    for (size_t i = *at; i < count; i++) {
        if (regions[i].track != track || regions[i].end <= instant)
            continue;
        int64_t change = regions[i].start > instant ? regions[i].start : regions[i].end;
        *end = change < *end ? change : *end;
        if (regions[i].start > instant)
            return false;
        for (int level = 0; level < LABEL_LEVELS; level++)
            origin->row[level] = level == LEVEL_ANNOTATION ? ROW_NONE : regions[i].row;
        origin->frame = ROW_NONE;
        origin->event = regions[i].row;
        return origin->compiles = true;
    }
    return false;
}

uint32_t part_labels(const struct part_names *names, uint32_t track, int64_t instant,
                     struct name_origin *origin, int64_t *end)
{
    struct thread_labels *thread = &names->known->labels.threads[track];
    const struct label_stretch *stretch = labels_at(thread, instant);
    size_t next = thread->hint + 1;
    *origin = nowhere;
    memcpy(origin->row, stretch->label, sizeof stretch->label);
    origin->frame = stretch->frame;
    origin->event = stretch->event;
    if (next < thread->count && thread->items[next].start < *end)
        *end = thread->items[next].start;
    if (names->known->compiled.count > 0 && compiles(names, track, instant, origin, end))
        return IN_EVENT;
    return stretch->inside;
}

struct name_origin part_origin_of_launch(const struct part_names *names, uint32_t launch)
{
    const struct columns *columns = &names->file->columns;
    struct name_origin origin;
    int64_t end = INT64_MAX;
    part_labels(names, row_place(columns, launch)->track, columns->ts[launch], &origin, &end);
    return origin;
}

struct name_origin part_origin_of_work(const struct part_names *names, uint32_t row)
{
    uint32_t launch = names->file->columns.link[row];
    struct name_origin origin = launch == ROW_NONE ? nowhere : part_origin_of_launch(names, launch);
    origin.row[LEVEL_KERNEL] = row;
    origin.alone = launch == ROW_NONE;
    if (!origin.alone)
        origin.work = row;
    return origin;
}

struct name_origin part_origin_of_collective(const struct part_names *names, uint32_t row)
{
    struct name_origin origin = nowhere;
    if (kind_is_device((enum kind)names->file->columns.kind[row]))
        return part_origin_of_work(names, row);
    for (int level = 0; level < LEVEL_COUNT; level++)
        origin.row[level] = row;
    if (row_is(names->file, row, CATEGORY_OPERATOR))
        origin.row[LEVEL_ANNOTATION] = ROW_NONE;
    return origin;
}

bool part_names_find(struct part_names *names, const struct name_origin *origin,
                     struct attributed *part)
{
    const uint32_t *name_of = names->file->columns.name, *ids = names->known->ids;
    part->alone = origin->alone;
    if (!name_for_frame(names, origin, &part->name[NAME_FOR_FRAME]))
        return false;
    for (int i = 0; i < LEVEL_COUNT; i++) {
        uint32_t row = origin->row[i];
        uint32_t own = row == ROW_NONE ? NAME_NONE : name_of[row];
        uint32_t id = own == NAME_NONE ? NAME_NONE : ids[own];
        if (origin->work == ROW_NONE && id != NOT_KNOWN) /* the common case */
            part->name[i] = id;
        else if (!name_in_graph(names, origin, i, &part->name[i]) &&
                 (names->failure->code != FAILURE_NONE ||
                  !name_of_row(names, row, &part->name[i])))
            return false;
    }
    return true;
}
