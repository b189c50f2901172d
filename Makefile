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
FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L $(OPTIMIZE) -g -fPIC \
	-fvisibility=hidden -pthread -MMD -MP $(WARNINGS) -Iext $(EXTRA) $(CFLAGS)
# The soname is what `.load tracediff` asks the dynamic linker for.
LINK = -shared -pthread -Wl,-soname,tracediff.so -Wl,--exclude-libs,ALL -Wl,-z,defs $(LDFLAGS)

QUERIES = $(sort $(wildcard sql/*.sql))
FIGURES = $(sort $(wildcard sql/report/*.sql))
SOURCES = $(sort $(wildcard ext/*.c ext/*/*.c))
COMPILED = $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/queries.o $(BUILD)/figures.o
OBJECTS = $(COMPILED) $(BUILD)/charts/assets.o
UNIT_TESTS = $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*_test.c))
FAULT_TESTS = $(patsubst tests/fault/%.c,$(BUILD)/fault/%,$(wildcard tests/fault/*.c))
FUZZ_TARGETS = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
LOWER_OBJECTS = $(filter $(BUILD)/ext/reader/% $(BUILD)/ext/trace/%,$(OBJECTS))

# The library that draws charts, from npm: MIT licence, which goes with it. CHARTS=no builds
# without; so does a machine without npm or network, until `make charts` is run.
PLOTLY = plotly.js-basic-dist-min
PLOTLY_VERSION = 4.1.1
PLOTLY_SHA256 = ea907f854b6cec4f6a2fa71540ec019a21ed2c61e6a109ddd5c072103a96eed0
CHARTS ?= yes
LIBRARY = $(if $(filter no,$(CHARTS)),build/charts/none,build/charts/plotly)

.DELETE_ON_ERROR:
.PHONY: all charts pages bare help demo test unit fault replay check strict sanitize tsan valgrind sqlites fuzz bench examples format install \
	uninstall clean setup setup-charts setup-pages setup-test setup-check setup-fuzz setup-valgrind setup-sqlites

all: $(DIST)/tracediff.so ## build dist/tracediff.so

charts: setup-charts ## fetch the charting library, if `make` could not, and build with it
	@test -s build/charts/plotly || rm -f build/charts/plotly
	@$(MAKE) --no-print-directory all
	@test -s build/charts/plotly

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

demo: all ## set up, build, and print a diff of the example traces
	@echo
	@echo "What changed from examples/cpu/control to examples/cpu/test, per step:"
	@echo
	@sqlite3 -cmd '.load $(DIST)/tracediff' -cmd '.mode box' :memory: < examples/demo.sql

test: setup-test all bare unit fault replay ## set up, build, and run the tests
	@TRACEDIFF=$(DIST)/tracediff.so BARE=$(BUILD)/bare/tracediff.so UNIT=$(BUILD)/unit FAULT=$(BUILD)/fault \
	FUZZ=$(BUILD)/fuzz $(PYTHON) tests/run.py

pages: setup-pages charts bare ## run the tests of charts, their pages in Chromium
	@TRACEDIFF=$(DIST)/tracediff.so BARE=$(BUILD)/bare/tracediff.so $(PYTHON) tests/run.py test_charts

bare: $(BUILD)/bare/tracediff.so

unit: $(UNIT_TESTS)

fault: $(FAULT_TESTS)

replay: $(FUZZ_TARGETS)

check: strict sanitize tsan valgrind fuzz test ## everything CI runs

strict: setup-check ## compile with gcc and clang, warnings as errors
	$(MAKE) --no-print-directory CC=gcc BUILD=build/gcc DIST=build/gcc EXTRA=-Werror all unit
	$(MAKE) --no-print-directory CC=clang BUILD=build/clang DIST=build/clang EXTRA=-Werror all unit

SANITIZED = BUILD=build/sanitized DIST=build/sanitized OPTIMIZE=-O1 \
	EXTRA='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
	LDFLAGS='-fsanitize=address,undefined'

sanitize: setup-test ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) --no-print-directory $(SANITIZED) all unit replay
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 SLOW=skip \
	TRACEDIFF=build/sanitized/tracediff.so UNIT=build/sanitized/unit FUZZ=build/sanitized/fuzz $(PYTHON) tests/run.py

WATCHED = BUILD=build/watched DIST=build/watched OPTIMIZE=-O1 \
	EXTRA='-fsanitize=thread -fno-omit-frame-pointer' LDFLAGS=-fsanitize=thread

tsan: setup-test ## run the tests of threads under ThreadSanitizer
	$(MAKE) --no-print-directory $(WATCHED) all fault
	SLACK=10 TRACEDIFF=build/watched/tracediff.so FAULT=build/watched/fault \
	$(PYTHON) tests/run.py test_fault.Fault.test_threads

# document_test reads values of 16 MiB: too slow here.
valgrind: setup-valgrind all unit ## run the tests of SQL and of units under valgrind
	@for test in $(filter-out %/document_test,$(UNIT_TESTS)); do \
		echo "  valgrind $$test"; $(VALGRIND) --leak-check=full $$test > $$test.log 2>&1 || { cat $$test.log; exit 1; }; \
	done
	$(VALGRIND) --leak-check=full sqlite3 :memory: < examples/tour.sql > /dev/null
	SLOW=skip TRACEDIFF=$(DIST)/tracediff.so $(VALGRIND) $(PYTHON) tests/run.py test_errors test_hostile test_sqlite

VALGRIND = valgrind -q --error-exitcode=9

sqlites: setup-sqlites all unit ## run the tests on other versions of SQLite, from npm
	@TRACEDIFF=$(DIST)/tracediff.so UNIT=$(BUILD)/unit CC='$(CC)' PYTHON=$(PYTHON) \
	sh tests/sqlites.sh $(BUILD)/sqlite

FUZZ_SECONDS ?= 30
FUZZED = CC=clang BUILD=build/fuzzed OPTIMIZE=-O2 FUZZ_FLAGS=-fsanitize=fuzzer \
	EXTRA='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
	LDFLAGS='-fsanitize=address,undefined'

fuzz: setup-fuzz ## look for FUZZ_SECONDS (30) for inputs that break the reader
	$(MAKE) --no-print-directory $(FUZZED) replay
	@mkdir -p build/fuzzed/corpus
	build/fuzzed/fuzz/reader_fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -dict=tests/fuzz/trace.dict \
	-artifact_prefix=build/fuzzed/ build/fuzzed/corpus tests/fuzz/seeds tests/fuzz/found

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

setup-valgrind: setup-test
	@$(call install_missing,$(call need_command,valgrind,valgrind))

setup-check:
	@$(call install_missing,$(call need_command,clang,clang))

setup-fuzz: setup-check
	@$(call install_missing,$(call need_fuzzer,clang))

setup-charts:
	@$(call install_missing,$(call need_command,npm,npm))

setup-pages: setup-test
	@$(call install_missing,$(call need_command,chromium,chromium) $(call need_plotly,$(PYTHON),python3-plotly))

setup-sqlites: setup-test
	@$(call install_missing,$(call need_command,npm,npm))

need_header = $$(echo '\#include <$(1)>' | $(CC) -E - >/dev/null 2>&1 || echo $(2))
need_fuzzer = $$(test -e "$$($(1) -print-runtime-dir)/libclang_rt.fuzzer-$$(uname -m).a" || \
	echo libclang-rt-$$($(1) -dumpversion | cut -d. -f1)-dev)
need_plotly = $$($(1) -c 'import plotly' 2>/dev/null || echo $(2))
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
	@$(CC) -o $@ $(OBJECTS) $(LINK) -lz -lm -ldl

# The only file that names the commit is compiled again when there is a new one.
$(BUILD)/ext/sqlite/scalars.o: FLAGS += -DTRACEDIFF_COMMIT='"$(COMMIT)"'
$(BUILD)/ext/sqlite/scalars.o: $(BUILD)/commit

.PHONY: always
$(BUILD)/commit: always
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@

$(BUILD)/%.o: %.c | setup
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

# The same without the charting library, for the tests.
$(BUILD)/bare/tracediff.so: $(COMPILED) $(BUILD)/bare/assets.o
	@echo "  LINK $@"
	@$(CC) -o $@ $^ $(LINK) -lz -lm -ldl

ASSETS = ext/chart/assets.S ext/chart/page.css ext/chart/page.js
assemble = @mkdir -p $(@D) && echo "  AS   $<" && $(CC) -DLIBRARY='"$(filter build/charts/%,$^)"' -c -o $@ $<

$(BUILD)/charts/assets.o: $(ASSETS) $(LIBRARY)
	$(assemble)

$(BUILD)/bare/assets.o: $(ASSETS) build/charts/none
	$(assemble)

build/charts/none:
	@mkdir -p $(@D)
	@: > $@

# Its licence and its code, as gzip in base64: what a browser unpacks. An empty file stands
# for no library.
build/charts/plotly:
	@mkdir -p $(@D)
	@echo "  NPM  $(PLOTLY) $(PLOTLY_VERSION)"
	@cd $(@D) && rm -rf package && package=$(PLOTLY)-$(PLOTLY_VERSION).tgz && \
	if npm pack --silent --fetch-retries=1 $(PLOTLY)@$(PLOTLY_VERSION) >npm.log 2>&1 && \
		echo "$(PLOTLY_SHA256)  $$package" | sha256sum -c --quiet >>npm.log 2>&1 && tar xzf $$package; then \
		{ echo "/*"; cat package/LICENSE; echo "*/"; cat package/plotly-basic.min.js; } | \
			gzip -9n | base64 -w 0 > $(@F); \
	else \
		echo "  built without charts: npm could not give $(PLOTLY); 'make charts' tries again"; \
		: > $(@F); \
	fi

$(BUILD)/queries.o $(BUILD)/figures.o: %.o: %.c
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

$(BUILD)/queries.c: sql/embed.awk $(QUERIES) | setup
	@mkdir -p $(@D)
	@awk -f sql/embed.awk $(QUERIES) > $@

$(BUILD)/figures.c: sql/embed.awk $(FIGURES) $(QUERIES) | setup
	@mkdir -p $(@D)
	@awk -v report=1 -v queries="$(QUERIES)" -f sql/embed.awk $(FIGURES) > $@

$(BUILD)/unit/%: tests/unit/%.c tests/unit/unit.h $(LOWER_OBJECTS)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -o $@ $< $(LOWER_OBJECTS) $(LDFLAGS) -pthread -lz -ldl

# A program that reads the inputs it is given; with `make fuzz`, one that makes them up.
FUZZ_FLAGS ?= -DREPLAY

$(BUILD)/fuzz/%: tests/fuzz/%.c $(wildcard tests/fuzz/*.h) $(LOWER_OBJECTS)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) $(FUZZ_FLAGS) -o $@ $< $(LOWER_OBJECTS) $(LDFLAGS) -pthread -lz -ldl -lsqlite3

# The programs stand before the C library's functions, also for what they load.
$(BUILD)/fault/%: tests/fault/%.c | setup
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -rdynamic -o $@ $< $(LDFLAGS) -lsqlite3 -ldl

-include $(OBJECTS:.o=.d)
