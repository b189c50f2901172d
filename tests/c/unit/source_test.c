/*
** source.h: the bytes of a file, plain and gzip, however many are asked for at a
** time, and with every decoder there is. Where ISA-L is missing all readings are by zlib;
** tests/reading/test_decoders.py says so.
*/
#include "unit.h"

#include <sys/stat.h>
#include <time.h>

#include "source/ahead.h"
#include "source/source.h"

enum {
    ROOM = 300 * 1024,
    MOST_BYTE_BY_BYTE = 70 * 1024 /* more than is read of a file at a time */
};

static const size_t rooms[] = {1, 7, 4096, ROOM};
enum { ROOMS = sizeof rooms / sizeof *rooms };

static unsigned char plain[ROOM], zipped[2 * ROOM], got[2 * ROOM];

/* What came of reading a file. */
static size_t length;
static struct failure failure;
static int64_t trailing;

static bool unsure;

static bool in_thread; /* files are read ahead */

static ptrdiff_t read_source(void *source, unsigned char *to, size_t room, int64_t *position,
                             struct failure *failed)
{
    ptrdiff_t count = source_read(source, to, room, failed);
    *position = source_position(source);
    return count;
}

/* Reads a file to its end, so many bytes at a time. */
static void read_by(bool by_zlib, const char *path, size_t room)
{
    ptrdiff_t count = 0;
    int64_t position = 0, before = 0;
    length = 0;
    failure_clear(&failure);
    struct source *source = source_open(path, by_zlib, &failure);
    if (!CHECK(source != NULL))
        return;
    atomic_int idle = in_thread;
    int64_t left = unit_random(2) ? INT64_MAX : 0; /* with more buffers, or fewer */
    struct ahead *ahead = ahead_start(&idle, read_source, source, left);
    CHECK((ahead != NULL) == in_thread);
    do {
        count = ahead ? ahead_read(ahead, got + length, room, &position, &failure)
                      : read_source(source, got + length, room, &position, &failure);
        length += count > 0 ? (size_t)count : 0;
        CHECK(position >= before && position <= source_identity(source)->size);
        before = position;
    } while (count > 0);
    CHECK_INT(count, failure.code == FAILURE_NONE ? 0 : -1);
    ahead_close(ahead);
    CHECK_INT(idle, in_thread);
    trailing = source_trailing(source);
    unsure = source_unsure(source);
    source_close(source);
}

/* Reads it with a thread, too; nothing may differ but bytes that are unsure. */
static void read_both(bool by_zlib, const char *path, size_t room)
{
    static unsigned char alone[2 * ROOM];
    read_by(by_zlib, path, room);
    size_t alone_length = length;
    char *text = failure.text ? strdup(failure.text) : NULL;
    bool alone_unsure = unsure;
    int64_t alone_trailing = trailing;
    memcpy(alone, got, length);
    in_thread = true;
    read_by(by_zlib, path, room);
    in_thread = false;
    CHECK_INT(unsure, alone_unsure);
    if (!unsure) {
        CHECK_INT(length, alone_length);
        CHECK(memcmp(got, alone, length) == 0);
        CHECK((failure.text ? strcmp(failure.text, text ? text : "") : text != NULL) == 0);
    }
    CHECK_INT(trailing, alone_trailing);
    free(text);
}

static void read_by_zlib(const char *path, size_t room)
{
    read_both(true, path, room);
    CHECK(!unsure);
}

/* As file.c reads: by the fastest decoder, and by zlib if that is unsure. What the first
** one was sure of must be what zlib gives. */
static void read_file(const char *path, size_t room)
{
    static unsigned char fast[2 * ROOM];
    read_both(false, path, room);
    size_t fast_length = length;
    enum failure_code code = failure.code;
    int64_t fast_trailing = trailing;
    bool sure = !unsure;
    CHECK(sure == (code != FAILURE_DAMAGE) || strcmp(source_decoder(), "ISA-L 2") != 0);
    memcpy(fast, got, length);
    read_by_zlib(path, room);
    if (!sure)
        return;
    CHECK_INT(fast_length, length);
    CHECK(memcmp(fast, got, length) == 0);
    CHECK_INT(code, failure.code);
    CHECK_INT(fast_trailing, trailing);
}

