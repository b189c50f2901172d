#include "kernel_type.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "kinds.h"
#include "naming/short_name.h"
#include "naming/signature.h"

enum { LISTS = 3 };

/* Patterns by their first letter. A string holds several patterns, separated by spaces, with the
** same first two letters or digits, which decide most comparisons. `^`: not after a lower-case
** letter; `x?`: x or nothing; `#`: digits; `*`: any number of letters, digits and `_`; `@`: a
** capital; `$`: not a letter. */

/* K3, cases 1 to 8. */
static const char *const communication[128][LISTS] = {
    ['A'] = {"AllReduce Allreduce AllGather Allgather AllToAll AllToall AlltoAll Alltoall "
             "All2All All2all",
             "A2ADispatch A2ACombine A2APrepareDispatch A2APrepareCombine"},
    ['E'] = {"EpDispatch@ EpCombine@"},
    ['R'] = {"ReduceScatter Reducescatter"},
    ['a'] = {"^all_?reduce ^all_?gather ^all_?to_?all ^all2all ^all-reduce ^all-gather ^all-to-all",
             "^a2a_dispatch ^a2a_combine ^a2a_send ^a2a_recv"},
    ['c'] = {"cross_device_reduce cross_device_store", "^collective-permute ^collective-broadcast"},
    ['e'] = {"ep::intranode*:: ep::internode*:: ep#intranode ep#internode"},
    ['h'] = {"^hcom_"},
    ['i'] = {"ishmem"},
    ['m'] = {"msccl", "^multimem_"},
    ['n'] = {"nvshmem"},
    ['o'] = {"oneccl"},
    ['p'] = {"^pplx::", "^put_signal_kernel"},
    ['q'] = {"quick_?reduce"},
    ['r'] = {"rocshmem", "^reduce_?scatter ^reduce-scatter"},
    ['s'] = {"symmetric_memory"},
    ['u'] = {"userbuffers"},
    ['w'] = {"^wait_signal_kernel"},
};

/* The exceptions of K3, ignoring case. computes() handles `mm`, and `gemm` after `fb`. */
static const char *const computation[128][LISTS] = {
    ['b'] = {"block_?all_?reduce"},
    ['c'] = {"cta_?all_?reduce"},
    ['g'] = {"gemm", "group_?all_?reduce"},
    ['l'] = {"lane_?all_?reduce"},
    ['m'] = {"matmul"},
    ['q'] = {"quad_?all_?reduce"},
    ['t'] = {"thread_?all_?reduce"},
    ['w'] = {"warp_?all_?reduce wave_?all_?reduce"},
};

enum { END = -1 };

/* Reads the head of K3 byte by byte. A copy of the struct is an independent reader. */
struct head {
    struct signature rest;
    const char *p, *end; /* of the current piece */
};

/* Whether device work in another category is a copy or a fill. */
static bool is_copy_kernel(enum category category, const char *name, size_t length)
{
    const char *end = name + length;
    return begins(name, end, "__amd_rocclr_copyBuffer") ||
           begins(name, end, "__amd_rocclr_fillBuffer") ||
           (category == CATEGORY_MTIA && begins(name, end, "dma"));
}

/* Whether a name has one of K3's three words: n, r or h before `ccl`, ignoring ASCII case. */
static bool has_classical_word(const char *name, size_t length)
{
    for (size_t i = 3; i < length;) {
        char c = name[i] | 0x20;
        if (c == 'l') {
            char first = name[i - 3] | 0x20;
            if ((name[i - 1] | 0x20) == 'c' && (name[i - 2] | 0x20) == 'c' &&
                (first == 'n' || first == 'r' || first == 'h'))
                return true;
            i += 4;
        } else {
            i += c == 'c' ? 1 : c == 'n' || c == 'r' || c == 'h' ? 3 : 4;
        }
    }
    return false;
}

static struct head head_of(const char *name, size_t length)
{
    const char *end = name + length;
    if (begins(name, end, "_Z"))
        return (struct head){{.start = end, .next = end, .end = end}, name, end};
    return (struct head){{.start = name, .next = name, .end = end}, name, name};
}

/* Moves to the next piece at the end of the current one; false at the end of the head. */
static bool head_goes_on(struct head *head)
{
    while (head->p == head->end) {
        struct signature_piece piece;
        struct signature *rest = &head->rest;
        if (!signature_next(rest, &piece))
            return false;
        if (piece.anonymous) {
            if (begins(rest->next, rest->end, "::"))
                rest->next += 2;
            continue;
        }
        head->p = piece.text;
        head->end = piece.text + piece.length;
    }
    return true;
}

/* The next byte, or END. */
static int head_next(struct head *head)
{
    return head_goes_on(head) ? (unsigned char)*head->p++ : END;
}

/* Whether a pattern matches at the byte `c`. `before` precedes it, and `head` follows it. */
static bool fits(const char *pattern, struct head head, int c, int before, bool any_case)
{
    if (*pattern == '^' && is_small(before))
        return false;
    for (pattern += *pattern == '^'; *pattern && *pattern != ' '; pattern++) {
        bool optional = pattern[1] == '?';
        if (*pattern == '#') {
            if (!is_digit(c))
                return false;
            while (is_digit(c))
                c = head_next(&head);
            continue;
        }
        if (*pattern == '*') {
            while (is_word(c))
                c = head_next(&head);
            continue;
        }
        bool same = *pattern == '@'   ? is_capital(c)
                    : *pattern == '$' ? !is_letter(c)
                                      : (any_case ? small(c) : c) == *pattern;
        if (!same && !optional)
            return false;
        if (same)
            c = head_next(&head);
        pattern += optional;
    }
    return true;
}

