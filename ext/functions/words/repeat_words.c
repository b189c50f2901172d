#include "repeat_words.h"

#include "label_words.h"

void repeat_write(struct writer *text, const struct repeat *repeat, size_t room)
{
    long long control = repeat->runs[0], test = repeat->runs[1];
    const char *name = repeat->name->text;
    int length = (int)(repeat->pattern > 0 ? repeat->pattern : repeat->name->length);
    size_t from = text->length;
    if (repeat->pattern == 0) {
        write_format(text,
                     "`%.*s` runs %lld and %lld times: compare one run of it with steps = '%.*s'",
                     length, name, control, test, length, name);
        if (text->length - from <= room) /* the name is ASCII */
            return;
    }
    text->length = from;
    write_format(text, "compare one of %lld and %lld runs with steps = '%.*s%s'", control, test,
                 length, name, repeat->pattern > 0 ? "%" : "");
}
