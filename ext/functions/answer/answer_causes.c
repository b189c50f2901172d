#include "answer_causes.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "analysis/causes/cause_merges.h"
#include "base/memory.h"
#include "base/sort.h"
#include "functions/facts/call_rates.h"
#include "functions/words/cause_words.h"
#include "functions/words/label_words.h"
#include "functions/words/work_words.h"
#include "sqlite/sql_function.h"

/* Interns the written text and empties the writer. NAME_NONE: out of memory. */
static uint32_t take(struct answer_causes *causes, struct writer *text)
{
    uint32_t id = text->failed
                      ? NAME_NONE
                      : names_intern(&causes->texts, text->length ? text->bytes : "", text->length);
    text->length = 0;
    return id;
}

/* Sort key of a cause or of work. */
struct ordered {
    const struct names *texts;
    double size;
    uint32_t name, text;
    size_t i;
};

static int text_order(const struct names *texts, uint32_t a, uint32_t b)
{
    if (a == b || a == NAME_NONE || b == NAME_NONE)
        return COMPARE(a != NAME_NONE, b != NAME_NONE);
    return name_compare(&texts->items[a], &texts->items[b]);
}

static int size_order(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->size != y->size)
        return COMPARE(y->size, x->size);
    int order = text_order(x->texts, x->text, y->text);
    return order ? order : text_order(x->texts, x->name, y->name);
}

/* Sorts items and frees the old list. Returns the new list; NULL on failure. */
static void *put_in_order(struct answer_facts *facts, void *items, size_t size,
                          struct ordered *order, size_t count)
{
    char *ordered = memory_items(count, size);
    bool done = (ordered && order) || failure_memory(&facts->call->failure);
    done = done && sort_items(order, count, sizeof *order, size_order, call_stopper(facts->call),
                              &facts->call->failure);
    for (size_t i = 0; done && i < count; i++)
        memcpy(ordered + i * size, (char *)items + order[i].i * size, size);
    memory_free(order);
    memory_free(done ? items : ordered);
    return done ? ordered : NULL;
}

static bool order_causes(struct answer_facts *facts, struct answer_causes *causes)
{
    struct ordered *order = memory_items(causes->count, sizeof *order);
    for (size_t i = 0; order && i < causes->count; i++)
        order[i] = (struct ordered){&causes->texts, fabs(causes->items[i].diff_ms),
                                    causes->items[i].name, causes->items[i].text, i};
    causes->capacity = causes->count;
    return memory_assign(&causes->items, put_in_order(facts, causes->items, sizeof *causes->items,
                                                      order, causes->count));
}

static bool order_works(struct answer_facts *facts, struct answer_causes *causes)
{
    struct ordered *order = memory_items(causes->work_count, sizeof *order);
    for (size_t i = 0; order && i < causes->work_count; i++)
        order[i] = (struct ordered){&causes->texts, causes->works[i].size, causes->works[i].name,
                                    causes->works[i].text, i};
    return memory_assign(&causes->works, put_in_order(facts, causes->works, sizeof *causes->works,
                                                      order, causes->work_count));
}

bool answer_in_steps(const struct answer_facts *facts)
{
    return call_trace_has_steps(&facts->each[0]) || call_trace_has_steps(&facts->each[1]);
}

bool answer_work_find(struct answer_facts *facts, struct answer_causes *causes)
{
    struct writer text = {0};
    bool done = facts_work(facts);
    size_t count = done ? facts->work.count : 0;
    bool in_steps = done && answer_in_steps(facts);
    done = done && (memory_assign(&causes->works, memory_items(count, sizeof *causes->works)) ||
                    failure_memory(&facts->call->failure));
    for (size_t i = 0; done && i < count; i++) {
        const struct run_change *change = &facts->work.items[i];
        write_change_of_runs(&text, &facts->work, change, in_steps);
        struct answer_work work = {
            .name = names_adopt(&causes->texts, &facts->work.names.items[change->name]),
            .text = take(causes, &text),
            .size = change->size};
        causes->works[causes->work_count++] = work;
        done = (work.name != NAME_NONE && work.text != NAME_NONE) ||
               failure_memory(&facts->call->failure);
    }
    writer_clear(&text);
    return done && order_works(facts, causes);
}

