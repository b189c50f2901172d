#include "graph_args.h"

#include "base/memory.h"
#include "text/number.h"
#include "functions/args/shapes.h"

/* Reads the node ids of the replays of a file. `*nodes` stays NULL if there are none. */
static bool read_nodes(struct call *call, struct trace_file *file, int64_t **nodes)
{
    const struct stopper *stopper = call_stopper(call);
    size_t rows = file->columns.count;
    struct names texts = {0};
    struct replays replays;
    if (!replays_list(&replays, file, NULL, stopper, &call->failure))
        return false;
    bool done = true;
    uint32_t *values = replays.count ? memory_filled(rows, sizeof *values) : NULL;
    if (replays.count) {
        *nodes = memory_items(rows, sizeof **nodes);
        done = (values && *nodes) || failure_memory(&call->failure);
    }
    for (size_t i = 0; done && i < replays.row_count; i++)
        values[replays.rows[i]] = 0; /* wanted */
    done = done && (!values || arg_read(call, file, "graph node id", values, &texts));
    for (size_t row = 0; done && values && row < rows; row++) {
        const struct name *text = values[row] == NAME_NONE ? NULL : &texts.items[values[row]];
        if (!text ||
            !number_integer((const unsigned char *)text->text, text->length, &(*nodes)[row]))
            (*nodes)[row] = NUMBER_NONE;
    }
    memory_free(values);
    names_clear(&texts);
    replays_clear(&replays);
    return done;
}

/* Adds the captures of a file. */
static bool read_captures(struct call *call, const struct trace_member *member,
                          struct captures *captures)
{
    struct trace_file *file = member->file;
    uint32_t *kernels = memory_filled(file->columns.count, sizeof *kernels);
    bool done = kernels || failure_memory(&call->failure);
    if (done && captures_want(file, kernels))
        done = arg_read(call, file, "kernel", kernels, &captures->names) &&
               captures_add(captures, member, kernels, call_stopper(call), &call->failure);
    memory_free(kernels);
    return done;
}

bool graph_args_read(struct call *call, const struct trace *trace, bool wanted,
                     struct graph_args *args)
{
    static const struct call_trace_request request = {.capture = true,
                                                      .whole = true,
                                                      .use = TRACE_READABLE | TRACE_WHOLE,
                                                      .quoted = true};
    int capture = argument_of(call, NAMES_CAPTURE, 0);
    struct call_trace opened = {.trace = {.count = 0}};
    bool done = true;
    *args = (struct graph_args){.captured = capture >= 0 && call->values[capture],
                                .count = trace->count};
    if (args->captured) {
        done = call_trace_open(call, &request, &opened);
        for (size_t i = 0; done && i < opened.trace.count; i++)
            done = !opened.trace.members[i].chosen ||
                   read_captures(call, &opened.trace.members[i], &args->captures);
        call_trace_close(&opened);
        if (done && args->captures.count == 0)
            done = failure_set(
                &call->failure, FAILURE_REQUEST,
                "'%s' has no capture of a graph: no call named "
                "...StreamBeginCapture... with one named ...StreamEndCapture... after it",
                (const char *)sqlite3_value_text(call->values[capture]));
    }
    if (!done || !(args->captured || wanted))
        return done;
    args->nodes = memory_zeroed(trace->count, sizeof *args->nodes);
    done = args->nodes || failure_memory(&call->failure);
    for (size_t i = 0; done && i < trace->count; i++)
        done =
            !trace->members[i].chosen || read_nodes(call, trace->members[i].file, &args->nodes[i]);
    return done;
}

struct graph_knowledge graph_args_knowledge(const struct graph_args *args)
{
    return (struct graph_knowledge){args->captured ? &args->captures : NULL, args->nodes};
}

void graph_args_close(struct graph_args *args)
{
    for (size_t i = 0; args->nodes && i < args->count; i++)
        memory_free(args->nodes[i]);
    memory_free(args->nodes);
    captures_clear(&args->captures);
    *args = (struct graph_args){.captured = false};
}
