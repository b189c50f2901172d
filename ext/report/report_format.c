#include "report_format.h"

#include <math.h>

void report_time(const struct report *report, struct writer *to, double ms)
{
    write_fixed(to, ms / report->style.size, report->style.digits);
}

void report_diff(const struct report *report, struct writer *to, const char *element, double ms,
                 bool arrow)
{
    double shown = fabs(ms / report->style.size);
    bool zero = rounds_to_zero(shown, report->style.digits);
    write_string(to, "<");
    write_string(to, element);
    write_string(to, zero     ? " class=\"n flat\">"
                     : ms > 0 ? " class=\"n more\">"
                              : " class=\"n less\">");
    if (zero) {
        write_string(to, "0");
    } else {
        if (arrow)
            write_string(to, ms > 0 ? "▲ " : "▼ ");
        write_string(to, ms > 0 ? "+" : "−");
        write_fixed(to, shown, report->style.digits);
    }
}
