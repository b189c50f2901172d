#include "argument_kind.h"

#include <math.h>

#define INTEGERS "an integer, a JSON array of integers"

const struct kind_facts kind_facts[] = {
    [TAKES_ANY] = {.type = ""},
    [TAKES_TEXT] = {.type = "TEXT"},
    [TAKES_INTEGER] = {.type = "INTEGER"},
    [TAKES_REAL] = {.type = "REAL"},
    [TAKES_TEXTS] = {.type = "TEXT[]", .expected = "a JSON array of texts"},
    [TAKES_INTEGERS] = {.type = "", .expected = INTEGERS " or 'all'"},
    [TAKES_FLAG] = {.type = "0|1", .expected = "0 or 1", .number = true, .whole = true,
                    .maximum = 1},
    [TAKES_COUNT] = {.type = "INTEGER>=0", .expected = "an integer of 0 or more", .number = true,
                     .whole = true, .maximum = INFINITY},
    [TAKES_AMOUNT] = {.type = "REAL>=0", .expected = "a number of 0 or more", .number = true,
                      .maximum = INFINITY},
    [TAKES_SHARE] = {.type = "REAL0..1", .expected = "a number from 0 to 1", .number = true,
                     .maximum = 1},
    [TAKES_TRACE] = {.type = "TEXT", .role = NAMES_TRACE},
    [TAKES_RANKS] = {.type = "", .expected = INTEGERS " or 'all'", .role = NAMES_RANKS},
    [TAKES_RANKS_OR_JOB] = {.type = "", .expected = INTEGERS ", 'all' or 'job'",
                            .role = NAMES_RANKS, .job = true},
    [TAKES_RANKS_OR_WORST] = {.type = "", .expected = INTEGERS ", 'all' or 'worst'",
                              .role = NAMES_RANKS, .worst = true},
    [TAKES_ITERATIONS] = {.type = "",
                          .expected = INTEGERS ", 'all', 'steady', 'first' or a phase of steps",
                          .role = NAMES_ITERATIONS},
    [TAKES_STEPS] = {.type = "TEXT", .role = NAMES_STEPS},
    [TAKES_CAPTURE] = {.type = "TEXT", .role = NAMES_CAPTURE},
};
