#include "step_choice.h"

#include <stdio.h>
#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "naming/step_form.h"

/* The distinct step numbers of a file, ascending. */
static size_t own_steps(const struct trace_member *member, int64_t *numbers)
{
    size_t count = 0;
    for (uint32_t i = 0; i < member->steps->iteration_count; i++)
        if (member->steps->first[i] != ROW_NONE)
            numbers[count++] = member_iteration(member, i);
    return count;
}

/* Reads the name of a step's phase; false if it has none. */
static bool read_phase(const struct trace_member *member, uint32_t iteration,
                       struct step_form *form)
{
    const struct steps *steps = member->steps;
    uint32_t name = steps->items[steps->first[iteration]].form;
    return name != NAME_NONE && step_form_read(member->file->names.items[name].text,
                                               member->file->names.items[name].length, form);
}

/* Whether a text names a step's phase or stratum. */
static bool same_phase(const struct step_form *form, const char *text)
{
    char size[24];
    size_t i = 0;
    while (i < form->phase_length && text[i] && small(form->phase[i]) == small(text[i]))
        i++;
    if (i < form->phase_length || (text[i] && form->size == STEP_FORM_UNKNOWN))
        return false;
    snprintf(size, sizeof size, " %llu", (unsigned long long)step_form_bucket(form->size));
    return !text[i] || strcmp(text + i, size) == 0;
}

static bool is_steady(int64_t number, const int64_t *numbers, size_t count)
{
    return count < 3 || (number != numbers[0] && number != numbers[count - 1]);
}

/* Leaves out steps that end after the first launch whose work was still waiting when the recording
** ended (I5), unless no step would remain. */
static void leave_waiting(const struct trace_member *member, unsigned char *chosen)
{
    const struct steps *steps = member->steps;
    int64_t from = member->file->health.waits_from;
    enum { WAITS = 2 };
    bool left = false;
    for (size_t i = 0; i < steps->count && from < INT64_MAX; i++)
        if (steps->items[i].end > from)
            chosen[steps->items[i].iteration] |= WAITS;
    for (uint32_t i = 0; i < steps->iteration_count; i++)
        left = left || chosen[i] == 1;
    for (uint32_t i = 0; i < steps->iteration_count; i++)
        chosen[i] = left ? chosen[i] == 1 : chosen[i] & 1;
}

/* Marks the chosen steps of a file; `numbers` are the file's step numbers, ascending. */
static void choose_steps(const struct trace_member *member, const struct selection *iterations,
                         int64_t lowest, const int64_t *numbers, size_t count,
                         unsigned char *chosen, int64_t *steps)
{
    for (uint32_t i = 0; i < member->steps->iteration_count; i++) {
        int64_t number = member_iteration(member, i);
        bool wanted = member->steps->first[i] != ROW_NONE;
        struct step_form form;
        if (iterations->kind == SELECT_STEADY || iterations->kind == SELECT_PHASE)
            wanted = wanted && is_steady(number, numbers, count);
        else if (iterations->kind == SELECT_LIST)
            wanted = wanted && has_integer(iterations->values, iterations->count, number);
        else if (iterations->kind == SELECT_FIRST)
            wanted = wanted && number == lowest;
        if (iterations->kind == SELECT_PHASE)
            wanted = wanted && read_phase(member, i, &form) && same_phase(&form, iterations->phase);
        chosen[i] = wanted;
    }
    if (iterations->kind == SELECT_STEADY || iterations->kind == SELECT_PHASE)
        leave_waiting(member, chosen);
    for (uint32_t i = 0; i < member->steps->iteration_count; i++)
        *steps += chosen[i];
}

bool trace_steady_steps(const struct trace_member *member, unsigned char *steady,
                        struct failure *failure)
{
    const struct selection iterations = {.kind = SELECT_STEADY};
    int64_t *numbers = memory_items(member->steps->iteration_count, sizeof *numbers), steps = 0;
    if (!numbers)
        return failure_memory(failure);
    size_t count = own_steps(member, numbers);
    choose_steps(member, &iterations, 0, numbers, count, steady, &steps);
    memory_free(numbers);
    return true;
}

