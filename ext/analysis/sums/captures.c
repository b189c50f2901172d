#include "captures.h"

#include <string.h>

#include "base/memory.h"
#include "naming/short_name.h"
#include "graphs.h"

/* role of a call in a capture */
enum capture_call { CALL_OTHER, CALL_BEGIN, CALL_END, CALL_LAUNCH, CALL_COPY, CALL_FILL };

static enum capture_call call_of(const struct name *name)
{
    if (name_contains(name, "StreamBeginCapture"))
        return CALL_BEGIN;
    if (name_contains(name, "StreamEndCapture"))
        return CALL_END;
    if (name_contains(name, "Memcpy"))
        return CALL_COPY;
    if (name_contains(name, "Memset"))
        return CALL_FILL;
    return name_contains(name, "Launch") && name_contains(name, "Kernel") ? CALL_LAUNCH
                                                                          : CALL_OTHER;
}

/* a call within a capture, or its begin or end */
struct capture_edge {
    uint32_t track, row;
    int64_t start, end; /* ns */
    enum capture_call call;
};

static int edge_order(const void *a, const void *b)
{
    const struct capture_edge *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->start, y->start);
    order = order ? order : COMPARE(y->end, x->end);
    return order ? order : COMPARE(x->row, y->row);
}

/* Lists calls of a file that may belong to a capture, by thread and start. NULL on failure. */
static struct capture_edge *collect_edges(const struct trace_file *file, size_t *count,
                                          const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    unsigned char *calls = memory_zeroed(file->names.count + 1, 1);
    struct capture_edge *edges = NULL;
    size_t capacity = 0;
    bool begins = false;
    bool done = (calls && MEMORY_GROW(edges, capacity, 1)) || failure_memory(failure);
    *count = 0;
    for (size_t id = 0; done && id < file->names.count; id++) {
        calls[id] = (unsigned char)call_of(&file->names.items[id]);
        begins = begins || calls[id] == CALL_BEGIN;
        done = stopper_goes_on(stopper, id, failure);
    }
    for (size_t row = 0; done && begins && row < columns->count; row++) {
        enum kind kind = columns->kind[row];
        uint32_t name = columns->name[row];
        done = stopper_goes_on(stopper, row, failure);
        if ((kind != KIND_CALL && kind != KIND_DRIVER_CALL) || name == NAME_NONE ||
            columns->ts[row] == NUMBER_NONE || calls[name] == CALL_OTHER)
            continue;
        int64_t dur = columns->dur[row] > 0 ? columns->dur[row] : 0;
        if (!MEMORY_GROW(edges, capacity, *count + 1))
            done = failure_memory(failure);
        else
            edges[(*count)++] = (struct capture_edge){row_place(columns, row)->track, (uint32_t)row,
                                                      columns->ts[row], columns->ts[row] + dur,
                                                      (enum capture_call)calls[name]};
    }
    memory_free(calls);
    if (done && sort_items(edges, *count, sizeof *edges, edge_order, stopper, failure))
        return edges;
    memory_free(edges);
    return NULL;
}

/* state while the captures of a file are added */
struct capture_builder {
    struct captures *captures;
    const struct trace_file *file;
    const uint32_t *kernels;
    int64_t rank;
    struct labels labels;
    char *scratch; /* room for the longest name */
    struct failure *failure;
};

/* Stores the stable name of a row in captures->names and sets `*id`. */
static bool put_label(struct capture_builder *builder, uint32_t row, uint32_t *id)
{
    uint32_t name = row == ROW_NONE ? NAME_NONE : builder->file->columns.name[row];
    *id = NAME_NONE;
    if (name == NAME_NONE)
        return true;
    const struct name *from = &builder->file->names.items[name];
    *id = names_intern(&builder->captures->names, builder->scratch,
                       name_stable(from->text, from->length, builder->scratch));
    return *id != NAME_NONE || failure_memory(builder->failure);
}

/* Adds a launch to the last capture. */
static bool add_launch(struct capture_builder *builder, const struct capture_edge *edge)
{
    struct captures *captures = builder->captures;
    if (!MEMORY_GROW(captures->launches, captures->launch_capacity, captures->launch_count + 1))
        return failure_memory(builder->failure);
    struct capture *capture = &captures->items[captures->count - 1];
    struct captured_launch *launch = &captures->launches[captures->launch_count++];
    launch->kernel = builder->kernels[edge->row];
    if (edge->call != CALL_LAUNCH) {
        launch->kernel =
            names_intern(&captures->names, edge->call == CALL_COPY ? "Memcpy" : "Memset", 6);
        if (launch->kernel == NAME_NONE)
            return failure_memory(builder->failure);
    }
    capture->count++;
    capture->named = capture->named && launch->kernel != NAME_NONE;
    struct thread_labels *thread = &builder->labels.threads[edge->track];
    const uint32_t *labels = labels_at(thread, edge->start)->label;
    for (int level = 0; level < LABEL_LEVELS; level++)
        if (!put_label(builder, labels[level], &launch->label[level]))
            return false;
    return true;
}

