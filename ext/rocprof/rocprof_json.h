/*
** Turns rocprofv3's JSON (`--output-format json`) into rows (rules R10 to R14).
*/
#ifndef TRACEDIFF_ROCPROF_JSON_H
#define TRACEDIFF_ROCPROF_JSON_H

#include "file/row_source.h"

extern const struct row_source rocprof_json;

#endif
