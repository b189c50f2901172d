/*
** The path of a job in the report: a lane for each step, and in it a stretch for each rank that the
** path is on. Where two stretches meet, one rank waits for the other.
*/
#include <string.h>

#include "report_format.h"

enum lane_column {
    LANE_HEAD, /* which side and step, in words: rows of a lane follow each other */
    LANE_RANK,
    LANE_FROM, /* ms from the start of the step */
    LANE_MS,
    LANE_WAITS,  /* who waits at the end, in words; NULL: nobody */
    LANE_LONGEST /* ms: the longest step */
};

enum { LEAST_LABEL = 7 /* % of the lane that a label needs */ };

static void end_lane(struct writer *to)
{
    write_string(to, "</div></td></tr>\n");
}

void report_path_row(struct report *report, const struct report_cell *cells)
{
    struct writer *to = &report->page;
    double scale = 100 / cells[LANE_LONGEST].number, width = scale * cells[LANE_MS].number;
    int64_t rank = (int64_t)cells[LANE_RANK].number;
    if (report->rows == 0)
        write_string(to, "<table class=\"path\"><caption>On which rank the path of the job is, and "
                         "when</caption>\n<tbody>\n");
    else if (cells[LANE_FROM].number == 0)
        end_lane(to);
    if (cells[LANE_FROM].number == 0) {
        write_string(to, "<tr><th scope=\"row\">");
        write_html(to, cells[LANE_HEAD].text, cells[LANE_HEAD].length);
        write_string(to, "</th><td><div class=\"job\">");
    }
    write_string(to, rank % 2 ? "<i class=\"odd\" style=\"left:" : "<i style=\"left:");
    write_fixed(to, scale * cells[LANE_FROM].number, 2);
    write_string(to, "%;width:");
    write_fixed(to, width, 2);
    write_string(to, "%\" title=\"rank ");
    write_integer(to, rank);
    write_string(to, ": ");
    report_time(report, to, cells[LANE_MS].number);
    write_string(to, " ");
    write_string(to, report->style.unit);
    write_string(to, " from ");
    report_time(report, to, cells[LANE_FROM].number);
    write_string(to, " on");
    if (cells[LANE_WAITS].text) {
        write_string(to, "; ");
        write_html(to, cells[LANE_WAITS].text, cells[LANE_WAITS].length);
    }
    write_string(to, width < LEAST_LABEL ? "\"><span class=\"vh\">rank " : "\"><span>rank ");
    write_integer(to, rank);
    write_string(to, "</span></i>");
}

void report_path_end(struct report *report)
{
    end_lane(&report->page);
    write_string(&report->page, "</tbody></table>\n");
}
