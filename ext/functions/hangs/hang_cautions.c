#include "hang_lines.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "call_job.h"

/* Ranks that wait in one op of one group. */
struct waiting_in {
    size_t count;
    uint32_t words;  /* text with the op and the group */
    uint32_t *ranks; /* owned */
};

static int waiting_order(const void *a, const void *b)
{
    const struct waiting_in *x = a, *y = b;
    int order = COMPARE(y->count, x->count);
    return order ? order : COMPARE(x->ranks[0], y->ranks[0]);
}

struct waiting_list {
    struct names words;
    struct waiting_in *items; /* by words */
    size_t capacity;
};

static bool put(struct hang_lines *lines, struct waiting_list *list, uint32_t rank)
{
    const struct hang *hang = lines->hang;
    struct writer text = {0};
    size_t before = list->words.count;
    write_op(&text, hang, hang->ranks[rank].head, &lines->failure);
    write_string(&text, ", ");
    write_group(&text, hang->job, hang_group(hang, hang->ranks[rank].head));
    uint32_t words =
        text.failed ? NAME_NONE : names_intern(&list->words, text.bytes, text.length);
    writer_clear(&text);
    if (words == NAME_NONE || !MEMORY_GROW(list->items, list->capacity, list->words.count))
        return failure_memory(&lines->failure);
    struct waiting_in *item = &list->items[words];
    if (list->words.count > before)
        *item = (struct waiting_in){0, words, NULL};
    uint32_t *more = memory_resize(item->ranks, (item->count + 1) * sizeof *more);
    if (!more)
        return failure_memory(&lines->failure);
    item->ranks = more;
    more[item->count++] = rank;
    return true;
}

static void write_waiting_in(struct hang_lines *lines, const struct waiting_list *list,
                             const struct waiting_in *item)
{
    const struct name *words = &list->words.items[item->words];
    struct writer text = {0};
    write_ranks_named(&text, lines->hang, item->ranks, item->count, true);
    write_string(&text, item->count == 1 ? " waits in " : " wait in ");
    write_bytes(&text, words->text, words->length);
    write_string(&text, ".");
    lines_add(lines, "waiting", NULL, item->ranks[0], &text);
}

void add_waiting(struct hang_lines *lines)
{
    enum { MOST = 3 };
    static const struct stopper never = {NULL, NULL, NULL};
    const struct hang *hang = lines->hang;
    struct waiting_list list = {.items = NULL};
    size_t rest = 0;
    bool done = true;
    for (uint32_t r = 0; done && r < hang->rank_count; r++) {
        const struct hang_rank *rank = &hang->ranks[r];
        if (rank->head != FR_NONE && rank->culprit == CULPRIT_NONE &&
            rank->state != HANG_ALL_IN && rank->state != HANG_MEMBERS)
            done = put(lines, &list, r);
    }
    if (done)
        sort_items(list.items, list.words.count, sizeof *list.items, waiting_order, &never,
                   &lines->failure);
    for (size_t i = 0; i < list.words.count && i < list.capacity; i++) {
        if (done && i < MOST)
            write_waiting_in(lines, &list, &list.items[i]);
        else
            rest += list.items[i].count;
        memory_free(list.items[i].ranks);
    }
    if (done && rest > 0) {
        struct writer text = {0};
        write_integer(&text, (int64_t)rest);
        write_string(&text, rest == 1 ? " more rank waits elsewhere."
                                      : " more ranks wait elsewhere.");
        lines_add(lines, "waiting", NULL, SIZE_MAX, &text);
    }
    names_clear(&list.words);
    memory_free(list.items);
}

/* Lists the ranks in a state, and returns their number. */
static size_t ranks_that_are(const struct hang *hang, enum hang_state state, uint32_t *ranks)
{
    size_t count = 0;
    for (uint32_t r = 0; r < hang->rank_count; r++)
        if (hang->ranks[r].state == state)
            ranks[count++] = r;
    return count;
}

