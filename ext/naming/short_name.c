#include "short_name.h"

#include "text/ascii.h"
#include "python_path.h"
#include "signature.h"
#include "step_form.h"

/* Qualifiers that may follow the parameters of a member function. Where one begins with another,
** the longer is first. */
static const char *const qualifiers[] = {" const", " volatile", " noexcept", " &&", " &"};
enum { QUALIFIERS = sizeof qualifiers / sizeof *qualifiers };

static const char *after_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* The length of `(1743)` at `p` if `: ` follows it, else 0. */
static size_t line_number(const char *p, const char *end)
{
    const char *digits = after_digits(p + 1, end);
    return digits > p + 1 && begins(digits, end, "): ") ? (size_t)(digits + 1 - p) : 0;
}

/* Moves the bytes from `*p` up to the next `c`, or to the end, to `out`. Returns the end of the
** bytes written. */
static char *move_until(char c, const char **p, const char *end, char *out)
{
    const char *stop = memchr(*p, c, (size_t)(end - *p));
    size_t length = (size_t)((stop ? stop : end) - *p);
    memmove(out, *p, length);
    *p += length;
    return out + length;
}

static size_t drop_addresses(const char *name, size_t length, char *to) /* rule 1 */
{
    static const char address[] = " at 0x";
    const char *p = name, *end = name + length;
    char *out = move_until(' ', &p, end, to);
    while (p < end) {
        if (begins(p, end, address)) {
            p += sizeof address - 1;
            while (p < end && hexadecimal(*p) >= 0)
                p++;
        } else {
            *out++ = *p++;
        }
        out = move_until(' ', &p, end, out);
    }
    return (size_t)(out - to);
}

/* From rule 2 on, the functions change a name in place and return its new length. */

static size_t drop_lines(char *name, size_t length) /* rule 2 */
{
    const char *p = name, *end = name + length;
    char *out = move_until('(', &p, end, name);
    while (p < end) {
        size_t number = line_number(p, end);
        p += number;
        if (number == 0)
            *out++ = *p++;
        out = move_until('(', &p, end, out);
    }
    return (size_t)(out - name);
}

static size_t drop_annotations(const char *name, size_t length) /* rule 4 */
{
    static const char *const keys[] = {
        ", op_id = ", ", seq = ",          ", stashed seq = ", ", stashed tid = ",
        ", sizes = ", ", input_op_ids = ", ", trace_id = "};
    const char *end = name + length;
    for (const char *p = name; (p = memchr(p, '=', (size_t)(end - p))) != NULL; p++)
        for (size_t i = 0; begins(p, end, "= ") && i < sizeof keys / sizeof *keys; i++)
            if (ends(name, p + 2, keys[i]))
                return (size_t)(p + 2 - name) - strlen(keys[i]);
    return length;
}

static size_t drop_kernel_number(const char *name, size_t length) /* rule 5 */
{
    const char *end = name + length, *p = name, *number = end;
    if (begins(p, end, "graph_")) {
        const char *digits = p + strlen("graph_");
        p = after_digits(digits, end);
        if (p == digits || p == end || *p++ != '_')
            return length;
    }
    if (begins(p, end, "triton_")) {
        const char *type = p += strlen("triton_");
        while (p < end && is_small(*p))
            p++;
        if (p == type || !begins(p, end, "_fused"))
            return length;
        p += strlen("_fused");
    } else if (begins(p, end, "cpp_fused")) {
        p += strlen("cpp_fused");
    } else {
        return length;
    }
    while (number > p && is_digit(number[-1]))
        number--;
    return number < end && number > p && number[-1] == '_' ? (size_t)(number - 1 - name) : length;
}

/* Whether `count` letters of a base-32 hash are at `p`. */
static bool is_hash(const char *p, const char *end, size_t count)
{
    if ((size_t)(end - p) < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_small(p[i]) && !(p[i] >= '2' && p[i] <= '7'))
            return false;
    return true;
}

static size_t drop_graph_hash(char *name, size_t length) /* rule 6 */
{
    static const char before[] = "## Call CompiledFxGraph ", after[] = " ##";
    enum { HASH = 51 };
    const char *end = name + length;
    if (!begins(name, end, before))
        return length;
    const char *hash = name + sizeof before - 1;
    if (!begins(hash, end, "f") || !is_hash(hash + 1, end, HASH) ||
        end - hash != 1 + HASH + sizeof after - 1 || !begins(hash + 1 + HASH, end, after))
        return length;
    memcpy(name + sizeof before - 2, after, sizeof after - 1);
    return sizeof before - 2 + sizeof after - 1;
}

