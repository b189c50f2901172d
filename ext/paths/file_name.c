#include "file_name.h"

#include <string.h>
#include <strings.h>

#include "platform/path.h"
#include "text/ascii.h"
#include "text/number.h"

size_t path_process(const char *path)
{
    static const char tail[] = ".pt.trace.json", packed[] = ".gz";
    const char *name = path_name(path), *end = name + strlen(name);
    end -= ends(name, end, packed) ? sizeof packed - 1 : 0;
    if (!ends(name, end, tail))
        return 0;
    end -= sizeof tail - 1;
    const char *digits = end;
    while (digits > name && is_digit(digits[-1]))
        digits--;
    return digits < end && digits > name + 1 && digits[-1] == '.' ? (size_t)(digits - 1 - path) : 0;
}

/* Reads the number at `p`, after `-`, `_` or neither. False if there is none. */
static bool number_at(const char *p, int64_t *number)
{
    p += *p == '-' || *p == '_';
    const char *end = p;
    while (is_digit(*end))
        end++;
    while (p + 1 < end && *p == '0')
        p++;
    return number_integer((const unsigned char *)p, (size_t)(end - p), number);
}

int64_t path_rank(const char *path)
{
    const char *name = path_name(path);
    int64_t rank = -1;
    for (const char *p = name; *p; p++)
        if (strncasecmp(p, "rank", 4) == 0 && !(p > name && is_letter(p[-1])))
            number_at(p + 4, &rank);
    return rank;
}

const char coordinate_names[][3] = {"tp", "pp", "dp", "ep"};

struct coordinates coordinates_in(const char *text)
{
    struct coordinates found;
    for (int kind = 0; kind < COORDINATES; kind++) {
        found.of[kind].number = -1;
        found.of[kind].dashed = false;
        for (const char *p = text; *p; p++)
            if (strncasecmp(p, coordinate_names[kind], 2) == 0 && !(p > text && is_letter(p[-1])) &&
                number_at(p + 2, &found.of[kind].number))
                found.of[kind].dashed = p > text && p[-1] == '-' && p[2] == '-';
    }
    return found;
}
