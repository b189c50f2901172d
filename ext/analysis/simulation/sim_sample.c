#include "sim_sample.h"

#include "analysis/parts/busy.h"
#include "analysis/parts/step_windows.h"
#include "base/integers.h"
#include "base/memory.h"

enum { RUN = 4 /* consecutive steps */ };

/* Returns the numbers of the chosen steps, ascending; NULL on failure. */
static int64_t *list_numbers(const struct trace *trace, const struct step_choice *choice,
                             size_t *count, struct failure *failure)
{
    size_t most = 0;
    *count = 0;
    for (size_t i = 0; i < trace->count; i++)
        most += choice->chosen[i] ? trace->members[i].steps->iteration_count : 0;
    int64_t *numbers = memory_items(most, sizeof *numbers);
    if (!numbers)
        failure_memory(failure);
    for (size_t i = 0; numbers && i < trace->count; i++)
        for (uint32_t s = 0; choice->chosen[i] && s < trace->members[i].steps->iteration_count; s++)
            if (choice->chosen[i][s])
                numbers[(*count)++] = member_iteration(&trace->members[i], s);
    *count = numbers ? sort_integers(numbers, *count) : 0;
    return numbers;
}

/* E11.1: keeps at most `most` numbers, in runs. Returns how many it kept. */
static size_t keep_runs(int64_t *numbers, size_t count, size_t most)
{
    size_t run = most < RUN ? most : RUN, runs = most / run, kept = 0;
    for (size_t r = 0; r < runs; r++) {
        size_t middle = (2 * r + 1) * count / (2 * runs);
        for (size_t i = 0; i < run; i++)
            numbers[kept++] = numbers[middle - run / 2 + i];
    }
    return kept;
}

/* E11.2: adds the stretch of a sampled step. At the start of a run, it includes the step before. */
static void add_stay(struct sim_share *share, const struct windows *host, const struct windows *own,
                     size_t i)
{
    int64_t start = host->items[i - (i > 0)].start, end = own->items[i].end;
    struct sim_stay *last = &share->stays[share->count - (share->count > 0)];
    end = end > host->items[i].end ? end : host->items[i].end;
    if (share->count == 0 ||
        (start > last->end && !share->taken[host->items[i - 1].step]))
        share->stays[share->count++] = (struct sim_stay){start, end};
    else
        last->end = end > last->end ? end : last->end;
}

/* Finds the share of a member with steps. */
static bool find_share(struct sim_share *share, const struct trace_member *member,
                       const int64_t *numbers, size_t count, const struct stopper *stopper,
                       struct failure *failure)
{
    size_t iterations = member->steps->iteration_count;
    struct windows host, own = {.items = NULL};
    share->taken = memory_zeroed(iterations + 1, sizeof *share->taken);
    share->stays = memory_items(member->steps->count + 1, sizeof *share->stays);
    host.items = NULL;
    bool done = (share->taken && share->stays) || failure_memory(failure);
    for (uint32_t s = 0; done && s < iterations; s++)
        share->taken[s] = has_integer(numbers, count, member_iteration(member, s));
    done = done && windows_make(&host, member, false, stopper, failure) &&
           windows_make(&own, member, busy_any(&member->file->columns), stopper, failure);
    for (size_t i = 0; done && i < host.count; i++)
        if (share->taken[host.items[i].step])
            add_stay(share, &host, &own, i);
    windows_clear(&host);
    windows_clear(&own);
    return done;
}

/* Limits the chosen steps to the sample. */
static bool choose(struct sim_sample *sample, const struct step_choice *choice)
{
    const struct trace *trace = sample->trace;
    sample->choice = (struct step_choice){.steps = choice->steps};
    sample->choice.chosen = memory_zeroed(trace->count, sizeof *sample->choice.chosen);
    for (size_t i = 0; sample->choice.chosen && i < trace->count; i++) {
        size_t count = choice->chosen[i] ? trace->members[i].steps->iteration_count : 0;
        unsigned char *chosen = choice->chosen[i] ? memory_zeroed(count + 1, 1) : NULL;
        sample->choice.chosen[i] = chosen;
        if (choice->chosen[i] && !chosen)
            return false;
        for (size_t s = 0; chosen && s < count && sample->shares[i].taken; s++)
            chosen[s] = sample->shares[i].taken[s] ? choice->chosen[i][s] : 0;
    }
    return sample->choice.chosen != NULL;
}

bool sim_sample_make(struct sim_sample *sample, const struct trace *trace,
                     const struct step_choice *choice, size_t most, const struct stopper *stopper,
                     struct failure *failure)
{
    size_t count;
    *sample = (struct sim_sample){.trace = trace};
    if (choice->everything)
        return true;
    int64_t *numbers = list_numbers(trace, choice, &count, failure);
    bool done = numbers != NULL;
    sample->of = count;
    if (done && count > most) {
        count = keep_runs(numbers, count, most);
        sample->shares = memory_zeroed(trace->count, sizeof *sample->shares);
        done = sample->shares || failure_memory(failure);
        for (size_t i = 0; done && i < trace->count; i++)
            done = !trace->members[i].chosen || trace->members[i].steps->count == 0 ||
                   find_share(&sample->shares[i], &trace->members[i], numbers, count, stopper,
                              failure);
        done = done && (choose(sample, choice) || failure_memory(failure));
    }
    sample->steps = count;
    memory_free(numbers);
    if (!done)
        sim_sample_clear(sample);
    return done;
}

bool sim_share_has(const struct sim_share *share, int64_t start, int64_t end)
{
    size_t i = 0;
    while (share && i < share->count && share->stays[i].end < start)
        i++;
    return !share || (i < share->count && share->stays[i].start <= end);
}

void sim_sample_clear(struct sim_sample *sample)
{
    for (size_t i = 0; sample->shares && i < sample->trace->count; i++) {
        memory_free(sample->shares[i].taken);
        memory_free(sample->shares[i].stays);
    }
    memory_free(sample->shares);
    if (sample->choice.chosen)
        step_choice_clear(sample->trace, &sample->choice);
    *sample = (struct sim_sample){.trace = NULL};
}
