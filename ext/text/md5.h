/*
** MD5 (RFC 1321), to see whether bytes are those that were written; not for anything secret.
*/
#ifndef TRACEDIFF_MD5_H
#define TRACEDIFF_MD5_H

#include <stddef.h>

enum { MD5_SIZE = 16, MD5_DIGITS = 2 * MD5_SIZE };

void md5(const unsigned char *bytes, size_t length, unsigned char digest[MD5_SIZE]);

#endif
