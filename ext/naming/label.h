/*
** The name of an operator or a kernel as pages and lines for people show it:
**
** 1. `enumerate(DataLoader)#_SingleProcess...` is `DataLoader next batch, in this process`, and
**    `..._MultiProcessing...` is `DataLoader next batch, from workers`
** 2. `## X ##` is X
** 3. `autograd::engine::evaluate_function: `, `torch::autograd::`, `nn.Module: `,
**    `Optimizer.step#` and `at::native::` are removed, and `CppNode<X>` is X
** 4. the rest is shortened as in short_name.h
** 5. control characters become spaces, and what changes the direction of text U+FFFD, as
**    text_visible() has it
*/
#ifndef TRACEDIFF_LABEL_H
#define TRACEDIFF_LABEL_H

#include <stddef.h>

/* Bytes that a label may be longer than its name. */
enum { LABEL_ROOM = 8 };

/* Writes to `to`, which has room for `length` + LABEL_ROOM bytes. Returns the number of bytes
** written. `scratch` has room for `length` bytes. */
size_t label_write(const char *name, size_t length, char *scratch, char *to);

#endif
