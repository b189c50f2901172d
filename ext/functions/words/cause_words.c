#include "cause_words.h"

#include "analysis/causes/cause_parts.h"
#include "base/memory.h"
#include "naming/label.h"
#include "text/ascii.h"

static bool is_letter_or_digit(char byte)
{
    return is_letter(byte) || is_digit(byte);
}

static size_t label_of(struct cause_words *words, uint32_t name)
{
    const struct name *of = &words->causes->names.items[name];
    return label_write(of->text, of->length, words->room + of->length + LABEL_ROOM, words->room);
}

static void write_label_of(struct cause_words *words, uint32_t name)
{
    write_bytes(&words->text, words->room, label_of(words, name));
}

/* Writes the name of a cause, or what stands for it. */
static void write_name_of(struct cause_words *words, const struct cause *cause)
{
    size_t length = label_of(words, cause->name);
    words->named = length > 0;
    if (words->instead && words->named)
        write_bytes(&words->text, words->instead, words->instead_length);
    else
        write_bytes(&words->text, words->room, length);
}

bool cause_words_begin(struct cause_words *words, const struct call_causes *found)
{
    const struct causes *causes = &found->causes;
    *words = (struct cause_words){.causes = causes, .opened = found->opened};
    words->room = memory_allocate(2 * (names_longest(&causes->names) + LABEL_ROOM));
    words->label_counts = memory_zeroed(causes->count, sizeof *words->label_counts);
    bool done = words->room && words->label_counts;
    for (size_t i = 0; i < causes->count && done; i++) {
        const struct cause *cause = &causes->items[i];
        words->late += cause->kind == CAUSE_HOST_LATE;
        words->unrecorded += cause->kind == CAUSE_NOT_RECORDED;
        if (cause->kind != CAUSE_COMMUNICATION || cause->name == NAME_NONE)
            continue;
        uint32_t label =
            names_intern(&words->labels, words->room, label_of(words, cause->name));
        done = label != NAME_NONE;
        if (done)
            words->label_counts[label]++;
    }
    return done;
}

void cause_words_end(struct cause_words *words)
{
    names_clear(&words->labels);
    memory_free(words->label_counts);
    memory_free(words->room);
    writer_clear(&words->text);
}

/* Where a cause is: ` (X)`, ` in 24 X`, `, only in X_7`. */
static void write_area(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    const uint32_t *only = words->causes->only_in + cause->only_first;
    if (cause->area == NAME_NONE || words->brief)
        return;
    if (cause->instances > 1) {
        write_string(text, " in ");
        write_integer(text, cause->instances);
        write_string(text, " ");
        write_label_of(words, cause->area);
    } else if (cause->area != cause->name) {
        write_string(text, " (");
        write_label_of(words, cause->area);
        write_string(text, ")");
    }
    if (cause->only_count == 0)
        return;
    write_string(text, ", only in ");
    if (cause->only_count == 1) {
        write_label_of(words, *only);
    } else {
        write_integer(text, (int64_t)cause->only_count);
        write_string(text, " of them");
    }
}

/* What is computed again (L10). */
static void write_recomputed(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (cause->recomputed_count == 0)
        return;
    write_string(text, cause->diff > 0 ? ", recomputes " : ", no longer recomputes ");
    write_label_of(words, words->causes->recomputed[cause->recomputed_first]);
    write_string(text, " and ");
    write_integer(text, (int64_t)cause->recomputed_count - 1);
    write_string(text, " more");
}

/* How many characters two texts have in common at their begin; at their end if `back`. */
static size_t common_length(const struct name *a, const struct name *b, bool back)
{
    size_t most = a->length < b->length ? a->length : b->length, i = 0;
    while (i < most && (back ? a->text[a->length - 1 - i] == b->text[b->length - 1 - i]
                             : a->text[i] == b->text[i]))
        i++;
    return i;
}

