#include "nearest.h"

#include "text/ascii.h"

enum { LONGEST = 63, SHORTEST = 2, CONTAINED = 2 };

static bool contains(const char *text, size_t length, const char *part, size_t part_length)
{
    for (size_t at = 0; at + part_length <= length; at++) {
        size_t same = 0;
        while (same < part_length && small(text[at + same]) == small(part[same]))
            same++;
        if (same == part_length)
            return true;
    }
    return false;
}

/* Levenshtein distance, ignoring case. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int least = diagonal + (small(a[i - 1]) != small(b[j - 1]));
            diagonal = row[j];
            least = least < row[j - 1] + 1 ? least : row[j - 1] + 1;
            row[j] = least < row[j] + 1 ? least : row[j] + 1;
        }
    }
    return row[b_length];
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    size_t length = strlen(name);
    if (nearest->length == 0 || nearest->length > LONGEST || length > LONGEST)
        return;
    int found = distance(nearest->word, nearest->length, name, length);
    bool contained = nearest->length >= SHORTEST && length >= SHORTEST &&
                     (contains(name, length, nearest->word, nearest->length) ||
                      contains(nearest->word, nearest->length, name, length));
    if (contained && found > CONTAINED)
        found = CONTAINED;
    bool near = contained || found <= 1 + (int)nearest->length / 3;
    if (!near || (nearest->name && nearest->distance <= found))
        return;
    nearest->name = name;
    nearest->distance = found;
}
