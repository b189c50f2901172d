/*
** Words for the classes of a step's time (A3 to A8), and for causes.
*/
#ifndef TRACEDIFF_CLASS_WORDS_H
#define TRACEDIFF_CLASS_WORDS_H

/* Returns the word for a class of trace_step_time; NULL: unknown class. */
const char *class_word(const char *step_class);

/* Returns the word for a cause, from its kind in trace_summary and its class, which may be NULL. */
const char *cause_word(const char *kind, const char *step_class);

#endif
