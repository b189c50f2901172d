/*
** Writes a figure as Plotly's JSON: {"data": [...], "layout": {...}}. The key of a row is its
** number, because names may repeat. Labels on the axis are short; the hover text has the whole
** name.
*/
#include <math.h>

#include "../reader/ascii.h"
#include "../reader/memory.h"
#include "../trace/short_name.h"
#include "figure.h"
#include "waterfall.h"

enum {
    TICK = 34, /* characters of a label on the axis */
    TITLE_WIDTH = 90,
    ABOVE = 76, /* px above the plot, for axis and legend */
    BELOW = 24,
    PIE = 290, /* px of a pie above bars; PIE_GAP: px between them */
    PIE_GAP = 70,
};

static const char *const colours[] = {BLUE, ORANGE, GREEN, PURPLE, OCHRE, RED,
                                      TEAL, VIOLET, OLIVE, PINK,   BROWN, GREY};
enum { COLOURS = sizeof colours / sizeof *colours };

static const char *colour_of(const struct figure *figure, int series)
{
    const char *colour = figure->series[series].column->colour;
    return colour ? colour : colours[series % COLOURS];
}

static void write_name(const struct figure *figure, struct writer *to, size_t row, size_t width,
                       size_t lines)
{
    struct text_span name = figure->rows[row];
    write_label(to, figure_text(figure, name), name.length, width, lines);
}

static void write_series_name(const struct figure *figure, struct writer *to, int series)
{
    size_t length;
    const char *title = figure_series(figure, series, &length);
    write_label(to, title, length, TICK, 1);
}

static void comma(struct writer *to, bool needed)
{
    if (needed)
        write_string(to, ",");
}

/* Writes `key`, then an array with an item for each row. */
static void write_rows(const struct figure *figure, struct writer *to, const char *key,
                       void (*write_item)(const struct figure *figure, struct writer *to,
                                          size_t row))
{
    write_string(to, key);
    write_string(to, "[");
    for (size_t row = 0; row < figure->row_count; row++) {
        comma(to, row > 0);
        write_item(figure, to, row);
    }
    write_string(to, "]");
}

static void write_key(const struct figure *figure, struct writer *to, size_t row)
{
    (void)figure;
    write_string(to, "\"");
    write_integer(to, (int64_t)row);
    write_string(to, "\"");
}

static void write_hover_name(const struct figure *figure, struct writer *to, size_t row)
{
    write_name(figure, to, row, HOVER_WIDTH, HOVER_LINES);
}

static void write_pie_label(const struct figure *figure, struct writer *to, size_t row)
{
    write_name(figure, to, row, 2 * TICK, 1);
}

static void write_row_colour(const struct figure *figure, struct writer *to, size_t row)
{
    (void)figure;
    write_json_string(to, colours[row % COLOURS]);
}

static void write_numbers(struct writer *to, const char *key, const double *numbers, size_t count)
{
    write_string(to, key);
    write_string(to, "[");
    for (size_t i = 0; i < count; i++) {
        comma(to, i > 0);
        write_number(to, numbers[i]);
    }
    write_string(to, "]");
}

/* Writes the template of the hover text: the name, the series, and the value. `value` is Plotly's
** reference to it. */
static void write_hover(const struct figure *figure, struct writer *to, int series,
                        const char *value)
{
    struct writer text = {0};
    size_t length;
    const char *title = figure_series(figure, series, &length);
    write_string(&text, figure->chart->kind == CHART_LINES ? "" : "<b>%{customdata}</b><br>");
    /* replace characters that a template reads as markup or as a reference */
    for (size_t i = 0; i < length; i++)
        write_bytes(&text, strchr("<>&%{}", title[i]) ? "_" : &title[i], 1);
    write_string(&text, ": ");
    write_string(&text, value);
    write_string(&text, figure->chart->unit);
    if (figure->chart->kind == CHART_LINES)
        write_string(&text, "<br>at %{x:,.3~f} µs");
    write_string(&text, "<extra></extra>");
    write_string(to, ",\"hovertemplate\":");
    if (text.failed)
        to->failed = true;
    else
        write_json(to, text.bytes, text.length);
    writer_clear(&text);
}

