# Turns the given patterns and the queries in sql/diagnoses/ about their facts into a C file.

function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\\n\""
}

function base_name(path) {
    sub(/^.*\//, "", path)
    sub(/\.sql$/, "", path)
    return path
}

BEGIN {
    print "/* Made from sql/ by sql/embed_patterns.awk. */"
    print "#include \"functions/diagnoses/diagnosis_facts.h\""
    print "#include \"functions/diagnoses/change_pattern.h\"\n"
    print "/* The standard promises room for 4,095 characters, compilers have more. */"
    print "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
}

FNR == 1 {
    name = base_name(FILENAME)
    if (index($0, "-- " name ": ") != 1) {
        printf "%s:1: the first line must be `-- %s: what it is`\n", FILENAME, name > "/dev/stderr"
        failed = 1
        exit 1
    }
    of_pattern = FILENAME ~ /patterns\//
    if (of_pattern)
        names[++count] = name
    else
        other[++others] = name
}

{
    if (of_pattern)
        texts[count] = texts[count] "     " quoted($0) "\n"
    else if ($0 !~ /^--/)
        queries[others] = queries[others] "    " quoted($0) "\n"
}

END {
    if (failed)
        exit 1
    for (i = 1; i <= others; i++)
        print "const char diagnoses_" other[i] "_sql[] =\n" queries[i] "    ;\n"
    print "const struct pattern embedded_patterns[] = {"
    for (i = 1; i <= count; i++)
        print "    {.name = \"" names[i] "\", .text =\n" texts[i] "    },"
    print "};\nconst int embedded_pattern_count = " count ";"
}
