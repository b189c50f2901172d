/*
** Tables of the report. A column is named `head|role`; a role says how its values look:
**
** 1. `head`: text that heads the row. `name`: the same for a name of a trace, as a label (label.h)
**    with the whole name in its title; labels that are equal get a part of their names.
** 2. `text`, `count` (at most one decimal), `time` (ms), `diff` (ms, test minus control, coloured),
**    `change` (the same without colour), `range` (text, as numbers are).
** 3. `tag` and `note` are added to the cell before, as a framed word and in grey.
** 4. `from`, `to`, `low` and `high`: the cell of `to` is a bar on an axis of differences.
** 5. `row`: the class of the row. `differs`: 1 marks the row.
*/
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "label_set.h"
#include "report_format.h"

enum { MOST_PAGE_BYTES = 220000 }; /* rows that follow are left out */

enum cell_role {
    CELL_HEAD,
    CELL_NAME,
    CELL_TEXT,
    CELL_COUNT,
    CELL_TIME,
    CELL_DIFF,
    CELL_CHANGE,
    CELL_RANGE,
    CELL_TAG,
    CELL_NOTE,
    CELL_FROM,
    CELL_TO,
    CELL_LOW,
    CELL_HIGH,
    CELL_ROW,
    CELL_DIFFERS,
    CELL_ROLES
};

static const char *const role_names[CELL_ROLES] = {
    [CELL_HEAD] = "head",      [CELL_NAME] = "name",   [CELL_TEXT] = "text",
    [CELL_COUNT] = "count",    [CELL_TIME] = "time",   [CELL_DIFF] = "diff",
    [CELL_CHANGE] = "change",  [CELL_RANGE] = "range", [CELL_TAG] = "tag",
    [CELL_NOTE] = "note",      [CELL_FROM] = "from",   [CELL_TO] = "to",
    [CELL_LOW] = "low",        [CELL_HIGH] = "high",   [CELL_ROW] = "row",
    [CELL_DIFFERS] = "differs"};

/* Where a name is to be written, when all names are known. */
struct table_name {
    size_t at; /* offset in the table's HTML */
    uint32_t id;
};

struct report_table {
    struct writer html;
    struct label_set labels;
    size_t name_bytes; /* of all rows */
    struct table_name *named;
    size_t named_count, named_capacity;
    enum cell_role roles[MOST_REPORT_COLUMNS];
    const char *heads[MOST_REPORT_COLUMNS]; /* with their lengths, valid during a row */
    size_t head_lengths[MOST_REPORT_COLUMNS];
    double low, high; /* of the axis */
    bool total;       /* the row gives a whole step: cells without a number stay empty */
    bool cards;       /* cells say their heads, for narrow pages */
};

static void read_columns(struct report_table *table, const char *const *columns, int count)
{
    for (int i = 0; i < count; i++) {
        const char *bar = strchr(columns[i], '|');
        table->heads[i] = columns[i];
        table->head_lengths[i] = bar ? (size_t)(bar - columns[i]) : strlen(columns[i]);
        table->roles[i] = CELL_TEXT;
        for (int role = 0; bar && role < CELL_ROLES; role++)
            if (strcmp(bar + 1, role_names[role]) == 0)
                table->roles[i] = (enum cell_role)role;
    }
}

static bool is_number_role(enum cell_role role)
{
    return role >= CELL_COUNT && role <= CELL_RANGE;
}

/* Roles that make no cell of their own. */
static bool is_silent(enum cell_role role)
{
    return role >= CELL_TAG && role != CELL_TO;
}

static const struct report_cell *cell_of(const struct report_table *table, enum cell_role role,
                                         const struct report_cell *cells, int count)
{
    for (int i = 0; i < count; i++)
        if (table->roles[i] == role)
            return &cells[i];
    return NULL;
}

/* Percent of the axis at which a difference is. */
static double axis_at(const struct report_table *table, double ms)
{
    return 100 * (ms - table->low) / (table->high - table->low);
}