static void write_bars(const struct figure *figure, struct writer *to, int series)
{
    write_string(to, "{\"type\":\"bar\",\"orientation\":\"h\",\"name\":");
    write_series_name(figure, to, series);
    write_rows(figure, to, ",\"y\":", write_key);
    write_numbers(to, ",\"x\":", figure->series[series].y, figure->row_count);
    write_rows(figure, to, ",\"customdata\":", write_hover_name);
    write_hover(figure, to, series, "%{x:,.9~f}");
    write_string(to, ",\"marker\":{\"color\":");
    write_json_string(to, colour_of(figure, series));
    write_string(to, "}}");
}

/* px that horizontal bars need; `bars` for each row. */
static size_t drawn_height(const struct figure *figure, size_t bars)
{
    size_t thick = figure->row_count > 40 ? 6 : 9, row = bars > 1 ? thick * (bars + 1) : 26;
    return row * figure->row_count + 20;
}

/* Writes a pie of the first values, without the closing brace. */
static void write_pie(const struct figure *figure, struct writer *to,
                      void (*write_pie_name)(const struct figure *, struct writer *, size_t row),
                      const char *legend)
{
    write_string(to, "{\"type\":\"pie\",\"sort\":false,\"direction\":\"clockwise\",\"hole\":0.35,"
                     "\"textinfo\":\"percent\",\"textposition\":\"inside\",\"name\":");
    write_series_name(figure, to, 0);
    write_rows(figure, to, ",\"labels\":", write_pie_name);
    write_numbers(to, ",\"values\":", figure->series[0].y, figure->row_count);
    write_rows(figure, to, ",\"customdata\":", write_hover_name);
    write_hover(figure, to, 0, "%{value:,.9~f}");
    write_rows(figure, to, ",\"marker\":{\"colors\":", write_row_colour);
    write_string(to, "},\"showlegend\":");
    write_string(to, legend);
}

static void write_only_pie(const struct figure *figure, struct writer *to)
{
    write_pie(figure, to, write_pie_label, "true");
    write_string(to, "}");
}

/* The index of the last series of a role, which must exist. */
static int series_of(const struct figure *figure, enum chart_role role)
{
    int i = figure->series_count - 1;
    while (figure->series[i].column->role != role)
        i--;
    return i;
}

static double value_of(const struct figure *figure, enum chart_role role, size_t row)
{
    return figure->series[series_of(figure, role)].y[row];
}

/* The distance from the value of a range to its upper end; write_below(): to its lower end. */
static void write_above(const struct figure *figure, struct writer *to, size_t row)
{
    write_number(to, fabs(value_of(figure, CHART_HIGH, row) - value_of(figure, CHART_VALUE, row)));
}

static void write_below(const struct figure *figure, struct writer *to, size_t row)
{
    write_number(to, fabs(value_of(figure, CHART_LOW, row) - value_of(figure, CHART_VALUE, row)));
}

/* The name, the minimum and the maximum, for the hover text. */
static void write_range_details(const struct figure *figure, struct writer *to, size_t row)
{
    write_string(to, "[");
    write_hover_name(figure, to, row);
    comma(to, true);
    write_number(to, value_of(figure, CHART_LOW, row));
    comma(to, true);
    write_number(to, value_of(figure, CHART_HIGH, row));
    write_string(to, "]");
}

