#include "step_form.h"

#include "text/ascii.h"

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

/* `*number` becomes STEP_FORM_UNKNOWN for one beyond 64 bits. */
static bool take_number(struct rest *rest, int64_t *number)
{
    const char *from = rest->p;
    bool fits = true;
    for (*number = 0; rest->p < rest->end && is_digit(*rest->p); rest->p++)
        fits = fits && !__builtin_mul_overflow(*number, 10, number) &&
               !__builtin_add_overflow(*number, *rest->p - '0', number);
    if (!fits)
        *number = STEP_FORM_UNKNOWN;
    return rest->p > from;
}

/* A sum or a product of numbers that may be unknown. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? STEP_FORM_UNKNOWN : sum;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? STEP_FORM_UNKNOWN : product;
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

/* The numbers of a name, by letter of its pattern. */
struct numbers {
    int64_t of[26]; /* STEP_FORM_UNKNOWN: none */
};

/* In a pattern, a letter after % is a number, and `~` an optional `_` with a number after it. */
static bool read_numbers(struct rest rest, const char *pattern, struct numbers *numbers)
{
    for (int i = 0; i < 26; i++)
        numbers->of[i] = STEP_FORM_UNKNOWN;
    for (; *pattern; pattern++) {
        const char letter[] = {*pattern, 0};
        int64_t second;
        bool taken;
        if (*pattern == '%')
            taken = take_number(&rest, &numbers->of[*++pattern - 'A']);
        else if (*pattern == '~')
            taken = !take(&rest, "_") || take_number(&rest, &second);
        else
            taken = take(&rest, letter);
        if (!taken)
            return false;
    }
    return rest.p == rest.end;
}

static int64_t number(const struct numbers *numbers, char letter)
{
    return numbers->of[letter - 'A'];
}

/* F1, F2, F5. */
static bool read_counts(struct rest rest, const char *pattern, struct step_form *form)
{
    struct numbers numbers;
    if (!read_numbers(rest, pattern, &numbers))
        return false;
    int64_t context = number(&numbers, 'C'), generation = number(&numbers, 'G');
    bool brackets = strchr(pattern, 'U') != NULL; /* of the generation */
    set_phase(form, context != 0      ? generation != 0 ? "mixed" : "prefill"
                    : generation != 0 ? "decode"
                                      : "idle");
    form->batch = plus(context, generation);
    form->tokens = plus(number(&numbers, 'T'), brackets ? number(&numbers, 'U') : generation);
    return true;
}

/* F6. */
static bool read_diffusion(struct rest rest, struct step_form *form)
{
    struct numbers numbers;
    if (!read_numbers(rest, "diffusion_%B_%Wx%H", &numbers))
        return false;
    set_phase(form, "diffusion");
    form->batch = number(&numbers, 'B');
    form->tokens = times(number(&numbers, 'W'), number(&numbers, 'H'));
    return true;
}

