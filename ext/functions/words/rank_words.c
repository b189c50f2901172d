#include "rank_words.h"

#include "analysis/answer/thresholds.h"

static size_t count_ranks(const struct common_ranks *common, enum left_out why, int side)
{
    size_t count = 0;
    for (size_t i = 0; i < common->count; i++)
        count += common->items[i].why == why && common->items[i].side == side;
    return count;
}

/* Writes the ranks that are excluded for one reason: their numbers, or their count if there are
** many. */
static void write_numbers(struct writer *text, const struct common_ranks *common, enum left_out why,
                        int side)
{
    size_t count = count_ranks(common, why, side), named = 0;
    if (count > MOST_NAMED_RANKS) {
        write_integer(text, (int64_t)count);
        write_string(text, " ranks");
    } else {
        write_string(text, count > 1 ? "ranks " : "rank ");
    }
    for (size_t i = 0; i < common->count && count <= MOST_NAMED_RANKS; i++)
        if (common->items[i].why == why && common->items[i].side == side) {
            write_string(text, named == 0 ? "" : named + 1 < count ? ", " : " and ");
            write_integer(text, common->items[i].rank);
            named++;
        }
}

static void write_reason(struct writer *text, const struct common_ranks *common, enum left_out why,
                         int side)
{
    static const char *const reasons[] = {[LEFT_ALONE] = "only in ",
                                          [LEFT_INCOMPLETE] = "incomplete in ",
                                          [LEFT_CYCLES] = "steps in two files of ",
                                          [LEFT_STEPS] = "no steps in ",
                                          [LEFT_PHASE] = "no such phase in "};
    if (count_ranks(common, why, side) == 0)
        return;
    write_string(text, text->length ? ", " : "left out of the job: ");
    write_numbers(text, common, why, side);
    write_string(text, " (");
    write_string(text, reasons[why]);
    write_string(text, side ? "test)" : "control)");
}

void write_left_out(struct writer *text, const struct common_ranks *common)
{
    for (int why = LEFT_NOT + 1; why < LEFT_COUNT; why++)
        for (int side = 0; side < 2; side++)
            write_reason(text, common, (enum left_out)why, side);
}

void write_alone(struct writer *text, const struct common_ranks *common)
{
    bool first = true;
    for (int side = 0; side < 2; side++) {
        if (count_ranks(common, LEFT_ALONE, side) == 0)
            continue;
        write_string(text, first ? "" : ", ");
        write_numbers(text, common, LEFT_ALONE, side);
        write_string(text, side ? " only in test" : " only in control");
        first = false;
    }
}

void write_own_rank(struct writer *text, const struct own_ranks *own)
{
    if (!own->there)
        return;
    write_string(text, "rank ");
    write_integer(text, own->rank);
    write_string(text, ": ");
}

void write_own_ranks(struct writer *text, const struct own_ranks *own)
{
    const int64_t counts[] = {own->slower, own->faster, own->equal,
                              own->count - own->slower - own->faster - own->equal};
    static const char *const words[] = {" slower", " faster", " equal", " not clear"};
    const char *before = " ranks is compared with itself: ";
    write_string(text, "each of ");
    write_integer(text, own->count);
    for (int i = 0; i < 4; i++) {
        if (counts[i] == 0)
            continue;
        write_string(text, before);
        write_integer(text, counts[i]);
        write_string(text, words[i]);
        before = ", ";
    }
}

void write_ranks(struct writer *text, const struct selection *ranks)
{
    bool one = ranks->count == 1 && !ranks->job;
    write_string(text, ranks->job ? "job" : ranks->kind == SELECT_ALL ? "all" : "");
    if (ranks->kind != SELECT_LIST)
        return;
    write_string(text, one ? "" : ranks->job ? " [" : "[");
    for (size_t i = 0; i < ranks->count; i++) {
        write_string(text, i ? "," : "");
        write_integer(text, ranks->values[i]);
    }
    write_string(text, one ? "" : "]");
}
