#include "timeline.h"

#include "plotly_json.h"
#include "ticks.h"

enum { LANE = 34 /* px */ };

static void write_lane_name(const struct figure *figure, struct writer *to, int series)
{
    size_t length;
    const char *title = figure_series(figure, series, &length);
    write_label(to, title, length, LABEL_WIDTH, LABEL_LINES);
}

/* The colour of a name: the same wherever it is drawn. */
static const char *colour_of(const struct figure *figure, struct text_span name)
{
    static const char *const colours[] = {TEAL, OCHRE, VIOLET, PINK, OLIVE, CYAN, BROWN};
    const char *text = figure_text(figure, name);
    uint32_t hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619;
    return colours[hash % (sizeof colours / sizeof *colours)];
}

/* Writes a value for each event. */
static void write_by_point(const struct series *lane, struct writer *to, const char *plain,
                           const char *pale)
{
    write_string(to, "[");
    for (size_t i = 0; i < lane->count; i++) {
        plotly_comma(to, i > 0);
        write_string(to, lane->labels[i].pale ? pale : plain);
    }
    write_string(to, "]");
}

void timeline_write_lane(const struct figure *figure, struct writer *to, int series)
{
    const struct series *lane = &figure->series[series];
    struct scale scale = figure_scale(figure, series), time = figure_time_scale(figure);
    write_string(to, "{\"type\":\"bar\",\"orientation\":\"h\",\"showlegend\":false,\"name\":");
    write_lane_name(figure, to, series);
    plotly_numbers(to, ",\"base\":", lane->x, lane->count, time.divisor);
    plotly_numbers(to, ",\"x\":", lane->y, lane->count, time.divisor);
    write_string(to, ",\"y\":[");
    for (size_t i = 0; i < lane->count; i++) {
        write_string(to, i > 0 ? ",\"" : "\"");
        write_integer(to, series);
        write_string(to, "\"");
    }
    write_string(to, "],\"customdata\":[");
    for (size_t i = 0; i < lane->count; i++) {
        struct writer text = {0};
        struct text_span name = lane->labels[i].name;
        write_string(to, i > 0 ? ",[" : "[");
        write_label(to, figure_text(figure, name), name.length, HOVER_WIDTH, HOVER_LINES);
        write_string(to, ",");
        plotly_value(&text, lane->y[i], scale, 0);
        write_string(&text, ", at ");
        plotly_value(&text, lane->x[i], time, 0);
        write_string(&text, lane->labels[i].on_path ? ", on the path" : "");
        plotly_text(to, &text);
        write_string(to, "]");
    }
    write_string(to, "],\"hovertemplate\":");
    write_json_string(to, "<b>%{customdata[0]}</b><br>%{fullData.name}: %{customdata[1]}"
                          "<extra></extra>");
    write_string(to, ",\"texttemplate\":\"%{customdata[0]}\",\"textposition\":\"inside\","
                     "\"insidetextanchor\":\"middle\",\"textangle\":0,"
                     "\"insidetextfont\":{\"color\":");
    if (figure->has_pale)
        write_by_point(lane, to, "\"#ffffff\"", "\"" TEST_INK "\"");
    else
        write_string(to, "\"#ffffff\"");
    write_string(to, "},\"marker\":{\"line\":{\"width\":0}");
    if (figure->has_pale) {
        write_string(to, ",\"opacity\":");
        write_by_point(lane, to, "1", "0.25");
    }
    write_string(to, ",\"color\":[");
    for (size_t i = 0; i < lane->count; i++) {
        plotly_comma(to, i > 0);
        write_json_string(to, colour_of(figure, lane->labels[i].name));
    }
    write_string(to, "]}}");
}

static void write_keys(const struct figure *figure, struct writer *to, const char *key)
{
    write_string(to, key);
    for (int i = 0; i < figure->series_count; i++) {
        write_string(to, i > 0 ? ",\"" : "\"");
        write_integer(to, i);
        write_string(to, "\"");
    }
}

size_t timeline_write_lanes(const struct figure *figure, struct writer *to)
{
    write_string(to, ",\"uniformtext\":{\"mode\":\"hide\",\"minsize\":9},\"yaxis\":{"
                     "\"type\":\"category\",\"autorange\":\"reversed\",\"automargin\":true,"
                     "\"showgrid\":false,\"tickmode\":\"array\"");
    write_keys(figure, to, ",\"tickvals\":[");
    write_string(to, "],\"ticktext\":[");
    for (int i = 0; i < figure->series_count; i++) {
        plotly_comma(to, i > 0);
        write_lane_name(figure, to, i);
    }
    write_keys(figure, to, "],\"categoryorder\":\"array\",\"categoryarray\":[");
    write_string(to, "]");
    return LANE * (size_t)figure->series_count + 20;
}
