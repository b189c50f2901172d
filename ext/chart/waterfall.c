#include "waterfall.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_PARTS = 10, CONTROL = 0, TEST = 1, DIFFERENCE = 2 };

static double value_or_zero(const struct figure *figure, int series, size_t row)
{
    double number = figure->series[series].y[row];
    return isnan(number) ? 0 : number;
}

/* Parts that are not shown. */
struct others {
    size_t count, unchanged;
    double more, less, control, test;
};

/* Finds the rows with the greatest differences, the greatest first. Returns how many. */
static size_t greatest_changes(const struct figure *figure, double least, size_t *chosen)
{
    const double *change = figure->series[DIFFERENCE].y;
    size_t count = 0;
    for (size_t row = 0; row < figure->row_count; row++) {
        size_t at = count;
        double size = fabs(change[row]);
        if (!(size >= least) || size == 0)
            continue;
        while (at > 0 && fabs(change[chosen[at - 1]]) < size)
            at--;
        if (at == MOST_PARTS)
            continue;
        count += count < MOST_PARTS;
        memmove(chosen + at + 1, chosen + at, (count - 1 - at) * sizeof *chosen);
        chosen[at] = row;
    }
    return count;
}

/* Appends the name of a row, which is never shortened. */
static struct chart_row name_row(struct figure *figure, const char *text)
{
    struct text_span name = {figure->names.length, strlen(text)};
    write_string(&figure->names, text);
    return (struct chart_row){name, 0};
}

/* 15 smaller parts (+0.012 longer, −0.003 shorter; 4 unchanged) */
static struct chart_row name_others(struct figure *figure, const struct others *others,
                                    struct scale scale)
{
    struct writer *to = &figure->names;
    struct chart_row row = {{to->length, 0}, 0};
    write_grouped(to, (int64_t)others->count);
    write_string(to, others->count == 1 ? " smaller part (" : " smaller parts (");
    if (others->more > 0) {
        write_change(to, others->more / scale.divisor, scale.brief);
        write_string(to, others->less < 0 ? " longer, " : " longer");
    }
    if (others->less < 0) {
        write_change(to, others->less / scale.divisor, scale.brief);
        write_string(to, " shorter");
    }
    if (others->unchanged > 0) {
        write_string(to, "; ");
        write_grouped(to, (int64_t)others->unchanged);
        write_string(to, " unchanged");
    }
    write_string(to, ")");
    row.name.length = to->length - row.name.at;
    return row;
}

/* Sums up the rows that are not chosen. */
static struct others sum_others(const struct figure *figure, const size_t *chosen, size_t parts)
{
    struct others others = {0};
    for (size_t row = 0; row < figure->row_count; row++) {
        size_t i = 0;
        double change = figure->series[DIFFERENCE].y[row];
        while (i < parts && chosen[i] != row)
            i++;
        if (i < parts)
            continue;
        others.control += figure->series[CONTROL].y[row];
        others.test += figure->series[TEST].y[row];
        *(change > 0 ? &others.more : &others.less) += change;
        *(change == 0 ? &others.unchanged : &others.count) += 1;
    }
    return others;
}

bool waterfall_make(struct figure *figure)
{
    size_t chosen[MOST_PARTS + 1], count = 0;
    struct chart_row rows[MOST_PARTS + 3];
    double numbers[2][MOST_PARTS + 3] = {{0}}, control = 0, test = 0, greatest = 0;
    if (figure->row_count == 0)
        return true;
    for (size_t row = 0; row < figure->row_count; row++) {
        for (int i = CONTROL; i <= TEST; i++)
            figure->series[i].y[row] = value_or_zero(figure, i, row);
        figure->series[DIFFERENCE].y[row] =
            figure->series[TEST].y[row] - figure->series[CONTROL].y[row];
        greatest = fmax(greatest, fabs(figure->series[DIFFERENCE].y[row]));
        control += figure->series[CONTROL].y[row];
        test += figure->series[TEST].y[row];
    }
    greatest = fmax(greatest, fabs(test - control));
    struct scale scale = scale_of(figure->unit, fmax(control, test));
    scale.brief = brief_of(greatest / scale.divisor);
    double least = 0.5 * scale.divisor * pow(10, -scale.brief);
    size_t parts = greatest_changes(figure, fmax(least, fabs(test - control) / 100), chosen);
    struct others others = sum_others(figure, chosen, parts);
    const bool bytes = figure->unit == UNIT_BYTES;
    numbers[CONTROL][0] = control;
    numbers[TEST][0] = NAN;
    rows[count++] = name_row(figure, bytes ? "peak of control" : "step of control");
    for (size_t i = 0; i < parts; i++, count++) {
        rows[count] = figure->rows[chosen[i]];
        numbers[CONTROL][count] = figure->series[CONTROL].y[chosen[i]];
        numbers[TEST][count] = figure->series[TEST].y[chosen[i]];
    }
    if (others.count > 0) {
        numbers[CONTROL][count] = others.control;
        numbers[TEST][count] = others.test;
        rows[count++] = name_others(figure, &others, scale);
    }
    numbers[CONTROL][count] = control;
    numbers[TEST][count] = test;
    rows[count++] = name_row(figure, bytes ? "peak of test" : "step of test");
    if (figure->names.failed || !MEMORY_GROW(figure->rows, figure->row_capacity, count))
        return false;
    memcpy(figure->rows, rows, count * sizeof *rows);
    for (int i = 0; i < figure->series_count; i++) {
        struct series *series = &figure->series[i];
        if (!MEMORY_GROW(series->y, series->y_capacity, count))
            return false;
        series->count = count;
        for (size_t row = 0; row < count; row++)
            series->y[row] =
                i == DIFFERENCE ? numbers[TEST][row] - numbers[CONTROL][row] : numbers[i][row];
    }
    figure->row_count = count;
    figure->kept = figure->seen; /* the row of other parts sums up the rest */
    return true;
}

