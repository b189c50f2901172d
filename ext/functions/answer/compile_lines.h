/*
** Lines of the answer about compilations (CL13), from the logs and the compilations in the compared
** steps. The facts have both.
*/
#ifndef TRACEDIFF_COMPILE_LINES_H
#define TRACEDIFF_COMPILE_LINES_H

#include "functions/facts/answer_facts.h"

/* Writes a clause such as `1 of 4 steps recompiles`. */
void compile_write_clause(struct writer *text, const struct answer_facts *facts);

/* Writes a cause such as `inner (prog.py:19) recompiled in step 3: GUARD`. False: only the trace
** knows of the compilation. */
bool compile_write_cause(struct writer *text, const struct answer_facts *facts, double diff_ms);

/* Counts the lines of logs and hints. */
size_t compile_line_count(const struct answer_facts *facts);
bool compile_line_is_hint(const struct answer_facts *facts, size_t i);
const char *compile_line_code(const struct answer_facts *facts, size_t i);
void compile_write_line(struct writer *text, const struct answer_facts *facts, size_t i);

/* Whether logs are damaged; the second function writes how. */
bool compile_line_damaged(const struct answer_facts *facts);
void compile_write_damage(struct writer *text, const struct answer_facts *facts);

#endif
