#include "report.h"

#include <math.h>
#include <string.h>

#include "chart/page.h"
#include "report_format.h"

/* From assets.S. */
extern const char report_style[], report_script[];

bool report_has_section(const struct report *report, const struct report_section *section)
{
    return section->of_memory ? report->memory.unit != NULL : section->of_all || !report->cannot;
}

void report_begin(struct report *report, const char *title, size_t length)
{
    struct writer *to = &report->page;
    page_frame_begin(to, "report", "", title, length, report_style);
    write_string(to, "<div class=\"top\"><span>tracediff: differences are test minus control"
                     "</span>\n<nav aria-label=\"Sections\">");
    for (int i = 0; i < report_section_count; i++) {
        const struct report_section *it = &report_sections[i];
        if (it->id[0] == '\0' || !report_has_section(report, it))
            continue;
        write_string(to, "<a href=\"#tracediff-");
        write_string(to, it->id);
        write_string(to, "\">");
        write_string(to, it->link);
        write_string(to, "</a>\n");
    }
    write_string(to, "</nav></div>\n");
}

/* `sql` in an element that opens, ready to copy. */
static void report_sql(struct writer *to, const char *sql, size_t length)
{
    write_string(to, "<details class=\"sql\"><summary>SQL</summary><pre>");
    write_html(to, sql, length);
    write_string(to, "</pre></details>\n");
}

/* The bars of both steps, from 0. */
static void write_bars(struct report *report)
{
    struct writer *to = &report->page;
    const double steps[] = {report->style.control, report->style.test};
    double most = fmax(steps[0], steps[1]);
    write_string(to, "<dl class=\"two\">");
    for (int i = 0; i < 2; i++) {
        write_string(to, i == 0 ? "<dt>control</dt>" : "<dt>test</dt>");
        write_string(to, "<dd class=\"bar\"><i style=\"width:");
        write_fixed(to, most > 0 ? 100 * steps[i] / most : 0, 2);
        write_string(to, "%\"></i></dd><dd><b>");
        report_time(report, to, steps[i]);
        write_string(to, " ");
        write_string(to, report->style.unit);
        write_string(to, "</b></dd>");
    }
    write_string(to, "</dl>\n");
}

static bool cell_is(const struct report_cell *cell, const char *text)
{
    return cell->text && cell->length == strlen(text) &&
           memcmp(cell->text, text, cell->length) == 0;
}

/* The elements of prose. */
static const struct prose_block {
    const char *name, *begin, *end;
} prose_blocks[] = {
    {"h1", "<h1>", "</h1>\n"},
    {"lead", "<p class=\"lead\">", "</p>\n"},
    {"p", "<p>", "</p>\n"},
    {"note", "<p class=\"note\">", "</p>\n"},
    {"state", "<p class=\"state\">", "</p>\n"},
    {"warn", "<p>", "</p>\n"},
    {"check", "<li>", "</li>\n"},
};

static void close_block(struct report *report, bool warns)
{
    if (report->open_in)
        write_string(report->open_in, report->closing);
    report->open_in = NULL;
    if (report->in_warnings && !warns)
        write_string(&report->page, "</div>\n");
    report->in_warnings = report->in_warnings && warns;
}

/* Begins the element of a block. Lines of checks are kept for later. */
static void open_block(struct report *report, const struct report_cell *name)
{
    bool warns = cell_is(name, "warn");
    close_block(report, warns);
    if (warns && !report->in_warnings) {
        write_string(&report->page, "<div class=\"callout\" role=\"note\">\n");
        report->in_warnings = true;
    }
    for (size_t i = 0; i < sizeof prose_blocks / sizeof *prose_blocks; i++)
        if (cell_is(name, prose_blocks[i].name)) {
            report->open_in = cell_is(name, "check") ? &report->later : &report->page;
            report->closing = prose_blocks[i].end;
            write_string(report->open_in, prose_blocks[i].begin);
        }
    if (cell_is(name, "bars"))
        write_bars(report);
}

static void write_prose(struct report *report, const struct report_cell *cells)
{
    enum { BLOCK, STRONG, TEXT, DIFF };
    if (cells[BLOCK].text)
        open_block(report, &cells[BLOCK]);
    struct writer *to = report->open_in ? report->open_in : &report->page;
    if (cells[STRONG].text) {
        write_string(to, "<b>");
        write_html(to, cells[STRONG].text, cells[STRONG].length);
        write_string(to, "</b> ");
    }
    if (cells[TEXT].text)
        write_html(to, cells[TEXT].text, cells[TEXT].length);
    if (cells[DIFF].is_number) {
        report_diff(report, to, "b", cells[DIFF].number, false);
        write_string(to, "</b>");
    }
}

enum cause_column { CAUSE_PLACE, CAUSE_DIFF, CAUSE_SHARE, CAUSE_TITLE, CAUSE_ITEM, CAUSE_TEXT };

