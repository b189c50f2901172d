/*
** The steps of the report as dots: a circle is a step of control, a triangle one of test; hollow
** ones are not counted. Positions across are percentages, so the picture is as wide as the page.
*/
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report_format.h"

enum { HEIGHT = 230, TOP = 26, BOTTOM = 204, LEFT = 9 /* % */, MOST_LABELS = 10 };

struct step_dot {
    int side;
    int64_t rank, iteration, number;
    double ms;
    bool counts;
};

struct report_steps {
    struct step_dot *dots;
    size_t count, capacity;
};

enum step_column { STEP_SIDE, STEP_RANK, STEP_ITERATION, STEP_NUMBER, STEP_MS, STEP_COUNTS };

void report_steps_row(struct report *report, const struct report_cell *cells)
{
    struct report_steps *steps = report->steps;
    if (!steps)
        steps = report->steps = memory_zeroed(1, sizeof *steps);
    if (!steps || !MEMORY_GROW(steps->dots, steps->capacity, steps->count + 1)) {
        report->page.failed = true;
        return;
    }
    steps->dots[steps->count++] =
        (struct step_dot){.side = cells[STEP_SIDE].number != 0,
                          .rank = (int64_t)cells[STEP_RANK].number,
                          .iteration = (int64_t)cells[STEP_ITERATION].number,
                          .number = (int64_t)cells[STEP_NUMBER].number,
                          .ms = cells[STEP_MS].number,
                          .counts = cells[STEP_COUNTS].number != 0};
}

/* The axis: from 0, unless all steps are long; in units of the page. */
struct step_axis {
    double low, high, step;
    int decimals;
    int64_t first, last; /* numbers of steps */
    bool same;           /* both sides number their steps alike */
    bool two_ranks;      /* dots are of several ranks */
};

static struct step_axis find_axis(const struct report *report)
{
    const struct report_steps *steps = report->steps;
    struct step_axis axis = {.low = INFINITY, .same = true};
    for (size_t i = 0; i < steps->count; i++) {
        const struct step_dot *dot = &steps->dots[i], *first = &steps->dots[0];
        double at = dot->ms / report->style.size;
        axis.low = fmin(axis.low, at);
        axis.high = fmax(axis.high, at);
        axis.first = i == 0 || dot->number < axis.first ? dot->number : axis.first;
        axis.last = dot->number > axis.last ? dot->number : axis.last;
        axis.same = axis.same && dot->iteration - dot->number == first->iteration - first->number;
        axis.two_ranks = axis.two_ranks || (dot->side == first->side && dot->rank != first->rank);
    }
    if (!(axis.low > 0.75 * axis.high))
        axis.low = 0;
    double range = axis.high > axis.low ? axis.high - axis.low : fmax(axis.high * 0.02, 1e-3);
    double power = pow(10, floor(log10(range / 4)));
    axis.step = power * (range / power <= 4    ? 1
                         : range / power <= 8  ? 2
                         : range / power <= 20 ? 5
                                               : 10);
    axis.low = floor(axis.low / axis.step) * axis.step;
    axis.high = ceil(fmax(axis.high, axis.low + range) / axis.step) * axis.step;
    axis.decimals = axis.step >= 1 ? 0 : (int)fmin(6, ceil(-log10(axis.step) - 1e-9));
    return axis;
}

static double height_of(const struct step_axis *axis, double at)
{
    return BOTTOM - (BOTTOM - TOP) * (at - axis->low) / (axis->high - axis->low);
}

static double across(const struct step_axis *axis, int64_t number)
{
    return LEFT + (100.0 - LEFT) * ((double)(number - axis->first) + 0.5) /
                      (double)(axis->last - axis->first + 1);
}

