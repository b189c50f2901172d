#include "trace_findings.h"

#include "analysis/job/job_clocks.h"
#include "base/memory.h"
#include "base/sort.h"

static bool add(struct trace_findings *found, const struct health_finding *finding,
                const struct trace_member *member, int64_t rank, struct failure *failure)
{
    if (!MEMORY_GROW(found->items, found->capacity, found->count + 1))
        return failure_memory(failure);
    found->items[found->count++] = (struct trace_finding){*finding, member, rank};
    return true;
}

/* Adds a note without time, step or event. */
static bool add_note(struct trace_findings *found, struct health_finding finding,
                     const struct trace_member *member, int64_t rank, struct failure *failure)
{
    finding.severity = HEALTH_NOTE;
    finding.first_step = finding.last_step = finding.ts = NUMBER_NONE;
    finding.row = ROW_NONE;
    finding.chosen = true;
    return finding.count == 0 || add(found, &finding, member, rank, failure);
}

/* Adds the note that a process has several files (I11), for its earliest file. */
static bool add_cycles(struct trace_findings *found, const struct trace *trace, size_t first,
                       struct failure *failure)
{
    struct health_finding finding = {.check = HEALTH_CYCLES};
    const struct trace_member *earliest = &trace->members[first];
    if (!earliest->is_trace || earliest->rank_source != RANK_PROCESS || earliest->process != first)
        return true;
    for (size_t i = first; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (!member->is_trace || member->rank_source != RANK_PROCESS || member->process != first)
            continue;
        finding.count++;
        if (member->file->first < earliest->file->first)
            earliest = member;
    }
    finding.total = finding.count;
    return add_note(found, finding, earliest, earliest->rank, failure);
}

/* Adds notes about files with several ranks, and about copies (I10, I11). */
static bool add_file(struct trace_findings *found, const struct trace_member *member,
                     struct failure *failure)
{
    const struct trace_file *file = member->file;
    struct health_finding finding = {.labelled = file};
    if (!file || (file->labels && member->part > 0))
        return true;
    if (member->copy != COPY_NONE) {
        bool capture = member->copy == COPY_OF_CAPTURE;
        finding.check = HEALTH_COPY;
        finding.other = member->copy;
        finding.count = capture ? file->health.calls : (int64_t)file->part_count;
    } else if (member->is_trace && file->labels) {
        finding.check = HEALTH_RANKS;
        finding.count = (int64_t)file->part_count;
    }
    finding.total = finding.count;
    return add_note(found, finding, member, NUMBER_NONE, failure);
}

/* Adds the note on ranks whose clock nothing ties (I12). */
static bool add_untied(struct trace_findings *found, const struct trace *trace,
                       const struct stopper *stopper, struct failure *failure)
{
    struct health_finding finding = {.check = HEALTH_NOT_TIED};
    const struct trace_member *reference = trace_reference(trace);
    if (trace->rank_count < 2 || !reference)
        return true;
    finding.other = reference->rank;
    return job_untied(trace, true, &finding.total, &finding.count, stopper, failure) &&
           add_note(found, finding, NULL, NUMBER_NONE, failure);
}

static int found_order(const void *a, const void *b)
{
    const struct trace_finding *x = a, *y = b;
    int order = COMPARE(x->finding.severity, y->finding.severity);
    order = order ? order : COMPARE(x->rank, y->rank); /* NUMBER_NONE is the lowest */
    order = order ? order : COMPARE(x->member, y->member);
    order = order ? order : COMPARE(x->finding.check, y->finding.check);
    return order ? order : COMPARE(x->finding.host, y->finding.host);
}

bool trace_notes_find(struct trace_findings *found, const struct trace *trace,
                      struct failure *failure)
{
    bool done = true;
    for (size_t i = 0; done && i < trace->count; i++)
        done = add_cycles(found, trace, i, failure) &&
               add_file(found, &trace->members[i], failure);
    return done;
}

bool trace_findings_find(struct trace_findings *found, const struct trace *trace,
                         const struct stopper *stopper, struct failure *failure)
{
    bool done = add_untied(found, trace, stopper, failure) &&
                trace_notes_find(found, trace, failure);
    for (size_t i = 0; done && i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        struct health health = {.count = 0};
        done = !member->chosen || health_find(&health, member, NULL, stopper, failure);
        for (size_t j = 0; done && j < health.count; j++)
            done = add(found, &health.items[j], member, member->rank, failure);
    }
    return done && (found->count == 0 ||
                    sort_items(found->items, found->count, sizeof *found->items, found_order,
                               stopper, failure));
}

void trace_findings_clear(struct trace_findings *found)
{
    memory_free(found->items);
    *found = (struct trace_findings){.count = 0};
}