/* Adds a cause that comes from the parts of steps. */
static bool add_cause(struct answer_causes *to, struct cause_words *words, size_t i)
{
    const struct causes *causes = words->causes;
    const struct cause *cause = &causes->items[i];
    double windows[2] = {(double)causes->windows[0], (double)causes->windows[1]};
    double both = 1e6 * windows[0] * windows[1]; /* scales |diff| to ms */
    const char *step_class =
        cause->step_class == CLASS_NONE ? NULL : step_class_name(cause->step_class);
    if (!MEMORY_GROW(to->items, to->capacity, to->count + 1))
        return false;
    struct answer_cause *item = &to->items[to->count++];
    *item = (struct answer_cause){
        .kind = cause_kind_name(cause->kind),
        .step_class = step_class,
        .name = NAME_NONE,
        .rank = cause->rank,
        .control_ms = (double)cause->time[0] / windows[0] / 1e6,
        .test_ms = (double)cause->time[1] / windows[1] / 1e6,
        .diff_ms = (double)cause->diff / both,
        .share = causes->diff == 0 ? NAN : (double)cause->diff / (double)causes->diff + 0.0,
        .changes = (double)cause->changes / both,
        .of = i,
        .diagnosis = SIZE_MAX,
        .advised = SIZE_MAX,
        .is_wait = cause->kind == CAUSE_HOST_LATE || cause->kind == CAUSE_QUEUED ||
                   cause->kind == CAUSE_SYNCHRONIZED || cause->kind == CAUSE_NOT_RECORDED,
        .gain_ms = NAN,
        .hidden_by = NAME_NONE};
    if (cause->name != NAME_NONE &&
        (item->name = names_adopt(&to->texts, &causes->names.items[cause->name])) == NAME_NONE)
        return false;
    if (cause->kind == CAUSE_DIAGNOSED) {
        const struct diagnosis *diagnosis = &to->diagnoses.items[cause->owner];
        const struct name *sentence = &to->diagnoses.texts.items[diagnosis->sentence];
        item->diagnosis = cause->owner;
        item->text = names_adopt(&to->texts, sentence);
        return item->text != NAME_NONE;
    }
    if (to->joined)
        item->advised = cause->owner;
    cause_words_write(words, cause);
    if (words->text.length == 0)
        write_string(&words->text, "without a name");
    item->named = words->named;
    item->text = take(to, &words->text);
    return item->text != NAME_NONE;
}

bool answer_diagnoses_find(struct answer_facts *facts, struct answer_causes *causes)
{
    struct diagnoses *found = &causes->diagnoses;
    bool wanted = facts->judged != JUDGED_SAME && facts->pair.pair.strata_count == 1; /* DG7.4 */
    struct own_patterns own = {.count = 0};
    bool done = !wanted || (own_patterns_read(facts->call, NULL, &own) &&
                            diagnoses_find(facts, &own, found));
    own_patterns_clear(&own);
    return done;
}

/* DG7.1: whether a diagnosis replaces its causes, because they say less. */
static bool stands(const struct answer_facts *facts, const struct diagnoses *found, size_t i)
{
    const struct causes *causes = &facts->causes.causes;
    const struct diagnosis *of = &found->items[i];
    size_t waits = 0;
    for (size_t j = 0; j < found->cause_count; j++)
        waits += found->owners[j] == i && causes->items[j].kind == CAUSE_SYNCHRONIZED;
    return of->is_guess ? of->causes >= JOINED_CAUSES && of->rank == NUMBER_NONE
                        : waits < of->causes;
}

/* Merges the causes of each diagnosis that replaces them. */
static bool join_diagnoses(struct answer_facts *facts, const struct diagnoses *found)
{
    bool *joins = memory_items(found->count, sizeof *joins);
    for (size_t i = 0; joins && i < found->count; i++)
        joins[i] = stands(facts, found, i);
    if (joins)
        causes_join_owned(&facts->causes.causes, found->owners, joins);
    memory_free(joins);
    return joins || failure_memory(&facts->call->failure);
}