bool trace_has_phase(const struct trace_member *member, const char *phase, bool *has,
                     struct failure *failure)
{
    int64_t *numbers = memory_zeroed(member->steps->count, sizeof *numbers);
    *has = false;
    if (!numbers)
        return failure_memory(failure);
    size_t count = own_steps(member, numbers);
    for (uint32_t i = 0; i < member->steps->iteration_count && !*has; i++) {
        struct step_form form;
        *has = member->steps->first[i] != ROW_NONE &&
               is_steady(member_iteration(member, i), numbers, count) &&
               read_phase(member, i, &form) && same_phase(&form, phase);
    }
    memory_free(numbers);
    return true;
}

/* The chosen file of the lowest rank with steps, or without steps; NULL if there is none. */
static const struct trace_member *lowest_rank(const struct trace *trace, bool with_steps)
{
    const struct trace_member *lowest = NULL;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (member->chosen && (member->steps->count > 0) == with_steps &&
            (!lowest || member->rank < lowest->rank))
            lowest = member;
    }
    return lowest;
}

const struct trace_member *trace_reference(const struct trace *trace)
{
    const struct trace_member *with = lowest_rank(trace, true);
    return with ? with : lowest_rank(trace, false);
}

/* Rejects a trace in which only some ranks have steps (T12): a rank without steps would vanish from
** the result, and its side of a diff would look faster. */
static bool check_steps(const struct trace *trace, const char *subject, struct failure *failure)
{
    const struct trace_member *with = lowest_rank(trace, true);
    const struct trace_member *without = lowest_rank(trace, false);
    if (!with || !without)
        return true;
    return failure_set(failure, FAILURE_REQUEST,
                       "rank %lld of %s has no steps ('%s'), but rank %lld has: choose ranks that "
                       "have steps, or iterations 'all'",
                       (long long)without->rank, subject, without->path, (long long)with->rank);
}

/* Whether steps of a file are chosen: `only` NULL: for every rank; otherwise for its rank. */
static bool gives_steps(const struct trace_member *member, const struct trace_member *only)
{
    return member->chosen && (!only || member->rank == only->rank);
}

/* Whether any step of a rank is chosen. */
static bool rank_is_chosen(const struct trace *trace, size_t rank_index,
                           const struct step_choice *choice)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (choice->chosen[i] && member->rank_index == rank_index &&
            memchr(choice->chosen[i], 1, member->steps->iteration_count))
            return true;
    }
    return false;
}

/* A list of phases for an error message. */
struct phase_list {
    char text[200];
    bool cut;
};

/* Adds a step's phase to a list, unless already listed; with its size, if known. */
static void list_phase(struct phase_list *list, const struct step_form *form, bool sized)
{
    char word[100], size[24] = "";
    size_t length = strlen(list->text), from = 0, shown = form->phase_length;
    if (list->cut)
        return;
    if (sized && form->size != STEP_FORM_UNKNOWN)
        snprintf(size, sizeof size, " %llu", (unsigned long long)step_form_bucket(form->size));
    if (shown > sizeof word - sizeof size - 3) { /* too long to print */
        shown = sizeof word - sizeof size - 3;
        strcpy(size, "...");
    }
    for (size_t i = 0; i < shown; i++)
        word[i] = (char)small(form->phase[i]);
    strcpy(word + shown, size);
    while (from < length) {
        size_t end = from + strcspn(list->text + from, ",");
        if (end - from == strlen(word) && memcmp(list->text + from, word, end - from) == 0)
            return;
        from = end + 2;
    }
    list->cut = length + strlen(word) + sizeof ", , ..." > sizeof list->text;
    snprintf(list->text + length, sizeof list->text - length, "%s%s", length ? ", " : "",
             list->cut ? "..." : word);
}