/* Adds the captures among the calls of a file. Skips captures without an end, and launches inside
** other launches. */
static bool add_edges(struct capture_builder *builder, const struct capture_edge *edges,
                      size_t count, const struct stopper *stopper)
{
    struct captures *captures = builder->captures;
    bool open = false;
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i <= count; i++) {
        const struct capture_edge *edge = i < count ? &edges[i] : NULL;
        bool ends = !edge || (i > 0 && edge->track != edges[i - 1].track);
        if (!stopper_goes_on(stopper, i, builder->failure))
            return false;
        if (open && (ends || edge->call == CALL_BEGIN)) { /* the open capture has no end */
            captures->launch_count = captures->items[--captures->count].first;
            open = false;
        }
        if (ends)
            reach = INT64_MIN;
        if (!edge)
            break;
        if (edge->call == CALL_BEGIN) {
            if (!MEMORY_GROW(captures->items, captures->capacity, captures->count + 1))
                return failure_memory(builder->failure);
            captures->items[captures->count++] = (struct capture){
                builder->rank, edge->start, edge->row, captures->launch_count, 0, true};
            open = true;
        } else if (edge->call == CALL_END) {
            open = false;
        } else if (open && edge->start >= reach) {
            if (!add_launch(builder, edge))
                return false;
            reach = edge->end;
        }
    }
    return true;
}