/* Finds the slower links, if communication makes most of the difference. */
static bool find_links(struct answer_facts *facts, struct answer_causes *to)
{
    const struct causes *causes = &facts->causes.causes;
    struct writer text = {0};
    wide_time most = 0;
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].step_class == CLASS_COMM && causes->items[i].diff > most)
            most = causes->items[i].diff;
    if (2 * most >= causes->diff)
        write_slow_links(&text, causes, &facts->causes.rates);
    bool done = !text.failed;
    if (text.length > 0)
        done = (to->links = take(to, &text)) != NAME_NONE;
    writer_clear(&text);
    return done;
}

static bool find_parts(struct answer_facts *facts, size_t shown, struct answer_causes *to)
{
    struct cause_words words;
    if (!facts_causes(facts) || (to->joined && !join_diagnoses(facts, &to->diagnoses)) ||
        !causes_merge(&facts->causes.causes, shown, call_stopper(facts->call),
                      &facts->call->failure) ||
        !call_rates_find(facts->call, &facts->causes))
        return false;
    bool done = cause_words_begin(&words, &facts->causes);
    words.bare = true;
    for (size_t i = 0; done && i < facts->causes.causes.count; i++)
        done = add_cause(to, &words, i);
    cause_words_end(&words);
    return (done && find_links(facts, to)) || failure_memory(&facts->call->failure);
}

/* Adds a row of trace_step_diff as a cause (C14). */
static int add_alike(void *to, sqlite3_stmt *row)
{
    static const char *const kinds[] = {
        [CLASS_IDLE_CALL] = "host late",          [CLASS_IDLE_HOST] = "host late",
        [CLASS_IDLE_LAUNCH] = "host late",        [CLASS_IDLE_WAIT] = "queued",
        [CLASS_IDLE_UNRECORDED] = "not recorded", [CLASS_NONE] = NULL};
    struct answer_causes *causes = to;
    const char *own = (const char *)sqlite3_column_text(row, 0);
    const char *text = (const char *)sqlite3_column_text(row, 1);
    struct name name = {.text = text, .length = (uint32_t)sqlite3_column_bytes(row, 1)};
    double within = sqlite3_column_double(row, 4), mix = sqlite3_column_double(row, 5);
    struct writer words = {0};
    int of = 0;
    while (of < CLASS_NONE && (!own || strcmp(own, step_class_name((enum step_class)of)) != 0))
        of++;
    causes->alike_ms += within;
    causes->mix_ms += mix;
    causes->mixed = causes->mixed || mix != 0;
    if (within == 0 && mix == 0)
        return SQLITE_OK;
    if (!MEMORY_GROW(causes->items, causes->capacity, causes->count + 1))
        return SQLITE_NOMEM;
    struct answer_cause *item = &causes->items[causes->count++];
    *item = (struct answer_cause){.kind = kinds[of] ? kinds[of] : "like sizes",
                                  .step_class =
                                      of < CLASS_NONE ? step_class_name((enum step_class)of) : NULL,
                                  .name = NAME_NONE,
                                  .rank = NUMBER_NONE,
                                  .control_ms = sqlite3_column_double(row, 2),
                                  .test_ms = sqlite3_column_double(row, 3),
                                  .diff_ms = within,
                                  .share = NAN,
                                  .changes = fabs(within),
                                  .of = SIZE_MAX,
                                  .diagnosis = SIZE_MAX,
                                  .advised = SIZE_MAX,
                                  .is_wait = kinds[of] != NULL,
                                  .gain_ms = NAN,
                                  .hidden_by = NAME_NONE};
    if (text) {
        item->name = names_intern(&causes->texts, text, name.length);
        write_label_of_name(&words, &name);
        item->named = words.length > 0;
    } else {
        write_string(&words, "without a name");
    }
    write_string(&words, ", at like sizes");
    item->text = take(causes, &words);
    writer_clear(&words);
    return item->text == NAME_NONE || (text && item->name == NAME_NONE) ? SQLITE_NOMEM : SQLITE_OK;
}

