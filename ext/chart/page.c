#include "page.h"

#include <math.h>
#include <string.h>

/* From assets.S. The library is gzip in base64; without the library it is empty. */
extern const char chart_style[], chart_script[], chart_library[];

bool page_has_library(void)
{
    return chart_library[0] != '\0';
}

void page_frame_begin(struct writer *to, const char *kind, const char *sources, const char *title,
                      size_t length, const char *style)
{
    write_string(to, "<!DOCTYPE html>\n<html lang=\"en\" class=\"tracediff-");
    write_string(to, kind);
    write_string(to, "-page\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; script-src 'unsafe-inline'");
    write_string(to, sources);
    write_string(to, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                     "initial-scale=1\">\n<title>");
    write_html(to, title, length);
    write_string(to, "</title>\n<style>\n");
    write_string(to, style);
    write_string(to, "</style>\n</head>\n<body>\n<div class=\"tracediff-");
    write_string(to, kind);
    write_string(to, "\">\n<main>\n");
}

/* The element is the one around the script. Some hosts run scripts elsewhere: then it is the last
** element that no script has begun. */
void page_frame_end(struct writer *to, const char *kind, const char *script)
{
    write_string(to, "<script>\n(frame => {\n");
    write_string(to, script);
    write_string(to, "})((kind => {\n  const frame = document.currentScript?.closest(kind) ||\n"
                     "    [...document.querySelectorAll(kind)].findLast(it => !it.begun);\n"
                     "  frame.begun = true;\n  return frame;\n})(\".tracediff-");
    write_string(to, kind);
    write_string(to, "\"));\n</script>\n</div>\n</body>\n</html>\n");
}

void page_begin(struct writer *to, const char *title, size_t length)
{
    page_frame_begin(to, "chart", "; img-src data: blob:", title, length, chart_style);
    write_string(to, "<h1>");
    write_html(to, title, length);
    write_string(to, "</h1>\n");
    if (!page_has_library())
        write_string(to, "<p class=\"missing\">Charts are missing: this tracediff was built "
                         "without Plotly. <code>make charts</code> builds it with.</p>\n");
}

/* Writes the head of a column, with the unit of its numbers. */
static void write_head(struct writer *to, const char *title, size_t length, const char *unit)
{
    write_string(to, "<th class=\"n\">");
    write_html(to, title, length);
    if (*unit) {
        write_string(to, " (");
        write_string(to, unit + 1);
        write_string(to, ")");
    }
}

static void write_cell(struct writer *to, double number, struct scale scale)
{
    write_string(to, "<td>");
    if (!isnan(number))
        write_amount(to, number / scale.divisor, scale.decimals);
}

static void write_point_rows(const struct figure *figure, struct writer *to)
{
    struct scale scale = figure_scale(figure, 0), time = figure_time_scale(figure);
    const char *axis = figure->chart->axis, *at = figure_at(figure);
    bool timeline = figure->chart->kind == CHART_TIMELINE;
    write_string(to, timeline ? "<th>lane<th>name" : "<th>series");
    write_head(to, at, strlen(at), time.unit);
    write_head(to, axis, strlen(axis), scale.unit);
    write_string(to, "</thead><tbody>\n");
    for (int i = 0; i < figure->series_count; i++) {
        size_t length;
        const char *title = figure_series(figure, i, &length);
        for (size_t point = 0; point < figure->series[i].count; point++) {
            write_string(to, "<tr><th>");
            write_html(to, title, length);
            if (timeline) {
                struct text_span name = figure->series[i].labels[point].name;
                write_string(to, "<th>");
                write_html(to, figure_text(figure, name), name.length);
            }
            write_cell(to, figure->series[i].x[point], time);
            write_cell(to, figure->series[i].y[point], scale);
            write_string(to, "</tr>\n");
        }
    }
}

static void write_named_rows(const struct figure *figure, struct writer *to)
{
    struct scale scales[MOST_SERIES];
    write_string(to, "<th>name");
    for (int i = 0; i < figure->series_count; i++) {
        size_t length;
        const char *title = figure_series(figure, i, &length);
        scales[i] = figure_scale(figure, i);
        write_head(to, title, length, scales[i].unit);
    }
    write_string(to, "</thead><tbody>\n");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct text_span name = figure->rows[row].name;
        write_string(to, "<tr><th>");
        write_html(to, figure_text(figure, name), name.length);
        for (int i = 0; i < figure->series_count; i++)
            write_cell(to, figure->series[i].y[row], scales[i]);
        write_string(to, "</tr>\n");
    }
}

static void write_table(const struct figure *figure, struct writer *to)
{
    write_string(to, "<table><thead><tr>");
    (figure_has_points(figure) ? write_point_rows : write_named_rows)(figure, to);
    write_string(to, "</tbody></table>");
}

void page_figure(struct writer *to, const struct figure *figure)
{
    bool empty = figure->seen == 0 && figure->row_count == 0;
    write_string(to, "<section>\n");
    if (empty) {
        write_string(to, "<p>No rows.</p>\n");
    } else {
        if (page_has_library()) {
            write_string(to, "<div class=\"figure\"></div>\n"
                             "<script type=\"application/json\">");
            figure_write(figure, to);
            write_string(to, "</script>\n");
        }
        write_string(to, page_has_library() ? "<details><summary>The figures as a table</summary>"
                                            : "<details open><summary>The figures</summary>");
        write_string(to, "<div class=\"table\">");
        write_table(figure, to);
        write_string(to, "</div></details>\n");
    }
    write_string(to, "</section>\n");
}

void page_end(struct writer *to)
{
    write_string(to, "</main>\n<footer>Made by tracediff");
    if (page_has_library()) {
        write_string(to, ", drawn by plotly.js (MIT licence)</footer>\n"
                         "<script type=\"text/plain\" class=\"library\">");
        write_string(to, chart_library);
        write_string(to, "</script>\n");
    } else {
        write_string(to, "</footer>\n");
    }
    page_frame_end(to, "chart", chart_script);
}
