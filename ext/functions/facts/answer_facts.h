/*
** Facts about both traces that an answer needs. Each is found on first use and kept as long as the
** facts. Functions that fail fill call->failure.
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

/* Ranks whose kernels, or whose host, may have a factor of their own: each rank of a job, or else
** all compared ranks together. */
struct answer_unit {
    int64_t rank; /* in a job only */
    bool open, has_device, has_clock, has_host;
    struct call_trace opened[2]; /* by side, like all pairs here; with the kept steps */
    struct keyed device;         /* by enum device_key */
    struct common_factor clock;
    struct common_factor host;
};

struct answer_facts {
    struct call *call;
    struct call_pair pair;
    bool has_kept, has_each, has_units, has_causes, has_checks, has_work, has_sums;
    struct call_trace kept[2]; /* the ranks, with the kept steps */
    struct call_trace each[2]; /* the same ranks one by one */
    struct answer_unit *units;
    size_t unit_count;
    const struct keyed **device; /* one per unit */
    bool wants_work;             /* device work needs FLOPs and bytes, for evidence */
    bool wants_runs;             /* device work needs execution counts */
    struct keyed sums;           /* host events of all ranks, by enum host_key */
    struct call_causes causes;   /* causes in the kept steps; unmerged until a caller merges them */
    struct trust trust;
    struct checks checks;
    bool has_compile;
    struct compile_join compile[2];
    struct compile_changes compile_changes;
    struct run_changes work;
    struct load load;
    struct common_factor host; /* in a job whose load is needed: for all ranks together */
    enum judged judged;
};

/* Opens the pair like call_pair_open(), and judges it. Close the facts on failure, too. */
bool facts_open(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                struct answer_facts *facts);

/* These need a pair that can be compared. Each returns false on failure. */
bool facts_kept(struct answer_facts *facts);
bool facts_each(struct answer_facts *facts);
bool facts_causes(struct answer_facts *facts);
bool facts_checks(struct answer_facts *facts);
bool facts_work(struct answer_facts *facts);

/* Find the device work of a unit, and the host events of all ranks. */
bool facts_device(struct answer_facts *facts, struct answer_unit *unit);
bool facts_sums(struct answer_facts *facts);
/* Finds the compilations. `first_log` is the argument of control's logs; -1: none. */
bool facts_compile(struct answer_facts *facts, int first_log);

/* Frees the device work of all units, once checks and clocks are found. */
void facts_forget_device(struct answer_facts *facts);

/* Find the factors of a unit. */
bool facts_clock(struct answer_facts *facts, struct answer_unit *unit);
bool facts_host(struct answer_facts *facts, struct answer_unit *unit);

/* Whether the difference is large enough for causes: half a percent of the step or more. */
bool facts_differ(const struct answer_facts *facts);

/* Whether kernels may have one factor that deserves a caution. */
bool facts_may_have_clock(const struct answer_facts *facts, const struct checks *checks);

/* Returns the factor of the host, which must have been found. */
const struct common_factor *facts_load(const struct answer_facts *facts);

/* Does nothing to a zeroed struct. */
void facts_close(struct answer_facts *facts);

/* Whether the name of a cause belongs to a DataLoader. */
bool name_is_loader(const struct name *name);

#endif
