# Turns queries into a C file. Each query becomes a table function, and its header the
# descriptor. The build fails if a header lacks something that the query needs.
#
# With -v report=1, queries become sections of the report instead. The text after NAME is the
# heading, and these lines replace the lists:
# `-- Layout LAYOUT [STYLE]`: how the rows are drawn
# `-- Section ID TEXT`: the rows begin a section, to which a link with this text leads
# `-- Empty TEXT`: the text on the page if there are no rows
# `-- Of memory`: only with snapshots of the allocator; numbers are bytes
# `-- Of all`: also if the traces cannot be compared
# `-- SQL`, then a statement that the page shows
# Parameters of sections are the arguments of ARGUMENTS and the columns of the first file.
#
# Header: `-- NAME: summary.`, `-- Family: FAMILY` of table_function.h, `-- Question: a question that
# the function answers?`, then the lists `-- Parameters` (`:name KIND [required] description`,
# KIND being a word of kind_words below) and `-- Columns` (`name TYPE description`), then any other
# text. The query follows, one SELECT.
# `-- With FOLDER/NAME` as the last line of a header puts the shared CTEs of sql/FOLDER/NAME.sql
# before the query. In a script, these are the lines from `-- Shared` to `-- Own`.
# A description continues on lines with more indentation than an entry, the summary below NAME.

function fail(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
    failed = 1
    exit 1
}

