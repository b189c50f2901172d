#include "cause_words.h"

#include <math.h>

#include "analysis/answer/thresholds.h"
#include "analysis/causes/cause_parts.h"
#include "base/memory.h"
#include "label_words.h"
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

/* Writes the name of a cause, or its stand-in. */
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
    *words =
        (struct cause_words){.causes = causes, .opened = found->opened, .rates = &found->rates};
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

/* Writes the place of a cause: ` (X)`, ` in 24 X`, `, only in X_7`. */
static void write_area(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    const uint32_t *only = words->causes->only_in + cause->only_first;
    if (cause->area == NAME_NONE || words->brief || cause->loose)
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

/* Writes the recomputed work (L10). */
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

/* Counts the characters that two texts have in common at the start, or at the end if `back`. */
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

/* Writes two numbers with the unit of the larger: `64 -> 128 MB`. */
static void write_bytes_of(struct writer *text, const double *bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double most = bytes[0] > bytes[1] ? bytes[0] : bytes[1], size = 1;
    int unit = 0;
    while (most >= 1000 * size && unit < 4) {
        size *= 1000;
        unit++;
    }
    int decimals = decimals_for(most / size, 3);
    write_format(text, "%.*f -> %.*f %s", decimals, bytes[0] / size, decimals, bytes[1] / size,
                 units[unit]);
}

/* Writes the ratio of two numbers: `2.1 times`. */
static void write_times_of(struct writer *text, const double *of)
{
    double times = of[1] / of[0];
    write_format(text, "%.*f times", decimals_for(times, 2), times);
}

static bool is_about(const double *of)
{
    return fabs(of[1] - of[0]) <= SAME_RATE * of[0];
}

/* W9.4: writes the change in a collective's algorithm: `RING_LL -> TREE_SIMPLE`. */
static bool write_algorithm(struct cause_words *words, const struct cause_split *split)
{
    struct writer *text = &words->text;
    const struct name *names = words->rates->names.items;
    bool known = split->algorithm[0] != NAME_NONE && split->algorithm[1] != NAME_NONE &&
                 split->protocol[0] != NAME_NONE && split->protocol[1] != NAME_NONE;
    if (known && (split->algorithm[0] != split->algorithm[1] ||
                  split->protocol[0] != split->protocol[1])) {
        write_format(text, "%s_%s -> %s_%s, ", names[split->algorithm[0]].text,
                     names[split->protocol[0]].text, names[split->algorithm[1]].text,
                     names[split->protocol[1]].text);
        return true;
    }
    if (split->channels[0] == split->channels[1] || !split->channels[0] || !split->channels[1])
        return false;
    write_format(text, "%lld -> %lld channels, ", (long long)split->channels[0],
                 (long long)split->channels[1]);
    return true;
}

/* W9: writes the largest contribution to a cause of communication, with numbers. */
static void write_split(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    struct cause_split split;
    if (!cause_split_find(&split, words->causes, cause, words->rates)) {
        write_string(text, ", exposed");
        return;
    }
    bool known = !isnan(split.by_bytes), calls = is_about(split.calls);
    double more = fabs(known ? split.by_calls + split.by_bytes : split.by_calls);
    double slower = fabs(split.by_bandwidth);
    const double *bytes = known ? split.bytes : split.calls;
    double rate = bytes[1] / split.ns[1] / (bytes[0] / split.ns[0]);
    if (!cause_split_is_overlap(&split) && more <= slower && calls && fabs(rate - 1) < LIKE_RATE) {
        write_string(text, ", exposed");
        return;
    }
    write_string(text, words->brief ? ": " : " exposed: ");
    if (cause_split_is_overlap(&split)) {
        write_string(text, cause->diff > 0 ? "less of it overlaps" : "more of it overlaps");
        return;
    }
    if (more > slower && known) {
        write_times_of(text, split.bytes);
        write_string(text, " the bytes (");
        write_bytes_of(text, split.bytes);
        write_string(text, " per step)");
    } else if (!calls && (more > slower || (known && is_about(split.bytes)))) {
        write_format(text, "%g -> %g calls per step", split.calls[0], split.calls[1]);
        if (known)
            write_string(text, ", same bytes");
        return;
    } else {
        bool other = write_algorithm(words, &split);
        if (!known) {
            const double each[2] = {split.ns[0] / split.calls[0], split.ns[1] / split.calls[1]};
            write_times_of(text, each);
            write_string(text, split.with_waits ? " as long, with waits" : " as long");
        } else {
            int decimals = decimals_for(fmax(split.gbs[0], split.gbs[1]), 3);
            if (!other) {
                write_times_of(text, split.gbs);
                write_string(text, " the bandwidth (");
            }
            write_format(text, "%.*f -> %.*f GB/s", decimals, split.gbs[0], decimals,
                         split.gbs[1]);
            write_string(text, other ? "" : ")");
            if (split.with_waits)
                write_string(text, ", with waits");
        }
        if (known && is_about(split.bytes) && !words->brief)
            write_string(text, ", same bytes");
    }
    if (!calls)
        write_format(text, ", %g -> %g calls", split.calls[0], split.calls[1]);
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
    write_split(words, cause);
}

/* Returns a part of a cause that did not come, if `came`, or is still in test, if not. NULL:
** none. */
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

/* Writes the area of a part of communication: `nccl:all_reduce`. */
static void write_area_of(struct cause_words *words, const struct cause *cause, uint32_t name)
{
    const struct cause_parts *parts = words->causes->parts;
    for (size_t i = cause->parts; i > 0; i = parts->items[i - 1].next) {
        const struct cause_place *place = &parts->places[parts->items[i - 1].first];
        if (place->name == name)
            write_label_of(words, place->area == NAME_NONE ? name : place->area);
    }
}

/* Writes how many operators take over, or give way; a single one by its name (L2.2). */
static void write_others(struct cause_words *words, const struct cause *cause, int64_t others)
{
    const struct cause_parts *parts = words->causes->parts;
    const struct cause_part *one =
        others == 1 ? other_part(words, cause, cause->added > 0) : NULL;
    if (one && cause->loose && cause->step_class == CLASS_COMM && cause->area == NAME_NONE) {
        write_area_of(words, cause, parts->places[one->first].name);
        return;
    }
    if (one && parts->places[one->first].name != NAME_NONE) {
        write_label_of(words, parts->places[one->first].name);
        return;
    }
    write_integer(&words->text, others);
    write_string(&words->text, cause->step_class == CLASS_COMM ? " collective" : " operator");
    write_string(&words->text, others == 1 ? "" : "s");
}

static void write_replaced(struct cause_words *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY)
        write_string(text, "copies of ");
    if (cause->loose && cause->step_class == CLASS_COMM && cause->area == NAME_NONE)
        write_area_of(words, cause, cause->name);
    else
        write_name_of(words, cause);
    if (cause->step_class != CLASS_MEMORY) {
        int64_t others = cause->names - (cause->added > 0 ? cause->added : cause->removed);
        if (cause->added > 1) {
            write_string(text, " and ");
            write_integer(text, cause->added - 1);
            write_string(text, " more replace ");
        } else {
            write_string(text, cause->added ? " replaces " : " is replaced by ");
        }
        write_others(words, cause, others);
    }
    write_area(words, cause);
}

