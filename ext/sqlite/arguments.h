/*
** What users write for arguments, and the errors if it makes no sense: the one
** place that knows.
*/
#ifndef TRACEDIFF_ARGUMENTS_H
#define TRACEDIFF_ARGUMENTS_H

#include "../trace/trace.h"
#include "table_function.h"

/* The arguments of CREATE VIRTUAL TABLE: SQL literals, by position or as
** `name = literal`, to values that are owned by the table. */
int arguments_of_create(sqlite3 *db, const struct table_function *function, int count,
                        const char *const *texts, sqlite3_value **values, char **error);

/* A trace: a text that names a directory, a file or a pattern, or a JSON array of
** such texts. All of these fill call->failure and return false if they fail. */
bool argument_trace(struct call *call, int argument, struct trace_paths *paths);

/* Ranks or iterations: an integer (0, and as hosts hand it over 0.0 or '0'), a JSON array
** of integers, 'all', and for iterations 'steady'. */
bool argument_selection(struct call *call, int argument, bool steady, struct selection *selection);

/* One of these words, in any case: its number; the first is the default. */
bool argument_word(struct call *call, int argument, const char *const *words, int count,
                   int *chosen);

/* A text that is a name; NULL if it is not given. `expected` says whose, for the error. */
bool argument_name(struct call *call, int argument, const char *expected, const char **name);

/* Some of these words, each once, in any case, between commas: their numbers. `chosen` has
** room for all. */
bool argument_words(struct call *call, int argument, const char *const *words, int count,
                    int *chosen, size_t *chosen_count);

bool argument_device_type(struct call *call, int argument, enum device_type *device_type);

/* use_short_name: 0, 1 or 2; `otherwise` is the default. */
bool argument_use_short_name(struct call *call, int argument, int otherwise, int *use_short_name);

/* Binds the value of an argument to a parameter. One that is declared as `0|1`,
** `INTEGER>=0`, `REAL>=0` or `REAL0..1` must be such a number, or a text that is one;
** `TEXT[]` is a JSON array of texts.
** SQLITE_ERROR stands for what call->failure says. */
int argument_bind(struct call *call, int argument, sqlite3_stmt *statement, int parameter);

/* include_last_profiler_step: 0 or 1; `*given` is false for the default. */
bool argument_last_step(struct call *call, int argument, bool *included, bool *given);

/* A string of phase letters or 'all'; `*given` is false for the default. */
bool argument_phases(struct call *call, int argument, bool *phases, bool *given);

#endif
