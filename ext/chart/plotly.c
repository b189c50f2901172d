/*
** Writes a figure as Plotly's JSON: {"data": [...], "layout": {...}}. The key of a row is its
** number, because names may repeat. Labels on the axis are short; the hover text has the whole
** name. Numbers are in the unit of the figure.
*/
#include <math.h>

#include "ends.h"
#include "plotly_json.h"
#include "ticks.h"
#include "timeline.h"
#include "waterfall.h"

enum {
    TITLE_WIDTH = 90,
    ABOVE = 76, /* px above the plot, for axis and legend */
    BELOW = 24,
    RIGHT = 16,
    LINE = 16,     /* px of a line of a label */
    CHARACTER = 8, /* px of a character at the end of a bar */
    THICK = 24,    /* px of a row's bars, at most */
    POINTS_HEIGHT = 360,
};

static const char *const colours[] = {TEAL, OCHRE, VIOLET, PINK, OLIVE, CYAN, BROWN, GREY};
enum { COLOURS = sizeof colours / sizeof *colours };

static const char *colour_of(const struct figure *figure, int series)
{
    const char *colour = figure->series[series].column->colour;
    return colour ? colour : colours[series % COLOURS];
}

static void write_series_name(const struct figure *figure, struct writer *to, int series)
{
    size_t length;
    const char *title = figure_series(figure, series, &length);
    write_label(to, title, length, LABEL_WIDTH, LABEL_LINES);
}

static void write_hover_name(const struct figure *figure, struct writer *to, size_t row)
{
    struct text_span name = figure->rows[row].name;
    write_label(to, figure_text(figure, name), name.length, HOVER_WIDTH, HOVER_LINES);
}

/* Writes the percents within the bars of a stack. */
static void write_shares(const struct figure *figure, struct writer *to, int series)
{
    write_string(to, ",\"text\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct writer text = {0};
        double share = 100 * figure->series[series].y[row] / figure_sum(figure, row);
        plotly_comma(to, row > 0);
        if (isfinite(share))
            write_percent(&text, share);
        plotly_text(to, &text);
    }
    write_string(to, "],\"textposition\":\"inside\",\"insidetextanchor\":\"middle\","
                     "\"textangle\":0,\"constraintext\":\"none\"");
}

static void write_hover(struct writer *to)
{
    write_string(to, ",\"hovertemplate\":");
    write_json_string(to, "<b>%{customdata[0]}</b><br>%{fullData.name}: %{customdata[1]}"
                          "<extra></extra>");
}

static void write_bars(const struct figure *figure, struct writer *to, int series)
{
    struct scale scale = figure_scale(figure, series);
    const double *y = figure->series[series].y;
    enum chart_kind kind = figure->chart->kind;
    bool histogram = kind == CHART_HISTOGRAMS, stack = figure_is_stack(figure);
    double sum = histogram || kind == CHART_RANGES ? figure_total(figure, series) : 0;
    write_string(to, "{\"type\":\"bar\",\"orientation\":\"h\",\"name\":");
    write_series_name(figure, to, series);
    if (histogram) {
        write_string(to, ",\"showlegend\":false,\"xaxis\":\"x");
        write_string(to, series == 0 ? "\"" : series == 1 ? "2\"" : "3\"");
    }
    plotly_keys(figure, to, ",\"y\":");
    write_string(to, ",\"x\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        double whole = figure->chart->percent ? figure_sum(figure, row) : sum;
        plotly_comma(to, row > 0);
        write_number(to,
                     y[row] / (figure->chart->percent || histogram ? whole / 100 : scale.divisor));
    }
    write_string(to, "],\"customdata\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct writer text = {0};
        bool share = stack && figure->unit != UNIT_PERCENT;
        plotly_comma(to, row > 0);
        write_string(to, "[");
        write_hover_name(figure, to, row);
        write_string(to, ",");
        plotly_value(&text, y[row], scale, share ? figure_sum(figure, row) : sum);
        plotly_text(to, &text);
        write_string(to, "]");
    }
    write_string(to, "]");
    if (figure->chart->percent)
        write_shares(figure, to, series);
    write_hover(to);
    write_string(to, ",\"marker\":{\"color\":");
    write_json_string(to, colour_of(figure, series));
    write_string(to, "}}");
}

