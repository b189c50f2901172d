/*
** The names of steps: `ProfilerStep#N` or `ProfilerStep #N` of the profiler, and the names that
** serving frameworks give to the steps of their engine.
**
** Single letters are numbers. A name must match a form from end to end:
** F1. `execute_context_C(T)_generation_G(U)`, where T and U may be followed by `_` and a number
**     (vLLM); `execute_N_context_C(...)_generation_G(...)`, where each (...) is a
**     `(sqTsk.sqsq.sqsk.)`
** F2. `execute_new_C_cached_G` (older vLLM)
** F3. `step[MODE KEY=VALUE ...]`, where MODE is capitals, digits and `_` (SGLang)
** F4. `prefill[bs=B tok=T KEY=VALUE ...]`, and `decode[...]` in the same way, both optionally
**     after `eager_` or `dummy_`; B may be followed by `/P`, the padded size
** F5. `[Executor] _forward_step N: C ctx reqs, T ctx tokens, G gen reqs`, where ` N` and
**     ` T ctx tokens,` are optional (TensorRT-LLM)
** F6. `execute_diffusion_B_WxH`
** A KEY is letters, digits and `_`. A VALUE has no space or bracket, or is a list in brackets,
** optionally followed by `...+N`. Of a KEY that comes twice, the first counts.
**
** The phase of each form:
** 1. F1, F2 and F5: mixed if C and G are more than 0, prefill if only C is, decode if only G is,
**    else idle
** 2. F3: prefill for EXTEND, PREFILL, SPLIT_PREFILL and DLLM_EXTEND; verify for TARGET_VERIFY;
**    draft for DRAFT_EXTEND and DRAFT_EXTEND_V2; any other mode, in small letters, is its own phase
** 3. F4: idle with `dummy_`; mixed for a decode with a p=N of more than 0; else prefill or
**    decode, as named
** 4. F6: diffusion
**
** The batch is C + G, `bs`, or B. The padded size is P. Tokens are
** 5. F1: T + U, each the first number of its brackets
** 6. F3: `c_sq` + `g_sq`, as far as they are there; else `toks`; else of a decode the batch
** 7. F4: T; F5: T + G, if T is there; F6: W * H
** The size is
** 8. for the phases decode, verify, draft and idle the padded size, else the batch; for others the
**    tokens, else the batch
*/
#ifndef TRACEDIFF_STEP_FORM_H
#define TRACEDIFF_STEP_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step_form {
    const char *phase; /* constant, or part of the name; read its capitals as lower case */
    size_t phase_length;
    int64_t batch, padded, tokens, size; /* STEP_FORM_UNKNOWN: not named, or beyond 64 bits */
};

#define STEP_FORM_UNKNOWN (-1)

/* The digits of N, up to `end`, of a profiler step's name; NULL if it is not one. */
const char *step_digits(const char *name, const char *end);

/* Reads a name; false if it matches none of the forms. */
bool step_form_read(const char *name, size_t length, struct step_form *form);

/* A size rounded up to three significant bits: 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, ... */
uint64_t step_form_bucket(int64_t size);

#endif
