#include "foreign.h"

#include <string.h>

#define PICKLE                                                                            \
    "a Python pickle: export a trace as JSON, with export_chrome_trace(); a snapshot of " \
    "torch.cuda.memory is for memory_summary() and memory_diff()"

static const struct {
    const char *bytes;
    size_t length, at;
    const char *what;
} kinds[] = {
    {"PK\x03\x04", 4, 0, "a zip archive: unpack it first"},
    {"PK\x05\x06", 4, 0, "a zip archive without files"},
    {"ustar", 5, 257, "a tar archive: unpack it first"},
    {"\x1f\x8b", 2, 0, "compressed with gzip twice: unpack it once, with gunzip"},
    {"\xfd\x37zXZ", 5, 0, "compressed with xz: unpack it first, with unxz"},
    {"\x28\xb5\x2f\xfd", 4, 0, "compressed with zstd: unpack it first, with unzstd"},
    {"BZh", 3, 0, "compressed with bzip2: unpack it first, with bunzip2"},
    {"SQLite format 3", 16, 0, "a SQLite database: unpack it first, with gunzip"},
    {"\x80\x02", 2, 0, PICKLE},
    {"\x80\x03", 2, 0, PICKLE},
    {"\x80\x04", 2, 0, PICKLE},
    {"\x80\x05", 2, 0, PICKLE},
};

const char *foreign_kind(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].at + kinds[i].length <= count &&
            memcmp(bytes + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
            return kinds[i].what;
    return NULL;
}
