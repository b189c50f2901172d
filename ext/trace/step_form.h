/*
** The names of steps: `ProfilerStep#N` or `ProfilerStep #N` of the profiler, and those
** that frameworks for serving give to the steps of their engine.
**
** Letters stand for numbers, and a name must have a form from end to end:
** F1. `execute_context_C(T)_generation_G(U)`, T and U also with `_` and a number (vLLM);
**     `execute_N_context_C(...)_generation_G(...)`, each (...) a `(sqTsk.sqsq.sqsk.)`
** F2. `execute_new_C_cached_G` (older vLLM)
** F3. `step[MODE KEY=VALUE ...]`, MODE of capitals, digits and `_` (SGLang)
** F4. `prefill[bs=B tok=T KEY=VALUE ...]`, `decode[...]` alike, also with `eager_` or
**     `dummy_` before; B may have `/P`, the padded size, after it
** F5. `[Executor] _forward_step N: C ctx reqs, T ctx tokens, G gen reqs`, also without
**     ` N` or ` T ctx tokens,` (TensorRT-LLM)
** F6. `execute_diffusion_B_WxH`
** A KEY is of letters, digits and `_`; a VALUE has no space or bracket, or is a list in
** brackets, also with `...+N` after it.
**
** The phase of F1, F2 and F5 is mixed if C and G are more than 0, prefill if only C is,
** decode if only G is, else idle. Of F3 EXTEND, PREFILL, SPLIT_PREFILL and DLLM_EXTEND
** are prefill, TARGET_VERIFY is verify, DRAFT_EXTEND and DRAFT_EXTEND_V2 are draft, and
** another mode is its own phase. Of F4 `dummy_` is idle, a decode with a p=N of more
** than 0 is mixed, and the others are what they say. F6 is diffusion.
*/
#ifndef TRACEDIFF_STEP_FORM_H
#define TRACEDIFF_STEP_FORM_H

#include <stdbool.h>
#include <stddef.h>

struct step_form {
    const char *phase; /* constant, or of the name; in capitals it stands for small letters */
    size_t phase_length;
};

/* The digits of N, which `end` follows, of a step of the profiler; NULL: it is none. */
const char *step_digits(const char *name, const char *end);

/* Reads a name; false if it has none of the forms. */
bool step_form_read(const char *name, size_t length, struct step_form *form);

#endif
