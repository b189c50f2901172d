# tracediff: `make demo` shows what it does, `make test` that it does, `make help`
# what else there is.

CC ?= gcc
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
BUILD ?= build
DIST ?= dist
OPTIMIZE ?= -O3
EXTRA ?=

COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wshadow
FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -DTRACEDIFF_COMMIT='"$(COMMIT)"' $(OPTIMIZE) -g -fPIC \
	-fvisibility=hidden -pthread -MMD -MP $(WARNINGS) -Iext $(EXTRA) $(CFLAGS)
# The soname is what `.load tracediff` asks the dynamic linker for.
LINK = -shared -pthread -Wl,-soname,tracediff.so -Wl,--exclude-libs,ALL -Wl,-z,defs $(LDFLAGS)

QUERIES = $(sort $(wildcard sql/*.sql))
SOURCES = $(sort $(wildcard ext/*.c ext/*/*.c))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/queries.o
UNIT_TESTS = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*_test.c))
LOWER_OBJECTS = $(filter $(BUILD)/ext/reader/% $(BUILD)/ext/trace/%,$(OBJECTS))

.DELETE_ON_ERROR:
.PHONY: all help demo test unit check strict sanitize sqlites bench examples format install uninstall clean \
	setup setup-test setup-check setup-sqlites

all: $(DIST)/tracediff.so ## build dist/tracediff.so

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

demo: all ## set up, build, and print a diff of the example traces
	@echo
	@echo "What changed from examples/cpu/control to examples/cpu/test, per step:"
	@echo
	@sqlite3 -cmd '.load $(DIST)/tracediff' -cmd '.mode box' :memory: < examples/demo.sql

test: setup-test all unit ## set up, build, and run the tests
	@TRACEDIFF=$(DIST)/tracediff.so UNIT=$(BUILD)/unit $(PYTHON) tests/run.py

unit: $(UNIT_TESTS)

check: strict sanitize test ## everything CI runs

strict: setup-check ## compile with gcc and clang, warnings as errors
	$(MAKE) --no-print-directory CC=gcc BUILD=build/gcc DIST=build/gcc EXTRA=-Werror all unit
	$(MAKE) --no-print-directory CC=clang BUILD=build/clang DIST=build/clang EXTRA=-Werror all unit

SANITIZED = BUILD=build/sanitized DIST=build/sanitized OPTIMIZE=-O1 \
	EXTRA='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
	LDFLAGS='-fsanitize=address,undefined'

sanitize: setup-test ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) --no-print-directory $(SANITIZED) all unit
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 SLOW=skip \
	TRACEDIFF=build/sanitized/tracediff.so UNIT=build/sanitized/unit $(PYTHON) tests/run.py

sqlites: setup-sqlites all unit ## run the tests on other versions of SQLite, from npm
	@TRACEDIFF=$(DIST)/tracediff.so UNIT=$(BUILD)/unit CC='$(CC)' PYTHON=$(PYTHON) \
	sh tests/sqlites.sh $(BUILD)/sqlite

bench: all ## measure a diff: CPU seconds, memory
	@$(PYTHON) tests/bench.py

examples: ## make the generated example traces again
	$(PYTHON) tests/generate_gpu_pair.py

format: ## lay out the C code
	clang-format -i $(wildcard ext/*.[ch] ext/*/*.[ch] tests/*/*.[ch])

# ldconfig only knows files named lib*, and links their soname to them.
install: all ## install into PREFIX (/usr/local), under DESTDIR; then `.load tracediff` works
	install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/share/tracediff
	install -m 755 $(DIST)/tracediff.so $(DESTDIR)$(PREFIX)/lib/libtracediff.so
	ln -sf libtracediff.so $(DESTDIR)$(PREFIX)/lib/tracediff.so
	install -m 644 $(QUERIES) $(DESTDIR)$(PREFIX)/share/tracediff
	@if [ -n "$(DESTDIR)" ]; then :; \
	elif [ "$$(id -u)" = 0 ]; then ldconfig; \
	else echo "run ldconfig as root, or set LD_LIBRARY_PATH=$(PREFIX)/lib, for .load tracediff"; fi

uninstall: ## take it out again
	rm -f $(DESTDIR)$(PREFIX)/lib/libtracediff.so $(DESTDIR)$(PREFIX)/lib/tracediff.so
	rm -rf $(DESTDIR)$(PREFIX)/share/tracediff

clean: ## remove what was built
	rm -rf build dist

# What Debian calls what is needed; `make setup` installs what is missing.
setup: ## install what the build needs and is missing
	@$(call install_missing, \
		$(call need_header,sqlite3ext.h,libsqlite3-dev) $(call need_header,zlib.h,zlib1g-dev) \
		$(call need_command,sqlite3,sqlite3))

setup-test:
	@$(call install_missing,$(call need_command,$(PYTHON),python3))

setup-check:
	@$(call install_missing,$(call need_command,clang,clang))

setup-sqlites: setup-test
	@$(call install_missing,$(call need_command,npm,npm))

need_header = $$(echo '\#include <$(1)>' | $(CC) -E - >/dev/null 2>&1 || echo $(2))
need_command = $$(command -v $(1) >/dev/null || echo $(2))
install_missing = \
	missing=$$(echo $(1)); \
	if [ -n "$$missing" ]; then \
		install="apt-get install -y --no-install-recommends $$missing"; \
		if [ "$$(id -u)" = 0 ]; then sudo=; \
		elif sudo -n true 2>/dev/null; then sudo=sudo; \
		else echo "Missing: $$missing. Run: sudo $$install"; exit 1; fi; \
		echo "Installing $$missing"; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo $$install -qq >/dev/null; \
	fi

$(DIST)/tracediff.so: $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CC) -o $@ $(OBJECTS) $(LINK) -lz

$(BUILD)/%.o: %.c | setup
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

$(BUILD)/queries.o: $(BUILD)/queries.c
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

$(BUILD)/queries.c: sql/embed.awk $(QUERIES) | setup
	@mkdir -p $(@D)
	@awk -f sql/embed.awk $(QUERIES) > $@

$(BUILD)/unit/%: tests/unit/%.c tests/unit/unit.h $(LOWER_OBJECTS)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -o $@ $< $(LOWER_OBJECTS) $(LDFLAGS) -pthread -lz

-include $(OBJECTS:.o=.d)