/* C13.6: writes the part of a kernel's name that no other cause of its collective has: `f32`. */
static void write_apart(struct cause_words *words, const struct cause *cause)
{
    const struct causes *causes = words->causes;
    const struct name *own = &causes->names.items[cause->name];
    size_t from = own->length, behind = own->length;
    bool others = false;
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *other = &causes->items[i];
        if (other == cause || other->kind != CAUSE_COMMUNICATION || other->area != cause->area ||
            other->name == cause->name || other->name == NAME_NONE)
            continue;
        const struct name *name = &causes->names.items[other->name];
        size_t begin = common_length(own, name, false), end = common_length(own, name, true);
        from = begin < from ? begin : from;
        behind = end < behind ? end : behind;
        others = true;
    }
    if (!others)
        return;
    while (from > 0 && is_letter_or_digit(own->text[from - 1]))
        from--;
    while (behind > 0 && is_letter_or_digit(own->text[own->length - behind]))
        behind--;
    write_string(&words->text, " of ");
    if (from + behind < own->length)
        write_bytes(&words->text, own->text + from, own->length - behind - from);
    else
        write_label_of(words, cause->name);
}

static void write_communication(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    const struct name *area =
        cause->area == NAME_NONE ? NULL : &words->causes->names.items[cause->area];
    const char *end = area ? area->text + area->length : NULL;
    if (area && (begins(area->text, end, "nccl:") || begins(area->text, end, "gloo:"))) {
        words->named = cause->area == cause->name;
        write_bytes(text, area->text, area->length);
        if (cause->name != NAME_NONE)
            write_apart(words, cause);
    } else {
        size_t length = label_of(words, cause->name);
        write_name_of(words, cause);
        if (words->label_counts[names_find(&words->labels, words->room, length)] > 1)
            write_area(words, cause);
    }
    write_string(text, ", not hidden");
}

/* A part of a cause that neither came, if `came`, nor went, if not. NULL: there is none. */
static const struct cause_part *other_part(const struct cause_words *words,
                                           const struct cause *cause, bool came)
{
    const struct cause_parts *parts = words->causes->parts;
    for (size_t i = cause->parts; i > 0; i = parts->items[i - 1].next) {
        const struct cause_part *part = &parts->items[i - 1];
        if (came ? !cause_part_came(part) : part->time[1] > 0)
            return part;
    }
    return NULL;
}

/* Writes how many operators take over, or give way; one by its name (L2.2). */
static void write_others(struct cause_words *words, const struct cause *cause, int64_t others)
{
    const struct cause_parts *parts = words->causes->parts;
    const struct cause_part *one =
        others == 1 ? other_part(words, cause, cause->added > 0) : NULL;
    if (one && parts->places[one->first].name != NAME_NONE) {
        write_label_of(words, parts->places[one->first].name);
        return;
    }
    write_integer(&words->text, others);
    write_string(&words->text, others == 1 ? " operator" : " operators");
}

static void write_replaced(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY)
        write_string(text, "copies of ");
    write_name_of(words, cause);
    if (cause->step_class != CLASS_MEMORY) {
        int64_t others = cause->names - (cause->added > 0 ? cause->added : cause->removed);
        if (cause->added > 1) {
            write_string(text, " and ");
            write_integer(text, cause->added - 1);
            write_string(text, " more take over from ");
        } else {
            write_string(text, cause->added ? " takes over from " : " gives way to ");
        }
        write_others(words, cause, others);
    }
    write_area(words, cause);
}

/* Whether an event has a name. */
static bool is_of_event(const struct cause_words *words, const struct name *name)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < words->opened[side].trace.count; i++) {
            const struct trace_member *member = &words->opened[side].trace.members[i];
            if (member->chosen &&
                names_find(&member->file->names, name->text, name->length) != NAME_NONE)
                return true;
        }
    return false;
}

/* Whether the name of a cause is that of a gap (A5.4), which is no thing to wait for. */
static bool is_gap(const struct cause_words *words, const struct cause *cause)
{
    const struct name *name =
        cause->name == NAME_NONE ? NULL : &words->causes->names.items[cause->name];
    const char *end = name ? name->text + name->length : NULL;
    return name &&
           (begins(name->text, end, "between ") || begins(name->text, end, "before ") ||
            begins(name->text, end, "after ")) &&
           !is_of_event(words, name);
}

