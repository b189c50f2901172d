#include "diagnosis_facts.h"

#include <math.h>
#include <string.h>

#include "fact_rows.h"
#include "functions/call/call_keyed.h"
#include "functions/words/cause_words.h"
#include "functions/words/check_words.h"
#include "naming/short_name.h"
#include "sqlite/function.h"
#include "text/ascii.h"

/* State of writing facts. */
struct facts_writer {
    struct answer_facts *facts;
    sqlite3 *db;
    const struct answer_unit *unit; /* unit whose events are written */
    int64_t steps[2];               /* numbers of steps in the unit */
};

/* Checks a SQLite result code. The statements are our own, so they fail only if memory runs out or
** on an interrupt. SQLite may report a missing table if memory for its schema ran out. */
static bool take_code(struct facts_writer *writer, int code)
{
    struct failure *failure = &writer->facts->call->failure;
    return code == SQLITE_OK        ? true
           : code == SQLITE_INTERRUPT ? failure_set(failure, FAILURE_INTERRUPTED, "interrupted")
                                      : failure_memory(failure);
}

static bool end_rows(struct facts_writer *writer, struct fact_rows *rows)
{
    return take_code(writer, fact_rows_end(rows));
}

static bool run(struct facts_writer *writer, const char *sql)
{
    return take_code(writer, sqlite3_exec(writer->db, sql, NULL, NULL, NULL));
}

/* Whether both sides name a device, and the names differ. */
static bool has_other_device(const struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        if (checks->items[i].code == CHECK_DEVICE && checks->items[i].same == 0)
            return true;
    return false;
}

static bool write_pair(struct facts_writer *writer)
{
    const struct call_pair *pair = &writer->facts->pair;
    const struct pair_side *sides = pair->pair.sides;
    bool clear = facts_are_clear(writer->facts);
    struct fact_rows rows;
    fact_rows_begin(&rows, writer->db, "pair", 20);
    for (int side = 0; side < 2; side++)
        fact_real(&rows, sides[side].mean);
    fact_real(&rows, 1000 * pair_diff(&pair->pair));
    for (int side = 0; side < 2; side++)
        fact_integer(&rows, sides[side].windows);
    fact_integer(&rows, (int64_t)pair->pair.strata_count);
    fact_integer(&rows, pair->is_job);
    for (int side = 0; side < 2; side++)
        fact_integer(&rows, sides[side].of_host);
    fact_integer(&rows, sides[0].of_host && sides[1].of_host);
    fact_integer(&rows, clear);
    fact_integer(&rows, clear && sides[0].windows > 1 && sides[1].windows > 1);
    fact_integer(&rows, has_other_device(&writer->facts->checks));
    for (int side = 0; side < 2; side++)
        fact_integer(&rows, (int64_t)sides[side].left_out);
    for (int side = 0; side < 2; side++)
        fact_integer(&rows, pair->is_job ? writer->unit->rank : sides[side].lowest_rank);
    fact_row(&rows);
    return end_rows(writer, &rows);
}

/* Writes the operators that a cause counts. */
static void write_cause_ops(struct fact_rows *rows, const struct causes *causes, size_t i)
{
    static const char engine[] = "autograd::engine::evaluate_function: ";
    const struct cause *cause = &causes->items[i];
    for (size_t j = 0; j <= cause->replaced_count; j++) {
        uint32_t id = j ? causes->replaced[cause->replaced_first + j - 1] : cause->name;
        if (id == NAME_NONE)
            continue;
        const struct name *name = &causes->names.items[id];
        bool prefixed = begins(name->text, name->text + name->length, engine);
        size_t from = prefixed ? sizeof engine - 1 : 0;
        fact_integer(rows, (int64_t)i + 1);
        fact_text(rows, name->text + from, name->length - from);
        fact_row(rows);
    }
}

static bool write_causes(struct facts_writer *writer)
{
    const struct causes *causes = &writer->facts->causes.causes;
    double windows = 1000.0 * (double)causes->windows[0] * (double)causes->windows[1];
    struct fact_rows rows, ops;
    struct cause_words words;
    bool done = cause_words_begin(&words, &writer->facts->causes);
    fact_rows_begin(&rows, writer->db, "cause", 13);
    fact_rows_begin(&ops, writer->db, "cause_op", 2);
    for (size_t i = 0; done && i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        words.text.length = 0;
        cause_words_write(&words, cause);
        done = !words.text.failed;
        fact_integer(&rows, (int64_t)i + 1);
        fact_string(&rows, cause_kind_name(cause->kind));
        fact_string(&rows, step_class_name(cause->step_class));
        fact_name(&rows, &causes->names, cause->area);
        fact_name(&rows, &causes->names, cause->name);
        fact_integer(&rows, cause->added);
        fact_integer(&rows, cause->removed);
        for (int side = 0; side < 2; side++)
            fact_real(&rows, mean_microseconds(cause->time[side], causes->windows[side]));
        fact_real(&rows, (double)cause->diff / windows);
        fact_integer(&rows, cause->rank);
        fact_text(&rows, words.text.bytes, words.text.length);
        fact_integer(&rows, cause->recomputed_count > 0);
        fact_row(&rows);
        write_cause_ops(&ops, causes, i);
    }
    cause_words_end(&words);
    bool ended = end_rows(writer, &rows);
    ended = end_rows(writer, &ops) && ended;
    return ended && (done || failure_memory(&writer->facts->call->failure));
}

