/*
** Selects the causes in a brief (Z1).
*/
#ifndef TRACEDIFF_BRIEF_CLAIMS_H
#define TRACEDIFF_BRIEF_CLAIMS_H

#include "functions/answer/call_answer.h"

/* Sets for each line of an answer whether it is a cause in the brief. On failure, fills
** call->failure. */
bool brief_claims_find(struct answer *answer, bool *claimed);

#endif
