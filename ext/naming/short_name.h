/*
** Shortens names by removing what makes them long or differs between runs.
**
** The stable name (use_short_name = 2) is the full name with these changes, in this order:
** 1. every ` at 0x` with its hexadecimal digits is removed
** 2. `(1743): ` becomes `: `: the line number of a Python frame
** 3. `ProfilerStep#N` and `ProfilerStep #N` become `ProfilerStep`
** 4. everything from the first `, X = ` on is removed, where X is one of op_id, seq, stashed seq,
**    stashed tid, sizes, input_op_ids and trace_id (emit_nvtx)
** 5. a name that begins with `triton_`, lower-case letters and `_fused`, or with `cpp_fused`, in
**    either case also after `graph_N_`, loses the `_N` at its end (TorchInductor)
** 6. `## Call CompiledFxGraph HASH ##` loses HASH: f and 51 characters of a-z and 2-7
** 7. `Torch-Compiled Region: F/R` loses `/R`, where R is a number, or a number and `_N`
** 8. a frame's path that ends in `/XX/cHASH.py` becomes `inductor.py`, where HASH is 50 or 51
**    characters of a-z and 2-7, and XX is 2 of them; `\` separates as `/` does
** 9. every ` of pybind11_builtins.pybind11_detail_function_record_X object` is removed, where X is
**    letters, digits and `_`
** 10. the name of a step of a serving framework (step_form.h) becomes `step: ` and its phase
** So rule 5 joins kernels that differ only in size, and rule 6 the graphs of a model.
**
** The short name (use_short_name = 1) is HTA's for the usual kernel names. It is never empty:
** 1. a name that begins with Memcpy, Memset, hipMemcpy, hipMemset or dma is unchanged
** 2. a name without `<` and `(` is unchanged
** 3. a name between `## ` and ` ##` is unchanged
** 4. a Python frame (stable rule 2), and a name that begins with `<`, get the stable name
** 5. the text before a `: ` outside brackets is unchanged, and the rest is shortened
** 6. any other name is a C++ signature: template arguments and parameters are removed, with their
**    brackets; `(anonymous namespace)`, `operator()`, `operator<` and the like are kept
** 7. `->` after the parameters, the trailing return type, is removed with everything after it
** 8. ` [clone ...]`, ` [with ...]` and the qualifiers ` const`, ` volatile`, ` noexcept`, ` &` and
**    ` &&` are removed at the end, and qualifiers also before `::`
** 9. then the text before the last space, the return type, is removed. A space between `{` and `}`,
**    or after the word `operator`, is part of the name: `X::operator float`, `operator delete[]`
** 10. if nothing is left, the short name is the stable name
*/
#ifndef TRACEDIFF_SHORT_NAME_H
#define TRACEDIFF_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Both write to `to`, which must have room for `length` + 1 bytes, and return the number of bytes
** written. That is at most `length`, except for `step[EXTEND]`, which becomes `step: prefill`. They
** cannot fail, and take time proportional to the length of the name. Valid UTF-8 stays valid. */
size_t name_stable(const char *name, size_t length, char *to);
size_t name_short(const char *name, size_t length, char *to);

/* The length of a name without the numbers that XLA appends: `sort.14.1` and `sort_14_1` are
** `sort`. It is 0 only if `length` is. */
size_t name_without_numbers(const char *name, size_t length);

/* Whether a name without a category is that of a copy or a fill. */
bool is_copy_name(const char *name, size_t length);

#endif
