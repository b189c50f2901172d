/*
** By which event an annotation of the device goes: it is in the step of that event, and
** is cut with the last step as that event is (T11, T13).
*/
#ifndef TRACEDIFF_ANNOTATIONS_H
#define TRACEDIFF_ANNOTATIONS_H

#include "file.h"
#include "sort.h"

/* The `External id` of a user_annotation or gpu_user_annotation, while its file is read. */
struct external {
    int64_t id;
    uint32_t row;
};

/* Fills file->annotations of a file whose links are known: each gpu_user_annotation goes
** by the first that is there
** 1. if it is named as a step (steps.h): the host's step of that number that starts first,
**    then is first in the file; itself, if there is none
** 2. the host user_annotation with its External id and name, if there is only one with a
**    time
** 3. the launch of the first device work with a link that starts within it on its (pid,
**    tid): start, then file
** 4. itself
** of which 1 is left to steps_find(). `externals` are in the order of the file. */
bool annotations_find(struct trace_file *file, const struct external *externals, size_t count,
                      const struct stopper *stopper, struct failure *failure);

/* The row by which a gpu_user_annotation goes. */
uint32_t annotation_by(const struct trace_file *file, uint32_t row);

#endif
