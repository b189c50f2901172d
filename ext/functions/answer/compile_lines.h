/*
** What the compiler did, in words of the answer (CL13): of the compilations in the compared steps
** and the logs, which the facts have.
*/
#ifndef TRACEDIFF_COMPILE_LINES_H
#define TRACEDIFF_COMPILE_LINES_H

#include "functions/facts/answer_facts.h"

/* `1 of 4 steps recompiles` */
void compile_write_clause(struct writer *text, const struct answer_facts *facts);

/* `inner (prog.py:19) recompiled in step 3: GUARD`. False: nothing is known beside the trace. */
bool compile_write_cause(struct writer *text, const struct answer_facts *facts, double diff_ms);

/* Lines of logs and hints. */
size_t compile_line_count(const struct answer_facts *facts);
bool compile_line_is_hint(const struct answer_facts *facts, size_t i);
const char *compile_line_code(const struct answer_facts *facts, size_t i);
void compile_write_line(struct writer *text, const struct answer_facts *facts, size_t i);

/* Whether logs are damaged, and how. */
bool compile_line_damaged(const struct answer_facts *facts);
void compile_write_damage(struct writer *text, const struct answer_facts *facts);

#endif