/* Writes a pie, and bars below it. */
static void write_ranges(const struct figure *figure, struct writer *to)
{
    size_t drawn = drawn_height(figure, 1);
    write_pie(figure, to, write_key, "false");
    write_string(to, ",\"domain\":{\"x\":[0,1],\"y\":[");
    write_number(to, (double)(drawn + PIE_GAP) / (double)(drawn + PIE + PIE_GAP));
    write_string(to, ",1]}},");
    int value = series_of(figure, CHART_VALUE);
    write_string(to, "{\"type\":\"bar\",\"orientation\":\"h\",\"showlegend\":false,\"name\":");
    write_series_name(figure, to, value);
    write_rows(figure, to, ",\"y\":", write_key);
    write_numbers(to, ",\"x\":", figure->series[value].y, figure->row_count);
    write_rows(figure, to, ",\"customdata\":", write_range_details);
    write_string(to, ",\"hovertemplate\":");
    write_json_string(to, "<b>%{customdata[0]}</b><br>mean: %{x:,.9~f} µs<br>min: "
                          "%{customdata[1]:,.9~f} µs<br>max: %{customdata[2]:,.9~f} µs"
                          "<extra></extra>");
    write_rows(figure, to,
               ",\"error_x\":{\"type\":\"data\",\"symmetric\":false,\"array\":", write_above);
    write_rows(figure, to, ",\"arrayminus\":", write_below);
    write_string(to, ",\"color\":\"" GREY "\",\"thickness\":1.5,\"width\":3}");
    write_rows(figure, to, ",\"marker\":{\"color\":", write_row_colour);
    write_string(to, "}}");
}

static void write_line(const struct figure *figure, struct writer *to, int series)
{
    const struct series *line = &figure->series[series];
    write_string(to, "{\"type\":\"scatter\",\"mode\":\"lines\",\"name\":");
    write_series_name(figure, to, series);
    write_numbers(to, ",\"x\":", line->x, line->count);
    write_numbers(to, ",\"y\":", line->y, line->count);
    write_hover(figure, to, series, "%{y:,.9~f}");
    write_string(to, ",\"line\":{\"shape\":\"hv\",\"width\":1.5,\"color\":");
    write_json_string(to, colour_of(figure, series));
    write_string(to, "}}");
}

/* Appends the short names of all rows to `to`; `spans` has the position of each. */
static bool shorten(const struct figure *figure, struct writer *to, struct text_span *spans)
{
    for (size_t row = 0; row < figure->row_count; row++) {
        struct text_span name = figure->rows[row];
        if (!MEMORY_GROW(to->bytes, to->capacity, to->length + name.length + 1))
            return false;
        spans[row].at = to->length;
        spans[row].length =
            name_short(figure_text(figure, name), name.length, to->bytes + to->length);
        to->length += spans[row].length;
    }
    return true;
}

/* The part of a row's name, in whole words, that differs from other names with the same short
** name. Compares at most OTHERS of them, which bounds the time. Empty if there are no others, or
** if the names are equal. */
static struct text_span own_words(const struct figure *figure, const struct writer *brief,
                                  const struct text_span *spans, size_t row)
{
    enum { OTHERS = 64 };
    struct text_span name = figure->rows[row];
    const char *text = figure_text(figure, name), *end = text + name.length;
    size_t before = name.length, after = name.length, others = 0;
    for (size_t i = 0; i < figure->row_count && others < OTHERS; i++) {
        if (i == row || spans[i].length != spans[row].length ||
            memcmp(brief->bytes + spans[i].at, brief->bytes + spans[row].at, spans[i].length) != 0)
            continue;
        struct text_span other = figure->rows[i];
        const char *its = figure_text(figure, other), *its_end = its + other.length;
        size_t most = other.length < name.length ? other.length : name.length, same = 0;
        while (same < most && text[same] == its[same])
            same++;
        before = same < before ? same : before;
        for (same = 0; same < most && end[-1 - (ptrdiff_t)same] == its_end[-1 - (ptrdiff_t)same];)
            same++;
        after = same < after ? same : after;
        others++;
    }
    if (others == 0 || before == name.length)
        return (struct text_span){0};
    while (before > 0 && is_word(text[before - 1]))
        before--;
    while (after > 0 && is_word(end[-(ptrdiff_t)after]))
        after--;
    if (before + after >= name.length)
        return (struct text_span){0};
    return (struct text_span){name.at + before, name.length - before - after};
}

