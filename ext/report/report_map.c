/*
** The map of the report: an icicle that report.js draws from JSON. `names` has each label once,
** with the whole name where it differs. `leaves` has for each leaf the number of its levels, a name
** for each of them, and ns per step in control and in test.
*/
#include <math.h>
#include <string.h>

#include "report.h"

enum { MOST_MAP_BYTES = 60000 };
enum { MAP_LEVELS = 5, MAP_CONTROL = MAP_LEVELS, MAP_TEST };

static void begin_map(struct report *report)
{
    struct writer *to = &report->page;
    write_string(
        to, "<p class=\"note\">The width of a box is its time in the step; the top row is the "
            "step itself. The colour is the change: <span class=\"more\">orange longer</span>, "
            "<span class=\"less\">blue shorter</span>, grey as before. + is only in test, × only "
            "in control. Arrow keys move, Enter zooms, Escape shows the whole step, / "
            "searches.</p>\n"
            "<noscript><p class=\"state\">The map needs JavaScript; the tables have the same "
            "numbers.</p></noscript>\n"
            "<div class=\"tools map-tools\" hidden><span role=\"group\" "
            "aria-label=\"Width of a box\">Width: <button type=\"button\" data-mode=\"t\" "
            "aria-pressed=\"true\">test</button> <button type=\"button\" data-mode=\"c\" "
            "aria-pressed=\"false\">control</button> <button type=\"button\" data-mode=\"d\" "
            "aria-pressed=\"false\">change</button></span><input class=\"find\" type=\"search\" "
            "aria-label=\"Find in the map\" placeholder=\"Find ( / )\" autocomplete=\"off\">"
            "<button class=\"whole\" type=\"button\" disabled>Whole step</button>"
            "<button class=\"folded\" type=\"button\">Copy folded stacks</button></div>\n"
            "<div class=\"said\" aria-live=\"polite\"></div>\n"
            "<div class=\"icicle\" role=\"tree\" aria-label=\"Map of the step\"></div>\n");
}

/* Writes a name: its label, or its label and itself. */
static void write_map_name(struct writer *to, const struct label_set *labels, uint32_t id)
{
    struct writer label = {0};
    const struct name *name = &labels->names.items[id];
    bool is_name = label_set_write(labels, id, &label, write_json);
    write_string(to, is_name ? "" : "[");
    write_bytes(to, label.bytes, label.length);
    if (!is_name) {
        write_string(to, ",");
        write_shown(to, name->text, name->length);
        write_string(to, "]");
    }
    to->failed = to->failed || label.failed;
    writer_clear(&label);
}

/* A level without a name, or with that of the level above, is left out. What follows when the map
** is large is one box. */
void report_map_row(struct report *report, const struct report_cell *cells)
{
    struct writer *to = &report->later;
    uint32_t ids[MAP_LEVELS];
    int levels = 0;
    bool full = to->length + report->named > MOST_MAP_BYTES;
    for (int i = 0; i < MAP_LEVELS && !(full && levels > 0); i++) {
        static const char rest[] = "smaller parts";
        if (!cells[i].text)
            continue;
        size_t known = report->labels.names.count,
               length = full ? sizeof rest - 1 : cells[i].length;
        uint32_t id = label_set_add(&report->labels, full ? rest : cells[i].text, length);
        report->named += report->labels.names.count > known ? 2 * length : 0;
        report->page.failed = report->page.failed || id == NAME_NONE;
        if (levels == 0 || ids[levels - 1] != id)
            ids[levels++] = id;
    }
    write_string(to, report->rows == 0 ? "" : ",");
    write_integer(to, levels);
    for (int i = 0; i < levels; i++) {
        write_string(to, ",");
        write_integer(to, ids[i]);
    }
    for (int i = MAP_CONTROL; i <= MAP_TEST; i++) {
        write_string(to, ",");
        write_integer(to, (int64_t)nearbyint(cells[i].number));
    }
}

void report_map_end(struct report *report)
{
    struct writer *to = &report->page;
    begin_map(report);
    write_string(to, "<script type=\"application/json\" class=\"map-data\">{\"unit\":");
    write_json_string(to, report->style.unit);
    write_string(to, ",\"root\":\"step\",\"size\":");
    write_integer(to, (int64_t)report->style.size);
    write_string(to, ",\"digits\":");
    write_integer(to, report->style.digits);
    write_string(to, ",\"names\":[");
    to->failed = to->failed || !label_set_finish(&report->labels, false);
    for (size_t i = 0; i < report->labels.names.count && !to->failed; i++) {
        write_string(to, i == 0 ? "" : ",");
        write_map_name(to, &report->labels, (uint32_t)i);
    }
    write_string(to, "],\n\"leaves\":[");
    write_bytes(to, report->later.bytes, report->later.length);
    write_string(to, "]}</script>\n");
    to->failed = to->failed || report->later.failed;
    report->later.length = 0;
    label_set_clear(&report->labels);
}
