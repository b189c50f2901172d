#include "undo_owners.h"

#include "analysis/causes/cause_members.h"
#include "analysis/parts/busy.h"
#include "base/memory.h"

/* True if the lags of a cause's parts can be changed. Time that moved to other parts may prevent
** that (E9.11). */
static bool has_lags(const struct cause *cause)
{
    return cause->kind != CAUSE_SYNCHRONIZED && cause->kind != CAUSE_MOVED &&
           10 * cause->shifted <= wide_size(cause->diff);
}

/* True if any file of the trace has device work (A1, A8). */
static bool has_work(const struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->trace->count; i++)
        if (graph->rows[i].begins && busy_any(&graph->trace->members[i].file->columns))
            return true;
    return false;
}

/* Finds the classes of step time (A3 to A8) that a part may belong to. Returns their number. */
static int classes_of(const struct sim_part *part, bool work, enum step_class *classes)
{
    enum step_class own = part->names.step_class;
    classes[0] = own;
    if (part->what == SIM_LAUNCH)
        classes[0] = CLASS_IDLE_WAIT;
    if (part->what != SIM_HOST || !work)
        return 1;
    classes[0] = own == CLASS_CALL   ? CLASS_IDLE_CALL
                 : own == CLASS_HOST ? CLASS_IDLE_HOST
                                     : CLASS_IDLE_UNRECORDED;
    classes[OWNER_LAUNCHING] = CLASS_IDLE_LAUNCH;
    return own == CLASS_CALL ? 2 : 1;
}

struct undo_causes *undo_causes_find(const struct sim_parts *parts, int side, struct causes *causes,
                                     const struct families *families,
                                     const struct stopper *stopper, struct failure *failure)
{
    const struct cause_side of = {NULL, &parts->names};
    struct undo_causes *found = memory_filled(parts->count + 1, sizeof *found);
    uint32_t *cause_of = causes_of_parts(causes);
    char *text = memory_allocate(cause_text_room(&of));
    bool work = has_work(parts->graph), done = found && text && cause_of;
    done = done || failure_memory(failure);
    for (size_t i = 0; done && i < parts->count; i++) {
        const struct sim_part *part = &parts->items[i];
        enum step_class classes[MOST_OWNERS];
        int count = classes_of(part, work, classes);
        for (int c = 0; done && c < count; c++) {
            struct attributed names = part->names;
            size_t index;
            names.step_class = classes[c];
            if (part->what == SIM_HOST && part->names.step_class != CLASS_HOST)
                names.name[LEVEL_OP] = part->names.name[LEVEL_KERNEL];
            if (names.step_class == CLASS_IDLE_UNRECORDED || names.step_class == CLASS_UNRECORDED)
                if (names.name[LEVEL_OP] == NAME_NONE)
                    continue;
            done = cause_parts_locate(causes->parts, causes, &of, families, side, &names, text,
                                      &index) ||
                   failure_memory(failure);
            uint32_t cause = done && index < causes->parts->count ? cause_of[index] : UINT32_MAX;
            if (cause != UINT32_MAX && has_lags(&causes->items[cause]))
                found[i].items[c] = cause;
        }
        done = done && stopper_goes_on(stopper, i, failure);
    }
    memory_free(cause_of);
    memory_free(text);
    if (done)
        return found;
    memory_free(found);
    return NULL;
}
