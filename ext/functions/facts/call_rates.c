#include "call_rates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "functions/words/label_words.h"
#include "sqlite/sql_function.h"

/* Writes the chosen ranks of a side as an argument. */
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

/* The same of its steps: those of the reference. */
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

/* Takes a text; NAME_NONE of NULL. */
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
    static const char *const sides[] = {"control", "test"};
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
                     side ? " UNION ALL " : "", side, sides[side]);
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
