/*
** How a function is made visible to the program that loads the library. All others are hidden.
*/
#ifndef TRACEDIFF_EXPORT_H
#define TRACEDIFF_EXPORT_H

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#endif
