/*
** A trace file, event by event: the JSON around traceEvents, in both forms of
** the Trace Event Format (an object with traceEvents, or the bare array), and
** what to do where it is no JSON (T14 to T17).
**
** 1. A byte that cannot be JSON inside an event, an event that never ends, a list
**    that is closed before its last event: reading goes on at the next `{` that is
**    followed by a key of trace events, or at a `]` that ends the list; counted. At
**    most 256 MiB are read twice for that.
** 2. A comma too few or too many, an element that is no object, text after the
**    document, a byte order mark: read on; counted. A comma after the last event
**    is what many writers leave there, and is not counted.
** 3. An event or another value longer than 16 MiB: passed over; counted.
** 4. The document, or its gzip data, ends too early: what is whole before that
**    was given, and the outcome is DOCUMENT_DAMAGED. An event without an
**    end has the same outcome, even if later events were found: they may be part of it. The
**    bare array needs no closing bracket, but its last event must be whole.
** 5. No list of events at all: the outcome is DOCUMENT_NOT_TRACE.
**
** Memory: one chunk and the longest single value, at most 16 MiB, and 1 MiB of
** metadata.
*/
#ifndef TRACEDIFF_DOCUMENT_H
#define TRACEDIFF_DOCUMENT_H

#include "event.h"
#include "failure.h"
#include "metadata.h"
#include "source.h"
#include "stopper.h"

enum document_outcome { DOCUMENT_WHOLE, DOCUMENT_DAMAGED, DOCUMENT_NOT_TRACE };

struct document;

struct document_options {
    const bool *wanted;     /* of each phase letter: whether its events are to be read */
    struct stopper stopper; /* asked for every chunk */
    size_t chunk;           /* bytes read at a time; 0: 256 KiB */
    bool by_zlib;           /* as for source_open() */
    bool no_memo;           /* every event is read by event_read() (memo.h, rule 1) */
};

/* Opens a file. NULL on failure (FAILURE_READ, FAILURE_MEMORY). Path and
** options must outlive the document. */
struct document *document_open(const char *path, const struct document_options *options,
                               struct failure *failure);

/* NULL is allowed. */
void document_close(struct document *document);

/* Reads up to the first event: after it the metadata that stands before
** traceEvents is known. False on failure. */
bool document_begin(struct document *document, struct failure *failure);

/* The next event: 1, and it is good until the next call; 0 at the end, and the
** outcome is known; -1 on failure. */
int document_next(struct document *document, struct event *event, struct failure *failure);

/* How it ended. If not well, the failure that says so can be taken once. */
enum document_outcome document_outcome(const struct document *document);
void document_take_trouble(struct document *document, struct failure *failure);

const struct identity *document_identity(const struct document *document);

/* Bytes of JSON read so far, whether they have been used or not. */
int64_t document_read_to(const struct document *document);

/* As source_unchanged(). */
bool document_unchanged(const struct document *document, struct failure *failure);

/* Whether what was found may be other than what zlib would have read: the outcome is not
** DOCUMENT_WHOLE, and source_unsure(). */
bool document_unsure(const struct document *document);

struct metadata *document_metadata(struct document *document);
struct problems *document_problems(struct document *document);

/* So far: elements of traceEvents, elements passed over as no event, and bytes
** of JSON. */
int64_t document_events(const struct document *document);
int64_t document_skipped(const struct document *document);
int64_t document_bytes(const struct document *document);

#endif