static size_t drop_recompilation(const char *name, size_t length) /* rule 7 */
{
    static const char before[] = "Torch-Compiled Region: ";
    const char *end = name + length;
    if (!begins(name, end, before))
        return length;
    const char *frame = name + sizeof before - 1, *slash = after_digits(frame, end);
    if (slash == frame || !begins(slash, end, "/"))
        return length;
    const char *number = after_digits(slash + 1, end), *p = number;
    if (begins(number, end, "_"))
        p = after_digits(number + 1, end);
    return number > slash + 1 && p == end && is_digit(p[-1]) ? (size_t)(slash - name) : length;
}

static size_t drop_cache_path(char *name, size_t length) /* rule 8 */
{
    static const char inductor[] = "inductor";
    const char *end = name + length, *suffix = name;
    while ((suffix = memchr(suffix, '.', (size_t)(end - suffix))) && !begins(suffix, end, ".py: "))
        suffix++;
    for (ptrdiff_t hash = 50; suffix && hash <= 51; hash++) {
        if (suffix - name < hash + 5)
            continue;
        const char *file = suffix - hash - 1;
        if (*file != 'c' || !is_hash(file + 1, end, (size_t)hash) || !is_separator(file[-1]) ||
            !is_hash(file - 3, end, 2) || !is_separator(file[-4]))
            continue;
        memcpy(name, inductor, sizeof inductor - 1);
        memmove(name + sizeof inductor - 1, suffix, (size_t)(end - suffix));
        return sizeof inductor - 1 + (size_t)(end - suffix);
    }
    return length;
}

static size_t drop_record(char *name, size_t length) /* rule 9 */
{
    static const char before[] = " of pybind11_builtins.pybind11_detail_function_record_";
    static const char after[] = " object";
    const char *p = name, *end = name + length;
    char *out = move_until(' ', &p, end, name);
    while (p < end) {
        const char *word = p + 1;
        if (begins(p, end, before)) {
            word = p + sizeof before - 1;
            while (word < end && is_word(*word))
                word++;
            if (begins(word, end, after))
                p = word += sizeof after - 1;
        }
        memmove(out, p, (size_t)(word - p));
        out += word - p;
        p = word;
        out = move_until(' ', &p, end, out);
    }
    return (size_t)(out - name);
}

/* Rule 10. A name grows by one byte at most: `step[MODE]` is as long as `step: mode`; EXTEND is
** the only mode shorter than the phase it gets (prefill), and the shortest names of the other
** forms are longer than `step: diffusion`. */
static size_t name_phase(char *name, size_t length)
{
    static const char before[] = "step: ";
    struct step_form form;
    if (!step_form_read(name, length, &form))
        return length;
    memmove(name + sizeof before - 1, form.phase, form.phase_length);
    memcpy(name, before, sizeof before - 1);
    length = sizeof before - 1 + form.phase_length;
    for (char *p = name; p < name + length; p++)
        *p = (char)small(*p);
    return length;
}

size_t name_stable(const char *name, size_t length, char *to)
{
    length = drop_lines(to, drop_addresses(name, length, to));
    if (step_digits(to, to + length)) /* rule 3 */
        length = strlen("ProfilerStep");
    length = drop_annotations(to, length);
    length = drop_kernel_number(to, length);
    length = drop_graph_hash(to, length);
    length = drop_recompilation(to, length);
    length = drop_cache_path(to, length);
    length = drop_record(to, length);
    return name_phase(to, length);
}

static bool is_python(const char *name, const char *end)
{
    for (const char *p = name; (p = memchr(p, '(', (size_t)(end - p))) != NULL; p++)
        if (line_number(p, end) > 0)
            return true;
    return false;
}

/* Rules 6 and 7. Returns the end of the bytes written. */
static char *drop_brackets(const char *name, const char *end, char *to)
{
    struct signature signature = {.start = name, .next = name, .end = end};
    struct signature_piece piece;
    char *out = to;
    while (signature_next(&signature, &piece)) {
        memcpy(out, piece.text, piece.length);
        out += piece.length;
        bool spaced = ends(to, out, "< ") || ends(to, out, "> "); /* `operator< <int>` */
        out -= spaced && signature.next < end && *signature.next == '<';
    }
    return out;
}

