#include "call_list.h"

#include <string.h>

void add_list_file(struct list_rows *rows)
{
    int64_t rank = path_rank(rows->path);
    result_repaired(rows->result, rows->path, strlen(rows->path));
    result_number(rows->result, rank < 0 ? NUMBER_NONE : rank);
}

static void add_file(struct list_rows *rows, const char *member, const char *kind,
                     take_element *take, void (*end)(struct list_rows *rows))
{
    struct failure *failure = &rows->call->failure;
    struct token element;
    int more = 1;
    rows->list = list_open(rows->path, member, kind, call_stopper(rows->call), failure);
    while (rows->list && more > 0) {
        more = list_next(rows->list, &element, failure);
        if (more > 0 && !take(rows, &element))
            more = -1;
    }
    if (rows->list && more == 0 && end)
        end(rows);
    list_close(rows->list);
}

int call_list_rows(struct call *call, const char *member, const char *kind, take_element *take,
                   void (*end)(struct list_rows *rows), void *state, struct rows **rows)
{
    struct trace_paths paths = {.count = 0};
    struct list_rows made = {.call = call, .state = state};
    made.result = result_new(call->function->column_count);
    bool named = made.result && argument_trace(call, 0, &paths);
    connection_begin_work(call->connection);
    for (size_t i = 0; named && i < paths.count && call_code(call) == SQLITE_OK; i++) {
        made.path = paths.items[i].path;
        add_file(&made, member, kind, take, end);
    }
    connection_end_work(call->connection);
    paths_clear(&paths);
    return result_finish(made.result, call_code(call), rows);
}
