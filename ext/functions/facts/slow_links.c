#include "slow_links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "functions/words/label_words.h"

/* A process group on both sides. */
struct group_link {
    const struct collective_rate *rate; /* one of it */
    double ns[2], bytes[2], calls[2];   /* per step */
    double kept; /* test's bandwidth by control's */
};

static bool is_of(const struct collective_rate *a, const struct collective_rate *b)
{
    return a->group == b->group && a->ranks == b->ranks;
}

/* Sums up a group. False: a side lacks it, or it is too small to tell. */
static bool sum_up(struct group_link *link, const struct cause_rates *rates, double whole)
{
    for (size_t i = 0; i < rates->count; i++) {
        const struct collective_rate *rate = &rates->items[i];
        if (!is_of(rate, link->rate))
            continue;
        link->ns[rate->side] += rate->ns / rates->steps[rate->side];
        link->bytes[rate->side] += rate->bytes / rates->steps[rate->side];
        link->calls[rate->side] += rate->calls / rates->steps[rate->side];
    }
    const double *of = isnan(link->bytes[0] + link->bytes[1]) ? link->calls : link->bytes;
    if (!(link->ns[0] > 0 && link->ns[1] > 0 && of[0] > 0 && of[1] > 0) ||
        fmax(link->ns[0], link->ns[1]) < LINK_LEAST * whole)
        return false;
    link->kept = of[1] / link->ns[1] / (of[0] / link->ns[0]);
    return true;
}

static size_t list_links(struct group_link *links, const struct cause_rates *rates, double whole)
{
    size_t count = 0;
    for (size_t i = 0; i < rates->count; i++) {
        const struct collective_rate *rate = &rates->items[i];
        bool seen = rate->with_waits || rate->side == 1 || rate->ranks == NAME_NONE ||
                    !strchr(rates->names.items[rate->ranks].text, ',');
        for (size_t j = 0; j < i && !seen; j++)
            seen = rates->items[j].side == 0 && is_of(&rates->items[j], rate);
        links[count] = (struct group_link){.rate = rate};
        count += !seen && sum_up(&links[count], rates, whole);
    }
    return count;
}

/* Lists the ranks that all groups that lost have, without those that another group has, too, if
** some are left. Returns how many they are. */
static size_t list_ranks(const struct group_link *links, size_t count,
                         const struct cause_rates *rates, const struct group_link *lost,
                         bool alone, long *ranks)
{
    const char *at = rates->names.items[lost->rate->ranks].text;
    size_t found = 0;
    char *end;
    for (; found <= MOST_NAMED_RANKS && (*at == '[' || *at == ','); at = end) {
        long rank = strtol(at + 1, &end, 10);
        bool is = true;
        for (size_t i = 0; i < count && is; i++) {
            bool has = collective_rate_has(rates, links[i].rate, rank);
            is = links[i].kept < LINK_KEEPS ? has : !(alone && has);
        }
        if (is)
            ranks[found++] = rank;
    }
    return found;
}

static void write_links(struct writer *text, const struct group_link *links, size_t count,
                        const struct cause_rates *rates)
{
    const struct group_link *lost = NULL;
    double least = INFINITY, most = 0, kept = 1, others = 0;
    size_t slow = 0;
    long ranks[MOST_NAMED_RANKS + 1];
    for (size_t i = 0; i < count; i++) {
        if (links[i].kept >= LINK_KEEPS) {
            others += links[i].kept;
            continue;
        }
        lost = &links[i];
        slow++;
        kept = fmin(kept, links[i].kept);
        least = fmin(least, links[i].kept);
        most = fmax(most, links[i].kept);
    }
    if (slow == 0 || count < 2)
        return;
    if (slow == count) {
        if (most - least <= (1 - LINK_KEEPS) * most)
            write_format(text, "all %lld process groups have %.1f times the bandwidth: the whole"
                               " network is slower", (long long)count, (least + most) / 2);
        return;
    }
    size_t found = list_ranks(links, count, rates, lost, true, ranks);
    if (found == 0)
        found = list_ranks(links, count, rates, lost, false, ranks);
    if (found > MOST_NAMED_RANKS && slow == 1) {
        const struct name *group = &rates->names.items[lost->rate->group];
        size_t members = 1;
        for (const char *at = rates->names.items[lost->rate->ranks].text; *at; at++)
            members += *at == ',';
        write_string(text, "process group ");
        write_bytes(text, group->text, group->length);
        write_format(text, " with %lld ranks has %.1f times the bandwidth, others %.1f",
                     (long long)members, kept, others / (double)(count - slow));
    }
    if (found == 0 || found > MOST_NAMED_RANKS)
        return;
    write_string(text, "groups with rank");
    for (size_t i = 0; i < found; i++)
        write_format(text, "%s%ld",
                     i == 0           ? (found > 1 ? "s " : " ")
                     : i + 1 == found ? " and "
                                      : ", ",
                     ranks[i]);
    write_format(text, " have %.1f times the bandwidth, others %.1f: look at %s", kept,
                 others / (double)(count - slow), found > 1 ? "their links" : "its link");
}

void write_slow_links(struct writer *text, const struct causes *causes,
                      const struct cause_rates *rates)
{
    double whole = fabs((double)causes->diff / (double)causes->windows[0] /
                        (double)causes->windows[1]);
    struct group_link *links = memory_items(rates->count + 1, sizeof *links);
    if (!links) {
        text->failed = true;
        return;
    }
    if (causes->diff > 0)
        write_links(text, links, list_links(links, rates, whole), rates);
    memory_free(links);
}