/* Whether an event of a chosen file has this name. */
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

/* Whether the name of a cause belongs to a gap (A5.4), which nothing can wait for. */
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
    write_string(text, launching ? "waiting for a launch: " : "waiting for ");
    if (cause->name != NAME_NONE)
        write_name_of(words, cause);
    else
        write_string(text, words->late > 1 ? "other work of the host" : "the host");
}

static void write_merged(struct cause_words *words, const struct cause *cause)
{
    static const char *const stages[] = {"backward", "forward", "loader", "optimizer"};
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY && !words->bare)
        write_string(text, "copies: ");
    if (cause->merge == MERGE_BY_NAME) {
        write_name_of(words, cause);
        write_string(text, cause->beside ? ", other places" : ", everywhere");
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

/* Whether most time of a cause is in named gaps (A5.4). */
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
        write_string(text, "launch latency: queued, not started");
        break;
    case CAUSE_SYNCHRONIZED:
        write_synchronized(words, cause);
        break;
    case CAUSE_NOT_RECORDED:
        if (cause->name != NAME_NONE)
            write_name_of(words, cause);
        else if (cause->step_class != CLASS_UNRECORDED)
            write_string(text, "nothing recorded on the host");
        else
            write_string(text, is_between(words->causes, cause)
                                   ? "between recorded events"
                                   : "nothing recorded");
        if (cause->name == NAME_NONE && words->unrecorded > 1)
            write_string(text, ", other places");
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
    case CAUSE_DIAGNOSED: /* written as the sentence of the diagnosis */
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
    if (!words->bare)
        cause_words_ranks(&words->text, words->causes, cause);
}

void cause_words_ranks(struct writer *text, const struct causes *causes, const struct cause *cause)
{
    const int64_t *ranks = causes->ranks + cause->ranks_first;
    size_t count = cause->rank != NUMBER_NONE ? 1 : cause->ranks_count;
    bool block = count > 2 && ranks[count - 1] - ranks[0] == (int64_t)count - 1;
    if (cause->changing)
        write_string(text, ", on changing ranks");
    if (count > 0)
        write_string(text, count == 1 ? ", only on rank " : ", only on ranks ");
    if (count == 1) {
        write_integer(text, cause->rank);
    } else if (block) {
        write_integer(text, ranks[0]);
        write_string(text, "-");
        write_integer(text, ranks[count - 1]);
    } else {
        for (size_t i = 0; i < count && i < MOST_NAMED_RANKS; i++) {
            write_string(text, i == 0 ? "" : i + 1 == count ? " and " : ", ");
            write_integer(text, ranks[i]);
        }
        if (count > MOST_NAMED_RANKS) {
            write_string(text, " and ");
            write_integer(text, (int64_t)count - MOST_NAMED_RANKS);
            write_string(text, " more");
        }
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