static void add_no_dump(struct hang_lines *lines, uint32_t *ranks)
{
    struct writer text = {0};
    size_t count = ranks_that_are(lines->hang, HANG_NO_DUMP, ranks);
    if (count == 0)
        return;
    write_string(&text, "Caution: no dump of ");
    write_ranks_named(&text, lines->hang, ranks, count, false);
    write_string(&text, count == 1 ? ": whether it is stuck cannot be told."
                                   : ": whether they are stuck cannot be told.");
    lines_add(lines, "caution", "no_dump", SIZE_MAX, &text);
}

static void add_old(struct hang_lines *lines, uint32_t *ranks)
{
    const struct hang *hang = lines->hang;
    const struct fr_job *job = hang->job;
    struct writer text = {0};
    size_t count = ranks_that_are(hang, HANG_OLD_DUMP, ranks);
    if (count == 0)
        return;
    const struct fr_dump *dump = &job->dumps[job->dump_of[ranks[0]]];
    write_string(&text, "Caution: ");
    if (count > 1) {
        write_ranks_named(&text, hang, ranks, count, false);
        write_string(&text, " dumped too early: ");
    }
    write_ranks_named(&text, hang, ranks, 1, false);
    write_string(&text, " dumped before rank ");
    write_integer(&text, dump->newer_rank);
    write_string(&text, " completed seq ");
    write_integer(&text, dump->newer_seq);
    write_string(&text, " of ");
    write_group(&text, job, &job->groups[dump->newer_group]);
    write_string(&text, ".");
    lines_add(lines, "caution", "old_dump", SIZE_MAX, &text);
}

static void add_overwritten(struct hang_lines *lines, uint32_t *ranks)
{
    struct writer text = {0};
    size_t count = ranks_that_are(lines->hang, HANG_OVERWRITTEN, ranks);
    if (count == 0)
        return;
    write_string(&text, "Caution: pending calls of ");
    write_ranks_named(&text, lines->hang, ranks, count, false);
    write_string(&text, " are overwritten: a larger TORCH_FR_BUFFER_SIZE keeps more.");
    lines_add(lines, "caution", "overwritten", SIZE_MAX, &text);
}

static void add_problems(struct hang_lines *lines)
{
    const struct fr_job *job = lines->hang->job;
    const struct fr_dump *first = NULL;
    struct writer text = {0};
    size_t count = 0;
    for (size_t i = 0; i < job->dump_count; i++)
        if (job->dumps[i].fate != DUMP_IS_USED) {
            first = first ? first : &job->dumps[i];
            count++;
        }
    if (!first)
        return;
    write_string(&text, "Caution: ");
    write_integer(&text, (int64_t)count);
    write_string(&text, count == 1 ? " file has problems: see fr_dumps: "
                                   : " files have problems: see fr_dumps: ");
    write_string(&text, first->file);
    write_string(&text, ": ");
    write_dump_problem(&text, job, first);
    write_string(&text, ".");
    lines_add(lines, "caution", "problems", SIZE_MAX, &text);
}

static bool any_unknown(const struct fr_job *job)
{
    for (size_t i = 0; i < job->group_count; i++)
        if (!job->groups[i].known)
            return true;
    return false;
}

static void add_text(struct hang_lines *lines, const char *code, const char *words)
{
    struct writer text = {0};
    write_string(&text, words);
    lines_add(lines, "caution", code, SIZE_MAX, &text);
}

void add_cautions(struct hang_lines *lines)
{
    enum { MOST = 4 };
    const struct hang *hang = lines->hang;
    size_t before = lines->count;
    uint32_t *ranks = memory_items(hang->rank_count, sizeof *ranks);
    if (!ranks) {
        failure_memory(&lines->failure);
        return;
    }
    add_no_dump(lines, ranks);
    add_old(lines, ranks);
    add_overwritten(lines, ranks);
    if (hang_waits(hang) && !hang_timed_out(hang))
        add_text(lines, "not_timed_out",
                 "Caution: nothing has timed out: if the dumps were taken on demand, the job may "
                 "only be slow.");
    add_problems(lines);
    if (hang_waits(hang) && any_unknown(hang->job))
        add_text(lines, "members",
                 "Caution: the dumps do not say who is in a group: a member without a dump is not "
                 "seen.");
    memory_free(ranks);
    for (; lines->count > before + MOST; lines->count--)
        memory_free(lines->items[lines->count - 1].words);
}
