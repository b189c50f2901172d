#include "compile_changes.h"

#include <string.h>

#include "base/integers.h"
#include "base/memory.h"
#include "base/sort.h"
#include "text/ascii.h"

/* CL14.3 */
#define LONGER_RATIO 1.5
#define LONGER_NS INT64_C(1000000000)

/* State of the search for changes. */
struct change_search {
    struct compile_changes *changes;
    const struct compile_log *const *logs;
    const bool *const *used;
    const struct stopper *stopper;
    struct failure *failure;
    struct names keys; /* `function file`; ids are indices of changes */
    uint32_t *of[2];   /* by side and compilation: index of its change */
};

static bool is_used(const struct change_search *search, int side, size_t compilation)
{
    const struct compile_log *log = search->logs[side];
    return !search->used[side] || search->used[side][log->compilations[compilation].process];
}

/* Writes the name of a function. The name of a function resumed after a graph break loses its line
** number. */
static void write_function(struct writer *to, const struct name *name)
{
    static const char resume[] = "torch_dynamo_resume_in_", at[] = "_at_";
    if (!name) {
        write_string(to, "?");
        return;
    }
    const char *end = name->text + name->length, *digit = end;
    while (digit > name->text && is_digit(digit[-1]))
        digit--;
    bool goes_on = digit < end && begins(name->text, end, resume) &&
                   ends(name->text, digit, at);
    write_bytes(to, name->text, (size_t)((goes_on ? digit : end) - name->text));
    write_string(to, goes_on ? "N" : "");
}

static uint32_t intern(struct change_search *search, const struct writer *text)
{
    uint32_t id = text->failed ? NAME_NONE
                               : names_intern(&search->changes->names,
                                              text->length ? text->bytes : "", text->length);
    if (id == NAME_NONE)
        failure_memory(search->failure);
    return id;
}

static uint32_t adopt(struct change_search *search, int side, uint32_t text)
{
    const struct name *name = compile_text(search->logs[side], text);
    uint32_t id = name ? names_adopt(&search->changes->names, name) : NAME_NONE;
    if (name && id == NAME_NONE)
        failure_memory(search->failure);
    return id;
}

/* Returns the change of a compilation's function, and adds it if it is new; UINT32_MAX on
** failure. */
static uint32_t change_of(struct change_search *search, int side, const struct compilation *of)
{
    struct compile_changes *changes = search->changes;
    const struct compile_log *log = search->logs[side];
    struct writer function = {0}, file = {0}, key = {0};
    const struct name *path = compile_text(log, of->file);
    write_function(&function, compile_text(log, of->function));
    write_string(&file, path ? path->text : "?");
    write_bytes(&key, function.bytes, function.length);
    write_string(&key, "\n");
    write_bytes(&key, file.bytes, file.length);
    uint32_t id = key.failed || function.failed || file.failed
                      ? NAME_NONE
                      : names_intern(&search->keys, key.bytes, key.length);
    if (id != NAME_NONE && id == changes->count) {
        if (MEMORY_GROW(changes->items, changes->capacity, changes->count + 1)) {
            struct compile_change *added = &changes->items[changes->count++];
            *added = (struct compile_change){.function = intern(search, &function),
                                             .file = intern(search, &file),
                                             .guard = NAME_NONE,
                                             .limit_guard = NAME_NONE,
                                             .fail_type = NAME_NONE,
                                             .fail_reason = NAME_NONE,
                                             .first_break = UINT32_MAX};
            for (int i = 0; i < 2; i++)
                added->sides[i].last = added->sides[i].failed = COMPILE_NONE;
        } else {
            id = NAME_NONE;
        }
    }
    writer_clear(&function);
    writer_clear(&file);
    writer_clear(&key);
    if (id == NAME_NONE)
        failure_memory(search->failure);
    return id;
}

