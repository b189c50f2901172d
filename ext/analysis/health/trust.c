#include "trust.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

/* share of device time from which work without a launch is a caution (I16) */
#define NO_LAUNCH_PART 0.05

/* tolerance of ratios around the factor of a unit (I15.2) */
#define UNIT_TOLERANCE 0.1

/* Returns whether a note is also a caution (I16). */
static bool is_said(const struct health_finding *finding)
{
    return finding->severity == HEALTH_NOTE &&
           (finding->check == HEALTH_TOO_LONG || finding->check == HEALTH_END ||
            finding->check == HEALTH_CYCLES || finding->check == HEALTH_COPY ||
            (finding->check == HEALTH_NO_LAUNCH &&
             (double)finding->time >= NO_LAUNCH_PART * (double)finding->other));
}

/* Ranks items for J2.11: notes do not matter; findings about compared steps come first. */
static int matters(const struct trust_item *item)
{
    return item->decides ? 2 : item->finding.severity != HEALTH_NOTE;
}

void trust_add(struct trust *trust, int side, int64_t rank, const struct health *health,
               bool of_host)
{
    for (size_t i = 0; i < health->count; i++) {
        const struct health_finding *finding = &health->items[i];
        struct trust_item item = {.code = TRUST_FINDING,
                                  .side = side,
                                  .decides = finding->severity != HEALTH_NOTE &&
                                             finding->chosen && (!of_host || finding->host),
                                  .is_said = is_said(finding),
                                  .rank = rank,
                                  .finding = *finding};
        size_t at = 0;
        while (at < trust->count && (trust->items[at].code != TRUST_FINDING ||
                                     trust->items[at].side != side ||
                                     trust->items[at].finding.check != finding->check ||
                                     trust->items[at].finding.host != finding->host))
            at++;
        const struct trust_item *now = &trust->items[at];
        if (at == trust->count)
            trust->count++;
        else if (matters(&item) < matters(now) ||
                 (matters(&item) == matters(now) && rank >= now->rank))
            continue;
        trust->items[at] = item;
    }
}

static int ratio_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return COMPARE(*x, *y);
}

int64_t trust_unit(double *ratios, size_t count)
{
    if (count < UNIT_LEAST)
        return 0;
    qsort(ratios, count, sizeof *ratios, ratio_order);
    double middle = ratios[(count - 1) / 2], larger = fmax(middle, 1 / middle);
    for (int64_t unit = 1000; unit <= 1000000; unit *= 1000)
        if (larger >= (double)unit * (1 - UNIT_TOLERANCE) &&
            larger <= (double)unit * (1 + UNIT_TOLERANCE))
            return middle > 1 ? unit : -unit;
    return 0;
}

static int trust_order(const void *a, const void *b)
{
    const struct trust_item *x = a, *y = b;
    int order = COMPARE(x->code, y->code);
    if (order == 0 && x->code == TRUST_FINDING) {
        order = COMPARE(y->side, x->side);
        order = order ? order : COMPARE(x->finding.severity, y->finding.severity);
        order = order ? order : COMPARE(x->finding.check, y->finding.check);
    }
    return order ? order : COMPARE(x->finding.host, y->finding.host);
}

void trust_finish(struct trust *trust, const bool one_rank[2])
{
    qsort(trust->items, trust->count, sizeof *trust->items, trust_order);
    for (size_t i = 0; i < trust->count; i++)
        if (one_rank[trust->items[i].side])
            trust->items[i].rank = NUMBER_NONE;
}

const struct trust_item *trust_decides(const struct trust *trust)
{
    for (size_t i = 0; i < trust->count; i++)
        if (trust->items[i].decides)
            return &trust->items[i];
    return NULL;
}