/* Writes a short name. If another row has the same, writes only the part after the last `::`, and
** the words that distinguish the row. */
static void write_tick(const struct figure *figure, struct writer *to, const struct writer *brief,
                       const struct text_span *spans, size_t row)
{
    const char *text = brief->bytes + spans[row].at, *end = text + spans[row].length;
    struct text_span own = own_words(figure, brief, spans, row);
    if (own.length == 0) {
        write_label(to, text, spans[row].length, TICK, 1);
        return;
    }
    for (const char *at = text; at + 1 < end; at++)
        if (at[0] == ':' && at[1] == ':')
            text = at + 2;
    struct writer both = {0};
    write_bytes(&both, text, (size_t)(end - text));
    write_string(&both, " ");
    write_bytes(&both, figure_text(figure, own), own.length);
    if (both.failed)
        to->failed = true;
    else
        write_label(to, both.bytes, both.length, TICK, 1);
    writer_clear(&both);
}

static void write_ticks(const struct figure *figure, struct writer *to)
{
    struct writer brief = {0};
    struct text_span *spans = NULL;
    if (figure->chart->shorten && figure->row_count > 0) {
        spans = memory_zeroed(figure->row_count, sizeof *spans);
        if (!spans || !shorten(figure, &brief, spans))
            to->failed = true;
    }
    write_string(to, ",\"ticktext\":[");
    for (size_t row = 0; row < figure->row_count && !to->failed; row++) {
        comma(to, row > 0);
        if (spans)
            write_tick(figure, to, &brief, spans, row);
        else
            write_name(figure, to, row, TICK, 1);
    }
    write_string(to, "]");
    memory_free(spans);
    writer_clear(&brief);
}

/* Writes the axes of horizontal bars, with the first name at the top. `top` is the upper end of
** the y axis, as a fraction of the plot. */
static void write_bar_axes(const struct figure *figure, struct writer *to, double top)
{
    write_rows(figure, to,
               ",\"yaxis\":{\"type\":\"category\",\"autorange\":\"reversed\","
               "\"automargin\":true,\"tickmode\":\"array\",\"tickvals\":",
               write_key);
    write_ticks(figure, to);
    write_rows(figure, to, ",\"categoryorder\":\"array\",\"categoryarray\":", write_key);
    write_string(to, ",\"domain\":[0,");
    write_number(to, top);
    write_string(to, "]},\"xaxis\":{\"side\":\"top\",\"automargin\":true,\"zeroline\":true,"
                     "\"exponentformat\":\"none\",\"separatethousands\":true,\"nticks\":8,"
                     "\"title\":{\"standoff\":6,\"text\":");
    write_json_string(to, figure->chart->axis);
    write_string(to, "}");
    if (figure->chart->kind == CHART_WATERFALL) {
        comma(to, true);
        waterfall_write_range(figure, to);
    }
    write_string(to, "}");
}

static void write_line_axes(const struct figure *figure, struct writer *to, double top)
{
    (void)top;
    write_string(to, ",\"xaxis\":{\"automargin\":true,\"exponentformat\":\"none\","
                     "\"separatethousands\":true,\"nticks\":8,\"title\":{\"text\":");
    write_json_string(to, figure->chart->at);
    write_string(to, "}},\"yaxis\":{\"automargin\":true,\"rangemode\":\"tozero\","
                     "\"title\":{\"text\":");
    write_json_string(to, figure->chart->axis);
    write_string(to, "}}");
}

