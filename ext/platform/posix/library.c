#include "platform/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __APPLE__
#define LIBRARY_NAME "lib%s.%d.dylib"
#else
#define LIBRARY_NAME "lib%s.so.%d"
#endif

bool library_load(const char *name, int version, const struct library_function *functions,
                  size_t count)
{
    char path[64];
    snprintf(path, sizeof path, LIBRARY_NAME, name, version);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    bool all = handle != NULL;
    for (size_t i = 0; i < count && all; i++) {
        void *found = dlsym(handle, functions[i].name);
        all = found != NULL; /* C has no cast from object to function pointers */
        memcpy(functions[i].pointer, &found, sizeof found);
    }
    if (handle && !all)
        dlclose(handle);
    return all;
}