/* The distance of ticks: 1, 2 or 5 times a power of ten, so that there are at most five. */
static double tick_step(double range)
{
    double step = pow(10, floor(log10(range / 5)));
    static const double times[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (range / (step * times[i]) <= 5)
            return step * times[i];
    return step * 10;
}

static void write_tick(struct writer *to, double at)
{
    write_string(to, at < 8    ? "<span class=\"l\" style=\"left:"
                     : at > 92 ? "<span class=\"r\" style=\"right:"
                               : "<span style=\"left:");
    write_fixed(to, at > 92 && at >= 8 ? 100 - at : at, 2);
    write_string(to, "%\">");
}

/* The ticks of the axis of differences. 0 is control's step; no tick comes close to it. */
static void write_axis(const struct report *report, const struct report_table *table,
                       struct writer *to)
{
    double zero = axis_at(table, 0), range = (table->high - table->low) / report->style.size;
    double step = tick_step(range);
    int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    write_tick(to, zero);
    write_string(to, "control</span>");
    double first = ceil(table->low / report->style.size / step), last = first + 6;
    for (double n = first; n <= last; n++) {
        double at = axis_at(table, n * step * report->style.size);
        if (n == 0 || at > 100 || fabs(at - zero) < 17)
            continue;
        write_tick(to, at);
        write_string(to, n > 0 ? "+" : "−");
        write_fixed(to, fabs(n * step), decimals > 6 ? 6 : decimals);
        write_string(to, "</span>");
    }
}

static void write_bar(const struct report *report, const struct report_cell *cells, int count,
                      struct writer *to)
{
    const struct report_table *table = report->table;
    const struct report_cell *from = cell_of(table, CELL_FROM, cells, count);
    const struct report_cell *end = cell_of(table, CELL_TO, cells, count);
    const struct report_cell *row = cell_of(table, CELL_ROW, cells, count);
    write_string(to, "<td class=\"b\"><div class=\"lane\"><span class=\"z\" style=\"left:");
    write_fixed(to, axis_at(table, 0), 2);
    write_string(to, "%\"></span>");
    if (from && from->is_number && end->is_number && from->number != end->number) {
        double left = axis_at(table, fmin(from->number, end->number));
        double width = axis_at(table, fmax(from->number, end->number)) - left;
        write_string(to, row && row->text             ? "<i class=\"s\""
                         : end->number > from->number ? "<i class=\"m\""
                                                      : "<i class=\"l\"");
        write_string(to, " style=\"left:");
        write_fixed(to, left, 2);
        write_string(to, "%;width:");
        write_fixed(to, width, 2);
        write_string(to, "%\"></i>");
    }
    write_string(to, "</div></td>");
}

static void write_head(struct report *report, int count)
{
    struct report_table *table = report->table;
    struct writer *to = &table->html;
    write_string(to, "<thead><tr>");
    for (int i = 0; i < count; i++) {
        enum cell_role role = table->roles[i];
        bool empty = table->head_lengths[i] == 0;
        if (is_silent(role))
            continue;
        if (role == CELL_TO) {
            write_string(to, "<th scope=\"col\" class=\"b\"><div class=\"axis\">");
            if (table->high > table->low)
                write_axis(report, table, to);
            write_string(to, "</div></th>");
            continue;
        }
        write_string(to, empty                  ? "<td></td>"
                         : is_number_role(role) ? "<th scope=\"col\" class=\"n\">"
                                                : "<th scope=\"col\">");
        if (empty)
            continue;
        write_html(to, table->heads[i], table->head_lengths[i]);
        if (role == CELL_TIME || role == CELL_DIFF) {
            write_string(to, " ");
            write_string(to, report->style.unit);
        }
        write_string(to, "</th>");
    }
    write_string(to, "</tr></thead>\n<tbody>\n");
}

static void add_name(struct report_table *table, const struct report_cell *cell)
{
    uint32_t id = label_set_add(&table->labels, cell->text, cell->length);
    if (id == NAME_NONE ||
        !MEMORY_GROW(table->named, table->named_capacity, table->named_count + 1))
        table->html.failed = true;
    else
        table->named[table->named_count++] = (struct table_name){table->html.length, id};
    table->name_bytes += cell->length;
}

static void begin_number(const struct report *report, struct writer *to, int column,
                         const struct report_cell *cell)
{
    const struct report_table *table = report->table;
    write_string(to, "<td class=\"n\"");
    if (table->cards && (cell->is_number || cell->text)) {
        write_string(to, " data-s=\"");
        write_html(to, table->heads[column], table->head_lengths[column]);
        write_string(to, "\"");
    }
    write_string(to, ">");
}

static void write_number_cell(struct report *report, int column, const struct report_cell *cell)
{
    struct writer *to = &report->table->html;
    enum cell_role role = report->table->roles[column];
    if (role == CELL_DIFF && cell->is_number) {
        report_diff(report, to, "td", cell->number, true);
        write_string(to, "</td>");
        return;
    }
    begin_number(report, to, column, cell);
    if (role == CELL_RANGE && cell->text)
        write_html(to, cell->text, cell->length);
    else if (!cell->is_number)
        write_string(to, role == CELL_DIFF || report->table->total ? "" : "–");
    else if (cell->number == 0)
        write_string(to, "–");
    else if (role == CELL_COUNT)
        write_fixed(to, cell->number, cell->number != floor(cell->number));
    else if (rounds_to_zero(cell->number / report->style.size, report->style.digits))
        write_string(to, "0");
    else
        report_time(report, to, cell->number);
    write_string(to, "</td>");
}

static void write_text_cell(struct report *report, int column, const struct report_cell *cell)
{
    struct report_table *table = report->table;
    struct writer *to = &table->html;
    enum cell_role role = table->roles[column];
    if (role == CELL_NAME && cell->text) {
        add_name(table, cell);
    } else if (role != CELL_TEXT) {
        write_string(to, "<th scope=\"row\">");
    } else {
        write_string(to, "<td");
        if (table->cards && strcmp(report->section->style, "cmp") == 0) {
            write_string(to, " data-s=\"");
            write_html(to, table->heads[column], table->head_lengths[column]);
            write_string(to, "\"");
        }
        write_string(to, ">");
    }
    if (cell->text && role != CELL_NAME)
        write_html(to, cell->text, cell->length);
    else if (!cell->text && role == CELL_NAME)
        write_string(to, "(nothing recorded)");
}

/* Adds tags and notes that follow a column, and ends its cell. */
static void end_text_cell(struct report_table *table, const struct report_cell *cells, int column,
                          int count)
{
    struct writer *to = &table->html;
    for (int i = column + 1;
         i < count && (table->roles[i] == CELL_TAG || table->roles[i] == CELL_NOTE); i++) {
        if (!cells[i].text)
            continue;
        write_string(to, table->roles[i] == CELL_TAG ? " <span class=\"tag\">"
                                                     : " <span class=\"soft\">");
        write_html(to, cells[i].text, cells[i].length);
        write_string(to, "</span>");
    }
    write_string(to, table->roles[column] == CELL_TEXT ? "</td>" : "</th>");
}

void report_table_row(struct report *report, const char *const *columns,
                      const struct report_cell *cells, int count)
{
    if (!report->table && !(report->table = memory_zeroed(1, sizeof *report->table))) {
        report->page.failed = true;
        return;
    }
    struct report_table *table = report->table;
    struct writer *to = &table->html;
    if (report->rows > 0 && report->page.length + to->length + table->name_bytes > MOST_PAGE_BYTES)
        return;
    read_columns(table, columns, count);
    if (report->rows == 0) {
        const struct report_cell *low = cell_of(table, CELL_LOW, cells, count);
        const struct report_cell *high = cell_of(table, CELL_HIGH, cells, count);
        table->low = low ? low->number : 0;
        table->high = high ? high->number : 0;
        table->cards = strcmp(report->section->style, "app") != 0;
        write_head(report, count);
    }
    const struct report_cell *row = cell_of(table, CELL_ROW, cells, count);
    const struct report_cell *differs = cell_of(table, CELL_DIFFERS, cells, count);
    table->total = row && row->text;
    write_string(to, "<tr");
    if (differs && differs->number != 0) {
        write_string(to, " class=\"d\"");
    } else if (row && row->text) {
        write_string(to, " class=\"");
        write_html(to, row->text, row->length);
        write_string(to, "\"");
    }
    write_string(to, ">");
    for (int i = 0; i < count; i++) {
        if (is_silent(table->roles[i]))
            continue;
        if (table->roles[i] == CELL_TO) {
            write_bar(report, cells, count, to);
        } else if (is_number_role(table->roles[i])) {
            write_number_cell(report, i, &cells[i]);
        } else {
            write_text_cell(report, i, &cells[i]);
            end_text_cell(table, cells, i, count);
        }
    }
    write_string(to, "</tr>\n");
}

static void write_name(const struct report_table *table, uint32_t id, struct writer *to)
{
    const struct name *name = &table->labels.names.items[id];
    struct writer label = {0};
    bool is_name = label_set_write(&table->labels, id, &label, write_html);
    write_string(to, "<th scope=\"row\"");
    if (!is_name) {
        write_string(to, " title=\"");
        write_html(to, name->text, name->length);
        write_string(to, "\"");
    }
    write_string(to, ">");
    write_bytes(to, label.bytes, label.length);
    to->failed = to->failed || label.failed;
    writer_clear(&label);
}

void report_table_end(struct report *report)
{
    struct report_table *table = report->table;
    struct writer *to = &report->page;
    const struct report_section *section = report->section;
    bool folded = strcmp(section->style, "app") == 0;
    size_t at = 0;
    if (!table)
        return;
    to->failed = to->failed || table->html.failed || !label_set_finish(&table->labels, true);
    if (folded) {
        write_string(to, "<details class=\"app\"><summary>");
        write_string(to, section->heading);
        write_string(to, "</summary>\n<div class=\"scroll\">");
    }
    write_string(to, "<table class=\"");
    write_string(to, section->style);
    write_string(to, "\">");
    if (section->id[0] == '\0' && !folded) {
        write_string(to, "<caption>");
        write_string(to, section->heading);
        write_string(to, "</caption>\n");
    }
    for (size_t i = 0; i < table->named_count && !to->failed; i++) {
        write_bytes(to, table->html.bytes + at, table->named[i].at - at);
        write_name(table, table->named[i].id, to);
        at = table->named[i].at;
    }
    if (!to->failed)
        write_bytes(to, table->html.bytes + at, table->html.length - at);
    write_string(to, folded ? "</tbody></table></div>\n" : "</tbody></table>\n");
    report_table_free(table);
    report->table = NULL;
}

void report_table_free(struct report_table *table)
{
    if (!table)
        return;
    writer_clear(&table->html);
    label_set_clear(&table->labels);
    memory_free(table->named);
    memory_free(table);
}
