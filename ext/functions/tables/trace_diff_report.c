/*
** trace_diff_report: one page that compares two traces. Its sections are the files of sql/report/.
*/
#include <string.h>

#include "report/report.h"
#include "base/memory.h"
#include "sqlite/sql_function.h"
#include "functions/call/call_trace.h"

static const struct table_column columns_of_report[] = {
    {"html", "TEXT", "the page"},
};

static const struct argument arguments_of_report[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {"level", TAKES_TEXT, false,
     "names in the table of parts: 'op', 'top_op', 'module' ('top_op' if no modules were "
     "recorded), 'annotation' or 'kernel'; default 'op'"},
    {"clock", TAKES_TEXT, false, "whose steps: 'device' or 'host'; default 'device'"},
    {"control_memory", TAKES_TEXT, false,
     "allocator snapshot of control; with several ranks, the one with the highest peak is used; "
     "default none"},
    {"test_memory", TAKES_TEXT, false, "the same for test; give both or neither"},
    {"gains", TAKES_FLAG, false,
     "1: also simulate the saving from undoing each cause, which takes more than half of the time; "
     "default 1"},
    {STEPS_ARGUMENT},
};

enum {
    REPORT_LEVEL = 6,
    REPORT_CONTROL_MEMORY = 8,
    REPORT_TEST_MEMORY,
    REPORT_GAINS,
    REPORT_ARGUMENTS = COUNT_OF(arguments_of_report)
};

/* A page while it is made. Its sections run as calls of a function that has the facts as additional
** arguments. */
struct report_call {
    struct call call;
    struct table_function function;
    struct argument arguments[MOST_VALUES];
    sqlite3_value *replaced[REPORT_ARGUMENTS]; /* arguments replaced by facts; NULL: unchanged */
    struct report report;
};

static void sections_begin(struct report_call *of, const struct call *call)
{
    of->call = *call;
    of->function = *call->function;
    memcpy(of->arguments, arguments_of_report, sizeof arguments_of_report);
    for (int i = 0; i < report_fact_count; i++)
        of->arguments[REPORT_ARGUMENTS + i] =
            (struct argument){report_facts[i], TAKES_ANY, false, ""};
    of->function.arguments = of->arguments;
    of->function.argument_count = REPORT_ARGUMENTS + report_fact_count;
    of->call.function = &of->function;
}

static void sections_end(struct report_call *of)
{
    for (int i = 0; i < report_fact_count; i++)
        sqlite3_value_free(of->call.values[REPORT_ARGUMENTS + i]);
    for (int i = 0; i < REPORT_ARGUMENTS; i++)
        sqlite3_value_free(of->replaced[i]);
    report_clear(&of->report);
}

/* Returns a fact, after facts were taken. */
static sqlite3_value *fact(const struct report_call *of, const char *name)
{
    int i = 0;
    while (i < report_fact_count - 1 && strcmp(report_facts[i], name) != 0)
        i++;
    return of->call.values[REPORT_ARGUMENTS + i];
}

/* Returns the index of the argument whose name is the first word of a text, among the first
** `count`; -1: none. */
static int argument_at(const struct argument *arguments, int count, const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    for (int i = 0; i < count; i++)
        if (strlen(arguments[i].name) == length && strncmp(text, arguments[i].name, length) == 0)
            return i;
    return -1;
}

/* Makes a style from facts, without its unit. */
static struct report_style style_of(const struct report_call *of, const char *control,
                                    const char *test, const char *size, const char *digits)
{
    return (struct report_style){.control = sqlite3_value_double(fact(of, control)),
                                 .test = sqlite3_value_double(fact(of, test)),
                                 .size = sqlite3_value_double(fact(of, size)),
                                 .digits = sqlite3_value_int(fact(of, digits))};
}

