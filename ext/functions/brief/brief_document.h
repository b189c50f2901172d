/*
** The document of a brief: its objects, and which of them fit (Z2, Z5, Z7).
*/
#ifndef TRACEDIFF_BRIEF_DOCUMENT_H
#define TRACEDIFF_BRIEF_DOCUMENT_H

#include "base/names.h"
#include "chart/writer.h"

/* In the order of the document. Evidence is nested in its cause. */
enum brief_part {
    BRIEF_VERDICT,
    BRIEF_CERTAINTY,
    BRIEF_UNRECORDED,
    BRIEF_UNTRACED,
    BRIEF_COMPARABILITY,
    BRIEF_DIAGNOSES,
    BRIEF_CAUSES,
    BRIEF_REST, /* one per cause that may be the last, and 0 for none; only one is written */
    BRIEF_GRAPHS,
    BRIEF_WORK,
    BRIEF_CAUTIONS,
    BRIEF_CANNOT_SAY,
    BRIEF_NEXT,
    BRIEF_EVIDENCE,
    BRIEF_PARTS
};

struct brief_object {
    enum brief_part part;
    size_t item;
    struct writer json;
    bool left_out;
};

/* A zeroed struct is empty. */
struct brief_document {
    struct brief_object *objects; /* within a part, in the order of their items */
    size_t count, capacity;
    struct writer columns; /* columns in the query of the last object */
    bool failed;           /* out of memory */
};

/* Begins an object. `item` of evidence and of the rest is the item of their cause. */
void brief_begin(struct brief_document *document, enum brief_part part, size_t item);

/* Add a member to the last object. NULL and NAN are left out. `column` is the column of the number
** in the object's query; NULL: the column has the name of the key. */
void brief_text(struct brief_document *document, const char *key, const char *text);
void brief_query(struct brief_document *document, const char *key, const struct writer *sql);
void brief_integer(struct brief_document *document, const char *key, const char *column,
                   int64_t number);
void brief_real(struct brief_document *document, const char *key, const char *column,
                double number);

/* The same for text from a trace (Z5). `asked`: the object's query has it, too. */
void brief_data(struct brief_document *document, const char *key, const struct name *text,
                bool asked);

/* Ends the object. If it has numbers, its query reads `from`, which is emptied. */
void brief_end(struct brief_document *document, struct writer *from);

/* Whether a name can be in queries (Z5). */
bool brief_can_quote(const struct name *name);

/* Writes the objects that fit (Z7). */
void brief_document_write(struct brief_document *document, struct writer *to);

void brief_document_clear(struct brief_document *document);

#endif
