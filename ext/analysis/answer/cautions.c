#include "cautions.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

struct caution *caution_add(struct cautions *cautions, enum caution_code code,
                            enum severity severity, size_t place)
{
    if (!MEMORY_GROW(cautions->items, cautions->capacity, cautions->count + 1))
        return NULL;
    struct caution *caution = &cautions->items[cautions->count++];
    *caution = (struct caution){
        .code = code, .severity = severity, .place = place, .ms = NAN, .is_said = true};
    return caution;
}

/* Whether a caution as a whole explains most of the difference (L11.6). */
static bool makes_most(const struct caution *caution, const struct cautions_request *request)
{
    bool of_step = caution->code == CAUTION_LONG_STEP || caution->code == CAUTION_OUTLIER;
    return caution->whole != 0 && caution->ms / caution->whole >= MOST_OF_DIFFERENCE &&
           (request->is_clear || fabs(caution->ms) >= MOST_OF_STEP * request->control_ms) &&
           (of_step || fabs(caution->ms) > request->largest) && !request->is_severe;
}

static int severity_order(const void *a, const void *b)
{
    const struct caution *x = a, *y = b;
    return x->severity != y->severity ? COMPARE(x->severity, y->severity)
                                      : COMPARE(x->place, y->place);
}

void cautions_choose(struct cautions *cautions, const struct cautions_request *request)
{
    struct caution *most = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < cautions->count; i++) {
        struct caution *caution = &cautions->items[i];
        if (!makes_most(caution, request))
            continue;
        bool more = !most || fabs(caution->ms) > fabs(most->ms) ||
                    (fabs(caution->ms) == fabs(most->ms) && severity_order(caution, most) < 0);
        most = more ? caution : most;
    }
    for (size_t i = 0; i < cautions->count; i++) {
        struct caution *caution = &cautions->items[i];
        caution->is_most = caution == most;
        caution->is_told =
            (caution->is_most || (caution->code == CAUTION_LOAD && request->tells_load)) &&
            !caution->is_vague;
        if (caution->code == CAUTION_LOAD && caution->is_told && caution->whole != 0 &&
            caution->ms / caution->whole > 1)
            caution->ms = caution->whole; /* L11.2 */
        if (caution->is_most && caution->severity > SEVERE_MOST)
            caution->severity = SEVERE_MOST;
        if (caution->is_most || caution->is_said)
            cautions->items[kept++] = *caution;
    }
    if (kept > 0)
        qsort(cautions->items, kept, sizeof *cautions->items, severity_order);
    cautions->count = kept < MOST_CAUTIONS ? kept : MOST_CAUTIONS;
}

void cautions_clear(struct cautions *cautions)
{
    memory_free(cautions->items);
    *cautions = (struct cautions){.count = 0};
}