/* How the charts of each kind are written. */
static const struct chart_form {
    void (*write_series)(const struct figure *figure, struct writer *to, int series);
    void (*write_whole)(const struct figure *figure,
                        struct writer *to); /* instead of write_series */
    void (*write_axes)(const struct figure *figure, struct writer *to, double top);
    const char *bars; /* Plotly's barmode; NULL: `group` */
    bool by_series;   /* a row has one bar for each series */
    bool ordered;     /* the page must not let the reader sort the rows */
    size_t height;    /* px of the plot; 0: as its bars need */
    size_t above;     /* px of a pie above the bars */
    size_t below;     /* px of an axis below the plot */
} chart_forms[] = {
    [CHART_BARS] = {.write_series = write_bars, .write_axes = write_bar_axes, .by_series = true},
    [CHART_STACK] = {.write_series = write_bars, .write_axes = write_bar_axes, .bars = "stack"},
    [CHART_PIE] = {.write_whole = write_only_pie, .height = 360},
    [CHART_RANGES] = {.write_whole = write_ranges,
                      .write_axes = write_bar_axes,
                      .above = PIE + PIE_GAP},
    [CHART_LINES] = {.write_series = write_line,
                     .write_axes = write_line_axes,
                     .height = 360,
                     .below = 30},
    [CHART_WATERFALL] = {.write_whole = waterfall_write,
                         .write_axes = write_bar_axes,
                         .bars = "overlay",
                         .ordered = true},
    [CHART_HISTOGRAMS] = {.write_series = write_bars,
                          .write_axes = write_bar_axes,
                          .by_series = true,
                          .ordered = true},
};

static void write_title(const struct figure *figure, struct writer *to)
{
    struct writer title = {0};
    figure_title(figure, &title);
    if (title.failed)
        to->failed = true;
    else
        write_label(to, title.bytes, title.length, TITLE_WIDTH, 3);
    writer_clear(&title);
}

static void write_layout(const struct figure *figure, struct writer *to)
{
    const struct chart_form *form = &chart_forms[figure->chart->kind];
    size_t bars = form->by_series ? (size_t)figure->series_count : 1;
    size_t drawn = form->height ? form->height : drawn_height(figure, bars);
    double plot = (double)(drawn + form->above), gap = form->height ? 12 : 48;
    write_string(to, "{\"title\":{\"text\":");
    write_title(figure, to);
    write_string(to, "},\"height\":");
    write_integer(to, (int64_t)(drawn + form->above + ABOVE + BELOW + form->below));
    write_string(to, ",\"barmode\":");
    write_json_string(to, form->bars ? form->bars : "group");
    write_string(to, ",\"bargap\":0.25,\"hovermode\":\"closest\",\"showlegend\":true,"
                     "\"hoverlabel\":{\"align\":\"left\",\"namelength\":-1},\"margin\":{\"l\":10,"
                     "\"r\":14,\"t\":");
    write_integer(to, ABOVE);
    write_string(to, ",\"b\":");
    write_integer(to, BELOW);
    write_string(to, form->ordered ? "},\"meta\":\"ordered\"" : "}");
    write_string(to, ",\"legend\":{\"orientation\":\"h\",\"x\":0,\"xanchor\":\"left\","
                     "\"yanchor\":\"bottom\",\"traceorder\":\"normal\",\"y\":");
    write_number(to, round((1 + gap / plot) * 1e4) / 1e4);
    write_string(to, "}");
    if (form->write_axes)
        form->write_axes(figure, to, (double)drawn / plot);
    write_string(to, "}");
}

void figure_write(const struct figure *figure, struct writer *to)
{
    const struct chart_form *form = &chart_forms[figure->chart->kind];
    write_string(to, "{\"data\":[");
    if (form->write_whole)
        form->write_whole(figure, to);
    for (int i = 0; form->write_series && i < figure->series_count; i++) {
        comma(to, i > 0);
        form->write_series(figure, to, i);
    }
    write_string(to, "],\"layout\":");
    write_layout(figure, to);
    write_string(to, "}");
}
