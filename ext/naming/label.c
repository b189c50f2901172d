#include "label.h"

#include <string.h>

#include "text/ascii.h"
#include "text/text.h"
#include "short_name.h"

static size_t copy_literal(const char *text, char *to)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return length;
}

/* Copies a name without the words of rule 3. Returns the number of bytes written. */
static size_t drop_words(const char *name, const char *end, char *to)
{
    static const char *const words[] = {"autograd::engine::evaluate_function: ",
                                        "torch::autograd::", "nn.Module: ", "Optimizer.step#",
                                        "at::native::"};
    size_t written = 0;
    while (name < end) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && !begins(name, end, words[i]))
            i++;
        if (i < sizeof words / sizeof *words)
            name += strlen(words[i]);
        else
            to[written++] = *name++;
    }
    return written;
}

size_t label_write(const char *name, size_t length, char *scratch, char *to)
{
    static const char node[] = "CppNode<";
    const char *end = name + length;
    if (begins(name, end, "enumerate(DataLoader)#_SingleProcess"))
        return copy_literal("DataLoader next batch, in this process", to);
    if (begins(name, end, "enumerate(DataLoader)#_MultiProcessing"))
        return copy_literal("DataLoader next batch, from workers", to);
    size_t written;
    if (length > 6 && begins(name, end, "## ") && ends(name, end, " ##")) {
        written = length - 6;
        memcpy(to, name + 3, written);
    } else {
        size_t left = drop_words(name, end, scratch);
        const char *rest = scratch;
        if (left > sizeof node && begins(rest, rest + left, node) && rest[left - 1] == '>') {
            rest += sizeof node - 1;
            left -= sizeof node;
        }
        written = name_short(rest, left, to);
    }
    return text_visible(to, written);
}
