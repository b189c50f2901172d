#include "ticks.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "naming/short_name.h"

enum { ROOM = 108, OWN = 36, OTHERS = 64, DROPPED = 5, FRAMED = 4 };

static const char *const dropped[DROPPED] = {
    "autograd::engine::evaluate_function: ", "torch::autograd::", "nn.Module: ", "Optimizer.step#",
    "at::native::"};

static const struct {
    const char *begin, *end, *text; /* text: instead of the name; NULL: what is between */
} framed[FRAMED] = {
    {"enumerate(DataLoader)#_SingleProcess", "", "DataLoader next batch, in this process"},
    {"enumerate(DataLoader)#_MultiProcessing", "", "DataLoader next batch, from workers"},
    {"## ", " ##", NULL},
    {"CppNode<", ">", NULL},
};

/* Appends a text without the dropped texts. */
static void write_bare(struct writer *to, const char *text, const char *end)
{
    while (text < end) {
        size_t i = 0;
        while (i < DROPPED && !begins(text, end, dropped[i]))
            i++;
        if (i == DROPPED)
            write_bytes(to, text, 1);
        text += i == DROPPED ? 1 : strlen(dropped[i]);
    }
}

/* Appends the short name of a row. */
static bool write_brief(const struct figure *figure, struct writer *to, size_t row)
{
    struct writer bare = {0};
    struct text_span name = {figure->rows[row].name.at, figure->rows[row].first};
    const char *text = figure_text(figure, name), *end = text + name.length;
    size_t i = 0;
    write_bare(&bare, text, end);
    if (bare.length > 0) {
        text = bare.bytes;
        end = text + bare.length;
    }
    while (i < FRAMED && (!begins(text, end, framed[i].begin) || !ends(text, end, framed[i].end)))
        i++;
    if (i < FRAMED && framed[i].text) {
        write_string(to, framed[i].text);
    } else if (i < FRAMED &&
               strlen(framed[i].begin) + strlen(framed[i].end) < (size_t)(end - text)) {
        text += strlen(framed[i].begin);
        write_bytes(to, text, (size_t)(end - text) - strlen(framed[i].end));
    } else if (MEMORY_GROW(to->bytes, to->capacity, to->length + (size_t)(end - text) + 1)) {
        to->length += name_short(text, (size_t)(end - text), to->bytes + to->length);
    } else {
        to->failed = true;
    }
    bool made = !to->failed && !bare.failed;
    writer_clear(&bare);
    return made;
}

/* The bytes of at most `room` characters of a text. */
static size_t bytes_of(const char *text, size_t length, size_t room)
{
    size_t at = 0;
    while (at < length && (room > 0 || ((unsigned char)text[at] & 0xc0) == 0x80)) {
        room -= room > 0 && ((unsigned char)text[at] & 0xc0) != 0x80;
        at++;
    }
    return at;
}

static bool same_span(const struct ticks *ticks, size_t a, size_t b)
{
    const struct text_span *one = &ticks->spans[a], *other = &ticks->spans[b];
    return one->length == other->length && one->length > 0 &&
           memcmp(ticks->text.bytes + one->at, ticks->text.bytes + other->at, one->length) == 0;
}

/* The part of a row's name that differs from others with the same short name. Compares at most
** OTHERS of them, which bounds the time. Empty if there are none, or if the names are equal. */
static struct text_span own_part(const struct figure *figure, const struct ticks *brief, size_t row)
{
    struct text_span name = figure->rows[row].name;
    const char *text = figure_text(figure, name);
    size_t length = figure->rows[row].first, before = length, others = 0;
    for (size_t i = 0; i < figure->row_count && others < OTHERS; i++) {
        const char *other = figure_text(figure, figure->rows[i].name);
        size_t its = figure->rows[i].first, most = its < length ? its : length, same = 0;
        if (i == row || !same_span(brief, i, row))
            continue;
        while (same < most && text[same] == other[same])
            same++;
        if (same == length && same == its)
            continue; /* the names are equal */
        before = same < before ? same : before;
        others++;
    }
    bool whole = brief->spans[row].length == length; /* nothing was left out of the name */
    if (others == 0 || before == length || whole)
        return (struct text_span){0};
    while (before > 0 && !strchr("<(,", text[before - 1]))
        before--;
    while (before < length && text[before] == ' ')
        before++;
    return (struct text_span){name.at + before, bytes_of(text + before, length - before, OWN)};
}

/* Appends the label of a row. */
static void write_row(const struct figure *figure, const struct ticks *brief, size_t row,
                      struct writer *to)
{
    struct text_span name = figure->rows[row].name, own = own_part(figure, brief, row);
    struct text_span it = brief->spans[row];
    size_t first = figure->rows[row].first, rest = name.length - first;
    size_t taken = rest + (own.length > 0 ? OWN + 3 : 0);
    size_t room = taken < ROOM - OWN ? ROOM - taken : OWN;
    const char *text = brief->text.bytes + it.at;
    write_bytes(to, text, bytes_of(text, it.length, room));
    if (own.length > 0) {
        write_string(to, " · ");
        write_bytes(to, figure_text(figure, own), own.length);
    }
    write_bytes(to, figure_text(figure, name) + first, rest);
    if (figure->chart->kind == CHART_WATERFALL && (row == 0 || row + 1 == figure->row_count)) {
        struct scale scale = figure_scale(figure, 0);
        write_string(to, ": ");
        write_amount(to, figure->series[row > 0].y[row] / scale.divisor, scale.brief);
        write_string(to, scale.unit);
    }
}

bool ticks_make(const struct figure *figure, struct ticks *ticks)
{
    struct ticks brief = {0};
    size_t count = figure->row_count;
    *ticks = (struct ticks){0};
    if (count == 0)
        return true;
    brief.spans = memory_zeroed(count, sizeof *brief.spans);
    ticks->spans = memory_zeroed(count + 1, sizeof *ticks->spans);
    bool made = brief.spans && ticks->spans;
    for (size_t row = 0; row < count && made && figure->chart->shorten; row++) {
        brief.spans[row].at = brief.text.length;
        made = write_brief(figure, &brief.text, row);
        brief.spans[row].length = brief.text.length - brief.spans[row].at;
    }
    for (size_t row = 0; row < count && made; row++) {
        struct text_span name = figure->rows[row].name;
        int64_t same = 1;
        if (figure->chart->shorten)
            write_row(figure, &brief, row, &ticks->text);
        else
            write_bytes(&ticks->text, figure_text(figure, name), name.length);
        made = !ticks->text.failed;
        ticks->spans[row].length = ticks->text.length - ticks->spans[row].at;
        for (size_t i = 0; i < row && made; i++)
            same += same_span(ticks, i, row);
        if (same > 1) {
            write_string(&ticks->text, " #");
            write_integer(&ticks->text, same);
        }
        ticks->spans[row + 1].at = ticks->text.length;
    }
    made = made && !ticks->text.failed;
    ticks_clear(&brief);
    return made;
}

size_t ticks_write(const struct ticks *ticks, size_t row, struct writer *to)
{
    size_t at = ticks->spans[row].at, end = ticks->spans[row + 1].at;
    return write_label(to, end > at ? ticks->text.bytes + at : "", end - at, LABEL_WIDTH,
                       LABEL_LINES);
}

void ticks_clear(struct ticks *ticks)
{
    writer_clear(&ticks->text);
    memory_free(ticks->spans);
}
