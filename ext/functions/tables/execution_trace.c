/*
** execution_trace: the nodes of an Execution Trace, written by PyTorch's ExecutionTraceObserver.
**
** 1. A row is an element of the list `nodes`, in file order. A node is written when its operator
**    returns, so children come before their parent.
** 2. Up to schema 1.0.1, the properties of a node are its members (parent, rf_id, inputs,
**    input_shapes, ...). Since 1.0.2 the parent is ctrl_deps, inputs and outputs are objects of
**    values, shapes, types and strides, and the rest is in attrs, a list of {name, type, value}.
**    Both forms are read, whatever the schema says; members take precedence over attrs.
** 3. The observer's placeholders for missing values become NULL: an rf_id, fw_parent or fw_tid of
**    0, a negative seq_id, an empty text, and the parent of the root, which is the root itself.
** 4. JSON is strict, like args (mend.h). An element that is not an object with an id is an error.
*/
#include <string.h>

#include "base/memory.h"
#include "text/mend.h"
#include "text/number.h"
#include "text/text.h"
#include "functions/call/call_list.h"

static const struct table_column columns_of_nodes[] = {
    LIST_COLUMNS,
    {"node", "INTEGER", "id of the node"},
    {"parent", "INTEGER", "node that called it; NULL for the root"},
    {"name", "TEXT", "operator, annotation, or [pytorch|profiler|execution_trace|thread]"},
    {"rf_id", "INTEGER",
     "id of the record function, which trace_events.args has as \"Record function id\""},
    {"seq_id", "INTEGER",
     "sequence number that an operator shares with its backward operator; NULL if it has none"},
    {"scope", "INTEGER",
     "PyTorch's RecordScope: 0 function, 1 backward function, 7 user annotation"},
    {"tid", "INTEGER", "PyTorch's number of the thread"},
    {"fw_parent", "INTEGER",
     "for a backward operator: the node that was open on the forward thread"},
    {"fw_tid", "INTEGER", "for a backward operator: number of the forward thread"},
    {"op_schema", "TEXT", "schema of the operator; NULL if it has none"},
    {"kernel_backend", "TEXT", "'triton' for a compiled kernel; else NULL"},
    {"kernel_file", "TEXT", "file of a compiled kernel; else NULL"},
    {"inputs", "TEXT",
     "JSON array of values; a tensor is [id, storage, offset, elements, bytes, device]"},
    {"input_shapes", "TEXT", "JSON array of the shapes of the inputs"},
    {"input_types", "TEXT", "JSON array of the types of the inputs"},
    {"input_strides", "TEXT", "JSON array of the strides of the inputs; NULL if not recorded"},
    {"outputs", "TEXT", "JSON array of values in the form of inputs"},
    {"output_shapes", "TEXT", "JSON array of the shapes of the outputs"},
    {"output_types", "TEXT", "JSON array of the types of the outputs"},
    {"output_strides", "TEXT", "JSON array of the strides of the outputs; NULL if not recorded"},
    {"attrs", "TEXT",
     "JSON array of all attributes, including attributes of collectives; NULL before schema 1.0.1"},
};

/* The columns of a node, from `node` on. */
enum node_value {
    NODE_ID,
    NODE_PARENT,
    NODE_NAME,
    NODE_RF_ID,
    NODE_SEQ_ID,
    NODE_SCOPE,
    NODE_TID,
    NODE_FW_PARENT,
    NODE_FW_TID,
    NODE_OP_SCHEMA,
    NODE_KERNEL_BACKEND,
    NODE_KERNEL_FILE,
    NODE_INPUTS,
    NODE_ATTRS = NODE_INPUTS + 8,
    NODE_VALUES
};

enum node_kind { KIND_ID, KIND_SEQUENCE, KIND_NUMBER, KIND_TEXT, KIND_JSON };

/* The names of the values as members or attributes, and whether ids of 0 or negative sequence
** numbers are placeholders. */
static const struct {
    const char *name;
    enum node_kind kind;
} values_of_node[NODE_VALUES] = {
    {"id", KIND_NUMBER},          {"parent", KIND_NUMBER},       {"name", KIND_TEXT},
    {"rf_id", KIND_ID},           {"seq_id", KIND_SEQUENCE},     {"scope", KIND_NUMBER},
    {"tid", KIND_NUMBER},         {"fw_parent", KIND_ID},        {"fw_tid", KIND_ID},
    {"op_schema", KIND_TEXT},     {"kernel_backend", KIND_TEXT}, {"kernel_file", KIND_TEXT},
    {"inputs", KIND_JSON},        {"input_shapes", KIND_JSON},   {"input_types", KIND_JSON},
    {"input_strides", KIND_JSON}, {"outputs", KIND_JSON},        {"output_shapes", KIND_JSON},
    {"output_types", KIND_JSON},  {"output_strides", KIND_JSON}, {"attrs", KIND_JSON},
};

static const struct argument arguments_of_nodes[] = {{LIST_ARGUMENT}};

/* A node as strict JSON, and room to decode its texts. */
struct node {
    unsigned char *text, *plain;
    size_t capacity, plain_capacity;
    struct token values[NODE_VALUES];
};

/* Converts an element to strict JSON with padding after it. */
static bool mend(struct list_rows *rows, struct node *node, const struct token *element,
                 struct token *whole)
{
    struct failure *failure = &rows->call->failure;
    size_t room = element->length * MEND_ROOM + SCAN_PADDING, written;
    if (!MEMORY_GROW(node->text, node->capacity, room))
        return failure_memory(failure);
    if (element->kind != TOKEN_NESTED || *element->at != '{' ||
        mend_json(element->at, element->length, node->text, &written) == MEND_IMPOSSIBLE)
        return list_refuse(rows->list, "not a node of an execution trace", failure);
    memset(node->text + written, 0, SCAN_PADDING);
    *whole = (struct token){node->text, written, TOKEN_NESTED};
    return true;
}

