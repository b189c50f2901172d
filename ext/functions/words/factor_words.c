#include "factor_words.h"

#include "sqlite/api.h"

/* Writes a factor with two digits, or with one from 0.1 to 1; halves are rounded up. */
static void write_factor(struct writer *text, double factor)
{
    char digits[32];
    sqlite3_snprintf(sizeof digits, digits, "%.*f", factor >= 9.95 ? 0 : factor < 0.095 ? 2 : 1,
                     factor);
    write_string(text, digits);
}

void host_load_write(struct writer *text, const struct common_factor *found)
{
    if (found->outcome == FACTOR_ONE) {
        write_string(text, "the host is ");
        write_factor(text, found->away);
        write_string(text, found->factor > 1 ? " times as slow" : " times as fast");
        write_string(text, " throughout: machine load?");
    } else if (found->outcome == FACTOR_DIFFERS) {
        write_string(text, "operators of the host take ");
        write_factor(text, found->low);
        write_string(text, " to ");
        write_factor(text, found->high);
        write_string(text, " times as long: machine load?");
    }
}