/* The decades from the least positive number to the greatest. */
struct decades {
    int from, to;
};

static struct decades decades_of(const struct figure *figure, int from, int to, double divisor)
{
    double least = INFINITY, greatest = 0;
    for (int i = from; i < to; i++)
        for (size_t at = 0; at < figure->series[i].count; at++) {
            double number = figure->series[i].y[at] / divisor;
            least = number > 0 && number < least ? number : least;
            greatest = number > greatest ? number : greatest;
        }
    if (!(greatest > 0))
        return (struct decades){0, 1};
    struct decades decades = {(int)floor(log10(least)), (int)ceil(log10(greatest))};
    decades.to += decades.to == decades.from;
    return decades;
}

/* Writes the range and the ticks of a logarithmic axis. */
static void write_log(struct writer *to, struct decades decades)
{
    int step = 1 + (decades.to - decades.from - 1) / 4;
    write_string(to, ",\"type\":\"log\",\"range\":[");
    write_integer(to, decades.from);
    write_string(to, ",");
    write_integer(to, decades.to);
    write_string(to, "],\"tickvals\":[");
    for (int i = decades.from; i <= decades.to; i += step) {
        plotly_comma(to, i > decades.from);
        write_number(to, pow(10, i));
    }
    write_string(to, "],\"ticktext\":[");
    for (int i = decades.from; i <= decades.to; i += step) {
        write_string(to, i > decades.from ? ",\"" : "\"");
        write_amount(to, pow(10, i), i < 0 && i >= -9 ? -i : 0);
        write_string(to, "\"");
    }
    write_string(to, "]");
}

enum { SUM, HIGH, LOW, MEAN }; /* the series of ranges */

/* Writes the means, with lines from the least to the greatest duration. */
static void write_means(const struct figure *figure, struct writer *to)
{
    static const struct {
        int series;
        const char *text;
    } parts[] = {{MEAN, ""}, {LOW, "<br>min: "}, {HIGH, "<br>max: "}};
    struct scale scale = figure_scale(figure, MEAN);
    double least = pow(10, decades_of(figure, HIGH, MEAN + 1, scale.divisor).from);
    const struct series *series = figure->series;
    write_string(to, "{\"type\":\"scatter\",\"mode\":\"markers\",\"xaxis\":\"x2\",\"name\":");
    write_series_name(figure, to, MEAN);
    plotly_keys(figure, to, ",\"y\":");
    plotly_numbers(to, ",\"x\":", series[MEAN].y, figure->row_count, scale.divisor);
    write_string(to, ",\"error_x\":{\"type\":\"data\",\"symmetric\":false,\"thickness\":3,"
                     "\"width\":0,\"color\":\"" GREY "\",\"array\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        plotly_comma(to, row > 0);
        write_number(to, (series[HIGH].y[row] - series[MEAN].y[row]) / scale.divisor);
    }
    write_string(to, "],\"arrayminus\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        double mean = series[MEAN].y[row] / scale.divisor, low = series[LOW].y[row] / scale.divisor;
        plotly_comma(to, row > 0);
        write_number(to, mean - (low < least ? least : low));
    }
    write_string(to, "]},\"customdata\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct writer text = {0};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            write_string(&text, parts[i].text);
            plotly_value(&text, series[parts[i].series].y[row], scale, 0);
        }
        write_string(to, row > 0 ? ",[" : "[");
        write_hover_name(figure, to, row);
        write_string(to, ",");
        plotly_text(to, &text);
        write_string(to, "]");
    }
    write_string(to, "]");
    write_hover(to);
    write_string(to, ",\"marker\":{\"size\":8,\"color\":");
    write_json_string(to, colour_of(figure, MEAN));
    write_string(to, "}}");
}

static double greatest_value(const struct figure *figure, int from, int to)
{
    double greatest = 0;
    for (int i = from; i < to; i++)
        for (size_t at = 0; at < figure->series[i].count; at++)
            greatest = fmax(greatest, figure->series[i].y[at]);
    return greatest;
}

