#include "step_form.h"

#include "../reader/ascii.h"

/* The part of the name not yet read. */
struct rest {
    const char *p, *end;
};

struct field {
    struct rest key, value;
};

static bool take(struct rest *rest, const char *text)
{
    bool there = begins(rest->p, rest->end, text);
    rest->p += there ? strlen(text) : 0;
    return there;
}

/* `positive`, unless NULL, tells whether the number is more than 0. */
static bool take_number(struct rest *rest, bool *positive)
{
    const char *from = rest->p;
    bool found = false;
    while (rest->p < rest->end && is_digit(*rest->p))
        found |= *rest->p++ != '0';
    if (positive)
        *positive = found;
    return rest->p > from;
}

static bool is(const struct rest *rest, const char *expected)
{
    return text_is(rest->p, (size_t)(rest->end - rest->p), expected);
}

static void set_phase(struct step_form *form, const char *phase)
{
    form->phase = phase;
    form->phase_length = strlen(phase);
}

/* F1, F2, F5, F6. In a pattern, C and G after % are the counts, N is another number, and T is a
** number with an optional `_` and second number after it. */
static bool read_counts(struct rest rest, const char *pattern, struct step_form *form)
{
    bool context = false, generation = false;
    for (; *pattern; pattern++) {
        const char letter[] = {*pattern, 0};
        bool taken;
        if (*pattern != '%')
            taken = take(&rest, letter);
        else if (*++pattern == 'T')
            taken = take_number(&rest, NULL) && (!take(&rest, "_") || take_number(&rest, NULL));
        else
            taken = take_number(&rest, *pattern == 'C'   ? &context
                                       : *pattern == 'G' ? &generation
                                                         : NULL);
        if (!taken)
            return false;
    }
    set_phase(form, context ? generation ? "mixed" : "prefill" : generation ? "decode" : "idle");
    return rest.p == rest.end;
}

static bool take_value(struct rest *rest)
{
    const char *from = rest->p;
    if (take(rest, "[")) {
        const char *close = memchr(rest->p, ']', (size_t)(rest->end - rest->p));
        if (!close)
            return false;
        rest->p = close + 1;
        return !take(rest, "...+") || take_number(rest, NULL);
    }
    while (rest->p < rest->end && *rest->p != ' ' && *rest->p != '[' && *rest->p != ']')
        rest->p++;
    return rest->p > from;
}

static bool take_field(struct rest *rest, struct field *field)
{
    field->key.p = rest->p;
    while (rest->p < rest->end && is_word(*rest->p))
        rest->p++;
    field->key.end = rest->p;
    if (field->key.p == field->key.end || !take(rest, "="))
        return false;
    field->value.p = rest->p;
    bool taken = take_value(rest);
    field->value.end = rest->p;
    return taken;
}

/* F3 after `step[`. */
static bool read_mode(struct rest rest, struct step_form *form)
{
    static const char *const phases[][2] = {
        {"EXTEND", "prefill"},       {"PREFILL", "prefill"},      {"SPLIT_PREFILL", "prefill"},
        {"DLLM_EXTEND", "prefill"},  {"TARGET_VERIFY", "verify"}, {"DRAFT_EXTEND", "draft"},
        {"DRAFT_EXTEND_V2", "draft"}};
    struct rest mode = rest;
    struct field field;
    while (rest.p < rest.end && is_word(*rest.p) && !is_small(*rest.p))
        rest.p++;
    mode.end = rest.p;
    if (mode.p == mode.end)
        return false;
    *form = (struct step_form){mode.p, (size_t)(mode.end - mode.p)};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (is(&mode, phases[i][0]))
            set_phase(form, phases[i][1]);
    while (take(&rest, " "))
        if (!take_field(&rest, &field))
            return false;
    return is(&rest, "]");
}

/* F4. */
static bool read_batch(struct rest rest, struct step_form *form)
{
    bool dummy = take(&rest, "dummy_"), decode, mixed = false;
    struct field field;
    if (!dummy)
        take(&rest, "eager_");
    decode = take(&rest, "decode[bs=");
    if (!decode && !take(&rest, "prefill[bs="))
        return false;
    if (!take_number(&rest, NULL) || (take(&rest, "/") && !take_number(&rest, NULL)) ||
        !take(&rest, " tok=") || !take_number(&rest, NULL))
        return false;
    while (take(&rest, " ")) {
        bool positive;
        if (!take_field(&rest, &field))
            return false;
        if (is(&field.key, "p") && take_number(&field.value, &positive))
            mixed |= positive && field.value.p == field.value.end;
    }
    set_phase(form, dummy ? "idle" : !decode ? "prefill" : mixed ? "mixed" : "decode");
    return is(&rest, "]");
}

const char *step_digits(const char *name, const char *end)
{
    struct rest rest = {name, end};
    if (!take(&rest, "ProfilerStep"))
        return NULL;
    take(&rest, " ");
    const char *digits = rest.p + 1;
    return take(&rest, "#") && take_number(&rest, NULL) && rest.p == end ? digits : NULL;
}

bool step_form_read(const char *name, size_t length, struct step_form *form)
{
    static const char *const counts[] = {
        "context_%C(%T)_generation_%G(%T)",
        "%N_context_%C(sq%Nsk%Nsqsq%Nsqsk%N)_generation_%G(sq%Nsk%Nsqsq%Nsqsk%N)",
        "new_%C_cached_%G",
    };
    static const char *const executor[] = {
        " %N: %C ctx reqs, %N ctx tokens, %G gen reqs", " %N: %C ctx reqs, %G gen reqs",
        ": %C ctx reqs, %N ctx tokens, %G gen reqs", ": %C ctx reqs, %G gen reqs"};
    struct rest rest = {name, name + length};
    if (take(&rest, "execute_")) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (read_counts(rest, counts[i], form))
                return true;
        bool diffusion = read_counts(rest, "diffusion_%N_%Nx%N", form);
        set_phase(form, "diffusion");
        return diffusion;
    }
    if (take(&rest, "[Executor] _forward_step")) {
        for (size_t i = 0; i < sizeof executor / sizeof *executor; i++)
            if (read_counts(rest, executor[i], form))
                return true;
        return false;
    }
    return take(&rest, "step[") ? read_mode(rest, form) : read_batch(rest, form);
}
