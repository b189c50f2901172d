#include "roles.h"

#include "text/ascii.h"

enum process_name process_name_of(const char *name, size_t length)
{
    static const struct {
        const char *text;
        bool whole; /* the whole name must match, not only its start */
        enum process_name process;
    } names[] = {
        {"/device:GPU", false, PROCESS_GPU},         {"GPU ", false, PROCESS_GPU},
        {"/device:TPU", false, PROCESS_ACCELERATOR}, {"/device:CUSTOM", false, PROCESS_ACCELERATOR},
        {"/host:", false, PROCESS_XLA_HOST},         {"Ascend Hardware", true, PROCESS_ASCEND},
        {"Overlap Analysis", true, PROCESS_OVERLAP}, {"Communication", true, PROCESS_COMMUNICATION},
        {"HCCL", true, PROCESS_COMMUNICATION}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].whole ? text_is(name, length, names[i].text)
                           : begins(name, name + length, names[i].text))
            return names[i].process;
    return PROCESS_OTHER;
}

unsigned char thread_name_of(const char *name, size_t length)
{
    const char *end = name + length;
    unsigned char says = 0;
    if (begins(name, end, "Stream #"))
        says |= THREAD_STREAM;
    if (text_is(name, length, "XLA Ops") || text_is(name, length, "Sparse Core Ops"))
        says |= THREAD_OPS;
    for (const char *p = name; p < end; p++)
        if (begins(p, end, "Communication"))
            says |= THREAD_COMMUNICATION;
    return says;
}

/* T9.5, T9.6 */
static enum role role_of(const struct track *process, const struct track *thread)
{
    unsigned working = process->threads & THREAD_STREAM ? THREAD_STREAM : THREAD_OPS;
    bool works = false;
    switch ((enum process_name)process->process) {
    case PROCESS_OTHER:
        return ROLE_HOST;
    case PROCESS_XLA_HOST:
        return ROLE_XLA_HOST;
    case PROCESS_GPU:
    case PROCESS_ACCELERATOR:
        works = process->threads & working ? thread->threads & working
                                           : process->process == PROCESS_GPU;
        break;
    case PROCESS_ASCEND:
        works = true;
        break;
    case PROCESS_OVERLAP:
        break;
    case PROCESS_COMMUNICATION:
        works = thread->threads & THREAD_COMMUNICATION;
        break;
    }
    return works ? ROLE_WORK : ROLE_ANNOTATION;
}

bool roles_find(struct trace_file *file, struct failure *failure)
{
    static const char annotation[] = "gpu_user_annotation";
    struct tracks *tracks = &file->tracks;
    struct places *places = &file->columns.places;
    for (size_t i = 0; i < tracks->count; i++) {
        const struct track *track = &tracks->items[i];
        struct track *process = track->threads ? tracks_process(tracks, track->pid) : NULL;
        if (process)
            process->threads |= track->threads;
    }
    for (size_t i = 0; i < tracks->count; i++) {
        struct track *track = &tracks->items[i];
        const struct track *process = tracks_process(tracks, track->pid);
        track->role = (unsigned char)(process ? role_of(process, track) : ROLE_HOST);
    }
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->items[i];
        const struct track *track = &tracks->items[place->track];
        if (place->cat != NAME_NONE || place->phase == 'M' || track->role < ROLE_WORK)
            continue;
        if (place->stream == NUMBER_NONE && track->tid.kind == IDENTIFIER_INTEGER)
            place->stream = track->tid.value;
        if (track->role == ROLE_ANNOTATION) {
            place->cat = names_intern(&file->names, annotation, sizeof annotation - 1);
            if (place->cat == NAME_NONE)
                return failure_memory(failure);
        }
    }
    return true;
}
