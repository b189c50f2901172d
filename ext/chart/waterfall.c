#include "waterfall.h"

#include <math.h>
#include <string.h>

#include "../reader/memory.h"

enum { MOST_PARTS = 16, CONTROL = 0, TEST = 1, DIFFERENCE = 2 };

static double value_or_zero(const struct figure *figure, int series, size_t row)
{
    double number = figure->series[series].y[row];
    return isnan(number) ? 0 : number;
}

static double row_change(const struct figure *figure, size_t row)
{
    return value_or_zero(figure, TEST, row) - value_or_zero(figure, CONTROL, row);
}

/* Finds the rows with the greatest differences, the greatest first. Returns how many. */
static size_t greatest_changes(const struct figure *figure, size_t *chosen)
{
    size_t count = 0;
    for (size_t row = 0; row < figure->row_count; row++) {
        size_t at = count < MOST_PARTS ? count : MOST_PARTS;
        double size = fabs(row_change(figure, row));
        if (size == 0)
            continue;
        while (at > 0 && fabs(row_change(figure, chosen[at - 1])) < size)
            at--;
        if (at == MOST_PARTS)
            continue;
        count += count < MOST_PARTS;
        memmove(chosen + at + 1, chosen + at, (count - 1 - at) * sizeof *chosen);
        chosen[at] = row;
    }
    return count;
}

struct waterfall_row {
    struct text_span name;
    double control, test; /* NaN: no value */
};

static struct text_span add_name(struct figure *figure, const char *text)
{
    struct text_span name = {figure->names.length, 0};
    write_string(&figure->names, text);
    name.length = figure->names.length - name.at;
    return name;
}

static struct text_span add_name_of_others(struct figure *figure, size_t count)
{
    struct text_span name = {figure->names.length, 0};
    write_grouped(&figure->names, (int64_t)count);
    write_string(&figure->names, count == 1 ? " other part" : " other parts");
    name.length = figure->names.length - name.at;
    return name;
}

bool waterfall_make(struct figure *figure)
{
    size_t chosen[MOST_PARTS + 1], parts = greatest_changes(figure, chosen), count = 0;
    struct waterfall_row rows[MOST_PARTS + 3];
    double control = 0, test = 0, other_control = 0, other_test = 0;
    if (figure->row_count == 0)
        return true;
    for (size_t row = 0; row < figure->row_count; row++) {
        control += value_or_zero(figure, CONTROL, row);
        test += value_or_zero(figure, TEST, row);
    }
    other_control = control;
    other_test = test;
    rows[count++] = (struct waterfall_row){add_name(figure, "step of control"), control, NAN};
    for (size_t i = 0; i < parts; i++) {
        rows[count] = (struct waterfall_row){figure->rows[chosen[i]],
                                             value_or_zero(figure, CONTROL, chosen[i]),
                                             value_or_zero(figure, TEST, chosen[i])};
        other_control -= rows[count].control;
        other_test -= rows[count].test;
        count++;
    }
    if (figure->row_count > parts)
        rows[count++] = (struct waterfall_row){
            add_name_of_others(figure, figure->row_count - parts), other_control, other_test};
    rows[count++] = (struct waterfall_row){add_name(figure, "step of test"), NAN, test};
    if (figure->names.failed || !MEMORY_GROW(figure->rows, figure->row_capacity, count))
        return false;
    for (int i = 0; i < figure->series_count; i++)
        if (!MEMORY_GROW(figure->series[i].y, figure->series[i].y_capacity, count))
            return false;
    for (size_t row = 0; row < count; row++) {
        figure->rows[row] = rows[row].name;
        figure->series[CONTROL].y[row] = rows[row].control;
        figure->series[TEST].y[row] = rows[row].test;
        figure->series[DIFFERENCE].y[row] = rows[row].test - rows[row].control;
    }
    figure->row_count = count;
    figure->kept = figure->seen; /* the row of other parts sums up the rest */
    return true;
}

/* The kind of bar that draws a row. */
enum waterfall_bar { BAR_CONTROL, BAR_TEST, BAR_MORE, BAR_LESS, BARS };

static enum waterfall_bar bar_of(const struct figure *figure, size_t row)
{
    if (row == 0)
        return BAR_CONTROL;
    if (row + 1 == figure->row_count)
        return BAR_TEST;
    return row_change(figure, row) < 0 ? BAR_LESS : BAR_MORE;
}