/* Writes four columns: counts and times of both sides per step. */
static void write_sums(struct fact_rows *rows, const int64_t *steps, const int64_t *counts,
                       const wide_time *times)
{
    for (int side = 0; side < 2; side++)
        fact_real(rows, (double)counts[side] / (double)steps[side]);
    for (int side = 0; times && side < 2; side++)
        fact_real(rows, mean_microseconds(times[side], steps[side]));
}

/* Writes the events of both sides by name. */
static void write_names(struct facts_writer *writer, struct fact_rows *rows,
                        const struct summary *sums)
{
    static const char *const seen[] = {[SEEN_ON_HOST] = "CPU",
                                       [SEEN_ON_DEVICE] = "GPU",
                                       [SEEN_ON_HOST | SEEN_ON_DEVICE] = "both"};
    static const struct summary_row nothing = {.counts = 0};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sums[side].count; i++) {
            const struct name *name = &sums[side].names.items[i];
            uint32_t other = names_find(&sums[!side].names, name->text, name->length);
            const struct summary_row *of[2] = {&nothing, &nothing};
            if (side == 1 && other != NAME_NONE)
                continue;
            of[side] = &sums[side].rows[i];
            if (other != NAME_NONE)
                of[!side] = &sums[!side].rows[other];
            fact_text(rows, name->text, name->length);
            fact_string(rows, seen[of[0]->seen | of[1]->seen]);
            write_sums(rows, writer->steps, (int64_t[]){of[0]->counts, of[1]->counts},
                       (wide_time[]){of[0]->total, of[1]->total});
            fact_row(rows);
        }
}

static bool write_ops(struct facts_writer *writer)
{
    struct call *call = writer->facts->call;
    const struct stopper *stopper = call_stopper(call);
    struct summary sums[2] = {{.count = 0}, {.count = 0}};
    struct fact_rows rows;
    bool done = true;
    for (int side = 0; side < 2 && done; side++) {
        const struct summary_request request = {.trace = &writer->unit->opened[side].trace,
                                                .choice = &writer->unit->opened[side].steps,
                                                .device_type = DEVICE_ALL,
                                                .grouping = BY_NAME};
        done = summary_make(&sums[side], &request, stopper, &call->failure) &&
               summary_rename(&sums[side], name_stable, stopper, &call->failure);
    }
    fact_rows_begin(&rows, writer->db, "op", 6);
    if (done)
        write_names(writer, &rows, sums);
    done = end_rows(writer, &rows) && done;
    summary_clear(&sums[0]);
    summary_clear(&sums[1]);
    return done;
}

/* Writes two columns: the number of elements of the first tensor in `shapes`, and its dims. */
static void write_size(struct fact_rows *rows, const struct name *shapes)
{
    const char *from = shapes ? shapes->text + 1 : "", *p = from;
    double size = 1;
    if (*p != '[' || p[1] == '[' || p[1] == ']') {
        fact_real(rows, NAN);
        fact_string(rows, NULL);
        return;
    }
    do {
        double dim = 0;
        while (*++p >= '0' && *p <= '9')
            dim = 10 * dim + (*p - '0');
        size *= dim > 1 ? dim : 1;
    } while (*p == ',');
    fact_real(rows, size);
    fact_text(rows, from, (size_t)(p - from) + (*p == ']'));
}

