#include "call_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "functions/words/label_words.h"
#include "sqlite/sql_function.h"

/* Writes the chosen ranks of a side in the form of an argument. */
static void write_chosen_ranks(struct writer *text, const struct trace *trace)
{
    size_t count = 0;
    for (size_t r = 0; r < trace->rank_count; r++)
        for (size_t i = 0; i < trace->count; i++)
            if (trace->members[i].chosen && trace->members[i].rank_index == r) {
                write_string(text, count++ ? "," : "'[");
                write_integer(text, trace->ranks[r]);
                break;
            }
    write_string(text, "]'");
}

/* The same for its steps, numbered by the reference rank. */
static void write_chosen_steps(struct writer *text, const struct call_trace *opened)
{
    const struct trace_member *reference = trace_reference(&opened->trace);
    bool any = false;
    for (size_t i = 0; i < opened->trace.count && !opened->steps.everything; i++) {
        const struct trace_member *member = &opened->trace.members[i];
        const unsigned char *chosen = call_trace_steps(opened, i);
        if (!member->chosen || !chosen || member->rank_index != reference->rank_index)
            continue;
        for (uint32_t s = 0; s < member->steps->iteration_count; s++)
            if (chosen[s]) {
                write_string(text, any ? "," : "'[");
                write_integer(text, member_iteration(member, s));
                any = true;
            }
    }
    write_string(text, any ? "]'" : "'all'");
}

/* Interns a text; NAME_NONE for NULL. */
static bool take_name(struct names *names, sqlite3_stmt *row, int column, uint32_t *id)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    *id = text ? names_intern(names, text, (size_t)sqlite3_column_bytes(row, column)) : NAME_NONE;
    return !text || *id != NAME_NONE;
}

static double real_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(row, column);
}

static int take_rate(void *to, sqlite3_stmt *row)
{
    struct cause_rates *rates = to;
    if (!MEMORY_GROW(rates->items, rates->capacity, rates->count + 1))
        return SQLITE_NOMEM;
    struct collective_rate *rate = &rates->items[rates->count++];
    *rate = (struct collective_rate){.side = sqlite3_column_int(row, 0),
                                     .channels = sqlite3_column_int64(row, 6),
                                     .calls = sqlite3_column_double(row, 7),
                                     .ns = 1000 * sqlite3_column_double(row, 8),
                                     .bytes = real_at(row, 9),
                                     .bus = real_at(row, 10),
                                     .with_waits = sqlite3_column_int(row, 11)};
    return take_name(&rates->names, row, 1, &rate->group) &&
                   take_name(&rates->names, row, 2, &rate->ranks) &&
                   take_name(&rates->names, row, 3, &rate->name) &&
                   take_name(&rates->names, row, 4, &rate->algorithm) &&
                   take_name(&rates->names, row, 5, &rate->protocol)
               ? SQLITE_OK
               : SQLITE_NOMEM;
}

bool call_rates_find(struct call *call, struct call_causes *found)
{
    struct cause_rates *rates = &found->rates;
    struct writer sql = {0};
    if (rates->read || !cause_rates_wanted(&found->causes))
        return true;
    rates->read = true;
    for (int side = 0; side < 2; side++) {
        const struct call_trace *opened = &found->opened[side];
        write_format(&sql,
                     "%sSELECT %d, process_group, group_ranks, name, algorithm, protocol, channels,"
                     " calls, transfer, bytes, busbw_gbs / algbw_gbs, with_waits"
                     " FROM \"tracediff:trace_collective_rates\"(:%s, ",
                     side ? " UNION ALL " : "", side, side_words[side]);
        write_chosen_ranks(&sql, &opened->trace);
        write_string(&sql, ", ");
        write_chosen_steps(&sql, opened);
        write_string(&sql, ", :steps)");
        rates->steps[side] = (double)found->causes.windows[side];
    }
    write_bytes(&sql, "", 1);
    bool done = (!sql.failed || failure_memory(&call->failure)) && sql_enter(call) == SQLITE_OK;
    if (done) {
        done = sql_run(call, sql.bytes, take_rate, rates) == SQLITE_OK;
        sql_leave(call);
    }
    writer_clear(&sql);
    return done;
}

/* The bandwidth of a process group on both sides. */
struct group_link {
    const struct collective_rate *rate; /* one of the group's rates */
    double ns[2], bytes[2], calls[2];   /* per step */
    double kept; /* bandwidth in test divided by bandwidth in control */
};

static bool is_of(const struct collective_rate *a, const struct collective_rate *b)
{
    return a->group == b->group && a->ranks == b->ranks;
}

/* Sums up a group. False: a side lacks it, or it is too small to judge. */
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

/* Lists the ranks that all groups with lost bandwidth share. With `alone`, leaves out ranks of
** other groups. Returns the number of ranks. */
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
