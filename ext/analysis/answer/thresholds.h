/*
** The thresholds of the answer, with the rules that they belong to. Each has a test of its own on
** both sides (test_thresholds), which fails if the number moves.
*/
#ifndef TRACEDIFF_THRESHOLDS_H
#define TRACEDIFF_THRESHOLDS_H

/* The verdict (trace_verdict) */
#define OUTLIER_STEPS 4 /* C1: of fewer steps none is left out */
#define OUTLIER_DEVIATIONS 5.0 /* C1: median absolute deviations beyond the median */
#define OUTLIER_RATIO 1.5 /* C1: by the median */
#define OUTLIER_PART 0.1 /* C1: of the steps, at most, but one */
#define CLEAR_PART 0.005 /* C2.3: of control's median */
#define WHOLE_PART 0.05 /* C2.4: of control's whole trace */
#define SOME_OF_STEPS 4 /* C4: steps per side */
#define SOME_SLOW_STEPS 2 /* C4: steps that are longer */
#define SOME_PART 0.25 /* C4: of test's steps; of the others, too */
#define SOME_RATIO 1.02 /* C4: by control's longest step */
#define SOME_FAR_RATIO 1.5 /* C4: of the shortest of these by the longest of the others */
#define STRATUM_STEPS 8 /* C5: a side */
#define STRATUM_RATIO 1.005 /* C5: of the medians */
#define STRATUM_PAIRS 0.9 /* C5: of the pairs of steps */
#define STRATA_PART 0.75 /* C5: of test's steps in strata with enough of them */
#define COMPILE_PART 0.1 /* CL12: of a step that compiles */
#define COMPILE_LEAST_NS 1000000 /* CL12: in a step that compiles */
#define COMPILE_OF_DIFF 0.5 /* CL13: of the difference */
#define COMPILE_OF_STEP 0.1 /* CL13: of the longer mean */

/* What makes two traces comparable (J1 to J4, L6) */
#define FEW_STEPS 3               /* fewer of a side are few, and tell no long step: J2.3, J2.4 */
#define LONG_STEP_RATIO 1.15      /* by the median: J2.4 */
#define LONG_STEP_OF 5            /* steps or more, of which a long one also stands out: J2.4 */
#define LONG_STEP_DEVIATIONS 5    /* median absolute deviations beyond the median: J2.4 */
#define COMMON_SHAPES_PERCENT 90  /* of the time of operators of both sides: J2.6 */
#define LARGEST_OPERATORS 5       /* whose shapes and types are shown: J3 */
#define SCALED_PERCENT 90         /* of the lists of dims that only one side has: J4 */
#define SCALED_LISTS 16           /* of these, of an operator of a side: J4.1 */
#define RETYPED_PERCENT 50        /* of the time of operators, from which it matters: L6.3 */
#define RETYPED_LEAST_PERCENT 0.5 /* from which there is a row: L6.3 */
#define RETYPED_INPUTS 16         /* the first ones, of which one says what differs: L6.2 */

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
#define LOAD_WAITS 0.5 /* C7: of the difference, by waits, gaps and calls */
#define LOAD_LEAVES 0.25 /* C7.3: of the difference, that load does not explain */
#define LOAD_BEYOND 0.5 /* C7, L7.5: of the difference, by operators, beyond what load explains */
#define AMOUNT_DIGITS 3 /* C13.1: of the difference; and decimals, at most */
#define SECONDS_FROM 10000.0 /* C13.1: ms; steps from there on are in s */
#define FAR_SMALLER 0.01 /* C13.4: of the other time, below which a time has its own digits */
#define RATIO_DIGITS 2 /* C13.2: of percent, and of how many times */
#define TIMES_FROM 999.5 /* C13.2: percent; from there on it is said how many times */
#define SHARES_BELOW 9.995 /* C13.2: of the difference; shares from there on are not said */
#define LINE_LENGTH 100 /* C13.3: characters */
#define CUT_LEAVES 30 /* C13.3: characters; if a text were shorter by so many, a word is cut */
#define LEAST_OF_NAME 8 /* C13.3: characters before the dots of a text that is cut after a word */
#define MOST_CAUTIONS 3 /* C8 */
#define MOST_NAMED_RANKS 4 /* C15: of several, that are left out for one reason */
#define MOST_LINES 12 /* C9.2 */
#define MOST_HEADS 6 /* C9.2: lines before the causes */
#define MOST_WORKS 3 /* C9.2: lines of work */
#define LINE_PART 0.01 /* C9: of the difference, of a cause that has a line */
#define GAIN_PART 0.1 /* C16: of a cause, by which its gain differs, so that it is said */
#define GAIN_UNITS 4.0 /* C16: halves of the last decimal; the same */
#define MOST_SIMULATED_STEPS 16 /* C16: a side */
#define REST_PART 0.75 /* C9.3: of all changes, which lines hold */
#define LIKE_RATE 0.05 /* W9.3: of the bandwidth; less is no other one */
#define SAME_RATE 0.01 /* W9: of calls or bytes, which are the same then */
#define LEADS_PART 0.5 /* C16.6: of the difference, that undoing the first cause gains */
#define LINK_KEEPS 0.8 /* W10: of control's bandwidth; a group that keeps less lost some */
#define LINK_LEAST 0.1 /* W10: of the difference, that the transfers of a group take */
#define LOST_PART 0.01 /* E12: of device work or collectives, from which gains are not known */
#define LOAD_SPREAD 0.2 /* L11.2: of the factor less 1, between its quartiles */
#define MOST_OF_DIFFERENCE 0.5 /* L11.2, L11.6: as a whole */
#define MOST_OF_STEP 0.05 /* L11.6: of control's step, if the difference is not clear */
#define OVERHEAD_RATIO 2.0 /* C12: between the differences with and without the profiler */
#define CLOCK_PART 0.5 /* C8: of the difference, by one factor of kernels */
#define LONG_RATIO 1.05 /* C6.1: of the longest step by the median */
#define LONG_PART 0.25 /* C6.2: of the difference, by one step */
#define LONG_BESIDE 5.0 /* C6.2: times as far from the median as the shortest step */

