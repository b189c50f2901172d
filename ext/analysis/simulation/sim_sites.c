#include "sim_sites.h"

#include "base/memory.h"

static int site_order(const void *a, const void *b)
{
    const struct sim_site *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    order = order ? order : COMPARE(x->thread, y->thread);
    order = order ? order : COMPARE(x->number, y->number);
    order = order ? order : COMPARE(x->stream, y->stream);
    return order ? order : COMPARE(x->other, y->other);
}

bool sim_sites_add(struct sim_sites *sites, const struct sim_site *site, struct failure *failure)
{
    if (!MEMORY_GROW(sites->items, sites->capacity, sites->count + 1))
        return failure_memory(failure);
    sites->items[sites->count++] = *site;
    sites->sorted = false;
    return true;
}

bool sim_sites_finish(struct sim_sites *sites, const struct stopper *stopper,
                      struct failure *failure)
{
    size_t kept = 0;
    if (sites->sorted)
        return true;
    if (!sort_items(sites->items, sites->count, sizeof *sites->items, site_order, stopper,
                    failure))
        return false;
    for (size_t i = 0; i < sites->count; i++) {
        struct sim_site *last = &sites->items[kept - (kept > 0)];
        if (kept == 0 || site_order(last, &sites->items[i]) != 0)
            sites->items[kept++] = sites->items[i];
        else if (sites->items[i].back > last->back)
            last->back = sites->items[i].back;
    }
    sites->count = kept;
    sites->sorted = true;
    return true;
}

uint64_t sim_sites_back(const struct sim_sites *sites, const struct sim_site *site)
{
    size_t i = 0;
    LOWER_BOUND(i, sites->count, site_order(&sites->items[i], site) < 0);
    return sites->items[i].back;
}

void sim_sites_clear(struct sim_sites *sites)
{
    memory_free(sites->items);
    *sites = (struct sim_sites){.count = 0};
}
