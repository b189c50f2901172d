/*
** The answer: why a step is slower or faster, in at most MOST_LINES lines (C6 to C12).
*/
#ifndef TRACEDIFF_CALL_ANSWER_H
#define TRACEDIFF_CALL_ANSWER_H

#include "analysis/answer/thresholds.h"
#include "answer_causes.h"
#include "call_cautions.h"

enum line_kind {
    LINE_VERDICT,
    LINE_RANKS,
    LINE_TOTALS,
    LINE_COVERAGE,
    LINE_MIX,
    LINE_UNTRACED,
    LINE_COMPILED,
    LINE_CAUTION,
    LINE_CAUSE,
    LINE_DIAGNOSIS, /* with a time, replacing causes */
    LINE_REST,
    LINE_CHANGE, /* a diagnosis without a time */
    LINE_GRAPHS,
    LINE_WORK,
    LINE_LOG,
    LINE_HINT
};

/* A line. Times are ms per step. Unknown values are NAN, NUMBER_NONE, NULL or NAME_NONE. Texts are
** ids in answer.texts. */
struct answer_line {
    enum line_kind kind;
    const char *code;
    const char *step_class;
    uint32_t name;
    double control_ms, test_ms, diff_ms, share, gain_ms;
    int64_t rank;
    uint32_t hidden_by;
    uint32_t text;  /* at most LINE_LENGTH characters */
    uint32_t words; /* uncut, without the numbers of other columns */
    /* Index of the caution, cause, work or diagnosis without a time that the words describe. */
    size_t of;
    uint32_t advice; /* of a diagnosis: id in answer.causes.diagnoses.texts */
    uint32_t counts; /* of a cause: its operator's execution counts, an id in answer.causes.texts */
};

struct answer_request {
    enum step_clock clock;
    double untraced[2]; /* ms per step without the profiler; NAN: unknown */
    bool gains;         /* simulate the gain of each cause */
    bool diagnoses;     /* find diagnoses, which replace their causes unless `evidence` is set */
    bool evidence;      /* find the facts that evidence needs */
    int first_log;      /* index of the argument for control's logs */
};

/* The totals of a step (C18): the device computes or copies, only communicates, or is idle. */
enum total { TOTAL_BUSY, TOTAL_COMMUNICATION, TOTAL_IDLE, TOTALS };

/* The causes without a line. */
struct answer_rest {
    size_t count;
    double control_ms, test_ms, ms, share;
    double more, less; /* ms: sums of the causes that lengthen and that shorten the step */
    double held, all;  /* |ms| of causes with a line, and of all causes before merging */
};

struct answer {
    struct answer_request request;
    struct answer_facts facts;
    bool compared; /* both sides have steps to compare */
    struct call_pair by_host; /* found if a recording cannot be trusted (C24) */
    struct call_cautions cautions;
    struct answer_causes causes; /* their texts serve the lines, too */
    struct answer_rest rest;
    double totals[TOTALS][2]; /* ms per step, by side */
    struct answer_line lines[MOST_LINES + 1];
    size_t line_count;
};

/* Reads the arguments of a function that gives an answer: the sides, their selections, the clock,
** and ANSWER_ARGUMENTS. */
bool answer_request_read(struct call *call, struct answer_request *request);

/* clang-format off */
#define ANSWER_ARGUMENTS \
    {"control_untraced", TAKES_AMOUNT, false, \
     "ms per step of control, measured without the profiler; default not known"}, \
    {"test_untraced", TAKES_AMOUNT, false, "the same for test"}, \
    {"gains", TAKES_FLAG, false, \
     "1: simulate the saving from undoing each cause, which takes about half of the time; " \
     "default 1"}, \
    {"diagnoses", TAKES_FLAG, false, \
     "1: report recognized changes (trace_diagnoses); in trace_summary they replace their " \
     "causes; default 1"}, \
    {"control_log", TAKES_TRACE, false, \
     "TORCH_TRACE logs of control, or '' for none; default the logs beside the trace"}, \
    {"test_log", TAKES_TRACE, false, "the same for test"}
/* clang-format on */

/* On failure, fills call->failure. Close the answer in this case, too. */
bool call_answer_find(struct call *call, const struct answer_request *request,
                      struct answer *answer);

void call_answer_close(struct answer *answer);

/* Returns the difference in ms without the profiler; NAN: unknown. */
static inline double answer_untraced(const struct answer *answer)
{
    return answer->request.untraced[1] - answer->request.untraced[0];
}

#endif