/* Checks that each rank has a step of the requested phase (T23). */
static bool check_phase(const struct trace *trace, const char *phase,
                        const struct trace_member *only, const char *subject,
                        const struct step_choice *choice, struct failure *failure)
{
    for (size_t rank = 0; rank < trace->rank_count; rank++) {
        struct phase_list list = {.cut = false};
        bool any = false;
        if (rank_is_chosen(trace, rank, choice))
            continue;
        for (size_t i = 0; i < trace->count; i++) {
            const struct trace_member *member = &trace->members[i];
            struct step_form form;
            if (!gives_steps(member, only) || member->rank_index != rank)
                continue;
            any = true;
            for (uint32_t step = 0; step < member->steps->iteration_count; step++)
                if (member->steps->first[step] != ROW_NONE && read_phase(member, step, &form))
                    list_phase(&list, &form, strchr(phase, ' ') != NULL);
        }
        if (any)
            return failure_set(failure, FAILURE_REQUEST,
                               "rank %lld of %s has no steady step of phase '%s' (phases: %s)",
                               (long long)trace->ranks[rank], subject, phase,
                               *list.text
                                   ? list.text
                                   : "none; other words are 'all', 'steady' and 'first'");
    }
    return true;
}

bool trace_choose_steps(const struct trace *trace, const struct selection *iterations,
                        enum step_owners owners, const char *subject, struct step_choice *choice,
                        struct failure *failure)
{
    const struct trace_member *only = owners == STEPS_OF_JOB ? trace_reference(trace) : NULL;
    size_t total = 0, used = 0;
    *choice = (struct step_choice){.everything = iterations->kind == SELECT_ALL};
    if (!choice->everything && !check_steps(trace, subject, failure))
        return false;
    for (size_t i = 0; i < trace->count; i++)
        if (gives_steps(&trace->members[i], only))
            total += trace->members[i].steps->count;
    int64_t *numbers = memory_zeroed(total, sizeof *numbers);
    choice->chosen = memory_zeroed(trace->count, sizeof *choice->chosen);
    bool done = (numbers && choice->chosen) || failure_memory(failure);
    for (size_t i = 0; done && i < trace->count; i++)
        if (gives_steps(&trace->members[i], only))
            used += own_steps(&trace->members[i], numbers + used);
    used = sort_integers(numbers, used);
    done = done && selection_check(iterations, numbers, used, subject, "step", failure);
    if (used == 0 && iterations->kind != SELECT_PHASE)
        choice->everything = true;
    int64_t lowest = used > 0 ? numbers[0] : 0;
    for (size_t i = 0; done && i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (!gives_steps(member, only))
            continue;
        choice->chosen[i] = memory_zeroed(member->steps->iteration_count, 1);
        if (!choice->chosen[i]) {
            done = failure_memory(failure);
            break;
        }
        size_t count = own_steps(member, numbers);
        choose_steps(member, iterations, lowest, numbers, count, choice->chosen[i], &choice->steps);
        choice->steps += member->steps->count == 0 && member->file->first != NUMBER_NONE;
    }
    if (choice->steps == 0)
        choice->steps = 1;
    memory_free(numbers);
    return done && (iterations->kind != SELECT_PHASE || owners == STEPS_OF_ANY ||
                    check_phase(trace, iterations->phase, only, subject, choice, failure));
}

void step_choice_clear(const struct trace *trace, struct step_choice *choice)
{
    for (size_t i = 0; choice->chosen && i < trace->count; i++)
        memory_free(choice->chosen[i]);
    memory_free(choice->chosen);
    *choice = (struct step_choice){.everything = false};
}

void trace_last_step(const struct trace *trace, bool included, int64_t *limits)
{
    for (size_t rank = 0; rank < trace->rank_count; rank++) {
        bool any = false, several = false; /* equal numbers: one step */
        int64_t start = INT64_MIN, end = INT64_MIN, number = 0;
        for (size_t i = 0; i < trace->count; i++) {
            const struct trace_member *member = &trace->members[i];
            if (!member->chosen || member->rank_index != rank)
                continue;
            const struct steps *steps = &member->file->profiler_steps;
            for (size_t s = 0; s < steps->count; s++) {
                const struct step *step = &steps->items[s];
                start = step->start > start ? step->start : start;
                end = step->end > end ? step->end : end;
                several = several || (any && steps->iterations[step->iteration] != number);
                number = steps->iterations[step->iteration];
                any = true;
            }
        }
        if (!several)
            limits[rank] = INT64_MAX;
        else
            limits[rank] = included ? end + (end < INT64_MAX) : start;
    }
}