static void write_grid(struct writer *to, const struct report *report, const struct step_axis *axis)
{
    write_string(to, "<text x=\"0\" y=\"11\">");
    write_string(to, report->style.unit);
    write_string(to, "</text>");
    for (double at = axis->low; at <= axis->high + axis->step / 2; at += axis->step) {
        double y = height_of(axis, at);
        write_string(to, "<line class=\"grid\" x1=\"9%\" x2=\"100%\" y1=\"");
        write_fixed(to, y, 1);
        write_string(to, "\" y2=\"");
        write_fixed(to, y, 1);
        write_string(to, "\"/><text x=\"8%\" text-anchor=\"end\" y=\"");
        write_fixed(to, y + 4, 1);
        write_string(to, "\">");
        write_fixed(to, at, axis->decimals);
        write_string(to, "</text>");
    }
    int64_t every = (axis->last - axis->first + MOST_LABELS) / MOST_LABELS;
    for (int64_t number = axis->first; number <= axis->last; number += every) {
        write_string(to, "<text text-anchor=\"middle\" y=\"224\" x=\"");
        write_fixed(to, across(axis, number), 2);
        write_string(to, "%\">");
        write_integer(to, axis->same ? number + report->steps->dots[0].iteration -
                                           report->steps->dots[0].number
                                     : number);
        write_string(to, "</text>");
    }
}

/* The mean of a side, as a line. */
static void write_mean(struct writer *to, const struct report *report, const struct step_axis *axis,
                       int side)
{
    double ms = side == 0 ? report->style.control : report->style.test;
    double y = height_of(axis, ms / report->style.size);
    const char *class = side == 0 ? "control" : "test";
    write_string(to, "<line class=\"mean ");
    write_string(to, class);
    write_string(to, "\" x1=\"9%\" x2=\"100%\" y1=\"");
    write_fixed(to, y, 1);
    write_string(to, "\" y2=\"");
    write_fixed(to, y, 1);
    write_string(to, "\"/>");
}

static void write_dot(struct writer *to, const struct report *report, const struct step_axis *axis,
                      const struct step_dot *dot)
{
    write_string(to, "<svg overflow=\"visible\" x=\"");
    write_fixed(to, across(axis, dot->number), 2);
    write_string(to, "%\" y=\"");
    write_fixed(to, height_of(axis, dot->ms / report->style.size), 1);
    write_string(to, dot->side == 0 ? "\"><circle cx=\"-7\" r=\"5\" class=\"control"
                                    : "\"><path d=\"M1 5h12l-6-11z\" class=\"test");
    write_string(to, dot->counts ? "\"><title>" : " out\"><title>");
    write_string(to, dot->side == 0 ? "control, step " : "test, step ");
    write_integer(to, dot->iteration);
    if (axis->two_ranks) {
        write_string(to, ", rank ");
        write_integer(to, dot->rank);
    }
    write_string(to, ": ");
    report_time(report, to, dot->ms);
    write_string(to, " ");
    write_string(to, report->style.unit);
    write_string(to, dot->counts ? "</title>" : ", not counted</title>");
    write_string(to, dot->side == 0 ? "</circle></svg>" : "</path></svg>");
}

void report_steps_end(struct report *report)
{
    struct writer *to = &report->page;
    struct step_axis axis = find_axis(report);
    size_t counted[2] = {0, 0};
    bool any_out = false;
    for (size_t i = 0; i < report->steps->count; i++) {
        counted[report->steps->dots[i].side] += report->steps->dots[i].counts;
        any_out = any_out || !report->steps->dots[i].counts;
    }
    write_string(to, "<svg class=\"steps\" width=\"100%\" height=\"230\" role=\"img\" "
                     "aria-label=\"Length of each step of control and test\">");
    write_grid(to, report, &axis);
    for (int side = 0; side < 2; side++)
        if (counted[side] > 1)
            write_mean(to, report, &axis, side);
    for (size_t i = 0; i < report->steps->count; i++)
        write_dot(to, report, &axis, &report->steps->dots[i]);
    write_string(to, "</svg>\n<p class=\"note\">● control, ▲ test");
    write_string(to, counted[0] > 1 || counted[1] > 1 ? "; dashed: the means." : ".");
    if (any_out)
        write_string(to, " Hollow: not counted.");
    if (!axis.same)
        write_string(to, " The sides number their steps differently: 1 is the first of each.");
    if (axis.low > 0) {
        write_string(to, " <b>The axis starts at ");
        write_fixed(to, axis.low, axis.decimals);
        write_string(to, " ");
        write_string(to, report->style.unit);
        write_string(to, ", not at 0.</b>");
    }
    write_string(to, "</p>\n");
    report_steps_free(report->steps);
    report->steps = NULL;
}

void report_steps_free(struct report_steps *steps)
{
    if (!steps)
        return;
    memory_free(steps->dots);
    memory_free(steps);
}
