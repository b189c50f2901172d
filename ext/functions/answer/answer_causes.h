/*
** All causes and work of an answer. The layout chooses which of them get lines.
*/
#ifndef TRACEDIFF_ANSWER_CAUSES_H
#define TRACEDIFF_ANSWER_CAUSES_H

#include "functions/diagnoses/diagnoses.h"
#include "chart/writer.h"
#include "functions/call/call_undo.h"

/* A cause. Texts are ids in answer_causes.texts, or NAME_NONE. Times are ms per step, or NAN. */
struct answer_cause {
    const char *kind;       /* kind in trace_step_causes, or 'like sizes' or 'mix' */
    const char *step_class; /* class in trace_step_time; NULL: several */
    uint32_t name, text;
    bool named;   /* the text contains the name */
    int64_t rank; /* the only rank with this difference, or NUMBER_NONE */
    double control_ms, test_ms, diff_ms, share, changes;
    size_t of; /* index in causes.items; SIZE_MAX: none (C14) */
    bool is_wait, is_mix;
    double gain_ms;
    uint32_t hidden_by; /* id of the hider's text */
    bool untold;        /* its gain is unknown (E9.10) */
    size_t diagnosis;   /* index of the diagnosis that replaces its causes; SIZE_MAX: none */
    size_t advised; /* diagnosis that owns this cause but does not replace it; SIZE_MAX */
    bool leads;         /* its gain is most of the difference (C16.6) */
};

struct answer_work {
    uint32_t name, text;
    double size;
};

struct answer_causes {
    struct names texts;
    struct answer_cause *items; /* largest first; ties: by text, then name */
    size_t count, capacity;
    struct answer_work *works; /* in the same order */
    size_t work_count;
    bool mixed;
    double alike_ms, mix_ms; /* with several strata: at like sizes, and from another mix */
    struct diagnoses diagnoses;
    bool joined; /* a diagnosis replaces its causes */
    uint32_t failed;         /* reason why gains are unknown, or NAME_NONE */
    uint32_t links;          /* text about slower links (W10), or NAME_NONE */
    size_t simulated, steps; /* steps in the simulation, of all steps (C16.4); 0: all */
};

/* Whether a side has steps. */
bool answer_in_steps(const struct answer_facts *facts);

/* Finds work that changed. */
bool answer_work_find(struct answer_facts *facts, struct answer_causes *causes);

/* Finds diagnoses. Call it before causes are merged. */
bool answer_diagnoses_find(struct answer_facts *facts, struct answer_causes *causes);

/* Finds causes, merged until `shown` of them hold most of the change (L3). */
bool answer_causes_find(struct answer_facts *facts, size_t shown, struct answer_causes *causes);

/* Finds the gains of the first `most` causes. */
bool answer_gains_find(struct answer_facts *facts, size_t most, struct answer_causes *causes);

/* Writes the text of a cause with its stand-in for the name; NULL: it has no stand-in. `brief`
** omits areas. */
bool answer_cause_text(struct answer_facts *facts, const struct answer_causes *causes, size_t i,
                       const struct name *instead, bool brief, struct writer *text);

void answer_causes_clear(struct answer_causes *causes);

#endif
