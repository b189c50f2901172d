#include "factor_words.h"

/* With two digits, and one of 0.1 to 1. */
static void write_factor(struct writer *text, double factor)
{
    write_fixed(text, factor, factor >= 9.95 ? 0 : factor < 0.095 ? 2 : 1);
}

void host_load_write(struct writer *text, const struct host_factor *host)
{
    if (host->outcome == FACTOR_ONE) {
        write_string(text, "the host is ");
        write_factor(text, host->common.away);
        write_string(text, host->common.factor > 1 ? " times as slow" : " times as fast");
        write_string(text, " throughout: machine load?");
    } else if (host->outcome == FACTOR_DIFFERS) {
        write_string(text, "the load of the host differs (x ");
        write_factor(text, host->common.low);
        write_string(text, " to x ");
        write_factor(text, host->common.high);
        write_string(text, " by operator)");
    }
}
