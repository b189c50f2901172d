/*
** What the rows of trace_clock_factor and trace_host_factor have in common.
*/
#ifndef TRACEDIFF_FACTOR_ROWS_H
#define TRACEDIFF_FACTOR_ROWS_H

#include "analysis/answer/factors.h"
#include "sqlite/rows.h"

static inline void result_of_name(struct result *result, const struct name *name)
{
    result_text(result, name ? name->text : NULL, name ? name->length : 0);
}

/* Adds three columns. */
static inline void result_factor(struct result *result, bool known,
                                 const struct common_factor *common)
{
    result_real_if(result, known, common->factor);
    result_real_if(result, known, common->low);
    result_real_if(result, known, common->high);
}

/* Adds five columns. */
static inline void result_factor_times(struct result *result, const struct factor_times *times)
{
    result_real(result, times->control);
    result_real(result, times->test);
    result_real(result, times->diff);
    result_real(result, times->explained);
    result_real(result, times->rest);
}

#endif
