#include "document_facts.h"

void document_facts_take(struct trace_file *file, struct document *document)
{
    struct metadata *metadata = document_metadata(document);
    struct problems *problems = document_problems(document);
    file->identity = *document_identity(document);
    file->rank = metadata->rank;
    file->rank_source = RANK_DISTRIBUTED_INFO;
    file->base = metadata->base;
    file->has_base = metadata->has_base;
    file->metadata = metadata->text;
    file->metadata_length = metadata->length;
    metadata->text = NULL; /* the next reader starts a new text */
    metadata->length = metadata->capacity = 0;
    file->outcome = document_outcome(document);
    file->events = document_events(document);
    file->skipped += document_skipped(document);
    file->json_size = document_bytes(document);
    file->problems.skipped = problems->skipped;
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (problems->count[i] > 0) {
            if (file->problems.count[i] == 0 ||
                (problems->first_byte[i] < file->problems.first_byte[i]))
                file->problems.first_byte[i] = problems->first_byte[i];
            file->problems.count[i] += problems->count[i];
        }
}