/* The length of the qualifiers of a member function at `p` (rule 8). */
static size_t qualifiers_length(const char *p, const char *end)
{
    const char *from = p;
    for (size_t i = 0; i < QUALIFIERS;) {
        if (begins(p, end, qualifiers[i])) {
            p += strlen(qualifiers[i]);
            i = 0;
        } else {
            i++;
        }
    }
    return (size_t)(p - from);
}

/* Rule 8 at the end of a name. */
static char *drop_tail(char *name, char *end)
{
    for (;;) {
        char *before = end;
        while (end > name && end[-1] == ' ')
            end--;
        for (size_t i = 0; i < QUALIFIERS; i++)
            if (ends(name, end, qualifiers[i]))
                end -= strlen(qualifiers[i]);
        if (end > name && end[-1] == ']') {
            char *p = end;
            while (p > name && !begins(p, end, " [clone ") && !begins(p, end, " [with "))
                p--;
            if (begins(p, end, " [clone ") || begins(p, end, " [with "))
                end = p;
        }
        if (end == before)
            return end;
    }
}

/* Rule 8 before `::`. */
static char *drop_qualifiers(char *name, char *end)
{
    char *out = name;
    for (const char *p = name; p < end;) {
        size_t length = *p == ' ' ? qualifiers_length(p, end) : 0;
        if (length > 0 && !begins(p + length, end, "::")) {
            memmove(out, p, length);
            out += length;
        }
        p += length;
        if (length == 0)
            *out++ = *p++;
    }
    return out;
}

/* Rule 9: returns the first byte after the return type. */
static const char *after_type(const char *name, const char *end)
{
    static const char anonymous[] = "(anonymous namespace)";
    const char *from = name;
    size_t braces = 0;
    for (const char *p = name; p < end; p++) {
        if (*p == 'r' && signature_is_operator(name, p + 1) && (p + 1 == end || !is_word(p[1])))
            return from;
        if (*p == '(' && begins(p, end, anonymous))
            p += sizeof anonymous - 2;
        else if (*p == '{')
            braces++;
        else if (*p == '}' && braces > 0)
            braces--;
        else if (*p == ' ' && braces == 0)
            from = p + 1;
    }
    return from;
}

/* Rules 6 to 9. */
static size_t short_signature(const char *name, const char *end, char *to)
{
    char *stop = drop_brackets(name, end, to);
    stop = drop_qualifiers(to, drop_tail(to, stop));
    const char *from = after_type(to, stop);
    size_t length = (size_t)(stop - from);
    memmove(to, from, length);
    return length;
}

/* The first byte after a `: ` outside brackets, or the beginning. */
static const char *after_prefix(const char *name, const char *end)
{
    int depth = 0;
    for (const char *p = name; p + 1 < end; p++) {
        depth += *p == '<' || *p == '(';
        depth -= (*p == '>' || *p == ')') && depth > 0;
        if (depth == 0 && p > name && p[0] == ':' && p[1] == ' ' && p[-1] != ':')
            return p + 2;
    }
    return name;
}

bool is_copy_name(const char *name, size_t length)
{
    static const char *const copies[] = {"Memcpy", "Memset",       "hipMemcpy",  "hipMemset",
                                         "dma",    "CopyDeviceTo", "CopyHostTo", "MEMCPY_ASYNC"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (begins(name, name + length, copies[i]))
            return true;
    return false;
}

size_t name_short(const char *name, size_t length, char *to)
{
    const char *end = name + length;
    bool whole = is_copy_name(name, length) ||                                 /* rule 1 */
                 (!memchr(name, '<', length) && !memchr(name, '(', length)) || /* rule 2 */
                 (begins(name, end, "## ") && ends(name + 2, end, " ##"));     /* rule 3 */
    if (whole) {
        memcpy(to, name, length);
        return length;
    }
    if (*name == '<' || is_python(name, end)) /* rule 4 */
        return name_stable(name, length, to);
    const char *rest = after_prefix(name, end); /* rule 5 */
    size_t prefix = (size_t)(rest - name);
    memcpy(to, name, prefix);
    size_t shortened = short_signature(rest, end, to + prefix);
    return shortened > 0 ? prefix + shortened : name_stable(name, length, to); /* rule 10 */
}

size_t name_without_numbers(const char *name, size_t length)
{
    for (size_t at = length; at > 1; at--) {
        bool ends_name = (name[at - 1] == '.' || name[at - 1] == '_') && at < length;
        if (ends_name)
            length = at - 1;
        else if (!is_digit(name[at - 1]))
            break;
    }
    return length;
}
