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
    write_string(text, in_steps ? " a step" : " a trace");
}