bool report_row_is_sql(const struct report *report, const struct report_cell *cells)
{
    return report->section->layout == LAYOUT_CAUSES && cell_is(&cells[CAUSE_ITEM], "sql");
}

static void write_cause(struct report *report, const struct report_cell *cells)
{
    struct writer *to = &report->page;
    if (report->rows == 0 || cells[CAUSE_PLACE].number != report->place) {
        write_string(to, report->rows == 0 ? "<ol class=\"causes\">\n" : "</div></li>\n");
        report->place = cells[CAUSE_PLACE].number;
        write_string(to, "<li>");
        report_diff(report, to, "div", cells[CAUSE_DIFF].number, true);
        write_string(to, " ");
        write_string(to, report->style.unit);
        write_string(to, "<small>");
        write_html(to, cells[CAUSE_SHARE].text, cells[CAUSE_SHARE].length);
        write_string(to, "</small></div><div class=\"why\"><h3>");
        write_html(to, cells[CAUSE_TITLE].text, cells[CAUSE_TITLE].length);
        write_string(to, "</h3>\n");
    }
    if (report_row_is_sql(report, cells)) {
        report_sql(to, cells[CAUSE_TEXT].text, cells[CAUSE_TEXT].length);
    } else if (cell_is(&cells[CAUSE_ITEM], "instances")) {
        write_string(to, "<details><summary>One by one</summary><p>");
        write_html(to, cells[CAUSE_TEXT].text, cells[CAUSE_TEXT].length);
        write_string(to, "</p></details>\n");
    } else if (cells[CAUSE_TEXT].text) {
        write_string(to, "<p>");
        write_html(to, cells[CAUSE_TEXT].text, cells[CAUSE_TEXT].length);
        write_string(to, "</p>\n");
    }
}

void report_section_begin(struct report *report, const struct report_section *section)
{
    struct writer *to = &report->page;
    report->section = section;
    report->style = section->of_memory ? report->memory : report->times;
    report->rows = 0;
    if (section->id[0] != '\0') {
        write_string(to, "<h2 id=\"tracediff-");
        write_string(to, section->id);
        write_string(to, "\">");
        write_string(to, section->heading);
        write_string(to, "</h2>\n");
    }
}

void report_row(struct report *report, const char *const *columns, const struct report_cell *cells,
                int count)
{
    enum report_layout layout = report->section->layout;
    if (layout == LAYOUT_PROSE)
        write_prose(report, cells);
    else if (layout == LAYOUT_CAUSES)
        write_cause(report, cells);
    else if (layout == LAYOUT_TABLE)
        report_table_row(report, columns, cells, count);
    else if (layout == LAYOUT_MAP)
        report_map_row(report, cells);
    else if (layout == LAYOUT_STEPS)
        report_steps_row(report, cells);
    else if (layout == LAYOUT_PATH)
        report_path_row(report, cells);
    report->rows++;
}

/* Writes the lines that were kept for the end of a table. */
static void write_later(struct report *report)
{
    struct writer *to = &report->page;
    to->failed = to->failed || report->later.failed;
    if (report->later.length == 0)
        return;
    write_string(to, "<ul class=\"checks\">\n");
    write_bytes(to, report->later.bytes, report->later.length);
    write_string(to, "</ul>\n");
    report->later.length = 0;
}

static void end_rows(struct report *report)
{
    enum report_layout layout = report->section->layout;
    if (layout == LAYOUT_PROSE)
        close_block(report, false);
    else if (layout == LAYOUT_CAUSES)
        write_string(&report->page, "</div></li>\n</ol>\n");
    else if (layout == LAYOUT_TABLE)
        report_table_end(report);
    else if (layout == LAYOUT_MAP)
        report_map_end(report);
    else if (layout == LAYOUT_STEPS)
        report_steps_end(report);
    else if (layout == LAYOUT_PATH)
        report_path_end(report);
}

void report_section_end(struct report *report, const char *shown)
{
    struct writer *to = &report->page;
    const struct report_section *section = report->section;
    if (report->rows > 0) {
        end_rows(report);
        if (shown)
            report_sql(to, shown, strlen(shown));
        if (strcmp(section->style, "app") == 0)
            write_string(to, "</details>\n");
    } else if (section->empty[0] != '\0') {
        write_string(to, "<p class=\"state\">");
        write_string(to, section->empty);
        write_string(to, "</p>\n");
    }
    if (section->layout == LAYOUT_TABLE)
        write_later(report);
}

void report_end(struct report *report)
{
    write_string(&report->page,
                 "</main>\n<footer>Made by tracediff. The page loads nothing; paths and names are "
                 "as in the traces. Signs and hatching say what colours say.</footer>\n");
    page_frame_end(&report->page, "report", report_script);
}

void report_clear(struct report *report)
{
    report_table_free(report->table);
    report_steps_free(report->steps);
    report->table = NULL;
    report->steps = NULL;
    label_set_clear(&report->labels);
    writer_clear(&report->page);
    writer_clear(&report->later);
}