/* A range that repeats in traces without steps (trace_summary) */
#define REPEAT_RUNS 5 /* C22.1: of a trace; all but the first and the last are then three or more */
#define REPEAT_PART 0.5 /* C22.1: of a trace, from the first run to the last */
#define REPEAT_NAME 30 /* C22.3: characters of a long name */

/* Calls that are the first ones, as they load or set up something (C21) */
#define FIRST_CALL_LEAST 1000000 /* C21.1: ns; a call that takes less is none */
#define FIRST_CALL_RATIO 10.0 /* C21.1: by the median of the calls of its name */
#define FIRST_CALL_OF 4 /* C21.1: calls of a name, of which one may be so */
#define FIRST_CALL_WAITING 0.1 /* C21.2: of a call, in which the device does nothing */
#define FIRST_CALLS_PART 0.1 /* C21.4: of the difference */
#define FIRST_CALLS_OF_STEP 0.01 /* C21.4: of the longer mean step */

/* Diagnoses (trace_diagnoses) */
#define ALIKE_PART 0.55 /* DG3: of the names of operators, that both sides have */
#define WITHIN_PART 0.95 /* DG3: of the names of the side that has fewer */
#define SENTENCE_LENGTH 80 /* DG6: characters */
#define MOST_CHANGES 2 /* DG7.2: lines of diagnoses without a time */
#define JOINED_CAUSES 3 /* DG7.1: of a guess, so that it stands in place of them */
#define GUESS_PART 0.1 /* DG4: of the difference, what a guess must own */

/* The brief (trace_brief) */
#define CLAIM_STEPS 4 /* Z1: a side */
#define CLAIM_PART 0.05 /* Z1: of control's step */
#define SILENT_PART 0.01 /* Z2: of a step, in which nothing is recorded, so that it is said */
#define SILENT_MUCH 0.1 /* Z2: the same, so that it is not known what the host does */
#define NOISE_OF 2.77 /* Z3: 1.96 * sqrt(2) */

#endif
