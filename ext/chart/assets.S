/* What pages are made of, each with a NUL after it. */
    .macro asset name, file
    .hidden \name
    .globl \name
\name:
    .incbin "\file"
    .byte 0
    .endm

    .section .rodata
    asset chart_style, "ext/chart/page.css"
    asset chart_script, "ext/chart/page.js"
    asset chart_library, LIBRARY
    asset report_style, "ext/report/report.css"
    asset report_script, "ext/report/report.js"

    .section .note.GNU-stack, "", %progbits