static void make_bytes(size_t count)
{
    for (size_t i = 0; i < count; i++)
        plain[i] = (unsigned char)("{\"name\": 0123}"[i % 14] + (unit_random(3) == 0));
}

/* The file holds so many of the plain bytes, and nothing is wrong with it. */
static void check_whole(const char *path, size_t count, bool more)
{
    for (int i = count > MOST_BYTE_BY_BYTE; i < ROOMS; i++) {
        read_file(path, rooms[i]);
        unit_trying("%d bytes, %d at a time", (int)count, (int)rooms[i]);
        CHECK_INT(failure.code, FAILURE_NONE);
        CHECK_INT(length, count);
        CHECK(memcmp(got, plain, count) == 0);
        CHECK_INT(trailing != 0, more);
    }
    failure_clear(&failure);
}

TEST(plain_and_gzip)
{
    static const size_t sizes[] = {0, 1, 2, 100, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, ROOM};
    make_bytes(ROOM);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_whole(unit_file(plain, sizes[i]), sizes[i], false);
        check_whole(unit_gzip_file(plain, sizes[i], "wb"), sizes[i], false);
        check_whole(unit_gzip_file(plain, sizes[i], "wb0"), sizes[i], false);
    }
}

/* RFC 1952, 2.2: members follow each other. NULs behind them are padding, and
** other bytes are said to be there. */
TEST(members)
{
    static const char *const behind[] = {"x", "more", "\x1fmore", "\x1f\x8b\x09more"};
    make_bytes(1000);
    unit_gzip_file(plain, 400, "wb");
    unit_gzip_file(plain, 0, "ab");
    check_whole(unit_gzip_file(plain + 400, 600, "ab"), 1000, false);
    size_t size = unit_file_bytes(zipped, sizeof zipped);
    memset(zipped + size, 0, 70000);
    check_whole(unit_file(zipped, size + 512), 1000, false);
    check_whole(unit_file(zipped, size + 70000), 1000, false);
    zipped[size + 69999] = 'x';
    check_whole(unit_file(zipped, size + 70000), 1000, true);
    CHECK_INT(trailing, size + 70000);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        size_t more = strlen(behind[i]);
        memcpy(zipped + size, behind[i], more);
        check_whole(unit_file(zipped, size + more), 1000, true);
        CHECK_INT(trailing, size + 1);
    }
    memcpy(zipped + size, "\x1f\x8b", 2); /* the beginning of another, cut */
    read_file(unit_file(zipped, size + 2), ROOM);
    CHECK_INT(failure.code, FAILURE_DAMAGE);
    failure_clear(&failure);
}

/* The header of a second member, with a name and a comment, anywhere around the end of what is
** read of the file at a time. Every decoder reads it. */
TEST(a_header_in_two_readings)
{
    enum { INPUT = 64 * 1024, FIXED = 10, FLAGS = 3, MEMBER = 100 };
    static const char strings[] = "trace.json\0by hand"; /* with their zeros */
    static unsigned char file[2 * INPUT];
    make_bytes(INPUT);
    for (size_t split = 0; split <= FIXED + sizeof strings; split += (size_t)unit_series(3, 1)) {
        size_t first = INPUT - 1000;
        unit_gzip_file(plain, first, "wb0");
        first += INPUT - split - unit_file_bytes(file, sizeof file);
        unit_gzip_file(plain, first, "wb0");
        size_t at = unit_file_bytes(file, sizeof file);
        if (!CHECK_INT(at, INPUT - split))
            return;
        unit_gzip_file(plain + first, MEMBER, "wb");
        size_t size = unit_file_bytes(zipped, sizeof zipped);
        zipped[FLAGS] = 0x18;
        memcpy(file + at, zipped, FIXED);
        memcpy(file + at + FIXED, strings, sizeof strings);
        memcpy(file + at + FIXED + sizeof strings, zipped + FIXED, size - FIXED);
        check_whole(unit_file(file, at + sizeof strings + size), first + MEMBER, false);
        read_by(false, unit_path, ROOM);
        CHECK(!unsure);
    }
}

