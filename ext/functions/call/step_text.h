/*
** Information in the name of a step, in SQL's format (T22).
*/
#ifndef TRACEDIFF_STEP_TEXT_H
#define TRACEDIFF_STEP_TEXT_H

#include "text/ascii.h"
#include "sqlite/table_function.h"
#include "naming/step_form.h"

/* Returns the phase in small letters. Both functions return NULL if out of memory. Free with
** sqlite3_free(). */
static inline char *step_phase(const struct step_form *form)
{
    char *text = sqlite3_mprintf("%.*s", (int)form->phase_length, form->phase);
    for (char *p = text; p && *p; p++)
        *p = (char)small(*p);
    return text;
}

/* Returns the phase and the size, rounded up. */
static inline char *step_stratum(const struct step_form *form)
{
    char *phase = step_phase(form);
    if (!phase || form->size == STEP_FORM_UNKNOWN)
        return phase;
    char *text = sqlite3_mprintf("%s %llu", phase, step_form_bucket(form->size));
    sqlite3_free(phase);
    return text;
}

#endif
