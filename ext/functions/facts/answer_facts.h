/*
** What an answer asks of both traces. Each is found when it is first asked for, and kept as long as
** the facts. What can fail fills call->failure.
*/
#ifndef TRACEDIFF_ANSWER_FACTS_H
#define TRACEDIFF_ANSWER_FACTS_H

#include "analysis/answer/judgement.h"
#include "analysis/counts/run_changes.h"
#include "call_checks.h"
#include "call_factors.h"
#include "call_pair.h"
#include "functions/compile/compile_changes.h"
#include "call_trust.h"

/* Ranks whose kernels, or whose host, may have a factor of their own: each rank of a job, else all
** that are compared. */
struct answer_unit {
    int64_t rank; /* of a job */
    bool open, has_device, has_clock, has_host;
    struct call_trace opened[2]; /* by side, like all pairs here; the steps that are kept */
    struct keyed device;         /* by enum device_key */
    struct common_factor clock;
    struct common_factor host;
};

struct answer_facts {
    struct call *call;
    struct call_pair pair;
    bool has_kept, has_each, has_units, has_causes, has_checks, has_work, has_sums;
    struct call_trace kept[2]; /* the ranks, with the steps that are kept */
    struct call_trace each[2]; /* these ranks one by one */
    struct answer_unit *units;
    size_t unit_count;
    const struct keyed **device; /* of the units */
    bool wants_work;             /* their device work is found with what evidence needs */
    bool wants_runs;             /* and with how often its operators run */
    struct keyed sums;           /* of host events of all ranks, by enum host_key */
    struct call_causes causes;   /* of the steps that are kept; not merged until a caller does */
    struct trust trust;
    struct checks checks;
    bool has_compile;
    struct compile_join compile[2];
    struct compile_changes compile_changes;
    struct run_changes work;
    struct load load;
    struct common_factor host; /* of a job whose load is asked for: of all ranks together */
    enum judged judged;
};

/* Opens the pair as call_pair_open(), and judges it. To be closed on failure, too. */
bool facts_open(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                struct answer_facts *facts);

/* These may be asked for if there is something to compare. Each returns false on failure. */
bool facts_kept(struct answer_facts *facts);
bool facts_each(struct answer_facts *facts);
bool facts_causes(struct answer_facts *facts);
bool facts_checks(struct answer_facts *facts);
bool facts_work(struct answer_facts *facts);

/* The device work of a unit, and the host events of all ranks. */
bool facts_device(struct answer_facts *facts, struct answer_unit *unit);
bool facts_sums(struct answer_facts *facts);
/* What was compiled; the arguments of the logs, -1: there are none. */
bool facts_compile(struct answer_facts *facts, int first_log);

/* Frees the device work of all units, of which checks and clocks are found. */
void facts_forget_device(struct answer_facts *facts);

/* The factors of a unit. */
bool facts_clock(struct answer_facts *facts, struct answer_unit *unit);
bool facts_host(struct answer_facts *facts, struct answer_unit *unit);

/* Whether the difference is one that may have causes: half a percent of the step or more. */
bool facts_differ(const struct answer_facts *facts);

/* Whether kernels may have one factor that is to be said. */
bool facts_may_have_clock(const struct answer_facts *facts, const struct checks *checks);

/* The load of the host, if it is there. */
const struct common_factor *facts_load(const struct answer_facts *facts);

/* Does nothing to a zeroed struct. */
void facts_close(struct answer_facts *facts);

/* Whether the name of a cause is that of a loader of data. */
bool name_is_loader(const struct name *name);

#endif