static bool take_value(struct rest *rest)
{
    const char *from = rest->p;
    if (take(rest, "[")) {
        const char *close = memchr(rest->p, ']', (size_t)(rest->end - rest->p));
        if (!close)
            return false;
        int64_t more;
        rest->p = close + 1;
        return !take(rest, "...+") || take_number(rest, &more);
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

/* The number that is the whole of a field, or STEP_FORM_UNKNOWN. */
static int64_t field_number(const struct field *field)
{
    struct rest value = field->value;
    int64_t found;
    return take_number(&value, &found) && value.p == value.end ? found : STEP_FORM_UNKNOWN;
}

/* Of fields with one key the first that is a number counts. */
static void take_first(int64_t *number, const struct field *field)
{
    if (*number == STEP_FORM_UNKNOWN)
        *number = field_number(field);
}

/* F3 after `step[`. */
static bool read_mode(struct rest rest, struct step_form *form)
{
    static const char *const phases[][2] = {
        {"EXTEND", "prefill"},       {"PREFILL", "prefill"},      {"SPLIT_PREFILL", "prefill"},
        {"DLLM_EXTEND", "prefill"},  {"TARGET_VERIFY", "verify"}, {"DRAFT_EXTEND", "draft"},
        {"DRAFT_EXTEND_V2", "draft"}, {"DECODE", "decode"},         {"VERIFY", "verify"},
        {"DRAFT", "draft"},           {"IDLE", "idle"}};
    struct rest mode = rest;
    struct field field;
    while (rest.p < rest.end && is_word(*rest.p) && !is_small(*rest.p))
        rest.p++;
    mode.end = rest.p;
    if (mode.p == mode.end)
        return false;
    form->phase = mode.p;
    form->phase_length = (size_t)(mode.end - mode.p);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (is(&mode, phases[i][0]))
            set_phase(form, phases[i][1]);
    int64_t context = STEP_FORM_UNKNOWN, generation = STEP_FORM_UNKNOWN;
    while (take(&rest, " ")) {
        if (!take_field(&rest, &field))
            return false;
        if (is(&field.key, "bs"))
            take_first(&form->batch, &field);
        else if (is(&field.key, "toks"))
            take_first(&form->tokens, &field);
        else if (is(&field.key, "c_sq"))
            take_first(&context, &field);
        else if (is(&field.key, "g_sq"))
            take_first(&generation, &field);
    }
    if (context >= 0 || generation >= 0)
        form->tokens = plus(context > 0 ? context : 0, generation > 0 ? generation : 0);
    else if (form->tokens < 0 && is(&mode, "DECODE"))
        form->tokens = form->batch;
    return is(&rest, "]");
}

/* Whether a value is a number above 0, however large. */
static bool is_positive(const struct rest *value)
{
    bool positive = false;
    for (const char *p = value->p; p < value->end; p++) {
        if (!is_digit(*p))
            return false;
        positive |= *p != '0';
    }
    return positive;
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
    if (!take_number(&rest, &form->batch) ||
        (take(&rest, "/") && !take_number(&rest, &form->padded)) || !take(&rest, " tok=") ||
        !take_number(&rest, &form->tokens))
        return false;
    while (take(&rest, " ")) {
        if (!take_field(&rest, &field))
            return false;
        mixed |= is(&field.key, "p") && is_positive(&field.value);
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
    int64_t step;
    return take(&rest, "#") && take_number(&rest, &step) && rest.p == end ? digits : NULL;
}

/* The name, without what depends on its phase. */
static bool read_form(struct rest rest, struct step_form *form)
{
    static const char *const counts[] = {
        "context_%C(%T~)_generation_%G(%U~)",
        "%N_context_%C(sq%Tsk%Nsqsq%Nsqsk%N)_generation_%G(sq%Usk%Nsqsq%Nsqsk%N)",
        "new_%C_cached_%G",
    };
    static const char *const executor[] = {
        " %N: %C ctx reqs, %T ctx tokens, %G gen reqs", " %N: %C ctx reqs, %G gen reqs",
        ": %C ctx reqs, %T ctx tokens, %G gen reqs", ": %C ctx reqs, %G gen reqs"};
    if (take(&rest, "execute_")) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            if (read_counts(rest, counts[i], form))
                return true;
        return read_diffusion(rest, form);
    }
    if (take(&rest, "[Executor] _forward_step")) {
        for (size_t i = 0; i < sizeof executor / sizeof *executor; i++)
            if (read_counts(rest, executor[i], form))
                return true;
        return false;
    }
    return take(&rest, "step[") ? read_mode(rest, form) : read_batch(rest, form);
}

bool step_form_read(const char *name, size_t length, struct step_form *form)
{
    static const char *const by_batch[] = {"decode", "verify", "draft", "idle"};
    *form = (struct step_form){
        NULL, 0, STEP_FORM_UNKNOWN, STEP_FORM_UNKNOWN, STEP_FORM_UNKNOWN, STEP_FORM_UNKNOWN};
    if (!read_form((struct rest){name, name + length}, form))
        return false;
    form->size = form->tokens;
    for (size_t i = 0; i < sizeof by_batch / sizeof *by_batch; i++)
        if (text_is(form->phase, form->phase_length, by_batch[i]))
            form->size = form->padded;
    if (form->size < 0)
        form->size = form->batch;
    return true;
}

uint64_t step_form_bucket(int64_t size)
{
    uint64_t bucket = (uint64_t)size, unit = 1;
    while (bucket / unit >= 8)
        unit *= 2;
    return (bucket + unit - 1) / unit * unit;
}
