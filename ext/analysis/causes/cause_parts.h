/*
** The parts of causes: the times of both sides by class, family and name, and the areas of each
** part.
*/
#ifndef TRACEDIFF_CAUSE_PARTS_H
#define TRACEDIFF_CAUSE_PARTS_H

#include "causes.h"

/* The time of a part in one area and one operator or, for host time, in one stage of the step. */
struct cause_place {
    enum step_class step_class;
    uint32_t family, name, area; /* ids in causes.names, or NAME_NONE */
    uint32_t late_area;          /* 'host late' only: the host's area (L2.3) */
    uint32_t op;                 /* computations only: innermost operator around the launch */
    uint32_t unit;               /* kernel of device work, else innermost operator */
    enum stage stage;            /* STAGE_NONE: device work */
    wide_time time[2];           /* ns */
    wide_time drained[2];        /* ns: its share that is drained (L8) */
    int64_t kernels[2];          /* number of device events that start in it */
    wide_time shifted;  /* ns of control: time that moved from it or to it (L12) */
    wide_time received; /* ns of control, part of `time`: time that moved to it minus from it */
    bool moved;         /* some time moved, and only one side had the part */
};

struct cause_part {
    size_t first, count; /* range of its places */
    wide_time time[2];   /* ns */
    wide_time drained[2];
    wide_time diff;      /* ns times the windows of both sides */
    enum stage stage;    /* stage with the most time; ties: the first in the enum */
    enum cause_kind kind;
    bool single;  /* a cause with this part alone */
    bool loose;   /* replaced outside of families (L2.7) */
    bool moved;   /* a place of it has moved */
    wide_time shifted, received; /* ns of control: sums over its places */
    size_t cause; /* index in causes.items before causes are merged and sorted */
    size_t next;  /* next part of the same cause, plus 1; 0: none */
};

struct cause_parts {
    struct cause_place *places;
    size_t place_count, place_capacity;
    struct cause_part *items; /* grouped by class and family */
    size_t count;
    uint32_t *late_areas; /* ids of areas that are causes (L2.3); the family of their places */
    size_t late_area_count;
    uint32_t *same; /* by name id: id of the common name (L12.4) */
    size_t same_count;
};

/* Finds the places, adopts their names into causes->names, and sets the windows. On failure `parts`
** is empty. */
bool cause_parts_find(struct cause_parts *parts, struct causes *causes,
                      const struct cause_side *sides, const struct families *families,
                      const struct stopper *stopper, struct failure *failure);

/* Sorts the places again and makes parts of them. On failure `parts` is empty. */
bool cause_parts_build(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure);

/* Sorts places and adds up equal ones. */
bool cause_places_join(struct cause_parts *parts, const struct stopper *stopper,
                       struct failure *failure);

/* The order of places by part. */
int cause_part_order(const struct cause_place *x, const struct cause_place *y);

/* Replaces the names of a place by their common names. */
void cause_place_same(const struct cause_parts *parts, struct cause_place *place);

/* Adds the parts of a cause to another cause. */
void cause_parts_join(const struct causes *causes, struct cause *to, const struct cause *from);

/* Finds the index of the part that a row belongs to; `count` if it belongs to none. `text` has room
** for cause_text_room() bytes. False if out of memory. */
bool cause_parts_locate(const struct cause_parts *parts, struct causes *causes,
                        const struct cause_side *side, const struct families *families, int number,
                        const struct attributed *row, char *text, size_t *part);

/* Returns the bytes needed for any name of a side. */
size_t cause_text_room(const struct cause_side *side);

void cause_parts_clear(struct cause_parts *parts);

/* Whether a class is device work, which has areas. */
static inline bool class_has_areas(enum step_class step_class)
{
    return step_class <= CLASS_MEMORY;
}

/* Whether the device is idle in this class because the host has not launched yet. */
static inline bool class_is_late(enum step_class step_class)
{
    return step_class == CLASS_IDLE_CALL || step_class == CLASS_IDLE_HOST ||
           step_class == CLASS_IDLE_LAUNCH;
}

/* L2.2: whether control has no recorded time in a part. */
static inline bool cause_part_came(const struct cause_part *part)
{
    return part->time[0] == part->received;
}

/* L8.4: whether synchronization makes a part longer or shorter. */
bool cause_part_is_drained(const struct causes *causes, const struct cause_part *part);

/* Orders names by text, NAME_NONE first. */
int cause_name_order(const struct causes *causes, uint32_t a, uint32_t b);

#endif
