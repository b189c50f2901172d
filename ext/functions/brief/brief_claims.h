/*
** The causes that a brief has (Z1).
*/
#ifndef TRACEDIFF_BRIEF_CLAIMS_H
#define TRACEDIFF_BRIEF_CLAIMS_H

#include "functions/answer/call_answer.h"

/* Says of each line of an answer whether it is a cause that a brief has. On failure, fills
** call->failure. */
bool brief_claims_find(struct answer *answer, bool *claimed);

#endif
