/*
** Scalar functions.
*/
#include <math.h>

#include "analysis/parts/known_file.h"
#include "naming/label.h"
#include "chart/page.h"
#include "base/memory.h"
#include "source/source.h"
#include "sqlite/connection.h"
#include "aggregates.h"
#include "functions/words/class_words.h"
#include "naming/short_name.h"
#include "version.h"

static void versionCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_text(context, "v" TRACEDIFF_VERSION, -1, SQLITE_STATIC);
}

static void debugCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    char *text = sqlite3_mprintf("tracediff v%s, commit %s, built with %s for SQLite %s or newer, "
                                 "gzip by %s, %s, running on SQLite %s, files attributed: %llu",
                                 TRACEDIFF_VERSION, TRACEDIFF_COMMIT, TRACEDIFF_COMPILER,
                                 TRACEDIFF_OLDEST_SQLITE, source_decoder(),
                                 page_has_library() ? "charts by Plotly" : "no charts",
                                 sqlite3_libversion(), (unsigned long long)known_files_made());
    if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

/* Returns the renamed text; NULL gives NULL, and other values are converted to text. */
static void put_renamed(sqlite3_context *context, sqlite3_value *value,
                        size_t (*change)(const char *name, size_t length, char *to))
{
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return;
    const char *name = (const char *)sqlite3_value_text(value);
    size_t length = (size_t)sqlite3_value_bytes(value);
    char *to = name ? memory_allocate(length + 1) : NULL;
    if (to)
        sqlite3_result_text64(context, to, change(name, length, to), memory_free, SQLITE_UTF8);
    else
        sqlite3_result_error_nomem(context);
}

static void shortNameCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    put_renamed(context, values[0], name_short);
}

static void stableNameCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    put_renamed(context, values[0], name_stable);
}

static void labelCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    const char *name = (const char *)sqlite3_value_text(values[0]);
    size_t length = (size_t)sqlite3_value_bytes(values[0]);
    char *to = name ? memory_allocate(2 * length + LABEL_ROOM) : NULL;
    if (to)
        sqlite3_result_text64(context, to, label_write(name, length, to + length + LABEL_ROOM, to),
                              memory_free, SQLITE_UTF8);
    else
        sqlite3_result_error_nomem(context);
}

static void kernelTypeCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct connection *connection = sqlite3_user_data(context);
    const char *texts[2] = {NULL, NULL};
    size_t lengths[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            continue;
        texts[i] = (const char *)sqlite3_value_text(values[i]);
        lengths[i] = (size_t)sqlite3_value_bytes(values[i]);
        if (!texts[i]) {
            sqlite3_result_error_nomem(context);
            return;
        }
    }
    if (texts[0])
        sqlite3_result_text(context,
                            kernel_type_name(kernel_types_find(&connection->kernel_types, texts[0],
                                                               lengths[0], texts[1], lengths[1])),
                            -1, SQLITE_STATIC);
}

static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

static void repeat(struct writer *to, const char *cell, int times)
{
    while (times-- > 0)
        write_string(to, cell);
}

/* Counts the filled pieces of a side; a cell has `parts` pieces. */
static int pieces(double value, double greatest, int width, int parts)
{
    double share = greatest > 0 ? fabs(value) / greatest : value != 0;
    if (!(share < 1))
        return width * parts;
    int filled = (int)nearbyint(share * width * parts);
    return filled == 0 && value != 0 ? 1 : filled;
}

/* Draws a bar as text: `width` cells for negative values, the axis, and `width` cells for positive
** values. `greatest` must not be negative.
** 1. The length is a multiple of an eighth of a cell to the right, and of a half to the left,
**    because Unicode has no finer blocks there. In ASCII it is in whole cells.
** 2. A value other than 0 has at least the smallest piece.
** 3. A value beyond the greatest fills its side, and `>` or `<` marks its end. */
static void write_bar(struct writer *to, double value, double greatest, int width, bool ascii)
{
    bool beyond = fabs(value) > greatest, left = value < 0;
    int parts = ascii ? 1 : left ? 2 : 8, filled = pieces(value, greatest, width, parts);
    int cells = filled / parts - beyond, rest = filled % parts;
    int empty = width - cells - beyond - (rest > 0);
    const char *full = ascii ? "#" : "█", *axis = ascii ? "|" : "│";
    if (left) {
        repeat(to, " ", empty);
        repeat(to, "<", beyond);
        repeat(to, "▐", rest > 0);
        repeat(to, full, cells);
        write_string(to, axis);
        repeat(to, " ", width);
        return;
    }
    repeat(to, " ", width);
    write_string(to, axis);
    repeat(to, full, cells);
    write_string(to, eighths[rest]);
    repeat(to, ">", beyond);
    repeat(to, " ", empty);
}

/* Returns NULL for an unknown class. */
static void classWordCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *step_class = (const char *)sqlite3_value_text(values[0]);
    const char *kind = count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL;
    sqlite3_result_text(context, kind ? cause_word(kind, step_class) : class_word(step_class), -1,
                        SQLITE_STATIC);
}

