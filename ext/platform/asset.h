/*
** What assemblers call a hidden name, constants and the end of a name, for assets.S.
*/
/* clang-format off */
#if defined __APPLE__
#define PREFIX _
#define HIDDEN .private_extern
#define CONSTANTS .section __TEXT,__const
#define LAST_SECTION
#define ENDS(name)
#elif defined _WIN32
#define PREFIX
#define HIDDEN .globl /* what is not exported is hidden */
#define CONSTANTS .section .rdata,"dr"
#define LAST_SECTION
#define ENDS(name)
#elif defined __wasm__
#define PREFIX
#define HIDDEN .hidden
#define CONSTANTS .section .rodata,"",@
#define LAST_SECTION
#define ENDS(name) .type name,@object; .size name, .-name
#else
#define PREFIX
#define HIDDEN .hidden
#define CONSTANTS .section .rodata
#define LAST_SECTION .section .note.GNU-stack,"",%progbits
#define ENDS(name)
#endif
