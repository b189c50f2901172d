#include "common_ranks.h"

#include "base/memory.h"
#include "base/sort.h"
#include "step_choice.h"

/* The files of a rank on one side. */
struct rank_files {
    bool there, incomplete, clashes, with_steps, with_phase;
};

static struct common_rank *find(const struct common_ranks *ranks, int64_t rank)
{
    size_t i = 0;
    LOWER_BOUND(i, ranks->count, ranks->items[i].rank < rank);
    return &ranks->items[i];
}

/* Lists the ranks of both sides. */
static bool list_ranks(struct common_ranks *ranks, const struct trace *sides,
                       struct failure *failure)
{
    size_t i[2] = {0, 0};
    ranks->items = memory_zeroed(sides[0].rank_count + sides[1].rank_count, sizeof *ranks->items);
    if (!ranks->items)
        return failure_memory(failure);
    while (i[0] < sides[0].rank_count || i[1] < sides[1].rank_count) {
        bool more[2] = {i[0] < sides[0].rank_count, i[1] < sides[1].rank_count};
        int side = !more[0] || (more[1] && sides[1].ranks[i[1]] < sides[0].ranks[i[0]]);
        int64_t rank = sides[side].ranks[i[side]];
        ranks->items[ranks->count++] = (struct common_rank){.rank = rank};
        for (int s = 0; s < 2; s++)
            i[s] += more[s] && sides[s].ranks[i[s]] == rank;
    }
    return true;
}

/* Classifies the files of a side, by rank. */
static bool look_at_files(const struct common_ranks *ranks, const struct trace *side,
                          const struct selection *iterations, struct rank_files *files,
                          struct failure *failure)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct trace_member *member = &side->members[i];
        bool has = false;
        if (!member->chosen)
            continue;
        struct rank_files *of = &files[find(ranks, member->rank) - ranks->items];
        if (iterations->kind == SELECT_PHASE &&
            !trace_has_phase(member, iterations->phase, &has, failure))
            return false;
        of->there = true;
        of->incomplete = of->incomplete || member->file->outcome == DOCUMENT_DAMAGED;
        of->clashes = of->clashes || member->clashes;
        of->with_steps = of->with_steps || member->steps->count > 0;
        of->with_phase = of->with_phase || has;
    }
    return true;
}

static void leave_out(struct common_rank *rank, enum left_out why, int side)
{
    if (why == LEFT_STEPS || why == LEFT_PHASE)
        rank->with_steps[side] = false;
    if (rank->why == LEFT_NOT) {
        rank->why = why;
        rank->side = side;
    }
}

/* Leaves out a rank without steps, or without the phase, if other ranks of its side have them. */
static void compare_steps(struct common_ranks *ranks, struct rank_files *const *files,
                          enum left_out why)
{
    for (int side = 0; side < 2; side++) {
        bool any = false;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < ranks->count; i++) {
                const struct rank_files *of = &files[side][i];
                struct common_rank *rank = &ranks->items[i];
                bool has = why == LEFT_PHASE ? of->with_phase : of->with_steps;
                if (pass == 0)
                    any = any || (has && (rank->why == LEFT_NOT || rank->why == why));
                else if (any && !has)
                    leave_out(rank, why, side);
            }
    }
}

bool common_ranks_find(struct common_ranks *ranks, const struct trace *sides,
                       const struct selection *iterations, struct failure *failure)
{
    struct rank_files *files[2] = {NULL, NULL};
    *ranks = (struct common_ranks){.count = 0};
    bool done = list_ranks(ranks, sides, failure);
    for (int side = 0; side < 2 && done; side++) {
        files[side] = memory_zeroed(ranks->count, sizeof *files[side]);
        done = files[side] ? look_at_files(ranks, &sides[side], &iterations[side], files[side],
                                           failure)
                           : failure_memory(failure);
    }
    for (int side = 0; side < 2 && done; side++)
        for (size_t i = 0; i < ranks->count; i++) {
            const struct rank_files *of = &files[side][i];
            struct common_rank *rank = &ranks->items[i];
            rank->there[side] = rank->with_steps[side] = of->there;
            if (!of->there)
                leave_out(rank, LEFT_ALONE, 1 - side);
            if (of->incomplete)
                leave_out(rank, LEFT_INCOMPLETE, side);
            if (of->clashes)
                leave_out(rank, LEFT_CYCLES, side);
        }
    if (done) {
        compare_steps(ranks, files, LEFT_STEPS);
        compare_steps(ranks, files, LEFT_PHASE);
        for (size_t i = 0; i < ranks->count; i++)
            ranks->taken += ranks->items[i].why == LEFT_NOT;
    }
    for (int side = 0; side < 2; side++)
        memory_free(files[side]);
    if (!done)
        common_ranks_clear(ranks);
    return done;
}

void common_ranks_clear(struct common_ranks *ranks)
{
    memory_free(ranks->items);
    *ranks = (struct common_ranks){.count = 0};
}
