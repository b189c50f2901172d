#include "work_words.h"

#include "label_words.h"

void write_change_of_runs(struct writer *text, const struct run_changes *changes,
                          const struct run_change *change, bool in_steps)
{
    write_label_of_name(text, &changes->names.items[change->name]);
    if (change->high[0] == 0) {
        write_string(text, " new, ");
    } else if (change->high[1] == 0) {
        write_string(text, " gone, ");
        write_number(text, change->counts[0]);
    } else {
        write_string(text, " ");
        write_number(text, change->counts[0]);
        write_string(text, " -> ");
    }
    if (change->high[1] > 0)
        write_number(text, change->counts[1]);
    write_string(text, in_steps ? " per step" : " per trace");
}

void write_change_to_graphs(struct writer *text, const struct graph_change *change, bool in_steps)
{
    static const char *const apis[] = {
        [GRAPH_CUDA] = "CUDA ", [GRAPH_HIP] = "HIP ", [GRAPH_OTHER] = ""};
    bool one = change->operators == 1, one_launch = change->launches == 1;
    write_integer(text, change->operators);
    write_string(text, one ? " operator " : " operators ");
    write_string(text, change->into ? "now run" : "no longer run");
    write_string(text, one ? "s inside " : " inside ");
    write_format(text, "%s%sgraph%s (", one_launch ? "a " : "", apis[change->api],
                 one_launch ? "" : "s");
    write_number(text, change->launches);
    write_string(text, one_launch ? " launch" : " launches");
    write_string(text, in_steps ? " per step)" : " per trace)");
}
