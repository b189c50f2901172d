#include "python_frame.h"

#include <stdlib.h>
#include <string.h>

#include "text/ascii.h"

/* PyTorch, and the modules of Python's standard library that are written in Python:
** sys.stdlib_module_names of 3.8 to 3.14 without those that only other systems or programs have. In
** order. */
static const char *const modules[] = {
    "_bootlocale",     "_collections_abc", "_compat_pickle", "_compression", "_pydatetime",
    "_pydecimal",      "_pyio",            "_strptime",      "_threading_local", "_weakrefset",
    "abc",             "annotationlib",    "argparse",       "ast",          "asynchat",
    "asyncio",         "asyncore",         "base64",         "bdb",          "bisect",
    "bz2",             "cProfile",         "calendar",       "cmd",          "code",
    "codecs",          "codeop",           "collections",    "compileall",   "compression",
    "concurrent",      "configparser",     "contextlib",     "contextvars",  "copy",
    "copyreg",         "csv",              "ctypes",         "dataclasses",  "datetime",
    "decimal",         "difflib",          "dis",            "distutils",    "doctest",
    "email",           "encodings",        "enum",           "filecmp",      "fileinput",
    "fnmatch",         "fractions",        "ftplib",         "functools",    "functorch",
    "genericpath",     "getopt",           "getpass",        "gettext",      "glob",
    "graphlib",        "gzip",             "hashlib",        "heapq",        "hmac",
    "html",            "http",             "imp",            "importlib",    "inspect",
    "io",              "ipaddress",        "json",           "keyword",      "linecache",
    "locale",          "logging",          "lzma",           "mimetypes",    "multiprocessing",
    "numbers",         "opcode",           "operator",       "optparse",     "os",
    "pathlib",         "pdb",              "pickle",         "pickletools",  "pkgutil",
    "platform",        "posixpath",        "pprint",         "profile",      "pstats",
    "pty",             "queue",            "random",         "re",           "reprlib",
    "runpy",           "sched",            "secrets",        "selectors",    "shelve",
    "shlex",           "shutil",           "signal",         "site",         "socket",
    "socketserver",    "sqlite3",          "sre_compile",    "sre_parse",    "ssl",
    "stat",            "statistics",       "string",         "struct",       "subprocess",
    "sysconfig",       "tarfile",          "tempfile",       "textwrap",     "threading",
    "timeit",          "token",            "tokenize",       "tomllib",      "torch",
    "trace",           "traceback",        "tracemalloc",    "types",        "typing",
    "unittest",        "urllib",           "uuid",           "warnings",     "weakref",
    "xml",             "zipapp",           "zipfile",        "zipimport",    "zoneinfo"};

struct text {
    const char *start;
    size_t length;
};

static int module_order(const void *key, const void *module)
{
    const struct text *text = key;
    const char *name = *(const char *const *)module;
    int order = strncmp(text->start, name, text->length);
    return order ? order : -(name[text->length] != '\0');
}

/* What follows the last of some words in a text; NULL if it has none of them. */
static const char *after_last(const char *text, const char *end, const char *word)
{
    const char *found = NULL;
    for (; text < end; text++)
        if (begins(text, end, word))
            found = text + strlen(word);
    return found;
}

/* The `(LINE): ` of a frame; NULL if it is not there. */
static const char *find_line(const char *name, const char *end)
{
    for (const char *p = name; (p = memchr(p, '(', (size_t)(end - p))); p++) {
        const char *digits = p + 1;
        while (digits < end && is_digit(*digits))
            digits++;
        if (digits > p + 1 && begins(digits, end, "): "))
            return p;
    }
    return NULL;
}

bool frame_is_own(const char *name, size_t length, const char **function, size_t *function_length)
{
    const char *end = name + length, *line = find_line(name, end), *path = name;
    if (!line || *name == '<')
        return false;
    const char *installed = after_last(name, line, "site-packages/");
    installed = installed ? installed : after_last(name, line, "dist-packages/");
    if (installed)
        path = installed;
    else if (after_last(name, line, "/lib/python"))
        return false;
    struct text module = {path, 0};
    while (path + module.length < line && is_word(path[module.length]))
        module.length++;
    if (bsearch(&module, modules, sizeof modules / sizeof *modules, sizeof *modules, module_order))
        return false;
    const char *after = line;
    while (*after != ' ')
        after++;
    *function = after + 1;
    *function_length = (size_t)(end - *function);
    return *function_length > 0;
}

size_t frame_function(char *to, const struct name *frame)
{
    const char *end = frame->text + frame->length, *line = find_line(frame->text, end);
    const char *file = line, *function = line;
    while (file > frame->text && file[-1] != '/' && file[-1] != '\\')
        file--;
    while (*function != ':')
        function++;
    size_t written = (size_t)(line - file), rest = (size_t)(end - function);
    memcpy(to, file, written);
    memcpy(to + written, function, rest);
    return written + rest;
}

size_t frame_method(char *to, const struct name *module, const struct name *frame)
{
    static const char prefix[] = "nn.Module: ";
    const char *function, *end = module->text + module->length, *digits = end;
    size_t length, start = sizeof prefix - 1;
    while (digits > module->text && is_digit(digits[-1]))
        digits--;
    if (digits < end && digits[-1] == '_')
        end = digits - 1;
    size_t written = (size_t)(end - module->text) - start;
    memcpy(to, module->text + start, written);
    if (!frame || !frame_is_own(frame->text, frame->length, &function, &length))
        return written;
    to[written++] = '.';
    memcpy(to + written, function, length);
    return written + length;
}