/* Writes device work, and the operators that launch it. */
static bool write_device(struct facts_writer *writer)
{
    const struct keyed *sums = &writer->unit->device;
    struct fact_rows kernels, ops;
    fact_rows_begin(&kernels, writer->db, "kernel", 10);
    fact_rows_begin(&ops, writer->db, "launched", 13);
    for (size_t row = 0; row < sums->count; row++) {
        const struct keyed_sums *of = sums->sums[row];
        const wide_time times[2] = {of[0].device_time, of[1].device_time};
        uint32_t shapes = work_key(sums, row, DEVICE_SHAPES);
        static const int keys[] = {DEVICE_TOP_OP, DEVICE_OP,     DEVICE_KERNEL,
                                   DEVICE_KERNEL_TYPE, DEVICE_SHAPES, DEVICE_TYPES};
        for (int i = 0; i < 6; i++)
            fact_name(&kernels, &sums->names, work_key(sums, row, keys[i]));
        write_sums(&kernels, writer->steps, (int64_t[]){of[0].kernels, of[1].kernels}, times);
        fact_row(&kernels);
        if (work_key(sums, row, DEVICE_OP) == NAME_NONE)
            continue;
        for (int i = DEVICE_TOP_OP; i <= DEVICE_TYPES; i++)
            fact_integer(&ops, work_key(sums, row, i));
        fact_name(&ops, &sums->names, work_key(sums, row, DEVICE_OP));
        fact_name(&ops, &sums->names, shapes);
        fact_name(&ops, &sums->names, work_key(sums, row, DEVICE_TYPES));
        write_sums(&ops, writer->steps, (int64_t[]){of[0].executions, of[1].executions}, times);
        write_size(&ops, shapes == NAME_NONE ? NULL : &sums->names.items[shapes]);
        fact_row(&ops);
    }
    bool done = end_rows(writer, &kernels);
    return end_rows(writer, &ops) && done;
}

/* Writes the operators on the host, for all ranks. */
static bool write_host_ops(struct facts_writer *writer)
{
    const struct keyed *sums = &writer->facts->sums;
    const int64_t steps[2] = {writer->facts->each[0].steps.steps,
                              writer->facts->each[1].steps.steps};
    struct fact_rows rows;
    fact_rows_begin(&rows, writer->db, "launched", 13);
    for (size_t row = 0; row < sums->count; row++) {
        const struct keyed_sums *of = sums->sums[row];
        uint32_t shapes = work_key(sums, row, HOST_SHAPES);
        if (shapes == NAME_NONE && work_key(sums, row, HOST_TYPES) == NAME_NONE)
            continue;
        fact_integer(&rows, 0);
        fact_integer(&rows, work_key(sums, row, HOST_NAME));
        fact_integer(&rows, shapes);
        fact_integer(&rows, work_key(sums, row, HOST_TYPES));
        fact_name(&rows, &sums->names, work_key(sums, row, HOST_NAME));
        fact_name(&rows, &sums->names, shapes);
        fact_name(&rows, &sums->names, work_key(sums, row, HOST_TYPES));
        write_sums(&rows, steps, (int64_t[]){of[0].events, of[1].events},
                   (wide_time[]){of[0].self_time, of[1].self_time});
        write_size(&rows, shapes == NAME_NONE ? NULL : &sums->names.items[shapes]);
        fact_row(&rows);
    }
    return end_rows(writer, &rows);
}

/* Writes events by up to three keys, without args. */
static bool write_keyed(struct facts_writer *writer, const char *table, const enum key *keys,
                        enum device_type type)
{
    struct call *call = writer->facts->call;
    struct keyed sums = {.keys = {keys[0], keys[1], keys[2]}, .width = 3,
                         .rename = name_stable, .without_calls = true};
    bool done = call_keyed_add(call, writer->unit->opened, type, false, &sums);
    struct fact_rows rows;
    fact_rows_begin(&rows, writer->db, table, type == DEVICE_CPU ? 5 : 7);
    for (size_t row = 0; done && row < sums.count; row++) {
        const struct keyed_sums *of = sums.sums[row];
        for (int i = 0; i < 3; i++)
            fact_name(&rows, &sums.names, work_key(&sums, row, i));
        if (type == DEVICE_CPU)
            write_sums(&rows, writer->steps, (int64_t[]){of[0].events, of[1].events}, NULL);
        else
            write_sums(&rows, writer->steps, (int64_t[]){of[0].kernels, of[1].kernels},
                       (wide_time[]){of[0].device_time, of[1].device_time});
        fact_row(&rows);
    }
    keyed_clear(&sums);
    return end_rows(writer, &rows) && done;
}

/* Whether both sides copy data to the device, so that streams are needed. */
static bool has_copies(const struct keyed *sums)
{
    bool found[2] = {false, false};
    for (size_t row = 0; row < sums->count; row++) {
        const struct name *kernel = &sums->names.items[work_key(sums, row, DEVICE_KERNEL)];
        bool copies = begins(kernel->text, kernel->text + kernel->length, "Memcpy HtoD");
        for (int side = 0; copies && side < 2; side++)
            found[side] = found[side] || sums->sums[row][side].kernels > 0;
    }
    return found[0] && found[1];
}

