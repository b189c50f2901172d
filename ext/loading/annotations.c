#include "annotations.h"

#include "base/memory.h"

/* A user_annotation on the host. */
struct host_annotation {
    int64_t id;
    uint32_t name, row;
};

/* Device work that its correlation links to a launch. */
struct linked_work {
    int64_t start;
    uint32_t track, row;
};

static int host_order(const void *a, const void *b)
{
    const struct host_annotation *x = a, *y = b;
    int order = COMPARE(x->id, y->id);
    return order ? order : COMPARE(x->name, y->name);
}

static int work_order(const void *a, const void *b)
{
    const struct linked_work *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    return order ? order : COMPARE(x->start, y->start);
}

/* The only host annotation with this External id and name; ROW_NONE for none or several. */
static uint32_t only_host(const struct host_annotation *hosts, size_t count, int64_t id,
                          uint32_t name)
{
    struct host_annotation key = {id, name, 0};
    size_t i = 0;
    LOWER_BOUND(i, count, host_order(&hosts[i], &key) < 0);
    if (i == count || hosts[i].id != id || hosts[i].name != name)
        return ROW_NONE;
    bool more = i + 1 < count && hosts[i + 1].id == id && hosts[i + 1].name == name;
    return more ? ROW_NONE : hosts[i].row;
}

/* Collects the host annotations and applies rule 2. An annotation without a match keeps itself
** (rule 4). `hosts` has room for all externals. */
static bool go_by_host(struct trace_file *file, const struct external *externals, size_t count,
                       struct host_annotation *hosts, const struct stopper *stopper,
                       struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t host_count = 0, next = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = externals[i].row;
        if (!kind_is_device(columns->kind[row]) && columns->ts[row] != NUMBER_NONE &&
            columns->name[row] != NAME_NONE)
            hosts[host_count++] =
                (struct host_annotation){externals[i].id, columns->name[row], row};
    }
    if (!sort_items(hosts, host_count, sizeof *hosts, host_order, stopper, failure))
        return false;
    for (size_t i = 0; i < file->annotation_count; i++) {
        struct annotation *annotation = &file->annotations[i];
        while (next < count && externals[next].row < annotation->row)
            next++;
        if (next == count || externals[next].row != annotation->row)
            continue;
        uint32_t host =
            only_host(hosts, host_count, externals[next].id, columns->name[annotation->row]);
        if (host != ROW_NONE)
            annotation->by = host;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    return true;
}

/* The linked device work, sorted by track and start; NULL on failure. */
static struct linked_work *collect_work(const struct trace_file *file, size_t *count,
                                        const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    struct linked_work *work = NULL;
    size_t capacity = 0;
    *count = 0;
    bool done = MEMORY_GROW(work, capacity, 1) || failure_memory(failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (columns->kind[row] != KIND_WORK || columns->link[row] == ROW_NONE ||
            columns->ts[row] == NUMBER_NONE)
            continue;
        if (!MEMORY_GROW(work, capacity, *count + 1))
            done = failure_memory(failure);
        else
            work[(*count)++] = (struct linked_work){.start = columns->ts[row],
                                                    .track = row_place(columns, row)->track,
                                                    .row = (uint32_t)row};
    }
    if (done && sort_items(work, *count, sizeof *work, work_order, stopper, failure))
        return work;
    memory_free(work);
    return NULL;
}

/* Applies rule 3 to the annotations that rule 2 did not match. */
static bool go_by_work(struct trace_file *file, const struct stopper *stopper,
                       struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t count;
    struct linked_work *work = collect_work(file, &count, stopper, failure);
    bool done = work != NULL;
    for (size_t i = 0; i < file->annotation_count && done; i++) {
        struct annotation *annotation = &file->annotations[i];
        uint32_t row = annotation->row;
        done = stopper_goes_on(stopper, i, failure);
        if (annotation->by != row || columns->ts[row] == NUMBER_NONE)
            continue;
        struct linked_work key = {columns->ts[row], row_place(columns, row)->track, 0};
        size_t first = 0;
        LOWER_BOUND(first, count, work_order(&work[first], &key) < 0);
        if (first < count && work[first].track == key.track &&
            (uint64_t)work[first].start - (uint64_t)key.start <
                (uint64_t)(columns->dur[row] > 0 ? columns->dur[row] : 0))
            annotation->by = columns->link[work[first].row];
    }
    memory_free(work);
    return done;
}

bool annotations_find(struct trace_file *file, const struct external *externals, size_t count,
                      const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t alone = 0, capacity = 0;
    bool done = true;
    for (size_t row = columns_find(columns, 0, KIND_ANNOTATION); done && row < columns->count;
         row = columns_find(columns, row + 1, KIND_ANNOTATION)) {
        done = stopper_goes_on(stopper, file->annotation_count, failure);
        if (!MEMORY_GROW(file->annotations, capacity, file->annotation_count + 1))
            done = failure_memory(failure);
        else
            file->annotations[file->annotation_count++] =
                (struct annotation){(uint32_t)row, (uint32_t)row, ROW_NONE};
    }
    if (!done || file->annotation_count == 0)
        return done;
    struct host_annotation *hosts = memory_items(count, sizeof *hosts);
    done = hosts || failure_memory(failure);
    done = done && go_by_host(file, externals, count, hosts, stopper, failure);
    for (size_t i = 0; done && i < file->annotation_count; i++)
        alone += file->annotations[i].by == file->annotations[i].row;
    memory_free(hosts);
    return done && (alone == 0 || go_by_work(file, stopper, failure));
}

uint32_t annotation_by(const struct trace_file *file, uint32_t row)
{
    size_t i = 0;
    LOWER_BOUND(i, file->annotation_count, file->annotations[i].row < row);
    const struct annotation *annotation = &file->annotations[i];
    return annotation->named == ROW_NONE ? annotation->by : annotation->named;
}
