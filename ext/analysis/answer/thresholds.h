/*
** The thresholds of the answer, with the rules that they belong to. Each has a test of its own on
** both sides (test_thresholds), which fails if the number moves.
*/
#ifndef TRACEDIFF_THRESHOLDS_H
#define TRACEDIFF_THRESHOLDS_H

/* The verdict (trace_verdict) */

/* What makes two traces comparable (trace_comparability) */

/* Common factors of kernels and of the host (trace_clock_factor, L6, L7) */

/* Cautions and causes (trace_summary) */

#endif
