#ifndef TRACEDIFF_VERSION_H
#define TRACEDIFF_VERSION_H

#define TRACEDIFF_VERSION "0.2.0"
#define TRACEDIFF_OLDEST_SQLITE "3.38.0"
#define TRACEDIFF_OLDEST_SQLITE_NUMBER 3038000

#ifndef TRACEDIFF_COMMIT
#define TRACEDIFF_COMMIT "unknown"
#endif

#if defined __clang__
#define TRACEDIFF_COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define TRACEDIFF_COMPILER "gcc " __VERSION__
#else
#define TRACEDIFF_COMPILER "an unknown compiler"
#endif

#endif
