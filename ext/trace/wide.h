/*
** Times that go beyond 64 bits: sums of many, differences of any two, fractions.
*/
#ifndef TRACEDIFF_WIDE_H
#define TRACEDIFF_WIDE_H

/* SQLite's memory is aligned to 8 bytes only. */
__extension__ typedef __int128 wide_time __attribute__((aligned(8)));

#endif
