/*
** Names without what makes them long, or other from run to run.
**
** The stable name (use_short_name = 2) is the full name but for this, in this order:
** 1. every ` at 0x` with its hexadecimal digits goes
** 2. `(1743): ` becomes `: `: the line number of a Python frame
** 3. `ProfilerStep#N` and `ProfilerStep #N` become `ProfilerStep`
** 4. from the first `, X = ` on all goes, X one of op_id, seq, stashed seq, stashed tid,
**    sizes, input_op_ids and trace_id (emit_nvtx)
** 5. of a name that begins with `triton_`, small letters and `_fused`, or with `cpp_fused`,
**    also with `graph_N_` before, the `_N` at the end goes (TorchInductor)
** 6. `## Call CompiledFxGraph HASH ##` loses HASH: f and 51 of a-z and 2-7
** 7. `Torch-Compiled Region: F/R` loses `/R`: R is a number, also with `_N` after it
** 8. a frame's path that ends in `/XX/cHASH.py`, HASH 50 or 51 of a-z and 2-7, XX 2 of
**    them, becomes `inductor.py`
** 9. every ` of pybind11_builtins.pybind11_detail_function_record_X object` goes, X
**    letters, digits and `_`
** 10. the name of a step of a framework for serving (step_form.h) becomes `step: ` and
**    its phase
** So kernels of one name and other sizes (5), and the graphs of a model (6), are one.
**
** The short name (use_short_name = 1) is HTA's for the usual kernel names, and
** never empty:
** 1. a name that begins with Memcpy, Memset, hipMemcpy, hipMemset or dma stays
** 2. a name without `<` and `(` stays
** 3. a name between `## ` and ` ##` stays
** 4. of a Python frame (stable rule 2), and of a name that begins with `<`, it is
**    the stable name
** 5. what stands before a `: ` outside of brackets stays, and the rest is shortened
** 6. else it is a C++ signature: template arguments and parameters go, with their
**    brackets; `(anonymous namespace)`, `operator()`, `operator<` and their like stay
** 7. `->` after the parameters goes, with what follows: the trailing return type
** 8. at the end ` [clone ...]`, ` [with ...]` and the qualifiers ` const`, ` volatile`,
**    ` noexcept`, ` &` and ` &&` go, and qualifiers before `::`
** 9. then what stands before the last space goes: the return type. A space between `{`
**    and `}`, or after the word `operator`, is of the name: `X::operator float`,
**    `operator delete[]`
** 10. if nothing is left, it is the stable name
*/
#ifndef TRACEDIFF_SHORT_NAME_H
#define TRACEDIFF_SHORT_NAME_H

#include <stddef.h>

/* Both write to `to`, which has room for `length` + 1 bytes, and return how many they
** wrote: at most `length`, but for `step[EXTEND]`, which becomes `step: prefill`. They
** cannot fail, and take time in proportion to the name. Valid UTF-8 stays so. */
size_t name_stable(const char *name, size_t length, char *to);
size_t name_short(const char *name, size_t length, char *to);

#endif
