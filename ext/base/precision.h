/*
** How many bits of a long double this thread calculates. Windows starts threads with those of a
** double, 53 of the 64 that x86 has, and programs may ask for that on any system.
*/
#ifndef TRACEDIFF_PRECISION_H
#define TRACEDIFF_PRECISION_H

/* Asks for all bits. Returns what to give to precision_restore(). */
static inline unsigned short precision_widen(void)
{
    unsigned short before = 0;
#ifdef __x86_64__
    __asm__ volatile("fnstcw %0" : "=m"(before));
    unsigned short whole = before | 0x300;
    __asm__ volatile("fldcw %0" : : "m"(whole) : "memory");
#endif
    return before;
}

static inline void precision_restore(unsigned short before)
{
#ifdef __x86_64__
    __asm__ volatile("fldcw %0" : : "m"(before) : "memory");
#else
    (void)before;
#endif
}

#endif
