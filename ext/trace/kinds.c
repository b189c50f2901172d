#include "kinds.h"

#include "../reader/ascii.h"
#include "../reader/memory.h"

bool kind_is_mtia(const char *category, size_t length)
{
    return text_is(category, length, "mtia_ccp_events");
}

static enum kind kind_of_category(const char *category, size_t length)
{
    static const struct {
        const char *category;
        enum kind kind;
    } known[] = {
        {"kernel", KIND_WORK},
        {"gpu_memcpy", KIND_WORK},
        {"gpu_memset", KIND_WORK},
        {"Kernel", KIND_WORK},
        {"Memcpy", KIND_WORK},
        {"Memset", KIND_WORK},
        {"gpu_user_annotation", KIND_ANNOTATION},
        {"cuda_sync", KIND_SYNC},
        {"Trace", KIND_TRACE},
        {"Runtime", KIND_CALL},
        {"cuda_driver", KIND_DRIVER_CALL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(category, length, known[i].category))
            return known[i].kind;
    return ends(category, category + length, "_runtime") ? KIND_CALL : KIND_HOST;
}

/* Work of MTIA that waits for another stream, or lets it wait, does nothing. */
static enum kind kind_of_mtia(const char *name, size_t length)
{
    bool sync = text_is(name, length, "event_wait") || text_is(name, length, "event_record");
    return sync ? KIND_SYNC : KIND_WORK;
}

enum kind kind_of(const char *category, size_t length, const char *name, size_t name_length)
{
    return kind_is_mtia(category, length) ? kind_of_mtia(name, name_length)
                                          : kind_of_category(category, length);
}

bool kinds_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    enum { UNKNOWN = 255, MTIA = 254 };
    unsigned char *kinds = memory_allocate(file->names.count + 1);
    if (!kinds)
        return failure_memory(failure);
    memset(kinds, UNKNOWN, file->names.count + 1);
    for (size_t i = 0; i < file->tracks.count; i++) {
        const struct track *process = tracks_process(&file->tracks, file->tracks.items[i].pid);
        file->tracks.items[i].device = process && process->device;
    }
    bool done = true;
    for (size_t row = 0; row < columns->count && done; row++) {
        uint32_t cat = columns->cat[row];
        done = stopper_goes_on(stopper, row, failure);
        if (cat == NAME_NONE) {
            bool device = file->tracks.items[columns->track[row]].device;
            columns->kind[row] = device ? KIND_WORK : KIND_HOST;
            continue;
        }
        if (kinds[cat] == UNKNOWN) {
            const struct name *category = &file->names.items[cat];
            bool mtia = kind_is_mtia(category->text, category->length);
            unsigned kind = kind_of_category(category->text, category->length);
            kinds[cat] = (unsigned char)(mtia ? MTIA : kind);
        }
        columns->kind[row] = kinds[cat];
        if (kinds[cat] == MTIA) {
            uint32_t id = columns->name[row];
            const struct name none = {0}, *name = id == NAME_NONE ? &none : &file->names.items[id];
            columns->kind[row] = (unsigned char)kind_of_mtia(name->text, name->length);
        }
    }
    memory_free(kinds);
    return done;
}
