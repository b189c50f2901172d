#include "perfetto_reading.h"

#include "base/hash.h"
#include "base/memory.h"
#include "file/kinds.h"

bool reading_name(struct perfetto_reading *reading, const void *text, size_t length, uint32_t *id)
{
    return file_intern(reading->file, text, length, id, reading->failure);
}

bool reading_interned(struct perfetto_reading *reading, const struct packet *packet,
                      enum interned_kind kind, uint64_t iid, uint32_t *id)
{
    const struct interned *interned = &reading->packets.interned;
    const struct interned_key key = {.iid = iid, .sequence = packet->sequence, .kind = kind};
    struct kept_text *kept =
        &reading->texts[(iid * 4 + (uint64_t)kind + packet->sequence) % TEXTS_KEPT];
    if (kept->version == interned->version + 1 && kept->key.iid == iid && kept->key.kind == kind &&
        kept->key.sequence == packet->sequence) {
        *id = kept->id;
        return true;
    }
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
    *kept = (struct kept_text){key, interned->version + 1, *id};
    return true;
}

/* The place of a row; NULL if out of memory. */
static const struct kept_place *place_of(struct perfetto_reading *reading,
                                         const struct perfetto_row *row)
{
    const struct place place = {row->stream, row->lane, row->cat, row->phase};
    struct trace_file *file = reading->file;
    struct kept_place *kept =
        &reading->places[hash_with(row->lane,
                                   (uint64_t)row->cat ^ (uint64_t)row->stream << 8 ^ row->phase) %
                         PLACES_KEPT];
    if (kept->number != 0 && kept->place.stream == place.stream &&
        kept->place.track == place.track && kept->place.cat == place.cat &&
        kept->place.phase == place.phase)
        return kept;
    kept->number = 0;
    if (!places_number(&file->columns.places, &place, &kept->number)) {
        failure_memory(reading->failure);
        return NULL;
    }
    kept->number++;
    kept->place = place;
    kept->category = CATEGORY_OTHER;
    if (row->cat != NAME_NONE)
        kept->category =
            category_of(file->names.items[row->cat].text, file->names.items[row->cat].length);
    return kept;
}

bool reading_add(struct perfetto_reading *reading, const struct perfetto_row *row, bool *added,
                 enum category *category)
{
    struct trace_file *file = reading->file;
    size_t count = file->columns.count;
    *added = file->phases[row->phase];
    if (!*added)
        return true;
    const struct kept_place *place = place_of(reading, row);
    if (!place)
        return false;
    *category = place->category;
    if (count == file->columns.capacity &&
        !loading_reserve(reading->loading,
                         1.02 * (double)(count + 1) / protobuf_part(reading->packets.file)))
        return false;
    return loading_add(reading->loading, &(struct new_row){.ts = row->ts,
                                                           .dur = row->dur,
                                                           .correlation = row->correlation,
                                                           .name = row->name,
                                                           .place = place->number - 1,
                                                           .event = row->event,
                                                           .phase = row->phase});
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