function base_name(path) {
    sub(/^.*\//, "", path)
    sub(/\.sql$/, "", path)
    return path
}

function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

# The words from `first` on, as one description.
function rest(line, first,    words, count, i, text) {
    count = split(line, words, /[ \t]+/)
    for (i = first; i <= count; i++)
        text = text (text == "" ? "" : " ") words[i]
    return text
}

# The list, with a continuation of its last description.
function continued(list) {
    if (!sub(/"},\n$/, "", list))
        fail("there is no entry that goes on")
    return list substr(quoted(" " rest($0, 2)), 2) "},\n"
}

# Checks that the parameters are declared, and rewrites the names of our table
# functions, which precede a `(`, so that no table of the user can hide them.
# Other table functions could be hidden, and an unknown `trace_...` is misspelt.
function query_line(line,    out, word, before, parameter, text) {
    text = line
    gsub(/'[^']*'/, "", text) # texts
    if (text ~ /;./)
        fail("more than one statement")
    while (match(text, /:[a-z_]+/)) {
        parameter = substr(text, RSTART + 1, RLENGTH - 1)
        if (!(parameter in declared))
            fail("parameter :" parameter " is not in the header")
        text = substr(text, RSTART + RLENGTH)
    }
    while (match(line, /[a-z_]+\(/)) {
        word = substr(line, RSTART, RLENGTH - 1)
        before = substr(line, 1, RSTART - 1)
        if (!(word in functions_known) && before ~ /(FROM|JOIN) +$/)
            fail(word "() is not a table function of ours: a user's table can hide it")
        if (!(word in functions_known) && !(word in scalars_known) && word ~ /^trace_/)
            fail("there is no function " word "()")
        out = out before
        out = out (word in functions_known ? "\"tracediff:" word "\"" : word) "("
        line = substr(line, RSTART + RLENGTH)
    }
    return out line
}

# Adds the CTEs of a file, which may include the CTEs of another file.
function with(name,    path, line, own, words) {
    path = FILENAME
    sub(/[^\/]*\/[^\/]*$/, name ".sql", path)
    while ((status = (getline line < path)) > 0) {
        if (line ~ /^-- Shared/)
            sql = ""
        if (line ~ /^-- (Shared|Own)/)
            own = line ~ /^-- Own/
        if (split(line, words, / +/) > 2 && words[1] == "--" && words[2] == "With")
            with(words[3])
        else if (line !~ /^--/ && !own)
            sql = sql "     " quoted(query_line(line)) "\n     \"\\n\"\n"
    }
    if (status < 0)
        fail("there is no " path)
    close(path)
}

# Adds the names that match a pattern in a file to `known`.
function learn(path, pattern, known,    line, name) {
    while ((getline line < path) > 0)
        while (match(line, pattern)) {
            name = substr(line, RSTART, RLENGTH - 1)
            sub(/^.*["(]/, "", name)
            known[name] = 1
            line = substr(line, RSTART + RLENGTH)
        }
}

function finish() {
    if (name == "")
        return
    if (report) {
        if (layout == "" || sql == "")
            fail("no layout or no query")
        functions = functions "    {.heading = " quoted(summary) ", .layout = LAYOUT_" toupper(layout) \
            ", .style = " quoted(style) ", .id = " quoted(id) ", .link = " quoted(link) \
            ", .empty = " quoted(empty) ", .of_memory = " of_memory ", .of_all = " of_all \
            ",\n     .shown = " \
            (shown == "" ? "\"\"" : "\n" shown) ", .sql =\n" sql "    },\n"
        return
    }
    if (family == "" || question == "")
        fail("no family or no question")
    if (column_count == 0 || sql == "")
        fail("no columns or no query")
    printf "static const struct argument %s_arguments[] = {\n%s};\n\n", name, arguments
    printf "static const struct table_column %s_columns[] = {\n%s};\n\n", name, columns
    functions = functions sprintf("    {.name = \"%s\", .text = %s,\n     .family = %s, .question = %s,\n     " \
        ".columns = %s_columns, " \
        ".column_count = %d,\n     .arguments = %s_arguments, .argument_count = %d,\n     " \
        ".produce = sql_function_produce,\n     .source = \"%s\", ", \
        name, quoted(summary), family, quoted(question), name, \
        column_count, name, argument_count, source) # sprintf has room for little in some awks
    functions = functions ".sql =\n" sql "    },\n"
    function_count++
}

BEGIN {
    # KIND to enum argument_kind. The code does not read descriptions.
    kind_words = "any ANY TEXT TEXT INTEGER INTEGER REAL REAL TEXT[] TEXTS 0|1 FLAG INTEGER>=0 COUNT " \
        "REAL>=0 AMOUNT REAL0..1 SHARE trace TRACE ranks RANKS ranks|job RANKS_OR_JOB " \
        "ranks|worst RANKS_OR_WORST iterations ITERATIONS steps STEPS capture CAPTURE"
    count = split(kind_words, words, " ")
    for (i = 1; i < count; i += 2)
        kinds[words[i]] = "TAKES_" words[i + 1]
    MOST_ARGUMENTS = 30 # as in sqlite/table_function.h
    MOST_REQUIRED = 4
    print "/* Made from sql/ by sql/embed.awk. */"
    print "#include \"" (report ? "report/report.h" : "functions/registry.h") "\""
    print report ? "" : "#include \"sqlite/sql_function.h\"\n"
    print "/* The standard promises room for 4,095 characters, compilers have more. */"
    print "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
    learn("ext/functions/registry.h", "FUNCTION[(][a-z_]+[)]", functions_known)
    learn("ext/functions/aggregates/scalars.c", "\"trace_[a-z_]+\"", scalars_known)
    learn("ext/functions/aggregates/aggregates.c", "\"trace_[a-z_]+\"", scalars_known)
    for (i = 1; i < ARGC; i++)
        functions_known[base_name(ARGV[i])] = 1
    count = split(queries, words, " ")
    for (i = 1; i <= count; i++)
        functions_known[base_name(words[i])] = 1
}

FNR == 1 {
    finish()
    name = base_name(FILENAME)
    source = FILENAME
    if (index($0, "-- " name ": ") != 1)
        fail("the first line must be `-- " name ": what it gives`")
    last_of_summary = 1
    summary = substr($0, length(name) + 6)
    sub(/\.$/, "", summary)
    family = question = arguments = columns = sql = shown = section = layout = style = id = link = empty = ""
    argument_count = column_count = 0
    of_memory = of_all = "false"
    if (report && FNR == NR) {
        count = split(given, words, " ")
        for (i = 1; i <= count; i++)
            declared[words[i]] = 1
    }
    if (!report)
        split("", declared)
    next
}

FNR == last_of_summary + 1 && /^--   / {
    last_of_summary = FNR
    summary = summary " " rest($0, 2)
    sub(/\.$/, "", summary)
    next
}

!report && /^-- Family: / {
    family = "FAMILY_" toupper(rest($0, 3))
    gsub(/[^A-Z]+/, "_", family)
    next
}

!report && /^-- Question: / {
    question = rest($0, 3)
    next
}

report && /^-- Layout / {
    layout = $3
    style = $4
    next
}

report && /^-- Section / {
    id = $3
    link = rest($0, 4)
    next
}

report && /^-- Empty / {
    empty = rest($0, 3)
    next
}

report && /^-- Of memory$/ {
    of_memory = "true"
    next
}

report && /^-- Of all$/ {
    of_all = "true"
    next
}

/^-- With / {
    with($3)
    next
}

report && /^--        / && section == "Columns" {
    next
}

/^--        / && section == "Parameters" {
    arguments = continued(arguments)
    next
}

/^--        / && section == "Columns" {
    columns = continued(columns)
    next
}

report && /^--   / && section == "Columns" {
    facts = facts "    \"" $2 "\",\n"
    declared[$2] = 1
    next
}

report && /^--   / && section == "SQL" {
    shown = shown "     " quoted(substr($0, 6)) "\n     \"\\n\"\n"
    next
}

/^-- Parameters$/ || /^-- Columns$/ || (report && /^-- SQL$/) {
    section = $2
    next
}

/^-- / && section == "Parameters" && $2 ~ /^:/ {
    required = $4 == "required"
    if (++argument_count > MOST_ARGUMENTS)
        fail("more than " MOST_ARGUMENTS " arguments")
    if (required && argument_count > MOST_REQUIRED)
        fail("a required argument is not among the first " MOST_REQUIRED)
    argument = substr($2, 2)
    if (!($3 in kinds))
        fail("parameter :" argument " takes nothing that is known: " $3)
    declared[argument] = 1
    arguments = arguments sprintf("    {\"%s\", %s, %s, %s},\n", argument, \
        kinds[$3], required ? "true" : "false", quoted(rest($0, required ? 5 : 4)))
    next
}

/^--   / && section == "Columns" {
    if ($3 !~ /^(TEXT|INTEGER|REAL|any)$/)
        fail("column " $2 " has no type")
    columns = columns sprintf("    {\"%s\", \"%s\", %s},\n", $2, $3 == "any" ? "" : $3, \
        quoted(rest($0, 4)))
    column_count++
    next
}

/^--/ {
    section = ""
    next
}

{
    sql = sql "     " quoted(query_line($0)) "\n     \"\\n\"\n"
}

END {
    if (failed)
        exit 1
    finish()
    if (report) {
        printf "const char *const report_facts[] = {\n%s};\n", facts
        print "const int report_fact_count = sizeof report_facts / sizeof *report_facts;"
        print "const struct report_section report_sections[] = {\n" functions "};"
        print "const int report_section_count = sizeof report_sections / sizeof *report_sections;"
        exit 0
    }
    printf "const struct table_function sql_functions[] = {\n%s};\n", functions
    printf "const int sql_function_count = %d;\n", function_count
    print "_Static_assert(MOST_ARGUMENTS == " MOST_ARGUMENTS " && MOST_REQUIRED == " MOST_REQUIRED ", " \
        "\"sql/embed.awk has other limits\");"
}
