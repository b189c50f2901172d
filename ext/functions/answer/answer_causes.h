/*
** The causes and the work of an answer, before it is known which of them are said.
*/
#ifndef TRACEDIFF_ANSWER_CAUSES_H
#define TRACEDIFF_ANSWER_CAUSES_H

#include "functions/diagnoses/diagnoses.h"
#include "chart/writer.h"
#include "functions/call/call_undo.h"

/* A cause. Texts are ids in answer_causes.texts, or NAME_NONE; times are ms per step, or no
** number. */
struct answer_cause {
    const char *kind;       /* as trace_step_causes has it, or 'like sizes' or 'mix' */
    const char *step_class; /* as trace_step_time has it; NULL: several */
    uint32_t name, text;
    bool named;   /* the text has the name */
    int64_t rank; /* the only one that differs so; NUMBER_NONE */
    double control_ms, test_ms, diff_ms, share, changes;
    size_t of; /* in causes.items; SIZE_MAX: it is none of them (C14) */
    bool is_wait, is_mix;
    double gain_ms;
    uint32_t hidden_by; /* in words */
    bool untold;        /* its gain is not known (E9.10) */
    size_t diagnosis;   /* in place of whose causes it stands; SIZE_MAX: of none */
    size_t advised; /* the diagnosis that owns this cause, which keeps its line; SIZE_MAX */
    bool leads;         /* it gains most of the difference (C16.6) */
};

struct answer_work {
    uint32_t name, text;
    double size;
};

struct answer_causes {
    struct names texts;
    struct answer_cause *items; /* the largest first; ties: by text, name */
    size_t count, capacity;
    struct answer_work *works; /* the largest first; the same */
    size_t work_count;
    bool mixed;
    double alike_ms, mix_ms; /* of several strata: at like sizes, and from another mix */
    struct diagnoses diagnoses;
    bool joined; /* a diagnosis stands in place of its causes */
    uint32_t failed;         /* why gains are not known, in words; NAME_NONE */
    uint32_t links;          /* which links are slower (W10), in words; NAME_NONE */
    size_t simulated, steps; /* gains are of so many steps of all (C16.4); 0: of all */
};

/* Whether a side has steps. */
bool answer_in_steps(const struct answer_facts *facts);

/* Finds work that changed. */
bool answer_work_find(struct answer_facts *facts, struct answer_causes *causes);

/* Finds diagnoses, before causes are merged. */
bool answer_diagnoses_find(struct answer_facts *facts, struct answer_causes *causes);

/* Finds causes, merged until `shown` hold most (L3). */
bool answer_causes_find(struct answer_facts *facts, size_t shown, struct answer_causes *causes);

/* Finds the gains of the first `most` causes. */
bool answer_gains_find(struct answer_facts *facts, size_t most, struct answer_causes *causes);

/* Writes the text of a cause with what stands for its name; NULL: nothing does. `brief`: without
** its areas. */
bool answer_cause_text(struct answer_facts *facts, const struct answer_causes *causes, size_t i,
                       const struct name *instead, bool brief, struct writer *text);

void answer_causes_clear(struct answer_causes *causes);

#endif
