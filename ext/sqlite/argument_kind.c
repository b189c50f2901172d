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
    [TAKES_FLAG] = {"0|1", "0 or 1", .number = true, .whole = true, .maximum = 1},
    [TAKES_COUNT] = {"INTEGER>=0", "an integer of 0 or more", .number = true, .whole = true,
                     .maximum = INFINITY},
    [TAKES_AMOUNT] = {"REAL>=0", "a number of 0 or more", .number = true, .maximum = INFINITY},
    [TAKES_SHARE] = {"REAL0..1", "a number from 0 to 1", .number = true, .maximum = 1},
    [TAKES_TRACE] = {.type = "TEXT", .role = NAMES_TRACE},
    [TAKES_RANKS] = {"", INTEGERS " or 'all'", NAMES_RANKS},
    [TAKES_RANKS_OR_JOB] = {"", INTEGERS ", 'all' or 'job'", NAMES_RANKS, .job = true},
    [TAKES_RANKS_OR_WORST] = {"", INTEGERS ", 'all' or 'worst'", NAMES_RANKS, .worst = true},
    [TAKES_ITERATIONS] = {"", INTEGERS ", 'all', 'steady', 'first' or a phase of steps",
                          NAMES_ITERATIONS},
    [TAKES_STEPS] = {.type = "TEXT", .role = NAMES_STEPS},
    [TAKES_CAPTURE] = {.type = "TEXT", .role = NAMES_CAPTURE},
};