static void write_points(const struct figure *figure, struct writer *to, int series)
{
    const struct series *line = &figure->series[series];
    struct scale scale = figure_scale(figure, series), time = figure_time_scale(figure);
    bool dots = figure->chart->kind == CHART_DOTS;
    bool area = figure->chart->kind == CHART_AREAS && series < figure->series_count - 1;
    struct writer hover = {0};
    write_string(to, dots ? "{\"type\":\"scatter\",\"mode\":\"markers\",\"name\":"
                          : "{\"type\":\"scatter\",\"mode\":\"lines\",\"name\":");
    write_series_name(figure, to, series);
    if (area)
        write_string(to, ",\"stackgroup\":\"areas\"");
    if (figure->chart->kind == CHART_LINES && greatest_value(figure, series, series + 1) <=
                     0.01 * greatest_value(figure, 0, figure->series_count))
        write_string(to, ",\"visible\":\"legendonly\"");
    plotly_numbers(to, ",\"x\":", line->x, line->count, time.divisor);
    plotly_numbers(to, ",\"y\":", line->y, line->count, scale.divisor);
    write_string(&hover, "%{fullData.name}: %{y:,.");
    write_integer(&hover, scale.decimals);
    write_string(&hover, "f}");
    write_string(&hover, scale.unit);
    write_string(&hover, figure->chart->at ? "<br>" : "<br>at ");
    write_string(&hover, figure->chart->at ? figure->chart->at : "");
    write_string(&hover, figure->chart->at ? " %{x:,.0f}" : "%{x:,.3f}");
    write_string(&hover, time.unit);
    write_string(&hover, "<extra></extra>");
    write_string(to, ",\"hovertemplate\":");
    plotly_text(to, &hover);
    write_string(to, dots ? ",\"marker\":{\"size\":5,\"color\":"
                 : area ? ",\"line\":{\"shape\":\"hv\",\"width\":0.5,\"color\":"
                          : ",\"line\":{\"shape\":\"hv\",\"width\":1.5,\"color\":");
    write_json_string(to, colour_of(figure, series));
    write_string(to, "}}");
}

/* Writes the begin of an axis of numbers. */
static void write_axis(struct writer *to, const char *key, const char *title, const char *unit,
                       int ticks)
{
    write_string(to, key);
    write_string(to, "{\"automargin\":true,\"rangemode\":\"tozero\",\"exponentformat\":\"none\","
                     "\"separatethousands\":true,\"title\":{\"standoff\":6,\"text\":\"");
    write_string(to, title);
    if (*unit) {
        write_string(to, " (");
        write_string(to, unit + 1);
        write_string(to, ")");
    }
    write_string(to, "\"},\"nticks\":");
    write_integer(to, ticks);
}

/* Writes the part of the plot's width that an axis above it takes. */
static void write_domain(struct writer *to, double from, double end)
{
    write_string(to, ",\"side\":\"top\",\"domain\":[");
    write_number(to, from);
    write_string(to, ",");
    write_number(to, end);
    write_string(to, "]");
}

/* Writes the axis of a waterfall, whose title says so if it does not begin at 0. */
static void write_step_axis(const struct figure *figure, struct writer *to)
{
    struct waterfall_axis axis = waterfall_axis(figure);
    struct scale scale = figure_scale(figure, 0);
    struct writer title = {0};
    write_string(&title, figure->chart->axis);
    write_string(&title, " (");
    write_string(&title, scale.unit + 1);
    write_string(&title, axis.from > 0 ? "), not from 0" : ")");
    write_bytes(&title, "", 1);
    write_axis(to, ",\"xaxis\":", title.failed ? "" : title.bytes, "", 8);
    to->failed = to->failed || title.failed;
    writer_clear(&title);
    write_domain(to, 0, 1);
    plotly_numbers(to, ",\"range\":", (const double[]){axis.from, axis.to}, 2, scale.divisor);
    write_string(to, "}");
}

