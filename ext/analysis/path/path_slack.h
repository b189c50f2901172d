/*
** What is off the critical path of a step, and how much longer it could take: P9.
*/
#ifndef TRACEDIFF_PATH_SLACK_H
#define TRACEDIFF_PATH_SLACK_H

#include "path_graph.h"

struct path_slack;

/* The graph must outlive the result. NULL on failure. */
struct path_slack *path_slack_new(const struct path_graph *graph, const struct stopper *stopper,
                                  struct failure *failure);

/* Adds what is off the path to a step whose path is found. */
bool path_slack_step(struct path_slack *slack, const struct window *window, bool device_clock,
                     struct path_step *step, struct failure *failure);

/* NULL is allowed. */
void path_slack_free(struct path_slack *slack);

#endif
