/*
** Names without what makes them long, or other from run to run.
**
** The stable name (use_short_name = 2) is the full name but for this:
** 1. every ` at 0x` with its hexadecimal digits goes
** 2. `(1743): ` becomes `: `: the line number of a Python frame
** 3. `ProfilerStep#N` and `ProfilerStep #N` become `ProfilerStep`
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
** 7. at the end ` [clone ...]` and ` const` go, and ` const` before `::`
** 8. then what stands before the last space goes: the return type
** 9. if nothing is left, it is the stable name
*/
#ifndef TRACEDIFF_SHORT_NAME_H
#define TRACEDIFF_SHORT_NAME_H

#include <stddef.h>

/* Both write to `to`, which has room for `length` bytes, and return how many they
** wrote. They cannot fail. Valid UTF-8 stays so. */
size_t name_stable(const char *name, size_t length, char *to);
size_t name_short(const char *name, size_t length, char *to);

#endif
