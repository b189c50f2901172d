/*
** The thresholds of the answer, with their rules. Each has a test of its own on both sides
** (test_thresholds), which fails if the number moves.
*/
#ifndef TRACEDIFF_THRESHOLDS_H
#define TRACEDIFF_THRESHOLDS_H

/* The verdict (trace_verdict) */
#define OUTLIER_STEPS 4 /* C1: minimum number of steps for outliers */
#define OUTLIER_DEVIATIONS 5.0 /* C1: median absolute deviations above the median */
#define OUTLIER_RATIO 1.5 /* C1: times the median */
#define OUTLIER_PART 0.1 /* C1: maximum fraction of steps that are outliers; one always may be */
#define CLEAR_PART 0.005 /* C2.3: fraction of control's median */
#define WHOLE_PART 0.05 /* C2.4: fraction of control's whole trace */
#define SOME_OF_STEPS 4 /* C4: steps per side */
#define SOME_SLOW_STEPS 2 /* C4: minimum number of slow steps */
#define SOME_PART 0.25 /* C4: minimum fraction of slow steps in test, and of other steps */
#define SOME_RATIO 1.02 /* C4: times control's longest step */
#define SOME_FAR_RATIO 1.5 /* C4: ratio of the shortest slow step to the longest other step */
#define STRATUM_STEPS 8 /* C5: steps per side */
#define STRATUM_RATIO 1.005 /* C5: ratio of the medians */
#define STRATUM_PAIRS 0.9 /* C5: fraction of the pairs of steps */
#define STRATA_PART 0.75 /* C5: fraction of test's steps in strata that count */
#define COMPILE_PART 0.1 /* CL12: minimum fraction of compilation in a step that compiles */
#define COMPILE_LEAST_NS 1000000 /* CL12: minimum ns of compilation in a step that compiles */
#define COMPILE_OF_DIFF 0.5 /* CL13: fraction of the difference */
#define COMPILE_OF_STEP 0.1 /* CL13: fraction of the longer mean */

/* Whether two traces can be compared (J1 to J4, L6) */
#define FEW_STEPS 3               /* fewer steps are too few, and none is long: J2.3, J2.4 */
#define LONG_STEP_RATIO 1.15      /* times the median: J2.4 */
#define LONG_STEP_OF 5            /* steps from which a long one must stand out: J2.4 */
#define LONG_STEP_DEVIATIONS 5    /* median absolute deviations above the median: J2.4 */
#define COMMON_SHAPES_PERCENT 90  /* share of operators' time at common shapes: J2.6 */
#define LARGEST_OPERATORS 5       /* operators whose shapes and types have rows: J3 */
#define SCALED_PERCENT 90         /* share of the lists that a scale must fit: J4 */
#define SCALED_LISTS 16           /* such lists per operator and side: J4.1 */
#define RETYPED_PERCENT 50        /* share of operators' time from which it matters: L6.3 */
#define RETYPED_LEAST_PERCENT 0.5 /* share of operators' time from which it has a row: L6.3 */
#define RETYPED_INPUTS 16         /* inputs searched for a change of type: L6.2 */

/* Common factors of kernels and of the host (X1 to X4, L7) */
#define FACTOR_PARTS 5          /* an item has at most 1 / this of the weight: X1.2 */
#define FACTOR_LEAST 3          /* compared items, and agreeing kernels: X3.2, L7.4 */
#define FACTOR_LEAST_TIME 0.1   /* fraction of a side's time in the compared items: X3.2, L7.4 */
#define CLOCK_LEAST_AWAY 1.02   /* common factor, or its inverse: X3.1, X3.2 */
#define CLOCK_TOLERANCE 0.05    /* largest tolerance: X3.1 */
#define CLOCK_TOLERANCE_PARTS 4 /* the tolerance is 1 / this of the distance from 1: X3.1 */
#define CLOCK_LEAST_AGREE 0.666 /* fraction of the weight in agreeing kernels: X3.2 */
#define HOST_LEAST_AWAY 1.15    /* common factor, or its inverse, and quartiles: L7.4 */