static void write_late(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (is_gap(words, cause)) {
        write_name_of(words, cause);
        return;
    }
    bool launching = cause->single && cause->step_class == CLASS_IDLE_LAUNCH;
    write_string(text, launching ? "launching: " : "waiting for ");
    if (cause->name != NAME_NONE)
        write_name_of(words, cause);
    else
        write_string(text, words->late > 1 ? "the host, elsewhere" : "the host");
}

static void write_merged(struct cause_words *words, const struct cause *cause)
{
    static const char *const stages[] = {"backward", "forward", "loader", "optimizer"};
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY && !words->bare)
        write_string(text, "copies: ");
    if (cause->merge == MERGE_BY_NAME) {
        write_name_of(words, cause);
        write_string(text, cause->beside ? ", elsewhere" : ", everywhere");
        return;
    }
    write_string(text, cause->beside ? "all else in " : "all in ");
    if (cause->merge == MERGE_BY_STAGE)
        write_string(text, stages[cause->stage]);
    else
        write_label_of(words, cause->area);
    write_string(text, ", ");
    write_integer(text, (int64_t)cause->merged);
    write_string(text, " parts");
}

static void write_synchronized(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    int64_t others = words->causes->drains->operators - 1;
    write_string(text, "synchronization: ");
    write_name_of(words, cause);
    if (others > 0) {
        write_string(text, " and ");
        write_integer(text, others);
        write_string(text, " more");
    }
}

/* Whether most time of a cause is in gaps that have names (A5.4). */
static bool is_between(const struct causes *causes, const struct cause *cause)
{
    wide_time named = 0, all = 0;
    for (size_t i = cause->parts; i > 0; i = causes->parts->items[i - 1].next) {
        const struct cause_part *part = &causes->parts->items[i - 1];
        wide_time time = part->time[0] + part->time[1];
        all += time;
        named += causes->parts->places[part->first].name != NAME_NONE ? time : 0;
    }
    return 2 * named > all;
}

static void write_kind(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    switch (cause->kind) {
    case CAUSE_QUEUED:
        write_string(text, "launched, not begun");
        break;
    case CAUSE_SYNCHRONIZED:
        write_synchronized(words, cause);
        break;
    case CAUSE_NOT_RECORDED:
        if (cause->name != NAME_NONE)
            write_name_of(words, cause);
        else if (cause->step_class != CLASS_UNRECORDED)
            write_string(text, "idle, nothing recorded of the host");
        else
            write_string(text, is_between(words->causes, cause)
                                   ? "between what is recorded of the host"
                                   : "nothing recorded of the host");
        if (cause->name == NAME_NONE && words->unrecorded > 1)
            write_string(text, ", elsewhere");
        break;
    case CAUSE_COMMUNICATION:
        write_communication(words, cause);
        break;
    case CAUSE_REPLACED:
        write_replaced(words, cause);
        if (!words->brief)
            write_recomputed(words, cause);
        break;
    case CAUSE_HOST_LATE:
        write_late(words, cause);
        break;
    case CAUSE_MOVED:
        write_string(text, "the path goes over other ranks");
        break;
    case CAUSE_MERGED:
        write_merged(words, cause);
        break;
    case CAUSE_DIAGNOSED: /* whose sentence a diagnosis has */
        break;
    case CAUSE_CHANGED:
        if (cause->step_class == CLASS_MEMORY && !words->bare)
            write_string(text, "copies: ");
        if (cause->name == NAME_NONE)
            write_string(text, "work without a launch");
        else
            write_name_of(words, cause);
        write_area(words, cause);
        write_recomputed(words, cause);
        break;
    }
}

void cause_words_write(struct cause_words *words, const struct cause *cause)
{
    words->named = false;
    write_kind(words, cause);
    if (cause->rank != NUMBER_NONE && !words->bare) {
        write_string(&words->text, ", only on rank ");
        write_integer(&words->text, cause->rank);
    }
}

void cause_words_add(struct cause_words *words, struct result *result)
{
    struct writer *text = &words->text;
    if (text->failed)
        result_lost(result);
    result_text(result, text->length ? text->bytes : NULL, text->length);
    text->length = 0;
}