static void write_value_axes(const struct figure *figure, struct writer *to)
{
    const char *unit = figure->chart->percent ? "" : figure_scale(figure, 0).unit;
    if (figure->chart->kind == CHART_HISTOGRAMS) {
        static const char *const keys[] = {",\"xaxis\":", ",\"xaxis2\":", ",\"xaxis3\":"};
        for (int i = 0; i < figure->series_count; i++) {
            write_axis(to, keys[i], figure->series[i].column->title, "", 4);
            write_domain(to, i * 0.35, i * 0.35 + 0.3);
            write_string(to, ",\"ticksuffix\":\" %\"}");
        }
        return;
    }
    if (figure->chart->kind == CHART_WATERFALL) {
        write_step_axis(figure, to);
        return;
    }
    bool ranges = figure->chart->kind == CHART_RANGES && figure->series_count > 0;
    write_axis(to, ",\"xaxis\":", figure->chart->axis, unit, 8);
    write_domain(to, 0, ranges ? 0.55 : 1);
    write_string(to, figure->chart->percent ? ",\"range\":[0,100]}" : "}");
    if (ranges) {
        struct scale scale = figure_scale(figure, MEAN);
        write_axis(to, ",\"xaxis2\":", "min, mean, max", scale.unit, 8);
        write_domain(to, 0.72, 1);
        write_log(to, decades_of(figure, HIGH, MEAN + 1, scale.divisor));
        write_string(to, "}");
    }
}

/* Writes the axes of horizontal bars, with the first name at the top. Returns the px of a row. */
static size_t write_bar_axes(const struct figure *figure, struct writer *to)
{
    struct ticks ticks;
    size_t most = 1, thick = figure->row_count > 40 ? 6 : 9;
    if (!ticks_make(figure, &ticks))
        to->failed = true;
    plotly_keys(figure, to,
                ",\"yaxis\":{\"type\":\"category\",\"autorange\":\"reversed\","
                "\"automargin\":true,\"showgrid\":false,\"tickmode\":"
                "\"array\",\"tickvals\":");
    write_string(to, ",\"ticktext\":[");
    for (size_t row = 0; row < figure->row_count && !to->failed; row++) {
        plotly_comma(to, row > 0);
        size_t lines = ticks_write(&ticks, row, to);
        most = lines > most ? lines : most;
    }
    ticks_clear(&ticks);
    plotly_keys(figure, to, "],\"categoryorder\":\"array\",\"categoryarray\":");
    write_string(to, "}");
    write_value_axes(figure, to);
    size_t bars = figure->chart->kind == CHART_PAIRS ? 3 * thick : 24, text = LINE * most + 6;
    return bars > text ? bars : text;
}

/* Writes the axes of points, and the lines behind them. Returns the px of the plot. */
static size_t write_point_axes(const struct figure *figure, struct writer *to)
{
    struct scale time = figure_time_scale(figure), scale = figure_scale(figure, 0);
    size_t height = POINTS_HEIGHT;
    struct writer title = {0};
    write_string(&title, figure_at(figure));
    for (int i = 0; figure->mark_count > 0 && i < MOST_CHART_COLUMNS; i++)
        if (figure->chart->columns[i].role == CHART_MARK) {
            write_string(&title, "; dotted lines: ");
            write_string(&title, figure->chart->columns[i].title);
        }
    write_string(&title, figure->chart->kind == CHART_AREAS ? "; dotted line: the peak" : "");
    write_string(&title, figure->has_pale ? "; pale: not on the path" : "");
    write_bytes(&title, "", 1);
    write_axis(to, ",\"xaxis\":", title.failed ? "" : title.bytes, time.unit, 8);
    write_string(to, "}");
    to->failed = to->failed || title.failed;
    writer_clear(&title);
    if (figure->chart->kind == CHART_TIMELINE)
        height = timeline_write_lanes(figure, to);
    else
        write_axis(to, ",\"yaxis\":", figure->chart->axis, scale.unit, 8);
    if (figure->chart->kind == CHART_DOTS)
        write_log(to, decades_of(figure, 0, figure->series_count, scale.divisor));
    write_string(to, "},\"shapes\":[");
    for (size_t i = 0; i < figure->mark_count; i++) {
        plotly_comma(to, i > 0);
        write_string(to, "{\"type\":\"line\",\"layer\":\"below\",\"yref\":\"paper\",\"y0\":0,"
                         "\"y1\":1,\"line\":{\"color\":\"" GREY "\",\"width\":1,"
                         "\"dash\":\"dot\"},\"x0\":");
        write_number(to, figure->marks[i] / time.divisor);
        write_string(to, ",\"x1\":");
        write_number(to, figure->marks[i] / time.divisor);
        write_string(to, "}");
    }
    write_string(to, "]");
    return height;
}

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