/* The kind of bar that draws a row. */
enum waterfall_bar { BAR_CONTROL, BAR_MORE, BAR_LESS, BAR_TEST, BARS };

static enum waterfall_bar bar_of(const struct figure *figure, size_t row)
{
    if (row == 0)
        return BAR_CONTROL;
    if (row + 1 == figure->row_count)
        return BAR_TEST;
    return figure->series[DIFFERENCE].y[row] < 0 ? BAR_LESS : BAR_MORE;
}

/* Where the bar of a row begins: a step's at 0, a part's where the row before ends. */
static double begin_of(const struct figure *figure, size_t row)
{
    enum waterfall_bar bar = bar_of(figure, row);
    if (bar == BAR_CONTROL || bar == BAR_TEST)
        return 0;
    double level = figure->series[CONTROL].y[0];
    for (size_t i = 1; i < row; i++)
        level += figure->series[DIFFERENCE].y[i];
    return level;
}

static double length_of(const struct figure *figure, size_t row)
{
    static const int series[BARS] = {CONTROL, DIFFERENCE, DIFFERENCE, TEST};
    return figure->series[series[bar_of(figure, row)]].y[row];
}

double waterfall_end(const struct figure *figure, size_t row)
{
    return begin_of(figure, row) + fmax(length_of(figure, row), 0);
}

struct waterfall_axis waterfall_axis(const struct figure *figure)
{
    double low = INFINITY, high = 0;
    for (size_t row = 0; row < figure->row_count; row++) {
        double end = begin_of(figure, row) + length_of(figure, row);
        low = fmin(low, end);
        high = fmax(high, end);
    }
    double range = high - low, unit = pow(10, floor(log10(range))) / 2;
    bool cut = range > 0 && range < high / 3;
    double from = cut ? floor((low - range / 2) / unit) * unit : fmin(low, 0);
    return (struct waterfall_axis){from, high};
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
            write_number(to, number(figure, row) / figure_scale(figure, 0).divisor);
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
    static const char *const before[] = {"control: ", "<br>test: ", "<br>difference: "};
    struct scale scale = figure_scale(figure, 0);
    bool any = false;
    write_string(to, ",\"customdata\":");
    for (size_t row = 0; row < figure->row_count; row++) {
        struct text_span name = figure->rows[row].name;
        struct writer text = {0};
        if (bar_of(figure, row) != bar)
            continue;
        for (int i = CONTROL; i <= DIFFERENCE; i++) {
            double number = figure->series[i].y[row] / scale.divisor;
            if (isnan(number))
                continue;
            write_string(&text, before[i]);
            (i == DIFFERENCE ? write_change : write_amount)(&text, number, scale.decimals);
            write_string(&text, scale.unit);
        }
        write_string(to, any ? ",[" : "[[");
        any = true;
        write_label(to, figure_text(figure, name), name.length, HOVER_WIDTH, HOVER_LINES);
        write_string(to, ",");
        write_json(to, text.failed ? "" : text.bytes, text.failed ? 0 : text.length);
        write_string(to, "]");
        to->failed = to->failed || text.failed;
        writer_clear(&text);
    }
    write_string(to, any ? "]" : "[]");
}

void waterfall_write(const struct figure *figure, struct writer *to)
{
    static const struct {
        const char *name, *marker, *of_bytes;
    } bars[BARS] = {
        {"control", "\"color\":\"" CONTROL_GREY "\"", "control"},
        {"longer", "\"color\":\"" MORE "\"", "more"},
        {"shorter", "\"color\":\"" LESS "\",\"pattern\":{\"shape\":\"/\",\"size\":6,"
                    "\"fillmode\":\"overlay\",\"fgopacity\":0.5}",
         "less"},
        {"test", "\"color\":\"" TEST_INK "\"", "test"},
    };
    for (enum waterfall_bar bar = BAR_CONTROL; bar < BARS; bar++) {
        write_string(to, bar > 0 ? ",{" : "{");
        write_string(to, "\"type\":\"bar\",\"orientation\":\"h\",\"name\":");
        write_json_string(to, figure->unit == UNIT_BYTES ? bars[bar].of_bytes : bars[bar].name);
        write_list(figure, to, bar, ",\"y\":", NULL);
        write_list(figure, to, bar, ",\"x\":", length_of);
        write_list(figure, to, bar, ",\"base\":", begin_of);
        write_details(figure, to, bar);
        write_string(to, ",\"hovertemplate\":");
        write_json_string(to, "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>");
        write_string(to, ",\"marker\":{");
        write_string(to, bars[bar].marker);
        write_string(to, "}}");
    }
}
