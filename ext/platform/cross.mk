# Builds the library for other systems: `make cross PLATFORM=windows-x86_64` makes
# build/cross/windows-x86_64/tracediff.dll, `make cross` those of all platforms.
# The compiler is zig, from PyPI. The library holds its own zlib and ISA-L, and needs nothing but the
# system's C library.

PLATFORMS = linux-x86_64 linux-aarch64 musl-x86_64 musl-aarch64 macos-arm64 macos-x86_64 windows-x86_64
NATIVE := linux-$(shell uname -m 2>/dev/null || echo unknown)
# These goals are of all platforms; packages of one kind are of this machine, whatever is made beside them.
PLATFORM ?= $(if $(filter cross platforms dist test-packages,$(MAKECMDGOALS)),$(PLATFORMS),$(NATIVE))
KINDS = wheel npm deb tarball

# The oldest glibc that wheels promise (manylinux2014), and the oldest macOS that zig knows.
TARGET_linux-x86_64 = x86_64-linux-gnu.2.17
TARGET_linux-aarch64 = aarch64-linux-gnu.2.17
TARGET_musl-x86_64 = x86_64-linux-musl
TARGET_musl-aarch64 = aarch64-linux-musl
TARGET_macos-arm64 = aarch64-macos.13.0
TARGET_macos-x86_64 = x86_64-macos.13.0
TARGET_windows-x86_64 = x86_64-windows-gnu

CROSSED = build/cross
ZIG = $(CURDIR)/$(CROSSED)/zig/bin/python -m ziglang
export ZIG_GLOBAL_CACHE_DIR := $(CURDIR)/$(CROSSED)/cache
ZLIB = $(patsubst %,$(BUILD)/zlib/%.o,adler32 crc32 deflate inffast inflate inftrees trees zutil)
HELD = -DTRACEDIFF_LINKS_ISAL -I$(CROSSED)/include
AR = ar

cross: $(PLATFORM:%=cross-%) ## build for other systems, PLATFORM=linux-aarch64, windows-x86_64, ...

platforms: cross all ## build for other systems and run test_platforms under wine and qemu
	@sh tests/hosts/platforms.sh build/platforms $(CROSSED)
	@TRACEDIFF=$(DIST)/tracediff.so $(PYTHON) tests/run.py test_platforms

suite-windows: cross-windows-x86_64 ## run the quick tests in Python for Windows, under wine: ARGS=test_diff some
	@PYTHON=$(PYTHON) sh tests/hosts/suite.sh build/platforms windows-x86_64 $(CROSSED)/windows-x86_64/tracediff.dll $(ARGS)

suite-aarch64: cross-linux-aarch64 ## run the quick tests in Python for aarch64, under qemu: ARGS=test_diff some
	@PYTHON=$(PYTHON) sh tests/hosts/suite.sh build/platforms linux-aarch64 $(CROSSED)/linux-aarch64/tracediff.so $(ARGS)

.PHONY: cross platforms suite-windows suite-aarch64 $(PLATFORMS:%=cross-%)
$(PLATFORMS:%=cross-%): cross-%: $(CROSSED)/sources $(CROSSED)/compiler $(LIBRARY)
	@echo "  ZIG  $*"
	@$(MAKE) --no-print-directory all find_needed=: BUILD=$(CROSSED)/$* DIST=$(CROSSED)/$* \
		CC='$(ZIG) cc -target $(TARGET_$*)' AR='$(ZIG) ar' EXTRA='$(HELD) -Wno-enum-float-conversion $(EXTRA_$(system))' \
		ADDED='$$(ZLIB) $$(BUILD)/isal.a' HELD_FOR='$(subst -, ,$*)' LIBS= LINK='-shared -s $(LINK_$(system))' \
		$(if $(filter windows,$(system)),SYSTEM=windows) SUFFIX=$(or $(SUFFIX_$(system)),so)

system = $(firstword $(subst -, ,$*))
SUFFIX_macos = dylib
SUFFIX_windows = dll
# Without -mno-ms-bitfields, clang aligns 128 bits in a struct to 16 bytes whatever they say (wide.h).
EXTRA_windows = -mno-ms-bitfields
unexport LINK # the linker of Windows would take it for arguments of its own
LINK_macos = -Wl,-install_name,@rpath/tracediff.dylib
LINK_linux = -Wl,--version-script,ext/platform/posix/exported
LINK_musl = $(LINK_linux)
LINK_windows = -Wl,-Brepro # in the place of the time a hash of the file, so that two builds are the same

$(BUILD)/zlib/%.o: $(CROSSED)/zlib/%.c
	@mkdir -p $(@D)
	@$(CC) -O3 -fPIC -fvisibility=hidden -c -o $@ $<

$(CROSSED)/zlib/%.c: $(CROSSED)/sources ;
.SECONDARY: $(ZLIB:$(BUILD)/zlib/%.o=$(CROSSED)/zlib/%.c) # they are not made, and are to stay

$(BUILD)/isal.a: ext/packages/library/isal.sh $(CROSSED)/sources
	@mkdir -p $(@D)
	@echo "  CC   ISA-L"
	@CC='$(CC)' AR='$(AR)' sh $< $(CROSSED)/isa-l $(HELD_FOR) $@

$(CROSSED)/compiler: | $(CROSSED)/sources

$(CROSSED)/sources $(CROSSED)/compiler: ext/platform/cross.sh | needed
	@PYTHON='$(PYTHON)' sh ext/platform/cross.sh $(CROSSED) $(@F)
