/*
** The functions of glibc whose symbols have newer versions where packages are built: each calls the
** oldest version, which every later glibc keeps. Linked only into the library of packages.
*/
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

/* The oldest versions of symbols, and the version of the struct stat that they know. */
#if defined __x86_64__
#define FIRST "GLIBC_2.2.5"
#define SETCLOCK "GLIBC_2.3.3"
#define STAT_VERSION 1
#elif defined __aarch64__
#define FIRST "GLIBC_2.17"
#define SETCLOCK FIRST
#define STAT_VERSION 0
#else
#error "packages are made for x86_64 and aarch64"
#endif

#define OLD(version, type, name, parameters) \
    type old_##name parameters;              \
    __asm__(".symver old_" #name "," #name "@" version)

#define KEEP(version, type, name, parameters, arguments) \
    OLD(version, type, name, parameters);                \
    type name parameters                                 \
    {                                                    \
        return old_##name arguments;                     \
    }

KEEP(FIRST, double, pow, (double base, double exponent), (base, exponent))
KEEP(FIRST, void *, dlopen, (const char *path, int mode), (path, mode))
KEEP(FIRST, void *, dlsym, (void *restrict handle, const char *restrict name), (handle, name))
KEEP(FIRST, int, dlclose, (void *handle), (handle))
KEEP(FIRST, int, pthread_create,
     (pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*run)(void *),
      void *restrict argument),
     (thread, attributes, run, argument))
KEEP(FIRST, int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t size),
     (attributes, size))
KEEP(FIRST, int, pthread_join, (pthread_t thread, void **result), (thread, result))
KEEP(FIRST, int, pthread_once, (pthread_once_t * once, void (*run)(void)), (once, run))
KEEP(FIRST, int, pthread_sigmask,
     (int how, const sigset_t *restrict set, sigset_t *restrict before), (how, set, before))
KEEP(SETCLOCK, int, pthread_condattr_setclock, (pthread_condattr_t * attributes, clockid_t clock),
     (attributes, clock))

/* What stat() and its like were before 2.33. */
OLD(FIRST, int, __xstat, (int version, const char *path, struct stat *status));
OLD(FIRST, int, __lxstat, (int version, const char *path, struct stat *status));
OLD(FIRST, int, __fxstat, (int version, int file, struct stat *status));

int stat(const char *restrict path, struct stat *restrict status)
{
    return old___xstat(STAT_VERSION, path, status);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
    return old___lxstat(STAT_VERSION, path, status);
}

int fstat(int file, struct stat *status)
{
    return old___fxstat(STAT_VERSION, file, status);
}
