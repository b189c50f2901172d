/*
** Classes of a step's time (A3 to A8), and causes, in a word.
*/
#ifndef TRACEDIFF_CLASS_WORDS_H
#define TRACEDIFF_CLASS_WORDS_H

/* Of a class as trace_step_time has it; NULL: it is none. */
const char *class_word(const char *step_class);

/* Of a cause, by its kind as trace_summary has it and its class, which may be NULL. */
const char *cause_word(const char *kind, const char *step_class);

#endif
