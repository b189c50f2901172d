#include "frames.h"

#include <stdio.h>
#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "naming/python_path.h"

/* Limits, because many frames may share one long text that is searched for each. */
enum { LONGEST_TEXT = 16 << 10, MOST_NAMES = 64 << 20 /* bytes */ };

struct frame_label {
    uint32_t op;              /* name in at::_ops */
    uint32_t node;            /* node of autograd */
    uint32_t function, place; /* of a Python frame */
    bool is_minor;            /* the op only allocates memory for another op */
    bool is_engine, is_python, is_user, is_optimizer;
};

/* A text to be searched from `p` on. */
struct text_part {
    const char *p, *end;
};

static bool take_word(struct text_part *text, const char *word)
{
    size_t length = strlen(word);
    bool found = (size_t)(text->end - text->p) >= length && memcmp(text->p, word, length) == 0;
    text->p += found ? length : 0;
    return found;
}

/* Moves past the next occurrence of a word. */
static bool find_word(struct text_part *text, const char *word)
{
    for (; text->p < text->end; text->p++)
        if (*text->p == *word && take_word(text, word))
            return true;
    return false;
}

/* Takes a run of letters, digits and `_`. */
static struct text_part take_name(struct text_part *text)
{
    struct text_part name = {text->p, text->p};
    while (text->p < text->end && (is_word((unsigned char)*text->p)))
        text->p++;
    name.end = text->p;
    return name;
}

/* Finds NAME in `at::_ops::NAME::call(` or `::redispatch(`. */
static bool find_op(const struct name *frame, struct text_part *op)
{
    struct text_part text = {frame->text, frame->text + frame->length};
    while (find_word(&text, "at::_ops::")) {
        *op = take_name(&text);
        if (op->p < op->end && take_word(&text, "::") &&
            (take_word(&text, "call(") || take_word(&text, "redispatch(")))
            return true;
    }
    return false;
}

/* Finds NODE in `torch::autograd::[generated::]NODE::apply(`. */
static bool find_node(const struct name *frame, struct text_part *node)
{
    struct text_part text = {frame->text, frame->text + frame->length};
    while (find_word(&text, "torch::autograd::")) {
        take_word(&text, "generated::");
        *node = take_name(&text);
        if (node->p < node->end && take_word(&text, "::apply("))
            return true;
    }
    return false;
}

/* M8: `empty`, `new_empty`, `resize`, `set_`, or one of these followed by `_...`. */
static bool is_minor(struct text_part op)
{
    static const char *const words[] = {"empty", "new_empty", "resize", "set_"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct text_part rest = op;
        if (take_word(&rest, words[i]) && (rest.p == rest.end || *rest.p == '_'))
            return true;
    }
    return false;
}

static bool has_word(const struct name *name, const char *word)
{
    struct text_part text = {name->text, name->text + name->length};
    return find_word(&text, word);
}

static bool begins_with(const struct name *name, const char *word)
{
    struct text_part text = {name->text, name->text + name->length};
    return take_word(&text, word);
}

static bool is_python(const struct name *file)
{
    return begins_with(file, "<") ||
           (file->length >= 3 && memcmp(file->text + file->length - 3, ".py", 3) == 0);
}

/* Whether a Python frame is user code. */
static bool is_user(const struct name *file)
{
    return path_is_users(file->text, file->text + file->length);
}

/* Whether a file is directly in torch/optim/. */
static bool is_optimizer(const struct name *file)
{
    const char *end = file->text + file->length, *name = end;
    while (name > file->text && !is_separator(name[-1]))
        name--;
    if (name == file->text || path_after(file->text, end, "optim") != name)
        return false;
    const char *folder = name - sizeof "optim";
    return folder > file->text && path_after(file->text, folder, "torch") == folder;
}

/* Keeps the texts of a Python frame: `file name`, and `file:line name`. */
static bool keep_place(struct frame_labels *labels, struct frame_label *label,
                       const struct name *file, const struct name *name, int64_t line)
{
    enum { MORE = 32 };
    size_t begin = (size_t)(path_brief(file->text, file->text + file->length) - file->text);
    size_t length = file->length - begin;
    char number[MORE], *text = memory_allocate(length + name->length + MORE);
    if (!text)
        return false;
    for (size_t i = 0; i < length; i++)
        text[i] = is_separator(file->text[begin + i]) ? '/' : file->text[begin + i];
    text[length] = ' ';
    memcpy(text + length + 1, name->text, name->length);
    label->function = names_intern(&labels->names, text, length + 1 + name->length);
    size_t digits = (size_t)snprintf(number, sizeof number, ":%lld ", (long long)line);
    memcpy(text + length, number, digits);
    memcpy(text + length + digits, name->text, name->length);
    label->place = names_intern(&labels->names, text, length + digits + name->length);
    memory_free(text);
    return label->function != NAME_NONE && label->place != NAME_NONE;
}

static bool keep_op(struct frame_labels *labels, struct frame_label *label, struct text_part op)
{
    size_t length = (size_t)(op.end - op.p);
    char *text = memory_allocate(length + 6);
    if (!text)
        return false;
    memcpy(text, "aten::", 6);
    memcpy(text + 6, op.p, length);
    label->op = names_intern(&labels->names, text, length + 6);
    label->is_minor = is_minor(op);
    memory_free(text);
    return label->op != NAME_NONE;
}

