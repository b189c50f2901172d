#!/bin/sh
# Compiles what packages have of ISA-L inside: the decoder of gzip, with the instructions of each processor.
#
# usage: CC=... AR=... isal.sh SOURCE SYSTEM PROCESSOR LIBRARY    SOURCE: ISA-L's; LIBRARY: the .a to make
#
# Two of them may make the same library at once: each has a folder of its own, and LIBRARY appears whole.
set -eu

isal=$1 system=$2 processor=$3 library=$4
objects=$(mktemp -d "$library.XXXXXX")
trap 'rm -rf "$objects"' EXIT
trap 'exit 1' HUP INT TERM
flags="-I$objects/ -I$isal/ -I$isal/include/ -I$isal/igzip/ -I$isal/crc/"

# Of macOS the linker exports what an assembler does not hide.
hidden=
if [ "$system" = macos ]; then
    hidden=-Dglobal=private_extern
    for source in include/reg_sizes.asm igzip/igzip_decode_block_stateless.asm; do
        sed 's/^[[:space:]]*global [^:]*$/&:private_extern/' "$isal/$source" >"$objects/$(basename "$source")"
    done
fi

compile() { # SOURCE
    case $1 in
    *.asm) set -- "$1" nasm -f "$format" -DPIC ;;
    *.S) set -- "$1" "$CC" -D__ASSEMBLY__ $hidden -c ;;
    *) set -- "$1" "$CC" -O3 -fPIC -fvisibility=hidden -DNDEBUG -c ;;
    esac
    source=$1
    shift
    # A compiler may be a command with arguments.
    $* $flags -o "$objects/$(basename "$source" | tr . _).o" "$source"
}

# A function has versions for several processors, and a dispatcher that chooses. Prints the file without the
# dispatchers of what inflate does not call.
dispatchers() {
    awk '/^(mbin_|DEFINE_INTERFACE_DISPATCHER)/ {
             other = !/(crc32_gzip_refl|isal_adler32|decode_huffman_code_block_stateless)/
         }
         !other
         /^(mbin_|})/ { other = 0 }' "$1"
}

# Prints what inflate calls of the file that compresses.
shared() {
    awk '/^#include "/
         /^isal_(gzip_header_init|zlib_header_init|adler32_bam1)\(/ { print before; wanted = 1 }
         wanted
         /^}/ { wanted = 0 }
         { before = $0 }' "$1"
}

case $processor in
x86_64)
    case $system in
    windows) format=win64 ;;
    macos) format='macho64 --prefix _' ;;
    *) format=elf64 ;;
    esac
    dispatching='igzip/igzip_multibinary.asm crc/crc_multibinary.asm'
    sources='igzip/igzip_inflate_multibinary.asm igzip/igzip_decode_block_stateless_01.asm
        igzip/igzip_decode_block_stateless_04.asm igzip/rfc1951_lookup.asm igzip/adler32_sse.asm
        igzip/adler32_avx2_4.asm crc/crc32_gzip_refl_by8.asm crc/crc32_gzip_refl_avx2.asm
        crc/crc32_gzip_refl_by16_10.asm crc/crc_const.asm'
    ;;
*)
    flags="$flags -I$isal/igzip/aarch64/ -I$isal/crc/aarch64/"
    dispatching='igzip/aarch64/igzip_multibinary_arm64.S crc/aarch64/crc_multibinary_arm.S
        igzip/aarch64/igzip_multibinary_aarch64_dispatcher.c crc/aarch64/crc_aarch64_dispatcher.c'
    sources='igzip/aarch64/igzip_inflate_multibinary_arm64.S igzip/aarch64/igzip_isal_adler32_neon.S
        igzip/aarch64/igzip_decode_huffman_code_block_aarch64.S crc/aarch64/crc32_gzip_refl_pmull.S
        crc/aarch64/crc32_gzip_refl_crc_ext.S crc/aarch64/crc32_gzip_refl_3crc_fold.S'
    ;;
esac
for source in igzip/igzip_inflate.c igzip/hufftables_c.c igzip/adler32_base.c crc/crc_base.c $sources; do
    compile "$isal/$source"
done
for source in $dispatching; do
    dispatchers "$isal/$source" >"$objects/$(basename "$source")"
    compile "$objects/$(basename "$source")"
done
shared "$isal/igzip/igzip.c" >"$objects/igzip_shared.c"
compile "$objects/igzip_shared.c"
$AR rcsD "$objects/made.a" "$objects"/*.o
mv "$objects/made.a" "$library"
