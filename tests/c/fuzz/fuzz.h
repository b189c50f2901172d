/*
** What a fuzz target stands on: memory that is counted and can fail, bytes that
** grow, and a file whose content is written anew and whose name stays. With
** -DREPLAY, a target is a program that reads the inputs named as its arguments.
*/
#ifndef TRACEDIFF_FUZZ_H
#define TRACEDIFF_FUZZ_H

#define _GNU_SOURCE /* memfd_create */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

#define MUST(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *what)
{
    fprintf(stderr, "line %d: %s does not hold\n", line, what);
    abort();
}

/* Memory: counted, and any allocation can be made to fail. */

static int64_t live, asked, fail_at;
static bool fail_on;

static bool refused(void)
{
    asked++;
    return fail_at > 0 && (fail_on ? asked >= fail_at : asked == fail_at);
}

/* Large blocks are the same few sizes again and again, and dear: some are kept. */
enum { LARGE = 60000, KEPT = 4 };
static void *kept[KEPT];

void *memory_allocate(size_t size)
{
    void *block = NULL;
    if (size == 0 || refused())
        return NULL;
    for (int i = 0; i < KEPT && !block; i++)
        if (kept[i] && malloc_usable_size(kept[i]) == size) {
            block = kept[i];
            kept[i] = NULL;
        }
    block = block ? block : malloc(size);
    live += block != NULL;
    return block;
}

/* Always elsewhere: whoever still points to the old block will see. */
void *memory_resize(void *block, size_t size)
{
    void *moved = memory_allocate(size);
    size_t old = malloc_usable_size(block);
    if (block && moved) {
        memcpy(moved, block, old < size ? old : size);
        memory_free(block);
    }
    return moved;
}

void memory_free(void *block)
{
    static int next;
    live -= block != NULL;
    if (malloc_usable_size(block) >= LARGE) {
        void *former = kept[next];
        kept[next] = block;
        next = (next + 1) % KEPT;
        block = former;
    }
    free(block);
}

/* What a reading gave, as bytes to be compared. */

struct text {
    unsigned char *bytes;
    size_t length, capacity;
};

static void put(struct text *text, const void *bytes, size_t length)
{
    if (text->length + length > text->capacity) {
        text->capacity = 2 * (text->length + length);
        text->bytes = realloc(text->bytes, text->capacity);
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static void put_number(struct text *text, int64_t number)
{
    put(text, &number, sizeof number);
}

static void put_array(struct text *text, const void *items, size_t count, size_t size)
{
    put_number(text, (int64_t)count);
    put(text, items, count * size);
}

static bool starts_with(const struct text *text, const struct text *start)
{
    return text->length >= start->length &&
           (start->length == 0 || memcmp(text->bytes, start->bytes, start->length) == 0);
}

static bool same(const struct text *a, const struct text *b)
{
    return a->length == b->length && starts_with(a, b);
}

/* The file under test: it is written anew, and keeps its name. */

static int descriptor = -1;
static char path[32];

static void write_file(const void *bytes, size_t length)
{
    if (descriptor < 0) {
        descriptor = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    MUST(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, length, 0) == (ssize_t)length);
}

/* The bytes as gzip, cut into members of about one length. */
static struct text compressed(const unsigned char *bytes, size_t length, size_t members)
{
    struct text result = {0};
    for (size_t i = 0; i < members; i++) {
        size_t from = length * i / members, to = length * (i + 1) / members;
        unsigned char out[4096];
        z_stream stream = {.next_in = (unsigned char *)bytes + from, .avail_in = (uInt)(to - from)};
        MUST(deflateInit2(&stream, 1, Z_DEFLATED, 16 + 9, 1, Z_DEFAULT_STRATEGY) == Z_OK);
        do {
            stream.next_out = out;
            stream.avail_out = sizeof out;
            deflate(&stream, Z_FINISH);
            put(&result, out, sizeof out - stream.avail_out);
        } while (stream.avail_out == 0);
        deflateEnd(&stream);
    }
    return result;
}

/* The target: what is done with an input. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#ifdef REPLAY
int main(int count, char **arguments)
{
    static unsigned char bytes[1 << 24];
    for (int i = 1; i < count; i++) {
        FILE *input = fopen(arguments[i], "rb");
        MUST(input);
        size_t length = fread(bytes, 1, sizeof bytes, input);
        fclose(input);
        fprintf(stderr, "%s\n", arguments[i]);
        LLVMFuzzerTestOneInput(bytes, length);
    }
    return 0;
}
#endif

#endif