static bool add_compilation(struct change_search *search, int side, uint32_t number)
{
    const struct compile_log *log = search->logs[side];
    const struct compilation *of = &log->compilations[number];
    uint32_t id = change_of(search, side, of);
    search->of[side][number] = id;
    if (id == NAME_NONE)
        return false;
    struct compile_change *change = &search->changes->items[id];
    struct compile_side *sums = &change->sides[side];
    enum compile_cache cache = compile_cache_of(of);
    bool forward = of->part == COMPILE_FORWARD, again = forward && of->recompile;
    bool fails = of->fail_type != NAME_NONE, limit = fails && compile_at_limit(log, of);
    sums->count += forward;
    sums->recompiles += again;
    sums->hits += cache == CACHE_HIT;
    sums->misses += cache == CACHE_MISS;
    sums->fails += fails;
    sums->limits += limit;
    if (of->dur != NUMBER_NONE && sums->ns < INT64_MAX / 2)
        sums->ns += of->dur;
    sums->last = again ? number : sums->last;
    sums->failed = fails ? number : sums->failed;
    if (side == 1 && again && change->guard == NAME_NONE)
        change->guard = adopt(search, side, of->guard);
    if (side == 1 && limit)
        change->limit_guard = adopt(search, side, of->guard);
    if (side == 1 && fails) {
        change->fail_type = adopt(search, side, of->fail_type);
        change->fail_reason = adopt(search, side, of->fail_reason);
    }
    return search->failure->code == FAILURE_NONE;
}

/* Adds the graph breaks of a side that count. `seen` has their places and reasons. */
static bool add_breaks(struct change_search *search, int side, struct names *seen)
{
    struct compile_changes *changes = search->changes;
    const struct compile_log *log = search->logs[side];
    for (size_t i = 0; i < log->break_count; i++) {
        const struct compile_break *found = &log->breaks[i];
        const struct compilation *of = &log->compilations[found->compilation];
        if (!is_used(search, side, found->compilation) || (found->restart && of->breaks > 0))
            continue;
        struct compile_change *change =
            &changes->items[search->of[side][found->compilation]];
        const struct name *place = compile_text(log, found->place);
        const struct name *reason = compile_text(log, found->reason);
        struct writer key = {0};
        change->sides[side].breaks++;
        write_integer(&key, search->of[side][found->compilation]);
        write_string(&key, " ");
        write_string(&key, place ? place->text : "");
        write_string(&key, "\n");
        write_string(&key, reason ? reason->text : "");
        size_t had = seen->count;
        uint32_t id = key.failed ? NAME_NONE : names_intern(seen, key.bytes, key.length);
        writer_clear(&key);
        if (id == NAME_NONE)
            return failure_memory(search->failure);
        if (side == 0 || id < had)
            continue;
        if (!MEMORY_GROW(changes->breaks, changes->break_capacity, changes->break_count + 1))
            return failure_memory(search->failure);
        uint32_t number = (uint32_t)changes->break_count++, *link = &change->first_break;
        while (*link != UINT32_MAX)
            link = &changes->breaks[*link].next;
        *link = number;
        changes->breaks[number] = (struct compile_new_break){
            adopt(search, side, found->place), adopt(search, side, found->reason), UINT32_MAX};
        change->break_count++;
    }
    return search->failure->code == FAILURE_NONE;
}

/* CL14: returns the first kind that applies. */
static enum compile_change_kind kind_of(const struct compile_change *change)
{
    const struct compile_side *control = &change->sides[0], *test = &change->sides[1];
    if (test->limits > control->limits)
        return CHANGE_LIMIT;
    if (test->fails > control->fails)
        return CHANGE_FAILS;
    if (change->break_count > 0)
        return CHANGE_BREAK;
    if (test->recompiles > control->recompiles)
        return CHANGE_RECOMPILES;
    if (test->hits < control->hits && test->misses > control->misses)
        return CHANGE_CACHE;
    if (control->count == 0 && test->count > 0)
        return CHANGE_NEW;
    if (test->count == 0 && control->count > 0)
        return CHANGE_GONE;
    if (test->count > control->count)
        return CHANGE_COMPILES;
    double means[2] = {0, 0};
    for (int side = 0; side < 2; side++)
        if (change->sides[side].count > 0)
            means[side] = (double)change->sides[side].ns / (double)change->sides[side].count;
    return means[1] >= LONGER_RATIO * means[0] && means[1] - means[0] >= LONGER_NS ? CHANGE_LONGER
                                                                                  : CHANGE_NONE;
}

