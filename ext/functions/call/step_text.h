/*
** What the name of a step says, as SQL shows it (T22).
*/
#ifndef TRACEDIFF_STEP_TEXT_H
#define TRACEDIFF_STEP_TEXT_H

#include "text/ascii.h"
#include "sqlite/table_function.h"
#include "naming/step_form.h"

/* The phase, in small letters; NULL if out of memory, like the next. To be freed by
** sqlite3_free(). */
static inline char *step_phase(const struct step_form *form)
{
    char *text = sqlite3_mprintf("%.*s", (int)form->phase_length, form->phase);
    for (char *p = text; p && *p; p++)
        *p = (char)small(*p);
    return text;
}

/* The phase and the size, rounded up. */
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