static const char bar_name[] = "trace_bar";

/* A NULL value or maximum gives NULL; NULL for another argument is its default. */
static void barCall(sqlite3_context *context, int count, sqlite3_value **values)
{
    enum { VALUE, MAX, WIDTH, ASCII, WIDEST = 500 };
    int types[] = {SQLITE_NULL, SQLITE_NULL, SQLITE_NULL, SQLITE_NULL};
    struct writer bar = {0};
    sqlite3_int64 width = 10, ascii = 0;
    for (int i = 0; i < count; i++)
        types[i] = sqlite3_value_type(values[i]);
    if (types[VALUE] == SQLITE_NULL || types[MAX] == SQLITE_NULL)
        return;
    for (int i = 0; i <= MAX; i++)
        if (types[i] != SQLITE_INTEGER && types[i] != SQLITE_FLOAT) {
            function_fail(context, bar_name,
                          i == VALUE ? "value must be a number" : "max must be a number");
            return;
        }
    if (types[WIDTH] != SQLITE_NULL)
        width = types[WIDTH] == SQLITE_INTEGER ? sqlite3_value_int64(values[WIDTH]) : 0;
    if (types[ASCII] != SQLITE_NULL)
        ascii = types[ASCII] == SQLITE_INTEGER ? sqlite3_value_int64(values[ASCII]) : -1;
    double value = sqlite3_value_double(values[VALUE]), max = sqlite3_value_double(values[MAX]);
    if (max < 0)
        function_fail(context, bar_name, "max must not be negative");
    else if (width < 1 || width > WIDEST)
        function_fail(context, bar_name, "width must be an integer from 1 to 500");
    else if (ascii != 0 && ascii != 1)
        function_fail(context, bar_name, "ascii must be 0 or 1");
    else
        write_bar(&bar, value, max, (int)width, ascii != 0);
    if (bar.failed)
        sqlite3_result_error_nomem(context);
    else if (bar.length > 0)
        sqlite3_result_text64(context, bar.bytes, bar.length, memory_free, SQLITE_UTF8);
    if (bar.failed)
        writer_clear(&bar);
}

#define NAME {"name", TAKES_TEXT, true, "name of an operator, a kernel or a Python frame"}

const struct function scalars[] = {
    {.name = "trace_short_name",
     .family = FAMILY_HELPERS,
     .question = "What is a name without template arguments and parameters?",
     .text = "the name without template arguments, parameters and return type",
     .arguments = {NAME},
     .call = shortNameCall},
    {.name = "trace_stable_name",
     .family = FAMILY_HELPERS,
     .question = "What is a name without parts that vary from run to run?",
     .text = "the name without the parts that vary from run to run",
     .arguments = {NAME},
     .call = stableNameCall},
    {.name = "trace_label",
     .family = FAMILY_HELPERS,
     .question = "How do people read this long name of a kernel?",
     .text =
         "a readable name: trace_short_name without the parts that all names of its kind share",
     .arguments = {NAME},
     .call = labelCall},
    {.name = "trace_kernel_type",
     .family = FAMILY_HELPERS,
     .question = "Is it computation, communication, memory work, or none?",
     .text = "COMPUTATION, COMMUNICATION or MEMORY; NULL if it is not device work",
     .arguments = {NAME, {"cat", TAKES_TEXT, false,
         "category; if NULL, the name alone decides; default NULL"}},
     .call = kernelTypeCall},
    {.name = "trace_class_word",
     .family = FAMILY_HELPERS,
     .question = "How do people call this class of a step's time?",
     .text =
         "one or two words for a class of step time, for example communication for comm; NULL for "
         "an unknown class",
     .arguments = {{"class", TAKES_TEXT, true, "class of trace_step_time or trace_step_causes"},
                   {"kind", TAKES_TEXT, false,
                    "kind of the cause in trace_step_causes; default none"}},
     .call = classWordCall},
    {.name = bar_name,
     .family = FAMILY_HELPERS,
     .question = "How is a number drawn as a bar in the shell?",
     .text = "a value as a bar of text, to the right of an axis, or to the left if negative",
     .arguments = {{"value", TAKES_REAL, true, "length of the bar"},
                   {"max", TAKES_REAL, true,
                    "value that fills one side; a longer bar ends in > or <"},
                   {"width", TAKES_INTEGER, false, "characters per side, 1 to 500; default 10"},
                   {"ascii", TAKES_INTEGER, false,
                    "1: draw with # and |; 0: with block characters; default 0"}},
     .call = barCall},
    {.name = "tracediff_version",
     .family = FAMILY_HELPERS,
     .question = "Which version of tracediff is this?",
     .text = "version of this extension, such as v0.2.0",
     .call = versionCall},
    {.name = "tracediff_debug",
     .family = FAMILY_HELPERS,
     .question = "How was this library built, and what does it run with?",
     .text =
         "how this extension was built, the versions it runs with, and the number of files "
         "attributed so far",
     .call = debugCall},
};
const int scalar_count = COUNT_OF(scalars);
