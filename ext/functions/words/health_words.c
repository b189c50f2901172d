#include "health_words.h"

#include "label_words.h"

/* Writes a time with three digits: `3.4 s`. */
static void write_time(struct writer *text, int64_t ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"years", 31556952e9}, {"days", 86400e9}, {"s", 1e9},
                 {"ms", 1e6},           {"us", 1e3},        {"ns", 1}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && (double)ns < 0.9995 * units[i].ns)
        i++;
    write_format(text, "%.3g %s", (double)ns / units[i].ns, units[i].unit);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void write_too_long(struct writer *text, const struct health_finding *finding)
{
    const char *kind = finding->host ? "host" : "device";
    write_format(text, "%lld %s event%s of %lld ", (long long)finding->count, kind,
                 plural(finding->count), (long long)finding->total);
    write_string(text, finding->count == 1 ? "lasts too long, one " : "last too long, one ");
    write_time(text, finding->longest);
    if (finding->host) {
        write_string(text, ": read without a duration");
    } else {
        write_string(text, ": read as ");
        write_time(text, finding->other);
        write_string(text, " together");
    }
}

static void write_lost(struct writer *text, const struct health_finding *finding)
{
    bool graphs = finding->check == HEALTH_GRAPHS_LOST;
    write_format(text, "%lld of %lld %s%s %s no %s", (long long)finding->count,
                 (long long)finding->total, graphs ? "graph launch" : "launch",
                 finding->total == 1 ? "" : "es", finding->count == 1 ? "has" : "have",
                 graphs ? "kernels" : "kernel");
    if (finding->steps > 0)
        write_format(text, ", in %lld of %lld step%s", (long long)finding->steps,
                     (long long)finding->of_steps, plural(finding->of_steps));
}

static void write_untimed(struct writer *text, const struct health_finding *finding)
{
    const char *kind = finding->host ? "host event" : "device event";
    write_format(text, "%lld of %lld %s%s %s ", (long long)finding->count,
                 (long long)finding->total, finding->rounded ? "kernel" : kind,
                 plural(finding->total), finding->count == 1 ? "has" : "have");
    write_string(text, finding->rounded ? "duration 0" : "no time (ts 0, dur 0)");
}

static void write_end(struct writer *text, const struct health_finding *finding)
{
    write_format(text, "the recording ends before its last %lld of %lld launch%s %s run",
                 (long long)finding->count, (long long)finding->total,
                 finding->total == 1 ? "" : "es", finding->count == 1 ? "has" : "have");
    if (finding->steps > 0)
        write_format(text, ", in %lld step%s", (long long)finding->steps, plural(finding->steps));
}

static void write_early(struct writer *text, const struct health_finding *finding)
{
    bool one = finding->count == 1, clock = finding->severity == HEALTH_WRONG;
    write_format(text, "%lld of %lld device event%s start%s before %s launch",
                 (long long)finding->count, (long long)finding->total, plural(finding->total),
                 one ? "s" : "", one ? "its" : "their");
    write_string(text, clock ? ": the device's clock is at least " : ", by up to ");
    write_time(text, finding->longest);
    write_string(text, clock ? " behind the host's" : "");
}

enum { LABELS_LENGTH = 400 /* most bytes in a list of labels */ };

static void write_labels(struct writer *text, const struct trace_file *file)
{
    size_t end = text->length + LABELS_LENGTH;
    for (size_t part = 0; part < file->part_count; part++) {
        write_string(text, part > 0 ? ", " : ": ");
        if (text->length > end) {
            write_string(text, "...");
            return;
        }
        write_string(text, file_label(file, part));
    }
}

void health_write(struct writer *text, const struct health_finding *finding)
{
    long long count = finding->count, total = finding->total;
    switch (finding->check) {
    case HEALTH_BEFORE_LAUNCH:
        write_early(text, finding);
        break;
    case HEALTH_COPY:
        write_string(text, finding->other == COPY_OF_CAPTURE
                               ? "left out: a recording of the capture of graphs"
                               : "left out: recordings of several ranks, beside files of one");
        break;
    case HEALTH_CUT:
        write_format(text, "%lld of %lld events were skipped: not JSON (two writers?)", count,
                     total);
        break;
    case HEALTH_CYCLES:
        write_format(text, "%lld files of one process are cycles of one rank", count);
        break;
    case HEALTH_EMPTY_STEPS:
        write_format(text, "%lld of %lld step%s %s no device work, the others have", count, total,
                     plural(total), count == 1 && total == 1 ? "has" : "have");
        break;
    case HEALTH_END:
        write_end(text, finding);
        break;
    case HEALTH_GRAPHS_LOST:
    case HEALTH_KERNELS_LOST:
        write_lost(text, finding);
        break;
    case HEALTH_NO_DEVICE_WORK:
        write_format(text, "%lld launch%s, and no device work", count, count == 1 ? "" : "es");
        break;
    case HEALTH_NO_LAUNCH:
        write_format(text, "%lld of %lld device event%s, %.0f %% of their time, %s no launch",
                     count, total, plural(total),
                     finding->other > 0 ? 100 * (double)finding->time / (double)finding->other : 0,
                     count == 1 ? "has" : "have");
        break;
    case HEALTH_NO_TIME:
        write_untimed(text, finding);
        break;
    case HEALTH_NOT_TIED:
        write_format(text, "%lld of %lld ranks have no collective in common with rank %lld", count,
                     total, (long long)finding->other);
        break;
    case HEALTH_OUT_OF_STEP:
        write_format(text, "%lld steps take the device ", count);
        write_time(text, finding->other - finding->time);
        write_string(text, " from end to end, and the host ");
        write_time(text, finding->other);
        write_string(text, " from start to start");
        break;
    case HEALTH_RANKS:
        write_format(text, "%lld ranks in one file", count);
        write_labels(text, finding->labelled);
        break;
    case HEALTH_SEVERAL_PROCESSES:
        write_format(text, "calls of %lld processes have device work: their numbers may clash",
                     count);
        break;
    case HEALTH_TOO_LONG:
        write_too_long(text, finding);
        break;
    }
}

void trust_write(struct writer *text, const struct trust_item *item)
{
    const char *side = side_words[item->side], *other = side_words[!item->side];
    if (item->code == TRUST_ONE_SIDE) {
        write_format(text, "%s has no device work, %s has", side, other);
    } else if (item->code == TRUST_UNIT) {
        write_format(text,
                     "times of %s are %lld times the other side's: is its unit %s, read as us?",
                     side, (long long)item->times, item->times == 1000 ? "ns" : "ps");
    } else {
        if (item->rank != NUMBER_NONE)
            write_format(text, "rank %lld: ", (long long)item->rank);
        health_write(text, &item->finding);
    }
}

void trust_write_cannot(struct writer *text, const struct trust_item *item)
{
    write_string(text, "cannot be compared: ");
    if (item->code == TRUST_FINDING)
        write_format(text, "%s: ", side_words[item->side]);
    trust_write(text, item);
}

const char *trust_check_name(const struct trust_item *item)
{
    return item->code == TRUST_ONE_SIDE ? "one side"
           : item->code == TRUST_UNIT   ? "unit"
                                        : health_check_name(item->finding.check);
}
