/*
** The findings: culprits, and hangs without a culprit (FR17, FR18, FR20).
*/
#ifndef TRACEDIFF_HANG_FINDINGS_H
#define TRACEDIFF_HANG_FINDINGS_H

#include "hang.h"

bool hang_findings_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

#endif
