#include "plotly_json.h"

#include <math.h>

void plotly_comma(struct writer *to, bool needed)
{
    if (needed)
        write_string(to, ",");
}

void plotly_keys(const struct figure *figure, struct writer *to, const char *key)
{
    write_string(to, key);
    for (size_t row = 0; row < figure->row_count; row++) {
        write_string(to, row > 0 ? ",\"" : "[\"");
        write_integer(to, (int64_t)row);
        write_string(to, "\"");
    }
    write_string(to, figure->row_count > 0 ? "]" : "[]");
}

void plotly_text(struct writer *to, struct writer *text)
{
    write_json(to, text->length > 0 ? text->bytes : "", text->length);
    to->failed = to->failed || text->failed;
    writer_clear(text);
}

void plotly_numbers(struct writer *to, const char *key, const double *numbers, size_t count,
                    double divisor)
{
    write_string(to, key);
    write_string(to, "[");
    for (size_t i = 0; i < count; i++) {
        plotly_comma(to, i > 0);
        write_number(to, numbers[i] / divisor);
    }
    write_string(to, "]");
}

void plotly_value(struct writer *text, double value, struct scale scale, double whole)
{
    if (isnan(value))
        return;
    write_amount(text, value / scale.divisor, scale.decimals);
    write_string(text, scale.unit);
    if (whole > 0) {
        write_string(text, " (");
        write_percent(text, 100 * value / whole);
        write_string(text, ")");
    }
}
