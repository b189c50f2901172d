/*
** Finds the event that places each annotation of the device. The annotation is in the step of that
** event, and is cut with the last step if that event is cut (T11, T13).
*/
#ifndef TRACEDIFF_ANNOTATIONS_H
#define TRACEDIFF_ANNOTATIONS_H

#include "file/file.h"
#include "base/sort.h"

/* The `External id` of a user_annotation or gpu_user_annotation; kept during loading only. */
struct external {
    int64_t id;
    uint32_t row;
};

/* Fills file->annotations. The links of the file must be known. Each gpu_user_annotation is
** placed by the first of these that exists:
** 1. if it is named like a step (steps.h): the host's step of that number; ties: earliest start,
**    then earlier in the file. Without such a step, itself
** 2. the host user_annotation with a time and with its External id and name, if there is exactly
**    one
** 3. the launch of the first device work with a link that starts within it on its (pid, tid);
**    ties: earlier start, then earlier in the file
** 4. itself
** steps_find() applies case 1. `externals` must be in the order of the file. */
bool annotations_find(struct trace_file *file, const struct external *externals, size_t count,
                      const struct stopper *stopper, struct failure *failure);

/* The row that places a gpu_user_annotation. */
uint32_t annotation_by(const struct trace_file *file, uint32_t row);

#endif
