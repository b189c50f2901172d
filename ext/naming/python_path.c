#include "python_path.h"

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

const char *path_after(const char *path, const char *end, const char *folder)
{
    size_t length = strlen(folder);
    for (const char *p = end; p > path && (size_t)(p - path) > length; p--) {
        const char *name = p - 1 - length;
        if (is_separator(p[-1]) && memcmp(name, folder, length) == 0 &&
            (name == path || is_separator(name[-1])))
            return p;
    }
    return NULL;
}

bool path_is_module(const char *path, const char *end)
{
    struct text module = {path, 0};
    while (path + module.length < end && is_word(path[module.length]))
        module.length++;
    return bsearch(&module, modules, sizeof modules / sizeof *modules, sizeof *modules,
                   module_order) != NULL;
}

/* Whether what follows `lib` and a separator is `pythonN` and a separator. */
static bool is_numbered(const char *p, const char *end)
{
    if (!begins(p, end, "python"))
        return false;
    const char *number = p += strlen("python");
    while (p < end && (is_digit(*p) || *p == '.'))
        p++;
    return p > number && p < end && is_separator(*p);
}

bool path_is_library(const char *path, const char *end)
{
    enum { LIB = 5 }; /* `lib` and a separator on each side */
    bool drive = end - path > 2 && is_letter(path[0]) && path[1] == ':' && is_separator(path[2]);
    for (const char *p = path; end - p >= LIB; p++) {
        if (!is_separator(p[0]) || small(p[1]) != 'l' || small(p[2]) != 'i' ||
            small(p[3]) != 'b' || !is_separator(p[4]))
            continue;
        if ((begins(p + 1, end, "lib") && is_numbered(p + LIB, end)) ||
            (drive && path_is_module(p + LIB, end)))
            return true;
    }
    return false;
}

bool path_is_users(const char *path, const char *end)
{
    return !begins(path, end, "<") && !path_after(path, end, "torch") &&
           !path_after(path, end, "site-packages") && !path_after(path, end, "dist-packages") &&
           !path_is_library(path, end);
}

const char *path_brief(const char *path, const char *end)
{
    const char *brief = end;
    for (int separators = 0; brief > path; brief--)
        if (is_separator(brief[-1]) && ++separators == 2)
            break;
    return brief;
}