/* Whether one of several patterns matches. */
static bool one_fits(const char *patterns, const struct head *head, int c, int before,
                     bool any_case)
{
    while (!fits(patterns, *head, c, before, any_case)) {
        patterns = strchr(patterns, ' ');
        if (!patterns)
            return false;
        patterns++;
    }
    return true;
}

/* Whether a pattern of a table matches. */
static bool any_fits(const char *const table[128][LISTS], const struct head *head, int c,
                     int before, bool any_case)
{
    const char *const *lists = table[c < 128 ? c : 0];
    for (int i = 0; i < LISTS && lists[i]; i++) {
        char second = lists[i][1 + (*lists[i] == '^')];
        if (head->p < head->end && *head->p != second && (!any_case || small(*head->p) != second))
            continue;
        if (one_fits(lists[i], head, c, before, any_case))
            return true;
    }
    return false;
}

/* Applies cases 1 to 8 of K3. */
static bool communicates(struct head head)
{
    int before = END;
    while (head_goes_on(&head)) {
        while (head.p < head.end) {
            int c = (unsigned char)*head.p++;
            if (any_fits(communication, &head, c, before, false))
                return true;
            before = c;
        }
    }
    return false;
}

/* Applies the exceptions of K3. */
static bool computes(struct head head)
{
    int before = END, second = END, c;
    while ((c = head_next(&head)) != END) {
        bool bounded = !is_letter(before);
        bool fb = small(second) == 'f' && small(before) == 'b';
        if ((bounded && fits("mm$", head, c, before, false)) ||
            (!(fb && fits("gemm", head, c, before, true)) &&
             any_fits(computation, &head, small(c), before, true)))
            return true;
        second = before;
        before = c;
    }
    return false;
}

/* Applies K3. */
static bool is_communication(const char *name, size_t length)
{
    struct head head = head_of(name, length);
    return has_classical_word(name, length) || (communicates(head) && !computes(head));
}

/* Applies K3, and keeps the results for names. */
static bool is_known_communication(struct kernel_types *types, const char *name, size_t length)
{
    enum { LONGEST = 4096, MEMORY = 512 * 1024 };
    if (length > LONGEST)
        return is_communication(name, length);
    size_t before = types->names.count;
    uint32_t id = names_intern(&types->names, name, length);
    if (id < before)
        return types->communicates[id];
    bool result = is_communication(name, length);
    if (id == NAME_NONE || names_memory(&types->names) > MEMORY ||
        !MEMORY_GROW(types->communicates, types->capacity, id + 1))
        kernel_types_clear(types);
    else
        types->communicates[id] = result;
    return result;
}

enum kernel_type kernel_types_find(struct kernel_types *types, const char *name, size_t name_length,
                                   const char *cat, size_t cat_length)
{
    enum category category = cat ? category_of(cat, cat_length) : CATEGORY_OTHER;
    if (cat ? category == CATEGORY_COPY : is_copy_name(name, name_length))
        return KERNEL_MEMORY;
    if (cat && kind_of(category, name, name_length) != KIND_WORK)
        return KERNEL_NONE;
    if (is_copy_kernel(category, name, name_length))
        return KERNEL_MEMORY;
    return (types ? is_known_communication(types, name, name_length)
                  : is_communication(name, name_length))
               ? KERNEL_COMMUNICATION
               : KERNEL_COMPUTATION;
}

enum kernel_type kernel_types_row(struct kernel_types *types, const struct trace_file *file,
                                  size_t row)
{
    const struct name *name = &file->names.items[file->columns.name[row]];
    uint32_t cat_id = row_place(&file->columns, row)->cat;
    const struct name none = {0}, *cat = cat_id == NAME_NONE ? &none : &file->names.items[cat_id];
    return kernel_types_find(types, name->text, name->length, cat->text, cat->length);
}

/* The type of a name and category. */
struct row_type {
    uint32_t cat;
    unsigned char type;
    bool known;
};

enum kernel_type row_types_find(struct row_types *types, const struct trace_file *file, size_t row)
{
    uint32_t cat = row_place(&file->columns, row)->cat;
    if (!types->items)
        types->items = memory_zeroed(file->names.count + 1, sizeof *types->items);
    if (!types->items)
        return kernel_types_row(NULL, file, row);
    struct row_type *found = &types->items[file->columns.name[row]];
    if (!found->known || found->cat != cat)
        *found = (struct row_type){cat, (unsigned char)kernel_types_row(NULL, file, row), true};
    return (enum kernel_type)found->type;
}

void row_types_clear(struct row_types *types)
{
    memory_free(types->items);
    *types = (struct row_types){NULL};
}

const char *kernel_type_name(enum kernel_type type)
{
    static const char *const names[] = {[KERNEL_COMPUTATION] = "COMPUTATION",
                                        [KERNEL_COMMUNICATION] = "COMMUNICATION",
                                        [KERNEL_MEMORY] = "MEMORY",
                                        [KERNEL_NONE] = NULL};
    return names[type];
}

void kernel_types_clear(struct kernel_types *types)
{
    names_clear(&types->names);
    memory_free(types->communicates);
    *types = (struct kernel_types){.communicates = NULL};
}
