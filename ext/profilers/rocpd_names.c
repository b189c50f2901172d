#include "rocpd_names.h"

#include <string.h>

#include "base/memory.h"
#include "text/ascii.h"

static const struct known_category {
    const char *start, *cat;
    enum rocpd_what what;
} known[] = {{"hip_", "cuda_runtime", OF_CALL},
             {"hsa_", "cuda_driver", OF_CALL},
             {"marker_core", "user_annotation", OF_MARKER},
             {"marker_api", "user_annotation", OF_MARKER},
             {"marker_", "user_annotation", OF_OTHER},
             {"kfd_", "", OF_KFD}};

/* Finds a category; NULL if it is unknown. */
static const struct known_category *find(const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t same = 0, all = strlen(known[i].start);
        while (same < all && same < length && small(text[same]) == known[i].start[same])
            same++;
        if (same == all)
            return &known[i];
    }
    return NULL;
}

enum rocpd_what rocpd_what(const unsigned char *text, size_t length)
{
    const struct known_category *category = find(text, length);
    return category ? category->what : OF_OTHER;
}

bool rocpd_category(struct database_read *read, const unsigned char *text, size_t length,
                    uint32_t *id)
{
    const struct known_category *category = find(text, length);
    if (category)
        return database_name(read, category->cat, strlen(category->cat), id);
    char *lower = memory_allocate(length + 1);
    if (!lower)
        return failure_memory(read->failure);
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)small(text[i]);
    bool done = database_name(read, lower, length, id);
    memory_free(lower);
    return done;
}

const char *rocpd_copy(const unsigned char *text, size_t length)
{
    static const struct {
        const char *written, *name;
    } names[] = {{"MEMORY_COPY_HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)"},
                 {"MEMORY_COPY_DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)"},
                 {"MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)"},
                 {"MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is((const char *)text, length, names[i].written))
            return names[i].name;
    return NULL;
}