/* Takes the facts. A fact with the name of an argument replaces it, in the sections and in the
** statements on the page. */
static int take_facts(void *to, sqlite3_stmt *row)
{
    struct report_call *of = to;
    for (int i = 0; i < report_fact_count; i++) {
        int argument = argument_at(arguments_of_report, REPORT_ARGUMENTS, report_facts[i]);
        sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(row, i));
        if (!value)
            return SQLITE_NOMEM;
        if (argument < 0)
            of->call.values[REPORT_ARGUMENTS + i] = value;
        else
            of->call.values[argument] = of->replaced[argument] = value;
    }
    const char *judged = (const char *)sqlite3_value_text(fact(of, "judged"));
    of->report.cannot = judged && strcmp(judged, "cannot") == 0;
    struct report_style *times = &of->report.times, *memory = &of->report.memory;
    *times = style_of(of, "control_ms", "test_ms", "size", "digits");
    times->unit = times->size > 1 ? "s" : "ms";
    *memory = style_of(of, "control_peak", "test_peak", "memory_size", "memory_digits");
    double bytes = memory->size;
    memory->unit = bytes >= 1e9 ? "GB" : bytes >= 1e6 ? "MB" : bytes > 0 ? "kB" : NULL;
    return SQLITE_OK;
}

/* Writes the value of an argument. Missing steps are written as the report's default, even if the
** called function has another default. Returns whether the argument is given. */
static bool write_argument(struct writer *to, const struct call *call, int i)
{
    sqlite3_value *value = call->values[i];
    int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
    if (type == SQLITE_NULL) {
        bool control = i == argument_of(call, NAMES_ITERATIONS, 0);
        bool steps = control || i == argument_of(call, NAMES_ITERATIONS, 1);
        write_string(to, steps ? "'steady'" : "NULL");
        return false;
    }
    const unsigned char *given = sqlite3_value_text(value);
    char *literal = given ? sqlite3_mprintf(type == SQLITE_INTEGER ? "%s" : "%Q", given) : NULL;
    if (literal)
        write_string(to, literal);
    else
        to->failed = true;
    sqlite3_free(literal);
    return true;
}

/* Writes a statement, with its parameters replaced by literals. Missing arguments at the end of a
** call are left out. */
static void write_statement(struct writer *to, const struct call *call, const char *sql)
{
    const struct table_function *function = call->function;
    size_t given = 0; /* the length up to the last given argument, or other text */
    while (*sql) {
        size_t length = 1;
        int count = *sql == ':' ? function->argument_count : 0;
        int i = argument_at(function->arguments, count, sql + 1);
        if (i >= 0) {
            if (write_argument(to, call, i))
                given = to->length;
            sql += 1 + strlen(function->arguments[i].name);
            continue;
        }
        if (*sql == '\'')
            length += strcspn(sql + 1, "'") + 1;
        if (*sql == ')')
            to->length = given;
        write_bytes(to, sql, length);
        if (!strchr(", \n", *sql))
            given = to->length;
        sql += length;
    }
    write_bytes(to, "", 1);
}