/* Cautions and causes (trace_summary) */
#define LOAD_WAITS 0.5 /* C7: fraction of the difference in waits, gaps and calls */
#define LOAD_LEAVES 0.25 /* C7.3: fraction of the difference that load leaves unexplained */
#define LOAD_BEYOND 0.5 /* C7, L7.5: fraction of the difference in operators beyond the load */
#define AMOUNT_DIGITS 3 /* C13.1: digits of the difference, and maximum number of decimals */
#define SECONDS_FROM 10000.0 /* C13.1: ms from which the unit is s */
#define FAR_SMALLER 0.01 /* C13.4: ratio of two times, below which the smaller has its own digits */
#define RATIO_DIGITS 2 /* C13.2: digits of percentages and factors */
#define TIMES_FROM 999.5 /* C13.2: percentage from which a factor replaces it */
#define SHARES_BELOW 9.995 /* C13.2: multiple of the difference, from which lines omit shares */
#define LINE_LENGTH 100 /* C13.3: characters */
#define CUT_LEAVES 30 /* C13.3: lost characters, from which a cut splits a word */
#define LEAST_OF_NAME 8 /* C13.3: characters before the dots of a text that is cut after a word */
#define MOST_CAUTIONS 3 /* C8 */
#define MOST_NAMED_RANKS 4 /* C15: ranks listed per reason to leave them out; others are counted */
#define MOST_LINES 12 /* C9.2 */
#define MOST_HEADS 6 /* C9.2: lines before the causes */
#define MOST_WORKS 3 /* C9.2: lines of work */
#define LINE_PART 0.01 /* C9: fraction of the difference for a cause to have a line */
#define GAIN_PART 0.1 /* C16: fraction of a cause, by which a shown gain differs from it */
#define GAIN_UNITS 4.0 /* C16: the same, in halves of the last decimal */
#define MOST_SIMULATED_STEPS 16 /* C16: steps per side */
#define REST_PART 0.75 /* C9.3: fraction of all changes that the lines explain */
#define LIKE_RATE 0.05 /* W9.3: change of the bandwidth, below which it is the same */
#define SAME_RATE 0.01 /* W9.3: change of calls or bytes, up to which they are the same */
#define LEADS_PART 0.5 /* C16.6: fraction of the difference that undoing a leading cause gains */
#define LINK_KEEPS 0.8 /* W10: fraction of control's bandwidth, below which a group lost some */
#define LINK_LEAST 0.1 /* W10: fraction of the difference in the transfers of a group */
#define LOST_PART 0.01 /* E12: missing device work or collectives, from which gains are unknown */
#define LOAD_SPREAD 0.2 /* L11.2: quartile range, relative to the factor's distance from 1 */
#define MOST_OF_DIFFERENCE 0.5 /* L11.2, L11.6: fraction of the difference from one effect */
#define MOST_OF_STEP 0.05 /* L11.6: fraction of control's step, if the difference is unclear */
#define OVERHEAD_RATIO 2.0 /* C12: ratio of the differences with and without the profiler */
#define CLOCK_PART 0.5 /* C8: fraction of the difference from one factor of kernels */
#define LONG_RATIO 1.05 /* C6.1: ratio of the longest step to the median */
#define LONG_PART 0.25 /* C6.2: fraction of the difference from one step */
#define LONG_BESIDE 5.0 /* C6.2: distance from the median, relative to the shortest step's */

/* A range that repeats in traces without steps (trace_summary) */
#define REPEAT_RUNS 5 /* C22.1: minimum runs per trace; without the first and last, three or more */
#define REPEAT_PART 0.5 /* C22.1: fraction of a trace from the first run to the last */
#define REPEAT_NAME 30 /* C22.3: characters; longer names are cut */

/* First calls, which load or set up something (C21) */
#define FIRST_CALL_LEAST 1000000 /* C21.1: minimum ns of a first call */
#define FIRST_CALL_RATIO 10.0 /* C21.1: multiple of the median of the calls of its name */
#define FIRST_CALL_OF 4 /* C21.1: minimum number of calls of the name */
#define FIRST_CALL_WAITING 0.1 /* C21.2: fraction of a call while the device is idle */
#define FIRST_CALLS_PART 0.1 /* C21.4: fraction of the difference */
#define FIRST_CALLS_OF_STEP 0.01 /* C21.4: fraction of the longer mean step */

/* Diagnoses (trace_diagnoses) */
#define ALIKE_PART 0.55 /* DG3: fraction of the operator names that both sides share */
#define WITHIN_PART 0.95 /* DG3: fraction of the names of the side with fewer */
#define SENTENCE_LENGTH 80 /* DG6: characters */
#define MOST_CHANGES 2 /* DG7.2: maximum number of lines without a time */
#define JOINED_CAUSES 3 /* DG7.1: causes from which a guess replaces them */
#define GUESS_PART 0.1 /* DG4: fraction of the difference for the causes of a guess */

/* The brief (trace_brief) */
#define CLAIM_STEPS 4 /* Z1: steps per side */
#define CLAIM_PART 0.05 /* Z1: fraction of control's step */
#define SILENT_PART 0.01 /* Z2: fraction of a step without host records that the brief reports */
#define SILENT_MUCH 0.1 /* Z2: the same, from which the brief cannot explain why a host was late */
#define NOISE_OF 2.77 /* Z3: 1.96 * sqrt(2) */

#endif