/* All bytes before the damage are given, then it is said. */
TEST(truncated_anywhere)
{
    make_bytes(500);
    unit_gzip_file(plain, 500, "wb");
    size_t size = unit_file_bytes(zipped, sizeof zipped), before = 0;
    for (size_t cut = 2; cut < size; cut++) {
        unit_file(zipped, cut);
        for (int i = 0; i < ROOMS; i++) {
            unit_trying("%d of %d bytes, %d at a time", (int)cut, (int)size, (int)rooms[i]);
            read_file(unit_path, rooms[i]);
            CHECK_INT(failure.code, FAILURE_DAMAGE);
            const char *said = failure.text ? strstr(failure.text, "gzip data") : NULL;
            CHECK(said && strstr(said, "is truncated") && !strstr(said + 1, "gzip data"));
            CHECK(length <= 500 && memcmp(got, plain, length) == 0);
            CHECK(i == 0 ? length >= before : length == before);
            before = length;
        }
    }
    CHECK_INT(length, 500);
    failure_clear(&failure);
}

/* Sizes around those of chunks, windows and blocks; many members; bytes that hardly compress. */
TEST(decoders_agree)
{
    for (int i = 0; i < unit_series(8, 60); i++) {
        size_t count = i % 3 == 0 ? unit_random(300) : unit_random(ROOM);
        for (size_t at = 0; at < count; at++)
            plain[at] = i % 2 ? (unsigned char)unit_random(256)
                              : (unsigned char)("kernel, name"[at % 12] + (unit_random(9) == 0));
        unit_gzip_file(plain, count / 2, i % 5 ? "wb6" : "wb1");
        check_whole(unit_gzip_file(plain + count / 2, count - count / 2, "ab9"), count, false);
    }
}