static int take_section_row(void *to, sqlite3_stmt *row)
{
    struct report_call *of = to;
    struct report_cell cells[MOST_REPORT_COLUMNS];
    const char *columns[MOST_REPORT_COLUMNS];
    int count = sqlite3_column_count(row);
    if (count > MOST_REPORT_COLUMNS)
        count = MOST_REPORT_COLUMNS;
    for (int i = 0; i < count; i++) {
        int type = sqlite3_column_type(row, i);
        cells[i] =
            (struct report_cell){.is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT};
        columns[i] = sqlite3_column_name(row, i);
        if (cells[i].is_number)
            cells[i].number = sqlite3_column_double(row, i);
        else if (type != SQLITE_NULL &&
                 !(cells[i].text = (const char *)sqlite3_column_text(row, i)))
            return SQLITE_NOMEM;
        cells[i].length = cells[i].text ? (size_t)sqlite3_column_bytes(row, i) : 0;
        if (!columns[i])
            return SQLITE_NOMEM;
    }
    struct writer statement = {0};
    if (report_row_is_sql(&of->report, cells) && cells[count - 1].text) {
        write_statement(&statement, &of->call, cells[count - 1].text);
        cells[count - 1].text = statement.bytes;
        cells[count - 1].length = statement.length - 1;
    }
    if (statement.failed)
        of->report.page.failed = true;
    else
        report_row(&of->report, columns, cells, count);
    writer_clear(&statement);
    return of->report.page.failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int add_section(struct report_call *of, const struct report_section *section)
{
    report_section_begin(&of->report, section);
    int code = sql_run(&of->call, section->sql, take_section_row, of);
    struct writer shown = {0};
    if (code == SQLITE_OK && section->shown[0] != '\0')
        write_statement(&shown, &of->call, section->shown);
    if (shown.failed)
        code = SQLITE_NOMEM;
    if (code == SQLITE_OK)
        report_section_end(&of->report, shown.bytes);
    writer_clear(&shown);
    return code;
}

static int add_sections(struct report_call *of)
{
    static const char title[] = "What changed from control to test";
    int code = SQLITE_OK;
    for (int i = 0; i < report_section_count && code == SQLITE_OK; i++) {
        const struct report_section *section = &report_sections[i];
        if (section->layout == LAYOUT_FACTS) {
            code = sql_run(&of->call, section->sql, take_facts, of);
            report_begin(&of->report, title, sizeof title - 1);
        } else if (section->layout != LAYOUT_HELD && report_has_section(&of->report, section)) {
            code = add_section(of, section);
        }
    }
    report_end(&of->report);
    return code;
}

static bool has_both_snapshots(struct call *call)
{
    bool given[2];
    for (int i = 0; i < 2; i++) {
        sqlite3_value *value = call->values[REPORT_CONTROL_MEMORY + i];
        given[i] = value && sqlite3_value_type(value) != SQLITE_NULL;
    }
    return given[0] == given[1] ||
           failure_set(&call->failure, FAILURE_REQUEST,
                       "%s is given and %s is not: name the snapshots of both sides, or of neither",
                       given[0] ? "control_memory" : "test_memory",
                       given[0] ? "test_memory" : "control_memory");
}

static int report_produce(struct call *call, struct rows **rows)
{
    static const char *const levels[] = {"op", "top_op", "module", "annotation", "kernel"};
    sqlite3_stmt *held = NULL;
    int level;
    double gains;
    if (!argument_word(call, REPORT_LEVEL, levels, COUNT_OF(levels), &level) ||
        !argument_real(call, REPORT_GAINS, &gains))
        return SQLITE_ERROR;
    if (!has_both_snapshots(call))
        return SQLITE_ERROR;
    if (REPORT_ARGUMENTS + report_fact_count > MOST_VALUES) {
        failure_set(&call->failure, FAILURE_REQUEST,
                    "sql/report/00_facts.sql has too many columns: see MOST_VALUES");
        return SQLITE_ERROR;
    }
    struct report_call *of = memory_zeroed(1, sizeof *of);
    if (!of)
        return SQLITE_NOMEM;
    int code = sql_enter(call);
    if (code != SQLITE_OK) {
        memory_free(of);
        return code;
    }
    sections_begin(of, call);
    for (int i = 0; i < report_section_count && code == SQLITE_OK; i++)
        if (report_sections[i].layout == LAYOUT_HELD)
            code = sql_hold(&of->call, report_sections[i].sql, &held);
    if (code == SQLITE_OK)
        code = add_sections(of);
    sqlite3_finalize(held);
    sql_leave(call);
    failure_move(&call->failure, &of->call.failure);
    struct result *result = result_new(COUNT_OF(columns_of_report));
    if (of->report.page.failed)
        result_lost(result);
    else
        result_text(result, of->report.page.bytes, of->report.page.length);
    sections_end(of);
    memory_free(of);
    return result_finish(result, code, rows);
}

const struct table_function trace_diff_report_function = {
    .name = "trace_diff_report",
    .family = FAMILY_THE_ANSWER,
    .question = "Why is a step slower or faster, on a page?",
    .text = "an HTML page that explains the difference between control and test",
    COLUMNS(columns_of_report),
    ARGUMENTS(arguments_of_report),
    .typical_rows = 1,
    .produce = report_produce,
};
