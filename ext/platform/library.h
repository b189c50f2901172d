/*
** Libraries of the system that are used where they are.
*/
#ifndef TRACEDIFF_LIBRARY_H
#define TRACEDIFF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of a library: its name, and the pointer to set, of any type of function. */
struct library_function {
    const char *name;
    void *pointer;
};

/* Loads a library by name and version: libNAME.so.VERSION, of macOS libNAME.VERSION.dylib. Of
** Windows none, as there a library of a name may be anyone's. It stays loaded until the process
** ends. False if it or one of the functions is not there. */
bool library_load(const char *name, int version, const struct library_function *functions,
                  size_t count);

#endif
