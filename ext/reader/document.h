/*
** Reads a trace file event by event, in both forms of the Trace Event Format: an object with
** traceEvents, or the bare array. Text that is not JSON is handled by these rules (T14 to T17):
**
** 1. A byte that cannot be JSON inside an event, an event without an end, and a list that is closed
**    before its last event are counted. Reading resumes at the next `{` that is followed by a key
**    of trace events, or at a `]` that ends the list. At most 256 MiB are read twice for that.
** 2. A missing or extra comma, an element that is not an object, text after the document and a byte
**    order mark are counted. Many writers leave a comma after the last event: it is not counted.
** 3. An event or another value longer than 16 MiB is skipped and counted.
** 4. If the document or its gzip data is truncated, the events before that place have been given,
**    and the outcome is DOCUMENT_DAMAGED. An event without an end has the same outcome, even if
**    later events were found, because they may be part of it. The bare array needs no closing
**    bracket, but its last event must be whole.
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
    struct stopper stopper; /* asked before every chunk */
    size_t chunk;           /* bytes read at a time; 0: 256 KiB */
    bool by_zlib;           /* as for source_open() */
    bool no_memo;           /* read every event with event_read() (memo.h, rule 1) */
    struct memo **kept;     /* where a memo is kept from one document to the next; or NULL */
    atomic_int *idle;       /* as for source_read_ahead(); NULL: no threads */
};

/* Opens a file. NULL on failure (FAILURE_READ, FAILURE_MEMORY). `path`, `options->wanted`,
** `options->kept` and the stopper's argument must outlive the document. */
struct document *document_open(const char *path, const struct document_options *options,
                               struct failure *failure);

/* NULL is allowed. */
void document_close(struct document *document);

/* Reads up to the first event. The metadata before traceEvents is then known. False on failure. */
bool document_begin(struct document *document, struct failure *failure);

/* Reads the next event that is not passed over. Returns 1 for an event, which is valid until the
** next call; 0 at the end, where the outcome is known; -1 on failure. */
int document_next(struct document *document, struct event *event, struct failure *failure);

/* The outcome. Unless it is DOCUMENT_WHOLE, the failure that explains it can be taken once. */
enum document_outcome document_outcome(const struct document *document);
void document_take_trouble(struct document *document, struct failure *failure);

const struct identity *document_identity(const struct document *document);

/* Bytes of JSON read into memory so far, including those not used yet. */
int64_t document_read_to(const struct document *document);

/* As source_unchanged(). */
bool document_unchanged(const struct document *document, struct failure *failure);

/* Whether zlib might have given other bytes: the outcome is not DOCUMENT_WHOLE, and
** source_unsure(). */
bool document_unsure(const struct document *document);

struct metadata *document_metadata(struct document *document);
struct problems *document_problems(struct document *document);

/* So far: elements of traceEvents, elements that were skipped, and bytes of JSON used. */
int64_t document_events(const struct document *document);
int64_t document_skipped(const struct document *document);
int64_t document_bytes(const struct document *document);

/* An estimate of the part of the file that events given so far take: 0 to 1. */
double document_part(const struct document *document);

#endif
