#include "ends.h"

#include <math.h>

#include "plotly_json.h"
#include "waterfall.h"

/* The value at the end of a row's bars. */
static double end_of(const struct figure *figure, size_t row)
{
    const struct series *series = figure->series;
    switch (figure->chart->kind) {
    case CHART_PAIRS:
        return fmax(fmax(series[0].y[row], series[1].y[row]), 0);
    case CHART_WATERFALL:
        return waterfall_end(figure, row);
    case CHART_RANGES:
        return series[0].y[row];
    default:
        return figure_sum(figure, row);
    }
}

static void write_difference(const struct figure *figure, struct writer *text, size_t row,
                             struct scale scale)
{
    double control = figure->series[0].y[row], change = figure->series[2].y[row] / scale.divisor;
    bool zero = rounds_to_zero(change, scale.brief);
    write_string(text, zero ? "" : change > 0 ? "▲ " : "▼ ");
    write_change(text, change, scale.brief);
    write_string(text, scale.unit);
    if (figure->chart->kind == CHART_WATERFALL && row + 1 == figure->row_count && control > 0) {
        double percent = 100 * figure->series[2].y[row] / control;
        write_string(text, percent > 0 ? " (+" : " (");
        write_percent(text, percent);
        write_string(text, ")");
    }
}

/* Writes the text at the end of a row's bars. `all`: the sum of the first series. */
static void write_end(const struct figure *figure, struct writer *text, size_t row,
                      struct scale scale, double all)
{
    size_t length;
    double sum = figure_sum(figure, row);
    switch (figure->chart->kind) {
    case CHART_PAIRS:
    case CHART_WATERFALL:
        if (isfinite(figure->series[2].y[row]))
            write_difference(figure, text, row, scale);
        return;
    case CHART_RANGES:
        write_string(text, " ");
        if (all > 0 && isfinite(figure->series[0].y[row]))
            write_percent(text, 100 * figure->series[0].y[row] / all);
        return;
    default:
        break;
    }
    write_string(text, " ");
    if (figure->chart->end == END_SUM) {
        scale.decimals = scale.brief;
        plotly_value(text, sum, scale, all);
    } else if (sum > 0 && isfinite(figure->series[0].y[row])) {
        const char *title = figure_series(figure, 0, &length);
        write_bytes(text, title, length);
        write_string(text, " ");
        write_percent(text, 100 * figure->series[0].y[row] / sum);
    }
}

bool ends_any(const struct figure *figure)
{
    enum chart_kind kind = figure->chart->kind;
    return figure->series_count > 0 && (kind == CHART_PAIRS || kind == CHART_WATERFALL ||
                                        kind == CHART_RANGES || figure->chart->end != END_NONE);
}

static const char *end_colour(const struct figure *figure, size_t row, struct scale scale)
{
    if (figure->chart->kind != CHART_PAIRS && figure->chart->kind != CHART_WATERFALL)
        return TEST_INK;
    double change = figure->series[2].y[row] / scale.divisor;
    if (isnan(change) || rounds_to_zero(change, scale.brief))
        return CONTROL_GREY;
    return change > 0 ? MORE : LESS;
}

static size_t characters_of(const struct writer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += ((unsigned char)text->bytes[i] & 0xc0) != 0x80;
    return count;
}

size_t ends_write(const struct figure *figure, struct writer *to)
{
    struct scale scale = figure_scale(figure, 0);
    size_t longest = 0;
    double all = 0;
    for (int i = 0; i < (figure_is_stack(figure) ? figure->series_count : 1); i++)
        all += figure_total(figure, i);
    write_string(to, "{\"type\":\"scatter\",\"mode\":\"text\",\"name\":\"difference\","
                     "\"showlegend\":false,\"hoverinfo\":\"skip\",\"cliponaxis\":false,"
                     "\"textposition\":\"middle right\"");
    plotly_keys(figure, to, ",\"y\":");
    write_string(to, ",\"x\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        plotly_comma(to, row > 0);
        write_number(to, end_of(figure, row) / scale.divisor);
    }
    write_string(to, "],\"text\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct writer text = {0};
        write_end(figure, &text, row, scale, all);
        size_t characters = characters_of(&text);
        longest = characters > longest ? characters : longest;
        plotly_comma(to, row > 0);
        plotly_text(to, &text);
    }
    write_string(to, "],\"textfont\":{\"color\":[");
    for (size_t row = 0; row < figure->row_count; row++) {
        plotly_comma(to, row > 0);
        write_json_string(to, end_colour(figure, row, scale));
    }
    write_string(to, "]}");
    if (figure->chart->kind == CHART_PAIRS)
        plotly_numbers(to, ",\"customdata\":", figure->series[2].y, figure->row_count,
                       scale.divisor);
    write_string(to, "}");
    return longest;
}
