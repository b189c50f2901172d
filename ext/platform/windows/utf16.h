/*
** Texts of Windows, which are UTF-16.
*/
#ifndef TRACEDIFF_UTF16_H
#define TRACEDIFF_UTF16_H

#include <windows.h>

/* Makes the path that Windows is to be given for a path in UTF-8: a long one is made absolute and
** marked as such, as Windows otherwise takes none of 260 characters. Owned by the caller. NULL with
** an error of errno.h: ENOMEM, or ENOENT for what is not UTF-8, as no file has such a name. */
WCHAR *utf16_path(const char *path, int *error);

/* Makes UTF-8 of a text that ends with a NUL; owned by the caller. NULL if out of memory. */
char *utf16_to_utf8(const WCHAR *text);

#endif
