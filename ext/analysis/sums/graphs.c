#include "graphs.h"

#include <string.h>

#include "base/memory.h"
#include "file/kernel_type.h"
#include "file/xla.h"
#include "naming/short_name.h"

/* device work of a graph launch */
struct graph_node {
    int64_t launched; /* ns: start of the launch */
    uint32_t launch;  /* row of the launch */
    int64_t id;       /* node id in the graph; INT64_MAX: unknown */
    int64_t start;    /* ns */
    uint32_t row;
};

static int node_order(const void *a, const void *b)
{
    const struct graph_node *x = a, *y = b;
    int order = COMPARE(x->launched, y->launched);
    order = order ? order : COMPARE(x->launch, y->launch);
    order = order ? order : COMPARE(x->id, y->id);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

bool is_graph_launch(const struct name *name)
{
    return name_contains(name, "GraphLaunch");
}

static bool is_call(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL;
}

/* Collects the device work of graph launches. NULL on failure. */
static struct graph_node *collect_nodes(const struct trace_file *file, const int64_t *ids,
                                        size_t *count, const struct stopper *stopper,
                                        struct failure *failure)
{
    const struct columns *columns = &file->columns;
    bool *is_graph = memory_zeroed(file->names.count + 1, sizeof *is_graph), any = false;
    struct graph_node *nodes = NULL;
    size_t capacity = 0;
    bool done = (is_graph && MEMORY_GROW(nodes, capacity, 1)) || failure_memory(failure);
    *count = 0;
    for (size_t id = 0; done && id < file->names.count; id++) {
        is_graph[id] = is_graph_launch(&file->names.items[id]);
        any = any || is_graph[id];
        done = stopper_goes_on(stopper, id, failure);
    }
    for (size_t row = 0; done && any && row < columns->count; row++) {
        uint32_t launch = columns->link[row];
        done = stopper_goes_on(stopper, row, failure);
        if (columns->kind[row] != KIND_WORK || !row_counts(columns, row) || launch == ROW_NONE ||
            !is_call(columns, launch) || columns->name[launch] == NAME_NONE ||
            !is_graph[columns->name[launch]])
            continue;
        if (!MEMORY_GROW(nodes, capacity, *count + 1))
            done = failure_memory(failure);
        else
            nodes[(*count)++] = (struct graph_node){
                columns->ts[launch], launch, ids && ids[row] != NUMBER_NONE ? ids[row] : INT64_MAX,
                columns->ts[row], (uint32_t)row};
    }
    memory_free(is_graph);
    if (done && sort_items(nodes, *count, sizeof *nodes, node_order, stopper, failure))
        return nodes;
    memory_free(nodes);
    return NULL;
}

bool replays_list(struct replays *replays, const struct trace_file *file, const int64_t *nodes,
                  const struct stopper *stopper, struct failure *failure)
{
    size_t count, capacity = 0;
    *replays = (struct replays){.count = 0};
    struct graph_node *found = collect_nodes(file, nodes, &count, stopper, failure);
    replays->rows = found ? memory_items(count, sizeof *replays->rows) : NULL;
    bool done = replays->rows != NULL || (found && failure_memory(failure));
    for (size_t i = 0; done && i < count; i++) {
        if (i == 0 || found[i].launch != found[i - 1].launch) {
            if (!MEMORY_GROW(replays->items, capacity, replays->count + 1))
                done = failure_memory(failure);
            else
                replays->items[replays->count++] = (struct replay){found[i].launch, i, 0};
        }
        if (done) {
            replays->items[replays->count - 1].count++;
            replays->rows[replays->row_count++] = found[i].row;
        }
    }
    memory_free(found);
    if (!done)
        replays_clear(replays);
    return done;
}

void replays_clear(struct replays *replays)
{
    memory_free(replays->items);
    memory_free(replays->rows);
    *replays = (struct replays){.count = 0};
}

/* state while names are made */
struct graph_namer {
    struct graph_names *names;
    const struct trace_member *member;
    const struct trace_file *file;
    struct labels *labels;
    unsigned levels;
    uint32_t *made; /* by name id of the file: id in names->texts; NAME_NONE: not set yet */
    char *scratch;  /* room for the longest name and its prefix */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Names work by its own kernel (A14.1). */
static bool name_by_kernel(struct graph_namer *namer, uint32_t row)
{
    uint32_t name = namer->file->columns.name[row];
    enum kernel_type type =
        name == NAME_NONE ? KERNEL_NONE : kernel_types_row(NULL, namer->file, row);
    if (type != KERNEL_COMPUTATION && type != KERNEL_MEMORY)
        return true;
    if (namer->made[name] == NAME_NONE) {
        const struct name *from = &namer->file->names.items[name];
        size_t length = sizeof GRAPH_PREFIX - 1;
        length += name_stable(from->text, from->length, namer->scratch + length);
        memcpy(namer->scratch, GRAPH_PREFIX, sizeof GRAPH_PREFIX - 1);
        namer->made[name] = names_intern(&namer->names->texts, namer->scratch, length);
        if (namer->made[name] == NAME_NONE)
            return failure_memory(namer->failure);
    }
    namer->names->of[LEVEL_OP][row] = namer->made[name];
    return true;
}

/* Returns whether a launch is inside an operator. Threads without labels have no wanted work. */
static bool in_operator(const struct graph_namer *namer, uint32_t launch)
{
    const struct columns *columns = &namer->file->columns;
    struct thread_labels *thread = &namer->labels->threads[row_place(columns, launch)->track];
    if (!thread->items)
        return true;
    uint32_t label = labels_at(thread, columns->ts[launch])->label[LEVEL_OP];
    return label != ROW_NONE && row_is(namer->file, label, CATEGORY_OPERATOR);
}

/* Names the work of a replay after the launches of a capture (A15). */
static bool name_by_capture(struct graph_namer *namer, const uint32_t *rows, size_t count,
                            const struct captures *captures, const size_t *launches)
{
    for (size_t i = 0; i < count; i++)
        for (int level = 0; level < LABEL_LEVELS; level++) {
            if (!(namer->levels >> level & 1))
                continue;
            uint32_t label = captures->launches[launches[i]].label[level];
            uint32_t *to = &namer->names->of[level][rows[i]];
            *to = label == NAME_NONE
                      ? NAME_NONE
                      : names_adopt(&namer->names->texts, &captures->names.items[label]);
            if (label != NAME_NONE && *to == NAME_NONE)
                return failure_memory(namer->failure);
        }
    return true;
}

static bool name_replays(struct graph_namer *namer, const struct replays *replays,
                         const struct captures *captures)
{
    struct capture_matches matches = {.launches = NULL};
    bool done = !captures || captures_match(&matches, captures, namer->member, replays,
                                            namer->stopper, namer->failure);
    for (size_t i = 0; done && i < replays->count; i++) {
        const struct replay *replay = &replays->items[i];
        const uint32_t *rows = replays->rows + replay->first;
        done = stopper_goes_on(namer->stopper, i, namer->failure);
        if (captures && matches.matched[i])
            done = done && name_by_capture(namer, rows, replay->count, captures,
                                           matches.launches + replay->first);
        else if ((namer->levels >> LEVEL_OP & 1) && !in_operator(namer, replay->launch))
            for (size_t k = 0; done && k < replay->count; k++)
                done = name_by_kernel(namer, rows[k]);
    }
    capture_matches_clear(&matches);
    return done;
}

/* Returns the id in names->texts of the name of an XLA operator (A17); NAME_NONE on failure. */
static uint32_t xla_name(struct graph_namer *namer, uint32_t name, bool op)
{
    const struct name *from = &namer->file->names.items[name];
    size_t length = name_stable(from->text, from->length, namer->scratch);
    if (op)
        length = name_without_numbers(namer->scratch, length);
    uint32_t id = names_intern(&namer->names->texts, namer->scratch, length);
    if (id == NAME_NONE)
        failure_memory(namer->failure);
    return id;
}

/* Names the work of XLA (A17). */
static bool name_xla(struct graph_namer *namer)
{
    const struct trace_file *file = namer->file;
    const struct columns *columns = &file->columns;
    for (size_t i = 0; i < file->xla_count; i++) {
        const struct xla_said *said = &file->xla[i];
        uint32_t launch = columns->link[said->row], own = columns->name[said->row];
        if (!stopper_goes_on(namer->stopper, i, namer->failure))
            return false;
        if (columns->kind[said->row] != KIND_WORK || launch == ROW_NONE || said->op == NAME_NONE)
            continue;
        bool graph = columns->name[launch] != NAME_NONE &&
                     is_graph_launch(&file->names.items[columns->name[launch]]);
        const uint32_t names[LABEL_LEVELS] = {[LEVEL_OP] = graph ? own : said->op,
                                              [LEVEL_TOP_OP] = graph ? own : said->op,
                                              [LEVEL_MODULE] = said->module,
                                              [LEVEL_ANNOTATION] = NAME_NONE};
        for (int level = 0; level < LABEL_LEVELS; level++) {
            if (!(namer->levels >> level & 1) || names[level] == NAME_NONE)
                continue;
            uint32_t id = xla_name(namer, names[level], level != LEVEL_MODULE);
            if (id == NAME_NONE)
                return false;
            namer->names->of[level][said->row] = id;
        }
    }
    return true;
}

bool graph_names_make(struct graph_names *names, const struct graph_member *of,
                      struct labels *labels, unsigned levels, const struct stopper *stopper,
                      struct failure *failure)
{
    const struct trace_file *file = of->member->file;
    struct graph_namer namer = {.names = names,
                                .member = of->member,
                                .file = file,
                                .labels = labels,
                                .levels = levels,
                                .stopper = stopper,
                                .failure = failure};
    struct replays replays;
    *names = (struct graph_names){.of = {NULL}};
    if (!of->captures && !(levels >> LEVEL_OP & 1) && file->xla_count == 0)
        return true;
    if (!replays_list(&replays, file, of->nodes, stopper, failure))
        return false;
    if (replays.count == 0 && file->xla_count == 0) {
        replays_clear(&replays);
        return true;
    }
    namer.made = memory_filled(file->names.count + 1, sizeof *namer.made);
    namer.scratch = memory_allocate(names_longest(&file->names) + sizeof GRAPH_PREFIX);
    bool done = namer.made && namer.scratch;
    for (int level = 0; done && level < LABEL_LEVELS; level++) {
        if (!(levels >> level & 1))
            continue;
        names->of[level] = memory_items(file->columns.count, sizeof *names->of[level]);
        done = names->of[level] != NULL;
        for (size_t row = 0; done && row < file->columns.count; row++)
            names->of[level][row] = GRAPH_LABEL;
    }
    done = done ? name_replays(&namer, &replays, of->captures) && name_xla(&namer)
                : failure_memory(failure);
    memory_free(namer.made);
    memory_free(namer.scratch);
    replays_clear(&replays);
    if (!done)
        graph_names_clear(names);
    return done;
}

void graph_names_clear(struct graph_names *names)
{
    names_clear(&names->texts);
    for (int level = 0; level < LABEL_LEVELS; level++)
        memory_free(names->of[level]);
    *names = (struct graph_names){.of = {NULL}};
}
