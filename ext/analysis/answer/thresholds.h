/*
** The thresholds of the answer, with the rules that they belong to. Each has a test of its own on
** both sides (test_thresholds), which fails if the number moves.
*/
#ifndef TRACEDIFF_THRESHOLDS_H
#define TRACEDIFF_THRESHOLDS_H

/* The verdict (trace_verdict) */

/* What makes two traces comparable (trace_comparability) */

/* Common factors of kernels and of the host (X1 to X4, L7) */
#define FACTOR_PARTS 5          /* nothing has more than this part of the weight: X1.2 */
#define FACTOR_LEAST 3          /* things that are compared, and kernels that agree: X3.2, L7.4 */
#define FACTOR_LEAST_TIME 0.1   /* the part of a side's time that these have: X3.2, L7.4 */
#define CLOCK_LEAST_AWAY 1.02   /* the common factor, or its inverse: X3.1, X3.2 */
#define CLOCK_TOLERANCE 0.05    /* X3.1 */
#define CLOCK_TOLERANCE_PARTS 4 /* the part of the distance from 1 that is the tolerance: X3.1 */
#define CLOCK_LEAST_AGREE 0.666 /* the part of the weight of the kernels that agree: X3.2 */
#define HOST_LEAST_AWAY 1.15    /* the common factor, or its inverse, and quartiles: L7.4 */

/* Cautions and causes (trace_summary) */

#endif
