/*
** The names of Python frames, as PyTorch's profiler writes them: `PATH(LINE): FUNCTION`, with a
** path from a folder of sys.path on, or `<built-in ...>`.
*/
#ifndef TRACEDIFF_PYTHON_FRAME_H
#define TRACEDIFF_PYTHON_FRAME_H

#include "base/names.h"

/* Whether a frame is of neither PyTorch nor Python's standard library (3.8 to 3.14), by its path:
** of the user's code, or of another library. If so, gives its function, which is not empty. */
bool frame_is_own(const char *name, size_t length, const char **function, size_t *function_length);

/* Writes the name of a module without its number and, if there is a frame of the user's code, of
** its function: `Block.forward` of `nn.Module: Block_3` and `model.py(12): forward`. `to` has room
** for both. Returns the number of bytes written. */
size_t frame_method(char *to, const struct name *module, const struct name *frame);

/* Writes the file and the function of a frame of the user's code: `train.py: preprocess` of
** `src/train.py(5): preprocess`. `to` has room for the frame. Returns the number of bytes. */
size_t frame_function(char *to, const struct name *frame);

#endif
