#include "perfetto_reading.h"

#include "base/memory.h"
#include "file/kinds.h"
#include "text/ascii.h"

bool reading_name(struct perfetto_reading *reading, const void *text, size_t length, uint32_t *id)
{
    return file_intern(reading->file, text, length, id, reading->failure);
}

bool reading_joined(struct perfetto_reading *reading, uint32_t *id)
{
    enum { ASKED = 1 << 20 };
    struct joined *joined = &reading->joined;
    size_t before = reading->file->names.count;
    if (!reading_name(reading, joined->text, joined->length, id))
        return false;
    joined->all += reading->file->names.count > before ? joined->length : 0;
    joined->unasked += joined->length;
    if (joined->unasked > ASKED) {
        joined->unasked = 0;
        if (!stopper_ask(reading->loading->stopper, reading->failure))
            return false;
    }
    return joined->all <= MOST_ALL_JOINED ||
           failure_set(reading->failure, FAILURE_DAMAGE, "more than 64 MiB of joined categories");
}

bool reading_interned(struct perfetto_reading *reading, const struct packet *packet,
                      enum interned_kind kind, uint64_t iid, uint32_t *id)
{
    const struct interned *interned = &reading->packets.interned;
    const struct interned_key key = {.iid = iid, .sequence = packet->sequence, .kind = kind};
    const struct interned_item *item = interned_find(interned, &key);
    *id = NAME_NONE;
    if (!item || item->text == NAME_NONE) {
        problem_add(&reading->file->problems, PROBLEM_INTERNED, packet->byte);
        return true;
    }
    size_t before = reading->name_count;
    if (!MEMORY_GROW(reading->names, reading->name_count, (size_t)item->text + 1))
        return failure_memory(reading->failure);
    memset(reading->names + before, 0, (reading->name_count - before) * sizeof *reading->names);
    uint32_t *name = &reading->names[item->text];
    if (*name == 0) {
        const struct name *text = &interned->texts.items[item->text];
        if (!reading_name(reading, text->text, text->length, id))
            return false;
        *name = *id + 1;
    }
    *id = *name - 1;
    return true;
}

bool reading_kind_text(struct perfetto_reading *reading, const struct packet *packet,
                       struct event_kind *kind, enum interned_kind which, uint64_t iid,
                       uint32_t *id)
{
    *id = NAME_NONE;
    if (iid != 0 && !reading_interned(reading, packet, which, iid, id))
        return false;
    if (iid != 0 && *id == NAME_NONE)
        kind->version = 0; /* the kind is not reused, so each such event counts as a problem */
    return true;
}

bool reading_place(struct perfetto_reading *reading, struct event_kind *kind, uint32_t cat,
                   int64_t stream, unsigned char phase)
{
    const struct place place = {stream, kind->lane, cat, phase};
    struct trace_file *file = reading->file;
    if (file->phases[phase] && !places_number(&file->columns.places, &place, &kind->place))
        return failure_memory(reading->failure);
    kind->known = true;
    kind->category = CATEGORY_OTHER;
    if (cat != NAME_NONE)
        kind->category = category_of(file->names.items[cat].text, file->names.items[cat].length);
    return true;
}

bool reading_add(struct perfetto_reading *reading, const struct perfetto_row *row,
                 const struct event_kind *kind)
{
    struct trace_file *file = reading->file;
    size_t count = file->columns.count;
    if (count == file->columns.capacity &&
        !loading_reserve(reading->loading,
                         1.02 * (double)(count + 1) / protobuf_part(reading->packets.file)))
        return false;
    return loading_add(reading->loading, &(struct new_row){.ts = row->ts,
                                                           .dur = row->dur,
                                                           .correlation = row->correlation,
                                                           .name = row->name,
                                                           .place = kind->place,
                                                           .event = row->event,
                                                           .phase = row->phase});
}

bool reading_group(struct perfetto_reading *reading, const struct packet *packet,
                   enum category category,
                   bool (*next)(const struct perfetto_reading *reading, const struct packet *packet,
                                struct protobuf *message, struct arg_text *arg))
{
    struct trace_file *file = reading->file;
    size_t row = file->columns.count - 1;
    uint32_t values[] = {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE};
    struct protobuf message = packet->message;
    struct arg_text arg;
    if (!groups_in(category))
        return true;
    if (!groups_may(&reading->group_names, file, row, category, reading->failure))
        return reading->failure->code == FAILURE_NONE;
    while (next(reading, packet, &message, &arg))
        for (int key = 0; arg.text && key < GROUP_KEYS; key++)
            if (values[key] == NAME_NONE && text_is(arg.name, arg.name_length, group_keys[key]) &&
                !text_is(arg.text, arg.length, "null") &&
                !reading_name(reading, arg.text, arg.length, &values[key]))
                return false;
    return groups_add(file, row, category, values, reading->failure);
}

bool reading_bond(struct perfetto_reading *reading, uint64_t id, enum bond_kind kind)
{
    struct loading *loading = reading->loading;
    if (!MEMORY_GROW(loading->bonds, loading->bond_capacity, loading->bond_count + 1))
        return failure_memory(reading->failure);
    loading->bonds[loading->bond_count++] =
        (struct bond){.id = id, .row = (uint32_t)(reading->file->columns.count - 1), .kind = kind};
    return true;
}
