/* What pages are made of, each with a NUL after it. */
#include "platform/asset.h"

    .macro asset name, file
    HIDDEN PREFIX\name
    .globl PREFIX\name
PREFIX\name:
    .incbin "\file"
    .byte 0
    ENDS(PREFIX\name)
    .endm

    CONSTANTS
    asset chart_style, "ext/chart/page.css"
    asset chart_script, "ext/chart/page.js"
    asset chart_library, LIBRARY
    asset report_style, "ext/report/report.css"
    asset report_script, "ext/report/report.js"

    LAST_SECTION
