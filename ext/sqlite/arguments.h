/*
** Reads the values of arguments and reports invalid ones. No other file does.
*/
#ifndef TRACEDIFF_ARGUMENTS_H
#define TRACEDIFF_ARGUMENTS_H

#include "trace/trace.h"
#include "json_array.h"

/* The index of the argument of a role: of side 0, which is control or the only one, or of side 1,
** test. -1: the function has none. Which events are steps is one argument, of both sides. */
int argument_of(const struct call *call, enum argument_role role, int side);

/* The functions below that return bool fill call->failure and return false on failure. */

/* A trace: a text that names a directory, a file or a pattern, or a JSON array of such texts. */
bool argument_trace(struct call *call, int argument, struct trace_paths *paths);

/* Runs, by the same texts: each path is one as paths_add_runs() has it or, if `files`, each
** file. */
bool argument_runs(struct call *call, int argument, bool files, struct trace_paths *runs);

/* Ranks, iterations or integers: an integer (also as 0.0 or '0', as some hosts pass it), a JSON
** array of integers, 'all', and the words that its kind takes. Of iterations, 'steady' is the
** default. */
bool argument_selection(struct call *call, int argument, struct selection *selection);

/* Whether an argument takes 'job'. */
bool argument_takes_job(const struct call *call, int argument);

/* What `steps` says (T20): 'auto', 'profiler', a LIKE pattern, or a JSON array of these. */
struct step_patterns {
    struct step_wish wish;
    char **items; /* owned, like each of them */
    size_t count, capacity;
};

/* `*patterns` must stay where it is as long as its wish is used. */
bool argument_steps(struct call *call, int argument, struct step_patterns *patterns);

/* The same for names: a LIKE pattern or a JSON array of these. STEPS_AUTO: not given, all names. */
bool argument_names(struct call *call, int argument, struct step_patterns *patterns);

void step_patterns_clear(struct step_patterns *patterns);

/* The index of one of these words, in any case. The default is the first word. */
bool argument_word(struct call *call, int argument, const char *const *words, int count,
                   int *chosen);

/* A text that is a name; NULL if it is not given. `expected` describes it in the error. */
bool argument_name(struct call *call, int argument, const char *expected, const char **name);

/* A number in the range of its kind, as for argument_bind(). Without the argument, leaves
** `*real` unchanged. */
bool argument_real(struct call *call, int argument, double *real);

/* The indices of one or more of these words, separated by commas, in any case, each at most
** once. `chosen` has room for all words. */
bool argument_words(struct call *call, int argument, const char *const *words, int count,
                    int *chosen, size_t *chosen_count);

bool argument_device_type(struct call *call, int argument, enum device_type *device_type);

/* use_short_name: 0, 1 or 2, the default. */
bool argument_use_short_name(struct call *call, int argument, int *use_short_name);

/* Binds the value of an argument to a parameter, after checking it by its kind:
** 1. a number of a range: such a number, or a text of one;
** 2. TAKES_TEXTS: a JSON array of texts;
** 3. others: not checked.
** Returns a SQLite result code. SQLITE_ERROR means that call->failure is filled. */
int argument_bind(struct call *call, int argument, sqlite3_stmt *statement, int parameter);

/* include_last_profiler_step: 0 or 1; `*given` is false for the default. */
bool argument_last_step(struct call *call, int argument, bool *included, bool *given);

/* A string of phase letters or 'all'; `*given` is false for the default. */
bool argument_phases(struct call *call, int argument, bool *phases, bool *given);

#endif