static bool make_frame(struct frame_labels *labels, struct frame_label *label,
                       const struct values *values, const struct frame_keys *keys, pickled frame)
{
    static const struct name nothing = {.text = ""};
    const struct name *name = values_name(values, values_field(values, frame, keys->name));
    const struct name *file = values_name(values, values_field(values, frame, keys->filename));
    struct text_part part;
    int64_t line = 0;
    bool done = true;
    name = name && name->length <= LONGEST_TEXT ? name : &nothing;
    file = file && file->length <= LONGEST_TEXT ? file : &nothing;
    values_number(values, values_field(values, frame, keys->line), &line);
    *label = (struct frame_label){NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, .is_minor = false};
    label->is_engine = has_word(name, "torch::autograd::Engine::");
    label->is_python = is_python(file);
    label->is_user = label->is_python && is_user(file);
    label->is_optimizer = label->is_python && is_optimizer(file);
    if (label->is_python)
        done = keep_place(labels, label, file, name, line);
    if (done && find_op(name, &part))
        done = keep_op(labels, label, part);
    if (done && find_node(name, &part)) {
        label->node = names_intern(&labels->names, part.p, (size_t)(part.end - part.p));
        done = label->node != NAME_NONE;
    }
    return done;
}

/* The label of a frame; NULL on failure. */
static const struct frame_label *frame_of(struct frame_labels *labels, const struct values *values,
                                          const struct frame_keys *keys, pickled frame,
                                          struct failure *failure)
{
    enum { ASKED = 256 };
    uint32_t *known = &labels->known[pickled_id(frame)];
    if (*known == 0) {
        if (!MEMORY_GROW(labels->frames, labels->frame_capacity, labels->frame_count + 1) ||
            !make_frame(labels, &labels->frames[labels->frame_count], values, keys, frame)) {
            failure_memory(failure);
            return NULL;
        }
        *known = (uint32_t)++labels->frame_count;
        if (labels->frame_count % ASKED != 0)
            return &labels->frames[*known - 1];
        if (names_memory(&labels->names) > MOST_NAMES)
            failure_set(failure, FAILURE_DAMAGE, "labels of frames are more than 64 MiB");
        else
            stopper_ask(labels->stopper, failure);
        if (failure->code != FAILURE_NONE)
            return NULL;
    }
    return &labels->frames[*known - 1];
}

/* Combines the labels of frames, innermost first. */
static bool make_stack(struct frame_labels *labels, struct stack_label *label,
                       const struct values *values, const struct frame_keys *keys, pickled list,
                       struct failure *failure)
{
    uint32_t innermost_op = NAME_NONE;
    bool any = false, user = false, engine = false, optimizer = false;
    struct value_walk walk = values_walk(values, list);
    pickled item;
    *label = (struct stack_label){NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, 0};
    while ((item = walk_next(&walk)) != 0) {
        if (pickled_kind(item) != PICKLED_DICT)
            continue;
        const struct frame_label *frame = frame_of(labels, values, keys, item, failure);
        if (!frame)
            return false;
        any = true;
        if (frame->op != NAME_NONE) {
            innermost_op = innermost_op == NAME_NONE ? frame->op : innermost_op;
            label->op = label->op == NAME_NONE && !frame->is_minor ? frame->op : label->op;
            label->top_op = frame->op;
        }
        label->node = label->node == NAME_NONE ? frame->node : label->node;
        if (frame->is_python && !user && (frame->is_user || label->function == NAME_NONE)) {
            label->function = frame->function;
            label->place = frame->place;
        }
        user = user || frame->is_user;
        engine = engine || frame->is_engine;
        optimizer = optimizer || frame->is_optimizer;
    }
    label->op = label->op == NAME_NONE ? innermost_op : label->op;
    label->phase = !any        ? PHASE_UNKNOWN
                   : engine    ? PHASE_BACKWARD
                   : optimizer ? PHASE_OPTIMIZER
                               : PHASE_FORWARD;
    return true;
}

const struct stack_label *frame_labels_of(struct frame_labels *labels, const struct values *values,
                                          const struct frame_keys *keys, pickled list,
                                          struct failure *failure)
{
    static const struct stack_label nothing = {NAME_NONE, NAME_NONE, NAME_NONE,
                                               NAME_NONE, NAME_NONE, PHASE_UNKNOWN};
    if (pickled_kind(list) != PICKLED_LIST && pickled_kind(list) != PICKLED_TUPLE)
        return &nothing;
    if (!labels->known)
        labels->known = memory_zeroed(values->node_count, sizeof *labels->known);
    uint32_t *known = labels->known ? &labels->known[pickled_id(list)] : NULL;
    if (!known || !MEMORY_GROW(labels->stacks, labels->stack_capacity, labels->stack_count + 1)) {
        failure_memory(failure);
        return NULL;
    }
    if (*known == 0) {
        if (!make_stack(labels, &labels->stacks[labels->stack_count], values, keys, list, failure))
            return NULL;
        *known = (uint32_t)++labels->stack_count;
    }
    return &labels->stacks[*known - 1];
}

const char *memory_phase_name(enum memory_phase phase)
{
    static const char *const names[] = {[PHASE_BEFORE] = "before",
                                        [PHASE_UNKNOWN] = "unknown",
                                        [PHASE_BACKWARD] = "backward",
                                        [PHASE_OPTIMIZER] = "optimizer",
                                        [PHASE_FORWARD] = "forward"};
    return names[phase];
}

void frame_labels_clear(struct frame_labels *labels)
{
    names_clear(&labels->names);
    memory_free(labels->known);
    memory_free(labels->frames);
    memory_free(labels->stacks);
    memset(labels, 0, sizeof *labels);
}

size_t frame_labels_memory(const struct frame_labels *labels, const struct values *values)
{
    return names_memory(&labels->names) + labels->frame_capacity * sizeof *labels->frames +
           labels->stack_capacity * sizeof *labels->stacks +
           (labels->known ? values->node_count * sizeof *labels->known : 0);
}
