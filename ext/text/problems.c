#include "problems.h"

static const char *const texts[PROBLEM_COUNT] = {
    [PROBLEM_EVENT_SKIPPED] = "event skipped: not JSON",
    [PROBLEM_NOT_OBJECT] = "event skipped: not an object",
    [PROBLEM_TOO_LONG] = "value skipped: longer than 16 MiB",
    [PROBLEM_COMMA] = "comma missing or doubled",
    [PROBLEM_LIST_CLOSED] = "list of events closed before its end",
    [PROBLEM_NO_PHASE] = "event skipped: ph is not one letter",
    [PROBLEM_TIME] = "ts or dur is not a time",
    [PROBLEM_END] = "ts + dur is beyond 64 bits",
    [PROBLEM_NO_DURATION] = "X without dur",
    [PROBLEM_NEGATIVE_DURATION] = "negative dur",
    [PROBLEM_NO_NAME] = "name is not text",
    [PROBLEM_END_WITHOUT_BEGIN] = "E without a B",
    [PROBLEM_BEGIN_WITHOUT_END] = "B without an E",
    [PROBLEM_UTF8] = "not Unicode: replaced by U+FFFD",
    [PROBLEM_ESCAPE] = "unknown escape: kept as written",
    [PROBLEM_CONTROL] = "raw control character in a string",
    [PROBLEM_DUPLICATE_KEY] = "key given twice: the first counts",
    [PROBLEM_BYTE_ORDER_MARK] = "byte order mark",
    [PROBLEM_METADATA] = "metadata left out: longer than 1 MiB",
    [PROBLEM_METADATA_SKIPPED] = "metadata skipped: not JSON",
    [PROBLEM_TRAILING] = "bytes after the document",
    [PROBLEM_GZIP_TRAILING] = "bytes after the gzip data",
    [PROBLEM_BACKLOG] = "device work launched before the recording",
    [PROBLEM_NO_LAUNCH] = "device work without a launch",
    [PROBLEM_NOT_TIMED] = "device work that was not timed",
    [PROBLEM_OTHER_PROCESS] = "event of a process without device work",
    [PROBLEM_UNTRIED] = "format not tried on a real file",
    [PROBLEM_KEY_ORDER] = "key after the records that refer to it: names are missing",
    [PROBLEM_PROTOBUF] = "event skipped: not protobuf",
    [PROBLEM_PACKET] = "packet skipped: not protobuf",
    [PROBLEM_STATE_LOST] = "packet skipped: what it refers to was lost",
    [PROBLEM_PACKETS_LOST] = "packets lost while recording",
    [PROBLEM_PACKETS_PACKED] = "compressed packets not read",
    [PROBLEM_INTERNED] = "text that a packet refers to is not there",
    [PROBLEM_CATEGORIES] = "category left out: more than 64 KiB of an event",
    [PROBLEM_ARGS_MENDED] = "args mended: not strict JSON",
    [PROBLEM_ARGS_LEFT_OUT] = "args left out: not a JSON object",
};

void problem_add(struct problems *problems, enum problem problem, int64_t byte)
{
    if (problems->count[problem]++ == 0)
        problems->first_byte[problem] = byte;
}

const char *problem_text(enum problem problem)
{
    return texts[problem];
}
