/*
** hang_summary: the rank that holds up a job, in at most twelve lines.
*/
#include <string.h>

#include "base/memory.h"
#include "call_job.h"
#include "functions/words/label_words.h"
#include "hang_lines.h"
#include "text/shown.h"

static const struct table_column columns_of_summary[] = {
    {"line", "INTEGER", "number of the line, from 1"},
    {"kind", "TEXT", "'verdict', 'cause', 'at', 'waiting' or 'caution'"},
    {"code", "TEXT", "what the line says, for programs, such as not_called; NULL: no code"},
    {"rank", "INTEGER", "the rank that the line is about, or the first of several; else NULL"},
    {"text", "TEXT", "the line, cut to 100 characters"},
    {"words", "TEXT", "the whole line"},
};

static const struct argument arguments_of_summary[] = {DUMPS_ARGUMENTS};

enum { MOST_LINES = 12, MOST_CHARACTERS = 100 };

/* FR24: removes the last causes until twelve lines remain. Causes and places are the lines [first,
** end). */
static void cut_causes(struct hang_lines *lines, size_t first, size_t end)
{
    size_t over = lines->count > MOST_LINES ? lines->count - MOST_LINES + 1 : 0, more = 0;
    struct writer text = {0};
    if (over == 0 || over >= end - first)
        return;
    for (size_t i = end - over; i < end; i++) {
        more += strcmp(lines->items[i].kind, "cause") == 0;
        memory_free(lines->items[i].words);
    }
    memmove(lines->items + end - over, lines->items + end,
            (lines->count - end) * sizeof *lines->items);
    lines->count -= over;
    write_integer(&text, (int64_t)more);
    write_string(&text, more == 1 ? " more cause" : " more causes");
    write_string(&text, ": see hang_ranks.");
    lines_add(lines, "cause", NULL, SIZE_MAX, &text);
    struct hang_line last = lines->items[lines->count - 1];
    memmove(lines->items + end - over + 1, lines->items + end - over,
            (lines->count - 1 - (end - over)) * sizeof *lines->items);
    lines->items[end - over] = last;
}

static void add_lines(struct result *result, const struct hang *hang)
{
    struct hang_lines lines = {.hang = hang};
    add_verdict(&lines);
    size_t first = lines.count;
    add_causes(&lines);
    size_t end = lines.count;
    add_waiting(&lines);
    add_cautions(&lines);
    if (lines.failure.code == FAILURE_NONE)
        cut_causes(&lines, first, end);
    if (lines.failure.code != FAILURE_NONE)
        result_lost(result);
    for (size_t i = 0; i < lines.count; i++) {
        const struct hang_line *line = &lines.items[i];
        struct writer text = {0};
        if (shown_first(line->words, line->length, MOST_CHARACTERS) < line->length)
            write_first(&text, line->words, line->length, MOST_CHARACTERS);
        else
            write_bytes(&text, line->words, line->length);
        result_integer(result, (int64_t)i + 1);
        result_string(result, line->kind);
        result_string(result, line->code);
        result_number(result, line->rank);
        result_written(result, &text);
        result_repaired(result, line->words, line->length);
    }
    lines_clear(&lines);
}

static int summary_produce(struct call *call, struct rows **rows)
{
    return call_hang_rows(call, rows, add_lines);
}

const struct table_function hang_summary_function = {
    .name = "hang_summary",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "A job hangs: which rank, what kind, which collective?",
    .text = "which rank holds up a hanging job, from the dumps of PyTorch's flight recorder",
    COLUMNS(columns_of_summary),
    ARGUMENTS(arguments_of_summary),
    .typical_rows = MOST_LINES,
    .produce = summary_produce,
};