static void write_layout(const struct figure *figure, struct writer *to, size_t longest)
{
    enum chart_kind kind = figure->chart->kind;
    bool points = figure_has_points(figure);
    size_t row = 0, height = 0;
    write_string(to, "{\"title\":{\"text\":");
    write_title(figure, to);
    write_string(to, "}");
    if (points)
        height = write_point_axes(figure, to);
    else
        row = write_bar_axes(figure, to);
    if (!points)
        height = row * figure->row_count + 20;
    write_string(to, ",\"height\":");
    write_integer(to, (int64_t)height + ABOVE + BELOW + (points ? 30 : 0));
    write_string(to, ",\"barmode\":\"");
    write_string(to, kind == CHART_WATERFALL || kind == CHART_TIMELINE ? "overlay"
                     : figure_is_stack(figure)                         ? "stack"
                                                                       : "group");
    write_string(to, "\",\"bargap\":");
    write_number(to, row > THICK ? round(100 - 80.0 * THICK / (double)row) / 100 : 0.25);
    write_string(to, ",\"hovermode\":\"closest\",\"showlegend\":true,"
                     "\"uniformtext\":{\"minsize\":11,\"mode\":\"hide\"},"
                     "\"hoverlabel\":{\"align\":\"left\",\"namelength\":-1},\"margin\":{\"l\":10,"
                     "\"r\":");
    write_integer(to, RIGHT + (kind == CHART_RANGES ? 0 : (int64_t)longest * CHARACTER));
    write_string(to, ",\"t\":");
    write_integer(to, ABOVE);
    write_string(to, ",\"b\":");
    write_integer(to, BELOW);
    write_string(to, kind == CHART_WATERFALL || kind == CHART_HISTOGRAMS || kind == CHART_TIMELINE
                         ? "},\"meta\":\"ordered\""
                         : "}");
    write_string(to, ",\"legend\":{\"orientation\":\"h\",\"x\":0,\"xanchor\":\"left\","
                     "\"yanchor\":\"bottom\",\"traceorder\":\"normal\",\"y\":");
    write_number(to, round((1 + (points ? 12.0 : 48.0) / (double)height) * 1e4) / 1e4);
    write_string(to, "}}");
}

void figure_write(const struct figure *figure, struct writer *to)
{
    enum chart_kind kind = figure->chart->kind;
    /* a stack of percents begins with the second series: the first is the idle time */
    int count = figure->series_count, first = figure->chart->percent;
    size_t longest = 0;
    write_string(to, "{\"data\":[");
    if (kind == CHART_PAIRS || kind == CHART_RANGES)
        count = count > 0 ? (kind == CHART_PAIRS ? 2 : 1) : 0;
    if (kind == CHART_WATERFALL)
        waterfall_write(figure, to);
    for (int i = 0; i < count && kind != CHART_WATERFALL; i++) {
        plotly_comma(to, i > 0);
        (kind == CHART_TIMELINE      ? timeline_write_lane
         : figure_has_points(figure) ? write_points
                                     : write_bars)(figure, to, (i + first) % count);
    }
    if (kind == CHART_RANGES && count > 0) {
        write_string(to, ",");
        write_means(figure, to);
    }
    if (ends_any(figure)) {
        write_string(to, ",");
        longest = ends_write(figure, to);
    }
    write_string(to, "],\"layout\":");
    write_layout(figure, to, longest);
    write_string(to, "}");
}
