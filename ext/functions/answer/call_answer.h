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
    LINE_DIAGNOSIS, /* with a time, in place of causes */
    LINE_REST,
    LINE_CHANGE, /* a diagnosis without a time */
    LINE_GRAPHS,
    LINE_WORK,
    LINE_LOG,
    LINE_HINT
};

/* A line. Times are ms per step; what is not known is no number, NUMBER_NONE, NULL or NAME_NONE.
** Texts are ids in answer.texts. */
struct answer_line {
    enum line_kind kind;
    const char *code;
    const char *step_class;
    uint32_t name;
    double control_ms, test_ms, diff_ms, share, gain_ms;
    int64_t rank;
    uint32_t hidden_by;
    uint32_t text;  /* at most LINE_LENGTH characters */
    uint32_t words; /* without numbers of other columns, in full */
    /* What the words are of: a caution, a cause, work, a diagnosis without a time. */
    size_t of;
    uint32_t advice; /* of a diagnosis, an id in answer.causes.diagnoses.texts */
    uint32_t counts; /* of a cause: how often its operator runs, an id in answer.causes.texts */
};

struct answer_request {
    enum step_clock clock;
    double untraced[2]; /* ms per step without the profiler; no number: not known */
    bool gains;         /* causes say what undoing them brings */
    bool diagnoses;     /* they are found, and stand in place of their causes without evidence */
    bool evidence;      /* facts have what evidence needs */
    int first_log;      /* the argument of control's logs */
};

/* The totals of a step (C18): the device computes or copies, only communicates, or waits. */
enum total { TOTAL_BUSY, TOTAL_COMMUNICATION, TOTAL_IDLE, TOTALS };

/* What is in no line. */
struct answer_rest {
    size_t count;
    double control_ms, test_ms, ms, share;
    double more, less; /* ms, of causes that add and that take */
    double held, all;  /* |ms| of the causes that have a line, and of all before any was merged */
};

struct answer {
    struct answer_request request;
    struct answer_facts facts;
    bool compared; /* there is something to compare */
    struct call_pair by_host; /* if a recording cannot be trusted (C24) */
    struct call_cautions cautions;
    struct answer_causes causes; /* its texts are those of lines */
    struct answer_rest rest;
    double totals[TOTALS][2]; /* ms per step, by side */
    struct answer_line lines[MOST_LINES + 1];
    size_t line_count;
};

/* Reads the arguments of a function that gives an answer: the sides, their selections, the clock,
** and these. */
bool answer_request_read(struct call *call, struct answer_request *request);

/* Descriptions of these arguments. */
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

/* On failure, fills call->failure; to be closed then, too. */
bool call_answer_find(struct call *call, const struct answer_request *request,
                      struct answer *answer);

void call_answer_close(struct answer *answer);

/* ms, the difference without the profiler; no number: not known. */
static inline double answer_untraced(const struct answer *answer)
{
    return answer->request.untraced[1] - answer->request.untraced[0];
}

#endif