static int capture_order(const void *a, const void *b)
{
    const struct capture *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

bool captures_want(const struct trace_file *file, uint32_t *kernels)
{
    const struct columns *columns = &file->columns;
    bool begins = false;
    for (size_t id = 0; id < file->names.count && !begins; id++)
        begins = call_of(&file->names.items[id]) == CALL_BEGIN;
    for (size_t row = 0; begins && row < columns->count; row++)
        if ((columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL) &&
            columns->name[row] != NAME_NONE &&
            call_of(&file->names.items[columns->name[row]]) == CALL_LAUNCH)
            kernels[row] = 0;
    return begins;
}

bool captures_add(struct captures *captures, const struct trace_member *member,
                  const uint32_t *kernels, const struct stopper *stopper, struct failure *failure)
{
    const struct trace_file *file = member->file;
    struct capture_builder builder = {.captures = captures,
                                      .file = file,
                                      .kernels = kernels,
                                      .rank = member->rank,
                                      .failure = failure};
    size_t count = 0, first = captures->count;
    struct capture_edge *edges = collect_edges(file, &count, stopper, failure);
    bool *threads = memory_zeroed(file->tracks.count, sizeof *threads);
    builder.scratch = memory_allocate(names_longest(&file->names) + 1);
    bool done = edges != NULL && ((threads && builder.scratch) || failure_memory(failure));
    for (size_t i = 0; done && i < count; i++)
        threads[edges[i].track] = true;
    done = done &&
           labels_make(&builder.labels, file, member->steps, (1u << LABEL_LEVELS) - 1, threads,
                       NULL, stopper, failure) &&
           add_edges(&builder, edges, count, stopper) &&
           sort_items(captures->items + first, captures->count - first, sizeof *captures->items,
                      capture_order, stopper, failure);
    labels_clear(&builder.labels);
    memory_free(builder.scratch);
    memory_free(threads);
    memory_free(edges);
    return done;
}

void captures_clear(struct captures *captures)
{
    names_clear(&captures->names);
    memory_free(captures->launches);
    memory_free(captures->items);
    *captures = (struct captures){.count = 0};
}

/* A replay as a sequence of kernels: ids in captures->names, or ids of the file with FOREIGN. */
#define FOREIGN (UINT32_C(1) << 31)

struct sequence {
    const uint32_t *kernels;
    size_t count, replay;
};

static int sequence_order(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;
    int order = COMPARE(x->count, y->count);
    order = order ? order : memcmp(x->kernels, y->kernels, x->count * sizeof *x->kernels);
    return order ? order : COMPARE(x->replay, y->replay);
}

static bool same_sequence(const struct sequence *a, const struct sequence *b)
{
    return a->count == b->count &&
           memcmp(a->kernels, b->kernels, a->count * sizeof *a->kernels) == 0;
}

/* Returns the id in captures->names of the kernel name that a capture would have for a row. */
static uint32_t kernel_of(const struct captures *captures, const struct trace_file *file,
                          uint32_t row)
{
    uint32_t id = file->columns.name[row];
    if (id == NAME_NONE)
        return NAME_NONE;
    const struct name *name = &file->names.items[id];
    uint32_t found =
        row_is(file, row, CATEGORY_COPY)
            ? names_find(&captures->names, name_contains(name, "emset") ? "Memset" : "Memcpy", 6)
            : names_find(&captures->names, name->text, name->length);
    return found == NAME_NONE ? FOREIGN | id : found;
}

/* Returns whether a capture can have produced a replay. Some of its launches may be missing. Sets
** `launches` to the launch of each kernel. */
static bool fits(const struct captures *captures, const struct capture *capture,
                 const struct sequence *sequence, size_t *launches)
{
    const struct captured_launch *from = captures->launches + capture->first;
    size_t next = 0;
    if (capture->count < sequence->count || (!capture->named && capture->count != sequence->count))
        return false;
    for (size_t i = 0; i < sequence->count; i++, next++) {
        if (capture->named)
            while (next < capture->count && from[next].kernel != sequence->kernels[i])
                next++;
        else if (from[next].kernel != NAME_NONE && from[next].kernel != sequence->kernels[i])
            return false;
        if (next == capture->count)
            return false;
        launches[i] = capture->first + next;
    }
    return true;
}

/* Finds the captures that fit a sequence: captures of the same length or, if none fits, longer
** ones. Looks at one rank, or at all if `rank` is negative. `launches` is scratch space. */
static size_t find_fitting(const struct captures *captures, int64_t rank,
                           const struct sequence *sequence, size_t *fitting, size_t *launches)
{
    for (int longer = 0; longer < 2; longer++) {
        size_t count = 0;
        for (size_t i = 0; i < captures->count; i++)
            if ((rank < 0 || captures->items[i].rank == rank) &&
                (captures->items[i].count != sequence->count) == longer &&
                fits(captures, &captures->items[i], sequence, launches))
                fitting[count++] = i;
        if (count > 0)
            return count;
    }
    return 0;
}

/* Matches the replays, which must be sorted by their sequences. */
static bool match_sequences(struct capture_matches *matches, const struct captures *captures,
                            int64_t rank, const struct sequence *sequences,
                            const struct replays *replays, size_t *fitting,
                            const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0, turn = 0;
    for (size_t i = 0; i < replays->count; i++, turn++) {
        const struct sequence *sequence = &sequences[i];
        size_t *launches = matches->launches + replays->items[sequence->replay].first;
        if (i == 0 || !same_sequence(sequence - 1, sequence)) {
            count = find_fitting(captures, rank, sequence, fitting, launches);
            turn = 0;
        }
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        matches->matched[sequence->replay] =
            count > 0 &&
            fits(captures, &captures->items[fitting[turn % count]], sequence, launches);
    }
    return true;
}

bool captures_match(struct capture_matches *matches, const struct captures *captures,
                    const struct trace_member *member, const struct replays *replays,
                    const struct stopper *stopper, struct failure *failure)
{
    int64_t rank = -1; /* the member's own rank if it has captures, otherwise all (A15.3) */
    for (size_t i = 0; i < captures->count; i++)
        rank = captures->items[i].rank == member->rank ? member->rank : rank;
    struct sequence *sequences = memory_zeroed(replays->count, sizeof *sequences);
    uint32_t *kernels = memory_zeroed(replays->row_count, sizeof *kernels);
    size_t *fitting = memory_zeroed(captures->count, sizeof *fitting);
    matches->matched = memory_zeroed(replays->count, sizeof *matches->matched);
    matches->launches = memory_zeroed(replays->row_count, sizeof *matches->launches);
    bool done = (sequences && kernels && fitting && matches->matched && matches->launches) ||
                failure_memory(failure);
    for (size_t i = 0; done && i < replays->row_count; i++) {
        kernels[i] = kernel_of(captures, member->file, replays->rows[i]);
        done = stopper_goes_on(stopper, i, failure);
    }
    for (size_t i = 0; done && i < replays->count; i++)
        sequences[i] =
            (struct sequence){kernels + replays->items[i].first, replays->items[i].count, i};
    done = done &&
           sort_items(sequences, replays->count, sizeof *sequences, sequence_order, stopper,
                      failure) &&
           match_sequences(matches, captures, rank, sequences, replays, fitting, stopper, failure);
    memory_free(sequences);
    memory_free(kernels);
    memory_free(fitting);
    return done;
}

void capture_matches_clear(struct capture_matches *matches)
{
    memory_free(matches->matched);
    memory_free(matches->launches);
}
