#include "bar.h"

#include <math.h>

static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

static void repeat(struct writer *to, const char *cell, int times)
{
    while (times-- > 0)
        write_string(to, cell);
}

/* How many pieces of a side are filled; a cell has `parts` pieces. */
static int pieces(double value, double greatest, int width, int parts)
{
    double share = greatest > 0 ? fabs(value) / greatest : value != 0;
    if (!(share < 1))
        return width * parts;
    int filled = (int)nearbyint(share * width * parts);
    return filled == 0 && value != 0 ? 1 : filled;
}

void write_bar(struct writer *to, double value, double greatest, int width, bool ascii)
{
    bool beyond = fabs(value) > greatest, left = value < 0;
    int parts = ascii ? 1 : left ? 2 : 8, filled = pieces(value, greatest, width, parts);
    int cells = filled / parts - beyond, rest = filled % parts;
    int empty = width - cells - beyond - (rest > 0);
    const char *full = ascii ? "#" : "█", *axis = ascii ? "|" : "│";
    if (left) {
        repeat(to, " ", empty);
        repeat(to, "<", beyond);
        repeat(to, "▐", rest > 0);
        repeat(to, full, cells);
        write_string(to, axis);
        repeat(to, " ", width);
        return;
    }
    repeat(to, " ", width);
    write_string(to, axis);
    repeat(to, full, cells);
    write_string(to, eighths[rest]);
    repeat(to, ">", beyond);
    repeat(to, " ", empty);
}