/* Where the bar of a row begins. */
static double begin_of(const struct figure *figure, size_t row)
{
    double level = 0;
    if (row == 0 || row + 1 == figure->row_count)
        return 0;
    for (size_t i = 0; i < row; i++)
        level += i == 0 ? value_or_zero(figure, CONTROL, 0) : row_change(figure, i);
    return level;
}

static double length_of(const struct figure *figure, size_t row)
{
    return row == 0 ? value_or_zero(figure, CONTROL, row) : row_change(figure, row);
}

static void write_list(const struct figure *figure, struct writer *to, enum waterfall_bar bar,
                       const char *key, double (*number)(const struct figure *, size_t))
{
    bool any = false;
    write_string(to, key);
    for (size_t row = 0; row < figure->row_count; row++) {
        if (bar_of(figure, row) != bar)
            continue;
        write_string(to, any ? "," : "[");
        any = true;
        if (number) {
            write_number(to, number(figure, row));
        } else {
            write_string(to, "\"");
            write_integer(to, (int64_t)row);
            write_string(to, "\"");
        }
    }
    write_string(to, any ? "]" : "[]");
}

/* Writes name, control, test and difference of each row with this kind of bar. */
static void write_details(const struct figure *figure, struct writer *to, enum waterfall_bar bar)
{
    bool any = false;
    write_string(to, ",\"customdata\":");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct text_span name = figure->rows[row];
        if (bar_of(figure, row) != bar)
            continue;
        write_string(to, any ? ",[" : "[[");
        any = true;
        write_label(to, figure_text(figure, name), name.length, HOVER_WIDTH, HOVER_LINES);
        for (int i = CONTROL; i <= DIFFERENCE; i++) {
            write_string(to, ",");
            write_number(to, figure->series[i].y[row]);
        }
        write_string(to, "]");
    }
    write_string(to, any ? "]" : "[]");
}

void waterfall_write(const struct figure *figure, struct writer *to)
{
    static const struct {
        const char *name, *colour, *hover;
    } bars[BARS] = {
        {"control", BLUE, "%{customdata[1]:,.9~f} µs"},
        {"test", ORANGE, "%{customdata[2]:,.9~f} µs"},
        {"longer", RED,
         "control: %{customdata[1]:,.9~f} µs<br>test: %{customdata[2]:,.9~f} µs<br>"
         "difference: %{customdata[3]:+,.9~f} µs"},
        {"shorter", GREEN,
         "control: %{customdata[1]:,.9~f} µs<br>test: %{customdata[2]:,.9~f} µs<br>"
         "difference: %{customdata[3]:+,.9~f} µs"},
    };
    for (enum waterfall_bar bar = BAR_CONTROL; bar < BARS; bar++) {
        write_string(to, bar > 0 ? ",{" : "{");
        write_string(to, "\"type\":\"bar\",\"orientation\":\"h\",\"name\":");
        write_json_string(to, bars[bar].name);
        write_list(figure, to, bar, ",\"y\":", NULL);
        write_list(figure, to, bar, ",\"x\":", length_of);
        write_list(figure, to, bar, ",\"base\":", begin_of);
        write_details(figure, to, bar);
        write_string(to, ",\"hovertemplate\":\"<b>%{customdata[0]}</b><br>");
        write_string(to, bars[bar].hover);
        write_string(to, "<extra></extra>\",\"marker\":{\"color\":");
        write_json_string(to, bars[bar].colour);
        write_string(to, "}}");
    }
}

void waterfall_write_range(const struct figure *figure, struct writer *to)
{
    double least = INFINITY, greatest = -INFINITY;
    for (size_t row = 0; row < figure->row_count; row++) {
        double end = begin_of(figure, row) + length_of(figure, row);
        least = end < least ? end : least;
        greatest = end > greatest ? end : greatest;
    }
    /* the axis begins at 0, unless the differences would then be too small to see */
    double spread = greatest - least;
    double from = spread < 0.4 * greatest ? least - 0.2 * spread : least < 0 ? least : 0;
    write_string(to, "\"range\":[");
    write_number(to, spread > 0 ? from : 0);
    write_string(to, ",");
    write_number(to, greatest + 0.05 * (greatest - from));
    write_string(to, "]");
}