/* Writes the value of a check on one side. `text` keeps it until the row is added. */
static void write_value(struct fact_rows *rows, const struct checks *checks,
                        const struct check *check, int side, char **text)
{
    const struct check_value *value = &check->values[side];
    if (value->kind == VALUE_INTEGER && check->highest[side].kind == VALUE_NONE) {
        fact_integer(rows, value->integer);
        return;
    }
    if (value->kind != VALUE_NONE) {
        sqlite3_str *written = sqlite3_str_new(NULL);
        check_words_value(written, checks, check, side);
        *text = sqlite3_str_finish(written);
    }
    fact_string(rows, *text);
}

static bool write_checks(struct facts_writer *writer)
{
    const struct checks *checks = &writer->facts->checks;
    struct fact_rows rows;
    fact_rows_begin(&rows, writer->db, "note", 5);
    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->items[i];
        const char *item = check_words_item(check->code);
        char *texts[2] = {NULL, NULL};
        fact_string(&rows, check_words_topic(check->code));
        if (item)
            fact_string(&rows, item);
        else
            fact_name(&rows, &checks->texts, check->item);
        for (int side = 0; side < 2; side++)
            write_value(&rows, checks, check, side, &texts[side]);
        fact_integer(&rows, check->same < 0 ? NUMBER_NONE : check->same);
        fact_row(&rows);
        sqlite3_free(texts[0]);
        sqlite3_free(texts[1]);
    }
    return end_rows(writer, &rows);
}

static bool write_clocks(struct facts_writer *writer)
{
    static const char *const outcomes[] = {[FACTOR_TOO_FEW] = "too few",
                                           [FACTOR_DIFFERS] = "no common factor",
                                           [FACTOR_NO_CHANGE] = "no change",
                                           [FACTOR_ONE] = "one factor"};
    struct answer_facts *facts = writer->facts;
    bool done = true, may = facts_may_have_clock(facts, &facts->checks);
    struct fact_rows rows;
    fact_rows_begin(&rows, writer->db, "clock", 3);
    for (size_t i = 0; done && may && i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        done = facts_clock(facts, unit);
        fact_integer(&rows, unit->rank);
        fact_string(&rows, done ? outcomes[unit->clock.outcome] : NULL);
        fact_real(&rows, done ? unit->clock.factor : NAN);
        fact_row(&rows);
    }
    return end_rows(writer, &rows) && done;
}

static bool write_all(struct facts_writer *writer)
{
    static const enum key host_keys[] = {KEY_ANNOTATION, KEY_TOP_OP, KEY_NAME};
    static const enum key stream_keys[] = {KEY_KERNEL, KEY_KERNEL_TYPE, KEY_STREAM};
    struct answer_facts *facts = writer->facts;
    const struct pair_side *sides = facts->pair.pair.sides;
    bool of_host = sides[0].of_host && sides[1].of_host;
    facts->wants_runs = true;
    if (!facts_checks(facts) || !facts_causes(facts) || facts->unit_count == 0)
        return facts->call->failure.code == FAILURE_NONE;
    writer->unit = &facts->units[0];
    for (int side = 0; side < 2; side++)
        writer->steps[side] = writer->unit->opened[side].steps.steps;
    return run(writer, diagnoses_facts_sql) && write_pair(writer) && write_causes(writer) &&
           write_ops(writer) && write_checks(writer) && write_clocks(writer) &&
           write_keyed(writer, "host", host_keys, DEVICE_CPU) &&
           (of_host ? facts_sums(facts) && write_host_ops(writer)
                    : facts_device(facts, &facts->units[0]) && write_device(writer) &&
                          (!has_copies(&facts->units[0].device) ||
                           write_keyed(writer, "stream", stream_keys, DEVICE_GPU))) &&
           run(writer, diagnoses_derived_sql);
}

static int stop(void *stopper)
{
    const struct stopper *of = stopper;
    return of->stop(of->argument);
}

bool diagnosis_facts_open(struct answer_facts *facts, sqlite3 **db)
{
    enum { STEPS_BETWEEN_STOPS = 10000 };
    static const int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
    struct call *call = facts->call;
    struct facts_writer writer = {.facts = facts};
    char *error = NULL;
    int code = sqlite3_open_v2(":memory:", db, how, NULL);
    if (code == SQLITE_OK)
        code = functions_register(call->connection, *db, true, &error);
    if (code != SQLITE_OK) {
        bool told = error && code != SQLITE_NOMEM;
        told ? failure_set(&call->failure, FAILURE_REQUEST, "%s", error)
             : failure_memory(&call->failure);
        sqlite3_free(error);
        return false;
    }
    sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
    if (sqlite3_api->progress_handler) /* NULL: SQLite was built without it */
        sqlite3_progress_handler(*db, STEPS_BETWEEN_STOPS, stop, (void *)call_stopper(call));
    writer.db = *db;
    return write_all(&writer);
}