/* Finds the ranks of test that compile functions more often than other ranks. */
static bool find_ranks(struct change_search *search)
{
    const struct compile_log *log = search->logs[1];
    int64_t *ranks = memory_items(log->process_count + 1, sizeof *ranks);
    size_t rank_count = 0;
    if (!ranks)
        return failure_memory(search->failure);
    for (size_t i = 0; i < log->process_count; i++)
        if (log->processes[i].rank != NUMBER_NONE && (!search->used[1] || search->used[1][i]))
            ranks[rank_count++] = log->processes[i].rank;
    rank_count = drop_doubles(ranks, sort_integers(ranks, rank_count));
    int64_t *counts = memory_zeroed(rank_count * search->changes->count + 1, sizeof *counts);
    if (!counts) {
        memory_free(ranks);
        return failure_memory(search->failure);
    }
    for (size_t i = 0; i < log->compilation_count; i++) {
        int64_t rank = log->processes[log->compilations[i].process].rank;
        size_t k = 0;
        if (rank == NUMBER_NONE || search->of[1][i] == NAME_NONE)
            continue;
        LOWER_BOUND(k, rank_count, ranks[k] < rank);
        counts[search->of[1][i] * rank_count + k]++;
    }
    bool done = true;
    for (size_t i = 0; done && i < search->changes->count && rank_count > 1; i++) {
        struct compile_change *change = &search->changes->items[i];
        const int64_t *own = &counts[i * rank_count];
        int64_t least = own[0];
        for (size_t k = 1; k < rank_count; k++)
            least = own[k] < least ? own[k] : least;
        change->ranks = memory_items(rank_count, sizeof *change->ranks);
        done = change->ranks || failure_memory(search->failure);
        for (size_t k = 0; done && k < rank_count; k++)
            if (own[k] > least)
                change->ranks[change->rank_count++] = ranks[k];
    }
    memory_free(counts);
    memory_free(ranks);
    return done;
}

static int change_order(const void *a, const void *b)
{
    const struct compile_change *x = a, *y = b;
    int64_t diff[2] = {x->sides[1].ns - x->sides[0].ns, y->sides[1].ns - y->sides[0].ns};
    for (int i = 0; i < 2; i++)
        diff[i] = diff[i] < 0 ? -diff[i] : diff[i];
    return COMPARE(diff[1], diff[0]);
}

bool compile_changes_find(struct compile_changes *changes, const struct compile_log *const logs[2],
                          const bool *const used[2], const struct stopper *stopper,
                          struct failure *failure)
{
    struct change_search search = {.changes = changes,
                                   .logs = logs,
                                   .used = used,
                                   .stopper = stopper,
                                   .failure = failure};
    struct names seen = {.items = NULL};
    bool done = true;
    *changes = (struct compile_changes){.items = NULL};
    for (int side = 0; side < 2 && done; side++) {
        size_t count = logs[side]->compilation_count;
        search.of[side] = memory_filled(count + 1, sizeof *search.of[side]);
        done = search.of[side] || failure_memory(failure);
        for (size_t i = 0; done && i < count; i++)
            done = stopper_goes_on(stopper, i, failure) &&
                   (!is_used(&search, side, i) || add_compilation(&search, side, (uint32_t)i));
    }
    for (int side = 0; side < 2 && done; side++)
        done = add_breaks(&search, side, &seen);
    done = done && find_ranks(&search);
    size_t kept = 0;
    for (size_t i = 0; done && i < changes->count; i++) {
        changes->items[i].kind = kind_of(&changes->items[i]);
        if (changes->items[i].kind != CHANGE_NONE)
            changes->items[kept++] = changes->items[i];
        else
            memory_free(changes->items[i].ranks);
    }
    changes->count = done ? kept : changes->count;
    names_clear(&search.keys);
    names_clear(&seen);
    memory_free(search.of[0]);
    memory_free(search.of[1]);
    return done && sort_items(changes->items, changes->count, sizeof *changes->items,
                              change_order, stopper, failure);
}

void compile_changes_clear(struct compile_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        memory_free(changes->items[i].ranks);
    memory_free(changes->items);
    memory_free(changes->breaks);
    names_clear(&changes->names);
    *changes = (struct compile_changes){.items = NULL};
}

const char *compile_change_name(enum compile_change_kind kind)
{
    static const char *const names[] = {
        [CHANGE_LIMIT] = "limit",       [CHANGE_FAILS] = "fails",
        [CHANGE_BREAK] = "new break",   [CHANGE_RECOMPILES] = "recompiles",
        [CHANGE_CACHE] = "cache lost",  [CHANGE_NEW] = "new",
        [CHANGE_GONE] = "gone",         [CHANGE_COMPILES] = "compiles",
        [CHANGE_LONGER] = "longer",     [CHANGE_NONE] = NULL};
    return names[kind];
}
