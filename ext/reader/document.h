/*
** Reads a trace file event by event, in both forms of the Trace Event Format: an object with
** traceEvents, or the bare array. Invalid JSON is handled by these rules (T14 to T17):
**
** 1. These are counted: an invalid byte inside an event, an event without an end, and a list that
**    is closed before its last event. Reading resumes at the next `{` followed by a key of trace
**    events, or at a `]` that ends the list. At most 256 MiB are read twice for this.
** 2. These are counted, too: a missing or extra comma, an element other than an object, text after
**    the document, and a byte order mark. A comma after the last event is not counted, because many
**    writers leave one.
** 3. An event or other value longer than 16 MiB is skipped and counted.
** 4. If the document or its gzip data is truncated, the earlier events are still given, and the
**    outcome is DOCUMENT_DAMAGED. An event without an end has the same outcome, even if later
**    events were found, because they may be part of it. The bare array needs no closing bracket,
**    but its last event must be complete.
** 5. Without a list of events the outcome is DOCUMENT_NOT_TRACE.
**
** Memory: one chunk, the longest single value (at most 16 MiB), and 1 MiB of metadata.
*/
#ifndef TRACEDIFF_DOCUMENT_H
#define TRACEDIFF_DOCUMENT_H

#include "event.h"
#include "base/failure.h"
#include "metadata.h"
#include "source/source.h"
#include "base/stopper.h"

enum document_outcome { DOCUMENT_WHOLE, DOCUMENT_DAMAGED, DOCUMENT_NOT_TRACE };

struct document;

struct document_options {
    const bool *wanted;     /* by phase letter: whether to read its events */
    struct stopper stopper; /* called before every chunk */
    size_t chunk;           /* bytes read at a time; 0: 256 KiB */
    bool by_zlib;           /* see source_open() */
    bool no_memo;           /* read every event with event_read() (memo.h, rule 1) */
    struct memo **kept;     /* keeps a memo from one document to the next; or NULL */
    atomic_int *idle;       /* see source_read_ahead(); NULL: no threads */
};

/* Opens a file. NULL on failure (FAILURE_READ, FAILURE_MEMORY). `path`, `options->wanted`,
** `options->kept` and the stopper's argument must outlive the document. */
struct document *document_open(const char *path, const struct document_options *options,
                               struct failure *failure);

/* Closes a document; NULL is allowed. */
void document_close(struct document *document);

/* Reads up to the first event. The metadata before traceEvents is then known. False on failure. */
bool document_begin(struct document *document, struct failure *failure);

/* Reads the next event of a wanted phase. Returns 1 for an event, which is valid until the next
** call; 0 at the end, when the outcome is known; -1 on failure. */
int document_next(struct document *document, struct event *event, struct failure *failure);

/* The outcome. Unless it is DOCUMENT_WHOLE, the failure with the reason can be taken once. */
enum document_outcome document_outcome(const struct document *document);
void document_take_trouble(struct document *document, struct failure *failure);

const struct identity *document_identity(const struct document *document);

/* Bytes of JSON read into memory so far, including unused ones. */
int64_t document_read_to(const struct document *document);

/* See source_unchanged(). */
bool document_unchanged(const struct document *document, struct failure *failure);

/* Whether zlib might decode other bytes: the outcome is not DOCUMENT_WHOLE, and source_unsure(). */
bool document_unsure(const struct document *document);

struct metadata *document_metadata(struct document *document);
struct problems *document_problems(struct document *document);

/* Counts so far: elements of traceEvents, skipped elements, and used bytes of JSON. */
int64_t document_events(const struct document *document);
int64_t document_skipped(const struct document *document);
int64_t document_bytes(const struct document *document);

/* Estimates which fraction of the file the events so far take: 0 to 1. */
double document_part(const struct document *document);

#endif
