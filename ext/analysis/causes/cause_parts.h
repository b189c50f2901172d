/*
** The parts that causes are made of: the times of both sides by class, family and name, and the
** areas of each.
*/
#ifndef TRACEDIFF_CAUSE_PARTS_H
#define TRACEDIFF_CAUSE_PARTS_H

#include "causes.h"

/* The time of a part in one area and one operator or, of the host, in one part of the step. */
struct cause_place {
    enum step_class step_class;
    uint32_t family, name, area; /* ids in causes.names; NAME_NONE */
    uint32_t late_area;          /* of 'host late': the area of the host (L2.3) */
    uint32_t op;                 /* of computations: the innermost operator of their launch */
    uint32_t unit;               /* of device work the kernel, else the innermost operator */
    enum stage stage;            /* STAGE_NONE: device work */
    wide_time time[2];           /* ns */
    wide_time drained[2];        /* ns: of these, what is drained (L8) */
    int64_t kernels[2];          /* events of device work that start in it */
    wide_time shifted;  /* ns of control: what moved from or to it (L12) */
    wide_time received; /* ns of control, of `time`: what moved to it less what moved from it */
    bool moved;         /* some of it did, and one side alone had the part */
};

struct cause_part {
    size_t first, count; /* its places */
    wide_time time[2];   /* ns */
    wide_time drained[2];
    wide_time diff;      /* ns, times the windows of both sides */
    enum stage stage;    /* that most of it is in; ties: the first of the enum */
    enum cause_kind kind;
    bool single;  /* a cause of its own */
    bool loose;   /* replaced outside of families (L2.7) */
    bool moved;   /* so is a place of it */
    wide_time shifted, received; /* ns of control: the sums over its places */
    size_t cause; /* index in causes.items, before causes are merged and ordered */
    size_t next;  /* another part of the same cause, plus 1; 0: none */
};

struct cause_parts {
    struct cause_place *places;
    size_t place_count, place_capacity;
    struct cause_part *items; /* those of a class and family one after the other */
    size_t count;
    uint32_t *late_areas; /* ids: the areas that are causes (L2.3); the family of their places */
    size_t late_area_count;
    uint32_t *same; /* by id of a name: the one that it is the same as (L12.4) */
    size_t same_count;
};

/* Finds the places, adopts their names into causes->names, and sets the windows. On failure nothing
** is left in `parts`. */
bool cause_parts_find(struct cause_parts *parts, struct causes *causes,
                      const struct cause_side *sides, const struct families *families,
                      const struct stopper *stopper, struct failure *failure);

/* Orders the places again, and makes parts of them. On failure nothing is left in `parts`. */
bool cause_parts_build(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure);

/* Orders places, and adds up equal ones. */
bool cause_places_join(struct cause_parts *parts, const struct stopper *stopper,
                       struct failure *failure);

/* The order of places by part. */
int cause_part_order(const struct cause_place *x, const struct cause_place *y);

/* Gives a place the names that its own are the same as. */
void cause_place_same(const struct cause_parts *parts, struct cause_place *place);

/* Adds the parts of a cause to those of another. */
void cause_parts_join(const struct causes *causes, struct cause *to, const struct cause *from);

/* Finds the part that a row of a side belongs to: its index, or `count` if no step of the causes
** has it. `text` has room for cause_text_room(). False if out of memory. */
bool cause_parts_locate(const struct cause_parts *parts, struct causes *causes,
                        const struct cause_side *side, const struct families *families, int number,
                        const struct attributed *row, char *text, size_t *part);

/* Bytes for names of a side, while its rows are read. */
size_t cause_text_room(const struct cause_side *side);

void cause_parts_clear(struct cause_parts *parts);

/* Whether a class is work of the device, which has areas. */
static inline bool class_has_areas(enum step_class step_class)
{
    return step_class <= CLASS_MEMORY;
}

/* Whether the device waits in it because the host has not launched. */
static inline bool class_is_late(enum step_class step_class)
{
    return step_class == CLASS_IDLE_CALL || step_class == CLASS_IDLE_HOST ||
           step_class == CLASS_IDLE_LAUNCH;
}

/* L2.2: whether control recorded no time of a part. */
static inline bool cause_part_came(const struct cause_part *part)
{
    return part->time[0] == part->received;
}

/* L8.4: whether a part is longer or shorter because of what synchronizes. */
bool cause_part_is_drained(const struct causes *causes, const struct cause_part *part);

/* Orders names by their texts; NAME_NONE goes first. */
int cause_name_order(const struct causes *causes, uint32_t a, uint32_t b);

#endif