TEST(a_bit_is_wrong)
{
    make_bytes(500);
    unit_gzip_file(plain, 500, "wb");
    size_t size = unit_file_bytes(zipped, sizeof zipped);
    for (size_t bit = 16; bit < 8 * size; bit += (size_t)unit_series(3, 1)) { /* after 0x1f 0x8b */
        zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
        unit_trying("bit %d", (int)bit);
        read_file(unit_file(zipped, size), 64);
        CHECK(failure.code == FAILURE_DAMAGE ||
              (failure.code == FAILURE_NONE && length == 500 && memcmp(got, plain, 500) == 0));
        read_file(unit_path, ROOM);
        zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    failure_clear(&failure);
}

/* Whatever is wrong, no byte after the end of the file is counted as read, as read_by() checks. */
TEST(damaged_files_end_where_they_end)
{
    for (int i = 0; i < unit_series(6, 12); i++) {
        make_bytes(500);
        unit_gzip_file(plain, 500, "wb");
        size_t size = unit_file_bytes(zipped, sizeof zipped);
        for (size_t bit = 80; bit < 8 * size; bit += 2) { /* after the header */
            zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
            unit_trying("file %d, bit %d", i, (int)bit);
            read_by(false, unit_file(zipped, size), ROOM);
            zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
    failure_clear(&failure);
}

static void check_refused(const char *path, const char *message)
{
    struct identity identity;
    unit_trying("%s", path);
    CHECK(source_open(path, false, &failure) == NULL);
    CHECK_INT(failure.code, FAILURE_READ);
    CHECK_TEXT(failure.text, message);
    failure_clear(&failure);
    CHECK(!source_identify(path, &identity, &failure));
    CHECK_TEXT(failure.text, message);
    failure_clear(&failure);
}

TEST(what_is_no_file)
{
    char path[250], message[300];
    check_refused("/nowhere/at all", "cannot read '/nowhere/at all': No such file or directory");
    check_refused("/", "cannot read '/': Is a directory");
    check_refused("/dev/null", "cannot read '/dev/null': not a regular file");
    snprintf(path, sizeof path, "%s.fifo", unit_file_path()); /* nobody writes: no waiting */
    snprintf(message, sizeof message, "cannot read '%s': not a regular file", path);
    CHECK_INT(mkfifo(path, 0600), 0);
    check_refused(path, message);
    unlink(path);
}

TEST(identity)
{
    struct identity a, b;
    CHECK(source_identify(unit_file("one", 3), &a, &failure));
    CHECK_INT(a.size, 3);
    struct source *source = source_open(unit_path, false, &failure);
    CHECK(memcmp(source_identity(source), &a, sizeof a) == 0);
    unit_file("other", 5);
    CHECK(source_identify(unit_path, &b, &failure));
    CHECK(memcmp(source_identity(source), &a, sizeof a) == 0); /* as it was when opened */
    CHECK_INT(b.size, 5);
    CHECK_INT(b.inode, a.inode);
    source_close(source);
}

/* A file that is worth a thread is read in one as long as a processor is idle. */
TEST(large_files_are_read_ahead)
{
    static const size_t cuts[] = {0, 1, 9, 20000}; /* bytes at the end that are missing */
    static unsigned char alone[2 * ROOM];
    for (size_t i = 0; i < ROOM; i++)
        plain[i] = (unsigned char)unit_random(256);
    unit_gzip_file(plain, ROOM, "wb1");
    size_t size = unit_file_bytes(zipped, sizeof zipped);
    if (!CHECK(size > 0))
        return;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        for (int by_zlib = 0; by_zlib < 2; by_zlib++) {
            atomic_int idle = 1;
            unit_file(zipped, size - cuts[i]);
            unit_trying("%d bytes are missing", (int)cuts[i]);
            read_by(by_zlib, unit_path, ROOM);
            enum failure_code code = failure.code;
            memcpy(alone, got, length);
            failure_clear(&failure);
            struct source *source = source_open(unit_path, by_zlib, &failure);
            source_read_ahead(source, &idle);
            size_t given = 0;
            ptrdiff_t count;
            while ((count = source_read(source, got + given, 1000, &failure)) > 0)
                given += (size_t)count;
            CHECK_INT(failure.code, code);
            CHECK_INT(source_unsure(source), unsure);
            CHECK(unsure || (given == length && memcmp(got, alone, length) == 0));
            CHECK_INT(source_trailing(source), trailing);
            source_close(source);
            CHECK_INT(idle, 1);
            failure_clear(&failure);
            source = source_open(unit_path, by_zlib, &failure); /* closed in the middle */
            source_read_ahead(source, &idle);
            CHECK_INT(source_read(source, got, 10, &failure), 10);
            source_close(source);
            CHECK_INT(idle, 1);
        }
}

static atomic_bool taken; /* the bytes of slow_reader() */

/* Gives two bytes, and the end when these have been taken or 10 s have passed. */
static ptrdiff_t slow_reader(void *argument, unsigned char *to, size_t room, int64_t *position,
                             struct failure *failed)
{
    int *calls = argument;
    (void)room, (void)failed;
    *position = 1;
    if ((*calls)++ < 2)
        return *to = 1;
    for (int i = 0; i < 10000 && !atomic_load(&taken); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return 0;
}

/* What a slow source has given is not kept back until there is more: its reader can be stopped. */
TEST(slow_sources_are_not_waited_for)
{
    for (int64_t left = 0; left <= INT32_MAX;
         left += INT32_MAX) { /* with few buffers, and with many */
        atomic_int idle = 1;
        int calls = 0;
        int64_t position = 0;
        struct timespec begin, end;
        atomic_store(&taken, false);
        struct ahead *ahead = ahead_start(&idle, slow_reader, &calls, left);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        CHECK_INT(ahead_read(ahead, got, ROOM, &position, &failure), 1);
        CHECK_INT(ahead_read(ahead, got, ROOM, &position, &failure), 1);
        clock_gettime(CLOCK_MONOTONIC, &end);
        atomic_store(&taken, true);
        CHECK(end.tv_sec - begin.tv_sec < 9);
        CHECK_INT(ahead_read(ahead, got, ROOM, &position, &failure), 0);
        ahead_close(ahead);
    }
}
