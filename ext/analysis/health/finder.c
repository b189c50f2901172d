#include "finder.h"

#include "base/memory.h"
#include "base/sort.h"

void finding_begin(struct health_finder *finder, enum health_check check,
                   struct health_finding *finding)
{
    *finding = (struct health_finding){.check = check,
                                .severity = HEALTH_NOTE,
                                .first_step = NUMBER_NONE,
                                .last_step = NUMBER_NONE,
                                .of_steps = finder->step_count,
                                .row = ROW_NONE,
                                .ts = NUMBER_NONE};
    for (size_t i = 0; i < finder->member->steps->iteration_count; i++)
        finder->steps[i].told = false;
}

void finding_exemplify(struct health_finding *finding, uint32_t row, int64_t ts)
{
    if (finding->row == ROW_NONE) {
        finding->row = row;
        finding->ts = ts;
    }
}

void finding_tell_step(struct health_finder *finder, uint32_t step)
{
    if (step != STEP_NONE)
        finder->steps[step].told = true;
}

void finding_end(struct health_finder *finder, struct health_finding *finding)
{
    for (uint32_t i = 0; i < finder->member->steps->iteration_count; i++) {
        if (!finder->steps[i].told || !finder->steps[i].exists)
            continue;
        if (finding->steps++ == 0)
            finding->first_step = member_iteration(finder->member, i);
        finding->last_step = member_iteration(finder->member, i);
        finding->chosen = finding->chosen || finder->chosen[i];
    }
    finding->chosen = finding->chosen || finding->steps == 0;
    if (finding->count > 0)
        finder->health->items[finder->health->count++] = *finding;
}

static int pid_order(const void *a, const void *b)
{
    const struct identifier *x = a, *y = b;
    int order = COMPARE(x->kind, y->kind);
    return order ? order : COMPARE(x->value, y->value);
}

bool find_processes(struct health_finder *finder)
{
    const struct trace_file *file = finder->file;
    const struct columns *columns = &file->columns;
    const struct file_health *of = &file->health;
    struct identifier *pids = memory_items(of->launch_count, sizeof *pids);
    struct health_finding finding;
    size_t count = 0;
    uint32_t last = UINT32_MAX; /* track of the previous launch */
    bool done = pids || failure_memory(finder->failure);
    finding_begin(finder, HEALTH_SEVERAL_PROCESSES, &finding);
    for (size_t i = 0; done && i < of->launch_count; i++) { /* ordered by thread */
        uint32_t row = of->launches[i].row, track = row_place(columns, row)->track;
        if (track != last && columns->link[row] != ROW_NONE) {
            pids[count++] = file->tracks.items[track].pid;
            last = track;
        }
    }
    done = done &&
           sort_items(pids, count, sizeof *pids, pid_order, finder->stopper, finder->failure);
    for (size_t i = 0; done && i < count; i++)
        finding.total += i == 0 || pid_order(&pids[i - 1], &pids[i]) != 0;
    memory_free(pids);
    finding.count = finding.total > 1 && !file->labels ? finding.total : 0;
    finding.severity = HEALTH_WRONG;
    finding.host = true;
    finding_end(finder, &finding);
    return done;
}

bool find_early(struct health_finder *finder)
{
    const struct columns *columns = &finder->file->columns;
    struct health_finding finding;
    finding_begin(finder, HEALTH_BEFORE_LAUNCH, &finding);
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        uint32_t launch = columns->link[row];
        int64_t by;
        if (!stopper_goes_on(finder->stopper, row, finder->failure))
            return false;
        if (launch == ROW_NONE || columns->ts[row] == NUMBER_NONE ||
            columns->ts[launch] == NUMBER_NONE)
            continue;
        finding.total++;
        if (__builtin_sub_overflow(columns->ts[launch], columns->ts[row], &by) || by <= EARLY_NS)
            continue;
        finding.count++;
        finding.longest = by > finding.longest ? by : finding.longest;
        finding_exemplify(&finding, (uint32_t)row, columns->ts[row]);
        finding_tell_step(finder, step_of(finder->member->steps, row));
    }
    if (finding.count >= MANY_LEAST && finding.count >= finding.total / EARLY_PART)
        finding.severity = HEALTH_WRONG;
    finding_end(finder, &finding);
    return true;
}
