/*
** Events off the critical path of a step, and how much longer each could take (P9).
*/
#ifndef TRACEDIFF_PATH_SLACK_H
#define TRACEDIFF_PATH_SLACK_H

#include "path_graph.h"

struct path_slack;

/* The graph must outlive the result. NULL on failure. */
struct path_slack *path_slack_new(const struct path_graph *graph, const struct stopper *stopper,
                                  struct failure *failure);

/* Adds the events off the path to a step whose path is known. */
bool path_slack_step(struct path_slack *slack, const struct window *window, bool device_clock,
                     struct path_step *step, struct failure *failure);

/* Accepts NULL. */
void path_slack_free(struct path_slack *slack);

#endif