/* C14: finds the causes at like sizes, and the mix as one cause. */
static bool find_alike(struct answer_facts *facts, struct answer_causes *causes)
{
    static const char sql[] =
        "SELECT class, name, control_time / 1000, test_time / 1000, diff_within / 1000,"
        " diff_mix / 1000 FROM \"tracediff:trace_step_diff\"(:control, :test, :control_rank,"
        " :test_rank, :control_iteration, :test_iteration, 'op', :clock, NULL, NULL, :steps)";
    static const char mix[] = "another mix of requests";
    if (sql_enter(facts->call) != SQLITE_OK)
        return false;
    bool done = sql_run(facts->call, sql, add_alike, causes) == SQLITE_OK;
    sql_leave(facts->call);
    if (done && causes->mixed) {
        done = MEMORY_GROW(causes->items, causes->capacity, causes->count + 1);
        if (done)
            causes->items[causes->count++] =
                (struct answer_cause){.kind = "mix",
                                      .step_class = "mix",
                                      .name = NAME_NONE,
                                      .text = names_intern(&causes->texts, mix, sizeof mix - 1),
                                      .rank = NUMBER_NONE,
                                      .control_ms = NAN,
                                      .test_ms = NAN,
                                      .diff_ms = causes->mix_ms,
                                      .share = NAN,
                                      .changes = fabs(causes->mix_ms),
                                      .of = SIZE_MAX,
                                      .diagnosis = SIZE_MAX,
                                      .advised = SIZE_MAX,
                                      .is_mix = true,
                                      .gain_ms = NAN,
                                      .hidden_by = NAME_NONE};
        done = done || failure_memory(&facts->call->failure);
    }
    return done;
}

bool answer_causes_find(struct answer_facts *facts, size_t shown, struct answer_causes *causes)
{
    bool done = facts->pair.pair.strata_count > 1 ? find_alike(facts, causes)
                                                  : find_parts(facts, shown, causes);
    return done && order_causes(facts, causes);
}

/* Writes the name of the hider of a cause; NAME_NONE: nothing hides it. */
static bool write_hider(struct answer_causes *causes, const struct undo *undo,
                        const struct undone *undone, const struct cause *cause, uint32_t *words)
{
    const struct undo_hider *hider = &undone->hider;
    struct writer text = {0};
    *words = NAME_NONE;
    if (hider->kind == HIDER_HOST)
        write_string(&text, "the host");
    else if (hider->kind == HIDER_NAME && hider->name != NAME_NONE)
        write_label_of_name(&text, &undo->parts.names.items[hider->name]);
    else
        return true;
    if (cause->rank != NUMBER_NONE && hider->rank != NUMBER_NONE && cause->rank != hider->rank)
        write_format(&text, " on rank %lld", (long long)hider->rank);
    *words = take(causes, &text);
    writer_clear(&text);
    return *words != NAME_NONE;
}

/* C16.4: counts the simulated steps of test, or else of control, if they are not all steps. */
static void count_steps(const struct call_undo *undone, struct answer_causes *causes)
{
    for (int side = 2; side-- > 0 && causes->simulated == 0;) {
        const struct sim_sample *sample = &undone->simulations[side].sample;
        causes->simulated = sample->steps < sample->of ? sample->steps : 0;
        causes->steps = sample->of;
    }
}

/* Adds gains to the causes. */
static bool take_gains(struct answer_facts *facts, const struct undo *undo,
                       struct answer_causes *causes)
{
    const struct causes *of = &facts->causes.causes;
    const struct undone **by_cause = memory_zeroed(of->count, sizeof *by_cause);
    bool done = by_cause;
    for (size_t i = 0; done && i < undo->count; i++)
        by_cause[undo->items[i].cause] = &undo->items[i];
    for (size_t i = 0; done && i < causes->count; i++) {
        struct answer_cause *item = &causes->items[i];
        const struct undone *undone = by_cause[item->of];
        if (!undone)
            continue;
        item->untold = undone->as_long;
        if (undone->known && undo->steps > 0)
            item->gain_ms = mean_microseconds(undone->gain, (int64_t)undo->steps) / 1000;
        done = item->untold ||
               write_hider(causes, undo, undone, &of->items[item->of], &item->hidden_by);
    }
    memory_free(by_cause);
    return done || failure_memory(&facts->call->failure);
}

