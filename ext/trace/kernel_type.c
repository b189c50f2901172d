#include "kernel_type.h"

#include <stdbool.h>
#include <string.h>

#include "file.h"

static bool begins_with(const char *text, size_t length, const char *beginning)
{
    size_t size = strlen(beginning);
    return length >= size && memcmp(text, beginning, size) == 0;
}

static bool is_memory_category(const char *cat, size_t length)
{
    static const char *const memory[] = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (length == strlen(memory[i]) && memcmp(cat, memory[i], length) == 0)
            return true;
    return false;
}

static bool is_memory_name(const char *name, size_t length)
{
    static const char *const memory[] = {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (begins_with(name, length, memory[i]))
            return true;
    return false;
}

/* K3: n, r or h before `ccl`, with ASCII's capitals alike. */
static bool is_communication(const char *name, size_t length)
{
    for (size_t i = 0; i + 4 <= length; i++) {
        char first = name[i] | 0x20;
        if ((first == 'n' || first == 'r' || first == 'h') && (name[i + 1] | 0x20) == 'c' &&
            (name[i + 2] | 0x20) == 'c' && (name[i + 3] | 0x20) == 'l')
            return true;
    }
    return false;
}

const char *kernel_type(const char *name, size_t name_length, const char *cat, size_t cat_length)
{
    if (cat ? is_memory_category(cat, cat_length) : is_memory_name(name, name_length))
        return "MEMORY";
    if (cat && file_kind_of_category(cat, cat_length) != KIND_WORK)
        return NULL;
    return is_communication(name, name_length) ? "COMMUNICATION" : "COMPUTATION";
}