static void set(struct node *node, const struct token *name, const struct token *value)
{
    for (int i = 0; i < NODE_VALUES; i++)
        if (node->values[i].kind == TOKEN_NONE && scan_equal(name, values_of_node[i].name))
            node->values[i] = *value;
}

/* Reads the next element in an array of strict JSON. `p` is the byte after the bracket, or after an
** element. Returns the byte after the element; NULL: the array ends. */
static const unsigned char *next_value(struct scan *scan, const unsigned char *p,
                                       struct token *value)
{
    p = scan_space(p);
    if (*p == ',')
        p = scan_space(p + 1);
    return *p == ']' || *p == '}' ? NULL : scan_value(scan, p, value);
}

/* Reads the attributes of a node (since schema 1.0.2). */
static void set_attributes(struct node *node, const struct token *attrs)
{
    struct scan scan = {attrs->at + attrs->length, NULL};
    struct token attribute, name, value;
    const unsigned char *p = attrs->at + 1;
    while ((p = next_value(&scan, p, &attribute)) != NULL)
        if (*attribute.at == '{' && scan_member(&attribute, "name", &name) &&
            scan_member(&attribute, "value", &value))
            set(node, &name, &value);
}

/* Reads the lists of inputs or outputs (since schema 1.0.2). */
static void set_lists(struct node *node, int at)
{
    static const char *const names[] = {"values", "shapes", "types", "strides"};
    struct token object = node->values[at];
    if (object.kind != TOKEN_NESTED || *object.at != '{')
        return;
    for (int i = 0; i < COUNT_OF(names); i++) {
        node->values[at + i].kind = TOKEN_NONE;
        struct token value;
        if (scan_member(&object, names[i], &value))
            node->values[at + i] = value;
    }
}

static void read_node(struct node *node, const struct token *whole)
{
    struct scan scan = {whole->at + whole->length, NULL};
    struct token name, value, deps;
    memset(node->values, 0, sizeof node->values);
    for (const unsigned char *p = whole->at + 1; (p = next_value(&scan, p, &name)) != NULL;) {
        p = scan_value(&scan, scan_space(scan_space(p) + 1), &value);
        if (!p)
            break;
        set(node, &name, &value);
    }
    const struct token *attrs = &node->values[NODE_ATTRS];
    if (attrs->kind == TOKEN_NESTED && *attrs->at == '[')
        set_attributes(node, attrs);
    if (node->values[NODE_PARENT].kind == TOKEN_NONE && scan_member(whole, "ctrl_deps", &deps))
        node->values[NODE_PARENT] = deps;
    set_lists(node, NODE_INPUTS);
    set_lists(node, NODE_INPUTS + 4);
}

static void add_number(struct result *result, const struct token *value, enum node_kind kind)
{
    int64_t number;
    bool known = value->kind == TOKEN_BARE && number_integer(value->at, value->length, &number);
    if (!known || (kind == KIND_ID && number == 0) || (kind == KIND_SEQUENCE && number < 0))
        result_null(result);
    else
        result_integer(result, number);
}

static void add_text(struct list_rows *rows, struct node *node, const struct token *value)
{
    struct problems unused = {0};
    bool text = value->kind == TOKEN_TEXT || value->kind == TOKEN_ODD_TEXT;
    if (!text || value->length == 0) {
        result_null(rows->result);
    } else if (!MEMORY_GROW(node->plain, node->plain_capacity, 3 * value->length)) {
        result_lost(rows->result);
    } else {
        size_t length = text_decode(value->at, value->length, node->plain, &unused, 0);
        result_text(rows->result, (const char *)node->plain, length);
    }
}

static void add_json(struct result *result, const struct token *value)
{
    if (value->kind == TOKEN_NESTED)
        result_text(result, (const char *)value->at, value->length);
    else
        result_null(result);
}

static bool take_node(struct list_rows *rows, const struct token *element)
{
    struct node *node = rows->state;
    struct token whole;
    int64_t id, parent;
    if (!mend(rows, node, element, &whole))
        return false;
    read_node(node, &whole);
    const struct token *at = &node->values[NODE_ID];
    if (at->kind != TOKEN_BARE || !number_integer(at->at, at->length, &id))
        return list_refuse(rows->list, "not a node of an execution trace", &rows->call->failure);
    struct token *above = &node->values[NODE_PARENT];
    if (above->kind == TOKEN_BARE && number_integer(above->at, above->length, &parent) &&
        parent == id)
        above->kind = TOKEN_NONE;
    add_list_file(rows);
    for (int i = 0; i < NODE_VALUES; i++)
        if (values_of_node[i].kind == KIND_TEXT)
            add_text(rows, node, &node->values[i]);
        else if (values_of_node[i].kind == KIND_JSON)
            add_json(rows->result, &node->values[i]);
        else
            add_number(rows->result, &node->values[i], values_of_node[i].kind);
    return true;
}

static int nodes_produce(struct call *call, struct rows **rows)
{
    struct node node = {.text = NULL};
    int code = call_list_rows(
        call, "nodes",
        "an Execution Trace, an object with a list nodes: name a file of ExecutionTraceObserver",
        take_node, NULL, &node, rows);
    memory_free(node.text);
    memory_free(node.plain);
    return code;
}

const struct table_function execution_trace_function = {
    .name = "execution_trace",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "What went into each operator, by an Execution Trace?",
    .text = "the nodes of PyTorch Execution Traces, one row per node",
    COLUMNS(columns_of_nodes),
    ARGUMENTS(arguments_of_nodes),
    .produce = nodes_produce,
};