/* E12: writes why a recording contradicts itself too much for gains to be known. */
static void write_lost(struct writer *text, const struct call_undo *undone)
{
    static const char *const losses[] = {"device events begin before their launch",
                                         "collectives have no instant in common on all ranks",
                                         "collectives of ranks are not matched"};
    for (size_t side = 0; side < 2; side++) {
        const struct sim_graph *graph = &undone->simulations[side].graph;
        const size_t counts[][2] = {
            {graph->early, graph->works},
            {graph->apart, graph->meeting},
            {graph->job.unequal, graph->job.member_count + graph->job.unequal}};
        for (size_t i = 0; i < sizeof counts / sizeof *counts && text->length == 0; i++)
            if (counts[i][0] > 0 && (double)counts[i][0] >= LOST_PART * (double)counts[i][1])
                write_format(text, "%lld of %lld %s in %s", (long long)counts[i][0],
                             (long long)counts[i][1], losses[i], side ? "test" : "control");
    }
}

/* C16.6: moves the cause with the largest gain to the front, if it is the only one whose gain is
** half of the difference. */
static void lead(struct answer_causes *causes, double diff_ms)
{
    size_t most = 0, large = 0;
    for (size_t i = 0; i < causes->count; i++) {
        double part = causes->items[i].gain_ms / diff_ms;
        large += part >= LEADS_PART;
        most = part > causes->items[most].gain_ms / diff_ms || isnan(causes->items[most].gain_ms)
                   ? i
                   : most;
    }
    struct answer_cause first = causes->count > 0 ? causes->items[most] : (struct answer_cause){0};
    if (!(diff_ms > 0) || most == 0 || large != 1 || !(first.gain_ms / diff_ms >= LEADS_PART) ||
        first.diff_ms / diff_ms >= LEADS_PART || !isnan(causes->items[0].gain_ms))
        return;
    first.leads = true;
    memmove(&causes->items[1], &causes->items[0], most * sizeof *causes->items);
    causes->items[0] = first;
}

bool answer_gains_find(struct answer_facts *facts, size_t most, struct answer_causes *causes)
{
    const struct call_undo_request request = {
        .most = most, .hiders = true, .most_steps = MOST_SIMULATED_STEPS};
    struct failure *failure = &facts->call->failure;
    struct call_undo undone;
    bool found = call_undo_find(facts->call, facts->kept, &facts->causes, &request, &undone);
    struct writer lost = {0};
    bool done = found;
    if (found)
        write_lost(&lost, &undone);
    if (found && lost.length > 0)
        done = (causes->failed = take(causes, &lost)) != NAME_NONE ||
               failure_memory(&facts->call->failure);
    else if (found)
        done = take_gains(facts, &undone.undo, causes);
    if (done && found)
        lead(causes, pair_diff(&facts->pair.pair));
    writer_clear(&lost);
    if (found)
        count_steps(&undone, causes);
    if (!found && failure->code == FAILURE_REQUEST) {
        causes->failed = names_intern(&causes->texts, failure->text, strlen(failure->text));
        failure_clear(failure);
        done = causes->failed != NAME_NONE || failure_memory(failure);
    }
    call_undo_close(&undone);
    return done;
}

bool answer_cause_text(struct answer_facts *facts, const struct answer_causes *causes, size_t i,
                       const struct name *instead, bool brief, struct writer *text)
{
    const struct answer_cause *item = &causes->items[i];
    struct cause_words words;
    bool done = cause_words_begin(&words, &facts->causes);
    words.bare = true;
    words.brief = brief;
    words.instead = instead ? instead->text : NULL;
    words.instead_length = instead ? instead->length : 0;
    if (done) {
        cause_words_write(&words, &facts->causes.causes.items[item->of]);
        write_bytes(text, words.text.bytes, words.text.length);
        done = !words.text.failed;
    }
    cause_words_end(&words);
    return done || failure_memory(&facts->call->failure);
}

void answer_causes_clear(struct answer_causes *causes)
{
    names_clear(&causes->texts);
    diagnoses_clear(&causes->diagnoses);
    memory_free(causes->items);
    memory_free(causes->works);
}
