# tracediff: `make demo` shows what it does, `make test` that it does, `make help`
# what else there is. `make` and `make install` change nothing outside this directory and
# PREFIX: what they need and is missing they print. The other targets install it.

ifeq ($(origin CC),default)
CC = gcc
endif
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
BUILD ?= build
DIST ?= dist
OPTIMIZE ?= -O3
EXTRA ?=

COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wshadow
HOW = -fPIC -fvisibility=hidden -pthread
FLAGS = -std=c11 -ffp-contract=off -D_POSIX_C_SOURCE=200809L $(OPTIMIZE) -g $(HOW) -MMD -MP $(WARNINGS) -Iext $(EXTRA) $(CFLAGS)
# The soname is what `.load tracediff` asks the dynamic linker for.
LINK = -shared -pthread -Wl,-soname,tracediff.so -Wl,--exclude-libs,ALL -Wl,-z,defs $(LDFLAGS)
LIBS = -lz -lm -ldl
SUFFIX = so

QUERIES = $(sort $(wildcard sql/tracediff/*.sql sql/hta/*.sql))
SECTIONS = $(sort $(wildcard sql/report/[0-9]*.sql))
PATTERNS = $(sort $(wildcard sql/patterns/*/*.sql))
SHARED = $(sort $(wildcard sql/shared/*.sql))
# The folder of ext/platform for the system that is compiled for.
SYSTEM = posix
NOT_SOURCES = ext/packages/% $(addsuffix /%,$(filter-out %/$(SYSTEM),ext/platform/posix ext/platform/windows))
SOURCES = $(sort $(filter-out $(NOT_SOURCES),$(wildcard ext/*.c ext/*/*.c ext/*/*/*.c)))
COMPILED = $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/queries.o $(BUILD)/sections.o $(BUILD)/patterns.o
OBJECTS = $(COMPILED) $(BUILD)/charts/assets.o
UNIT_TESTS = $(patsubst tests/c/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/c/unit/*_test.c))
FAULT_TESTS = $(patsubst tests/c/fault/%.c,$(BUILD)/fault/%,$(wildcard tests/c/fault/*.c))
FUZZ_TARGETS = $(patsubst tests/c/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/c/fuzz/*.c))
# What does not use SQLite; its memory is that of the program.
LOWER = base platform access text naming source reader file linking steps loading perfetto paths trace snapshot dumps analysis compile
LOWER_OBJECTS = $(filter-out %/sqlite_memory.o,$(filter $(LOWER:%=$(BUILD)/ext/%/%) $(BUILD)/ext/chart/writer.o,$(OBJECTS)))

# The library that draws charts, from npm: MIT licence, which goes with it. CHARTS=no builds
# without; so does `make` as long as no target that sets up has fetched it.
PLOTLY = plotly.js-basic-dist-min
PLOTLY_VERSION = 4.1.1
PLOTLY_SHA256 = ea907f854b6cec4f6a2fa71540ec019a21ed2c61e6a109ddd5c072103a96eed0
CHARTS ?= yes
FETCHED ?= build/charts
LIBRARY = $(FETCHED)/$(if $(filter no,$(CHARTS)),none,plotly)

# Targets that set up; the makes that they start do, too.
SETS_UP = cross platforms suite-windows suite-aarch64 test-packages dist wheel npm deb tarball web test-web demo test check plain sanitize tsan valgrind strict fuzz sqlites bench charts pages setup setup-pages setup-hosts
ifneq ($(filter $(SETS_UP),$(MAKECMDGOALS)),)
export SETUP = yes
endif

# No built-in rules: looking through them takes longer than all else if there is nothing to do.
MAKEFLAGS += -r
# As many jobs as there are processors.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

.DELETE_ON_ERROR:
.PHONY: all web charts pages bare help demo dist wheel npm deb tarball test-packages test unit fault replay check strict plain aarch64 sanitize tsan valgrind sqlites fuzz bench db examples notebook reference format install \
	uninstall clean setup setup-pages setup-hosts needed look

all: $(DIST)/tracediff.$(SUFFIX) ## build dist/tracediff.so

charts: all ## fetch the charting library and build with it
	@test -s $(FETCHED)/plotly

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1	\2/p' Makefile ext/platform/cross.mk ext/packages/packages.mk ext/packages/web/web.mk | expand -t 21

demo: needed all ## set up, build, and print why the test run of examples/gpu is slower
	@sqlite3 -cmd '.load $(DIST)/tracediff' :memory: < examples/demo.sql

# SLOW=run also runs the tests that are marked as slow, as `make check` does.
test: SLOW ?= skip
test: needed all bare unit fault replay ## set up, build, and run the tests but the slow ones
	@SLOW=$(SLOW) TRACEDIFF=$(DIST)/tracediff.so BARE=$(BUILD)/bare/tracediff.so OBJECTS=$(BUILD) UNIT=$(BUILD)/unit \
	FAULT=$(BUILD)/fault FUZZ=$(BUILD)/fuzz $(PYTHON) tests/run.py

pages: charts bare ## run the tests of charts and the report, their pages in Chromium
	@TRACEDIFF=$(DIST)/tracediff.so BARE=$(BUILD)/bare/tracediff.so $(PYTHON) tests/run.py test_charts test_report test_pages

bare: $(BUILD)/bare/tracediff.so

unit: $(UNIT_TESTS)

fault: $(FAULT_TESTS)

replay: $(FUZZ_TARGETS)

check: ## everything CI runs: strict, plain, sanitize, tsan, valgrind, fuzz and all tests
	@for part in strict plain sanitize tsan valgrind fuzz; do $(MAKE) --no-print-directory $$part || exit 1; done
	@$(MAKE) --no-print-directory test SLOW=run

strict: needed ## compile with gcc and clang, warnings as errors
	$(MAKE) --no-print-directory CC=gcc BUILD=build/gcc DIST=build/gcc EXTRA=-Werror all unit
	$(MAKE) --no-print-directory CC=clang BUILD=build/clang DIST=build/clang OPTIMIZE=-O0 EXTRA=-Werror all unit

plain: needed ## run the tests of units without the instructions of a processor (bytes16.h)
	$(MAKE) --no-print-directory BUILD=build/plain EXTRA='-Werror -U__SSE2__ -U__ARM_NEON' unit replay
	UNIT=build/plain/unit FUZZ=build/plain/fuzz $(PYTHON) tests/run.py test_unit test_fuzz

# The libraries are those of `dpkg --add-architecture arm64`.
aarch64: needed ## build for aarch64 and run the tests of units under qemu
	$(MAKE) --no-print-directory CC=$(CROSS) BUILD=build/aarch64 DIST=build/aarch64 EXTRA=-Werror all unit
	UNIT=build/aarch64/unit RUNNER=$(QEMU) $(PYTHON) tests/run.py test_unit

CROSS = aarch64-linux-gnu-gcc
QEMU = qemu-aarch64-static

SANITIZED = BUILD=build/sanitized DIST=build/sanitized OPTIMIZE=-O1 \
	EXTRA='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
	LDFLAGS='-fsanitize=address,undefined'

sanitize: needed ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) --no-print-directory $(SANITIZED) all unit replay
	$(UNDER_SANITIZERS) SLOW=skip $(PYTHON) tests/run.py -x $(NOT_SANITIZED)
	$(UNDER_SANITIZERS) SLOW=some $(PYTHON) tests/run.py -s $(SLOW_SANITIZED) -x $(NOT_SANITIZED)

# The other slow tests run the same code with larger traces.
SLOW_SANITIZED = test_sweep test_damaged_files test_hostile_schemas test_hostile_databases test_decoders test_sequences
# These start other programs, compile or measure time; the pages that a browser draws are made by other tests, too.
NOT_SANITIZED = test_bench test_citations test_cluster test_command test_dashboards test_database test_host test_hosts test_joins test_make test_mcp \
	test_notebook test_packages test_pages test_platforms test_readers test_charts.Pages test_report.Browsed $(patsubst %,test_documents.%,Documents CallsOfHta Readme Reference Queries Stories Hosts) \
	test_statistics.OfR.test_values_are_those_of_r_itself test_names.Names.test_long_names_take_time_in_proportion \
	test_sequences.Sequences.test_many_arguments_are_found_as_quickly_as_few
UNDER_SANITIZERS = LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	TRACEDIFF=build/sanitized/tracediff.so OBJECTS=build/sanitized UNIT=build/sanitized/unit FUZZ=build/sanitized/fuzz

WATCHED = BUILD=build/watched DIST=build/watched OPTIMIZE=-O1 \
	EXTRA='-fsanitize=thread -fno-omit-frame-pointer' LDFLAGS=-fsanitize=thread

tsan: needed ## run the tests of threads under ThreadSanitizer
	$(MAKE) --no-print-directory $(WATCHED) all fault
	SLOW=run SLACK=10 TRACEDIFF=build/watched/tracediff.so FAULT=build/watched/fault \
	$(PYTHON) tests/run.py test_fault.Fault.test_threads

# The test that is left out takes a third of the time, for SQL of the analyses.
# document_test reads values of 16 MiB, too slow here, and stopping_test measures time.
valgrind: needed all $(patsubst %,%.log,$(filter-out %/document_test %/stopping_test,$(UNIT_TESTS))) ## run the tests of SQL and of units under valgrind
	$(VALGRIND) --leak-check=full sqlite3 :memory: < examples/tour.sql > /dev/null
	SLOW=skip TRACEDIFF=$(DIST)/tracediff.so $(VALGRIND) $(PYTHON) tests/run.py test_errors test_hostile_schemas test_sqlite \
	-x test_hostile_schemas.Schemas.test_analyses_beside_tables_of_every_name_they_use

VALGRIND = valgrind -q --error-exitcode=9

$(BUILD)/unit/%.log: $(BUILD)/unit/% always | needed
	@echo "  valgrind $<"
	@$(VALGRIND) --leak-check=full $< > $@ 2>&1 || { cat $@; exit 1; }

sqlites: needed all unit ## run the tests on other versions of SQLite, from npm
	@TRACEDIFF=$(DIST)/tracediff.so UNIT=$(BUILD)/unit CC='$(CC)' PYTHON=$(PYTHON) \
	sh tests/hosts/sqlites.sh $(BUILD)/sqlite

FUZZ_SECONDS ?= 30
FUZZED = CC=clang BUILD=build/fuzzed OPTIMIZE=-O2 FUZZ_FLAGS=-fsanitize=fuzzer \
	EXTRA='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' \
	LDFLAGS='-fsanitize=address,undefined'

fuzz: needed ## look for FUZZ_SECONDS (30) for inputs that break each reader
	$(MAKE) --no-print-directory $(FUZZED) replay
	@$(MAKE) --no-print-directory $(patsubst tests/c/fuzz/%_fuzz.c,fuzz-%,$(wildcard tests/c/fuzz/*_fuzz.c))

fuzz-%: FUZZ_LIMITS = -max_len=4096 -timeout=10
fuzz-%: FUZZ_SEEDS = tests/c/fuzz/$*_seeds
fuzz-reader: FUZZ_LIMITS += -dict=tests/c/fuzz/trace.dict
fuzz-reader: FUZZ_SEEDS = tests/c/fuzz/seeds tests/c/fuzz/found
fuzz-compile: FUZZ_LIMITS = -max_len=8192 -timeout=10
fuzz-rows: FUZZ_LIMITS = -max_len=8192 -timeout=20
fuzz-%:
	@mkdir -p build/fuzzed/made/$*
	build/fuzzed/fuzz/$*_fuzz -max_total_time=$(FUZZ_SECONDS) $(FUZZ_LIMITS) -artifact_prefix=build/fuzzed/ build/fuzzed/made/$* $(FUZZ_SEEDS)

# The generated traces are kept in $(BUILD)/bench.
bench: SIZE ?= medium
bench: needed all ## measure beside other programs: SIZE=small, medium (1 GB of traces) or large (2 GB)
	@TRACEDIFF=$(DIST)/tracediff.so $(PYTHON) tests/bench.py $(SIZE) $(BUILD)/bench

# The script gets what was typed: make would expand a dollar sign.
db: export DB_CONTROL := $(value CONTROL)
db: export DB_TEST := $(value TEST)
db: export DB_OUT := $(value OUT)
db: export DB_ARGS := $(value ARGS)
db: export DB_CONTROL_MEMORY := $(value CONTROL_MEMORY)
db: export DB_TEST_MEMORY := $(value TEST_MEMORY)
db: needed all ## write traces into ordinary tables: CONTROL=traces/a TEST=traces/b OUT=perf.db [ARGS=yes]
	@TRACEDIFF=$(DIST)/tracediff.so sh sql/database/database.sh "$$DB_CONTROL" "$$DB_TEST" "$$DB_OUT" "$$DB_ARGS" "$$DB_CONTROL_MEMORY" "$$DB_TEST_MEMORY"

examples: ## make the generated example traces again
	$(PYTHON) tests/generators/generate_gpu_pair.py
	$(PYTHON) tests/generators/generate_memory_pair.py
	$(PYTHON) tests/generators/generate_joins.py
	$(PYTHON) tests/generators/generate_history.py
	$(PYTHON) tests/generators/generate_counters.py

# The programs that it needs are those of `make setup-hosts`.
notebook: needed all ## run examples/notebook.ipynb and store what it prints
	@TRACEDIFF=$(DIST)/tracediff.so $(PYTHON) tests/hosts/packed.py $(BUILD)/packed
	@PYTHONPATH=$(abspath $(BUILD))/packed build/hosts/notebook/bin/python tests/hosts/notebook.py examples/notebook.ipynb $(BUILD)/packed/ran.ipynb
	@$(PYTHON) tests/hosts/notebook.py --stored $(BUILD)/packed/ran.ipynb examples/notebook.ipynb

reference: needed all ## write sql/REFERENCE.md from tracediff_help
	@TRACEDIFF=$(DIST)/tracediff.so $(PYTHON) sql/reference.py

format: ## lay out the C code
	clang-format -i $(wildcard ext/*.[ch] ext/*/*.[ch] ext/*/*/*.[ch] tests/c/*/*.[ch])

# What is printed names PREFIX, which is to be the same from every folder; make does not expand ~.
for_you = make install PREFIX=\$$HOME/.local
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
ifneq ($(filter-out /%,$(firstword $(PREFIX))),)
$(error PREFIX must be an absolute path, not '$(PREFIX)'. For you alone: $(subst \,,$(for_you)))
endif
endif

# ldconfig only knows files named lib*, and links their soname to them. Where it does not look, a program finds the
# library by its path alone. Users who are not root do not have /sbin in their PATH.
install: all ## install into PREFIX (/usr/local), under DESTDIR, and print how sqlite3 loads it
	@to="$(DESTDIR)$(PREFIX)" && \
	install -d "$$to/lib" "$$to/share/tracediff" 2>/dev/null && \
	install -m 755 $(DIST)/tracediff.so "$$to/lib/libtracediff.so" && \
	ln -sf libtracediff.so "$$to/lib/tracediff.so" && \
	install -m 644 $(QUERIES) sql/brief.schema.json "$$to/share/tracediff" && \
	install -d "$$to/share/tracediff/shared" "$$to/share/tracediff/database" "$$to/share/tracediff/patterns" && \
	install -m 644 $(PATTERNS) "$$to/share/tracediff/patterns" && \
	install -m 644 $(SHARED) "$$to/share/tracediff/shared" && \
	install -m 644 $(wildcard sql/database/*.sql) "$$to/share/tracediff/database" && \
	echo "Installed $$to/lib/tracediff.so and $$to/share/tracediff" || { \
		echo "Cannot install into $$to. For you alone: $(for_you)"; \
		echo "For everyone on this machine, as root: make install"; exit 1; }
	@[ -z "$(DESTDIR)" ] || exit 0; \
	PATH="$$PATH:/usr/sbin:/sbin"; \
	[ "$$(id -u)" != 0 ] || ldconfig; \
	if ldconfig -p 2>/dev/null | grep -qF "=> $(PREFIX)/lib/tracediff.so"; then echo "In sqlite3: .load tracediff"; \
	else \
		load='.load "$(PREFIX)/lib/tracediff"'; \
		echo "In sqlite3: $$load"; \
		echo "In each sqlite3 that you start: echo '$$load' >> ~/.sqliterc"; \
	fi

uninstall: ## remove the installed files
	rm -f $(DESTDIR)$(PREFIX)/lib/libtracediff.so $(DESTDIR)$(PREFIX)/lib/tracediff.so
	rm -rf $(DESTDIR)$(PREFIX)/share/tracediff
	@grep -sF '"$(PREFIX)/lib/tracediff"' ~/.sqliterc | sed 's/^/Remove from ~\/.sqliterc: /'

clean: ## remove what was built
	rm -rf build dist

include ext/platform/cross.mk
include ext/packages/packages.mk
include ext/packages/web/web.mk

setup: needed ## install what `make demo` and `make test` need

setup-pages: charts ## install what `make pages` needs: a browser, and Plotly for Python

# The programs that examples/hosts is tested in. What cannot be had is said, and its tests are skipped.
setup-hosts: ## install the programs that examples/hosts is tested in
	-@$(find_needed) setup-hosts
	@PYTHON=$(PYTHON) sh tests/hosts/hosts.sh build/hosts
	-@$(MAKE) --no-print-directory $(CROSSED)/sources # for packages

# What the goals need and is not here.
needed:
	@$(find_needed) $(or $(MAKECMDGOALS),all)

find_needed = CC='$(CC)' PYTHON='$(PYTHON)' CROSS='$(CROSS)' QEMU='$(QEMU)' LDFLAGS='$(LDFLAGS)' SETUP='$(SETUP)' sh ext/packages/needed.sh

$(DIST)/tracediff.$(SUFFIX): $(OBJECTS) $(ADDED)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CC) $(LINK) -o $@ $^ $(LIBS)

# The only file that names the commit is compiled again when there is a new one.
$(BUILD)/ext/functions/aggregates/scalars.o: FLAGS += -DTRACEDIFF_COMMIT='"$(COMMIT)"'
$(BUILD)/ext/functions/aggregates/scalars.o: $(BUILD)/commit

.PHONY: always
$(BUILD)/commit: always
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@

$(BUILD)/%.o: %.c | needed
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

# The same without the charting library, for the tests.
$(BUILD)/bare/tracediff.so: $(COMPILED) $(BUILD)/bare/assets.o
	@echo "  LINK $@"
	@$(CC) -o $@ $^ $(LINK) -lz -lm -ldl

ASSETS = ext/chart/assets.S ext/platform/asset.h ext/chart/page.css ext/chart/page.js ext/report/report.css ext/report/report.js
assemble = @mkdir -p $(@D) && echo "  AS   $<" && $(CC) -Iext -DLIBRARY='"$(filter $(FETCHED)/%,$^)"' -c -o $@ $<

$(BUILD)/charts/assets.o: $(ASSETS) $(LIBRARY)
	$(assemble)

$(BUILD)/bare/assets.o: $(ASSETS) $(FETCHED)/none
	$(assemble)

$(FETCHED)/none:
	@mkdir -p $(@D)
	@: > $@

# Its licence and its code, as gzip in base64: what a browser unpacks. An empty file stands for
# no library. This is looked at each time; what is built with it, only if it has changed.
# npm is asked once, and again by `make charts`: a machine without network should not wait.
# Makes that are started beside each other must find it here: the second would not wait for npm.
npm_asked = $(if $(filter charts pages setup-pages,$(MAKECMDGOALS)),false,test -e $(@D)/npm.log)
$(FETCHED)/plotly: look | needed
	@mkdir -p $(@D)
	@if [ -s $@ ]; then :; \
	elif [ -z "$(SETUP)" ]; then \
		test -e $@ || echo "  built without charts: 'make charts' fetches the library that draws them"; \
	elif ! command -v npm >/dev/null; then \
		echo "  built without charts: there is no npm; 'make charts' installs it and fetches the library"; \
	else \
		$(npm_asked) || { echo "  NPM  $(PLOTLY) $(PLOTLY_VERSION)"; (cd $(@D) && $(fetch)); }; \
		test -s $@ || { echo "  built without charts: npm could not give $(PLOTLY); 'make charts' tries again"; \
			grep -v '^npm.* at ' $(@D)/npm.log | head -n 6 | sed 's/^/  /'; }; \
	fi
	@test -e $@ || : > $@

look:

PACKAGE = $(PLOTLY)-$(PLOTLY_VERSION).tgz
fetch = \
	if timeout 60 npm pack --loglevel=error --fetch-retries=1 $(PLOTLY)@$(PLOTLY_VERSION) >npm.log 2>&1 && \
		echo "$(PLOTLY_SHA256)  $(PACKAGE)" | sha256sum -c --quiet >>npm.log 2>&1 && \
		rm -rf package && tar xzf $(PACKAGE) >>npm.log 2>&1; then \
		{ echo "/*"; cat package/LICENSE; echo "*/"; cat package/plotly-basic.min.js; } | \
			gzip -9n | base64 -w 0 > $(@F); \
	else test -s npm.log || echo "npm gave no answer in 60 seconds" > npm.log; fi

$(BUILD)/queries.o $(BUILD)/sections.o $(BUILD)/patterns.o: %.o: %.c
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -c -o $@ $<

# The arguments of trace_diff_report, which its sections take as parameters.
GIVEN = control test control_rank test_rank control_iteration test_iteration level clock control_memory test_memory gains steps

# What embed.awk learns the names of functions from.
NAMED = ext/functions/registry.h ext/functions/aggregates/scalars.c ext/functions/aggregates/aggregates.c

$(BUILD)/queries.c: sql/embed.awk $(NAMED) $(QUERIES) sql/tracediff sql/hta $(SHARED) sql/database/diffs.sql | needed
	@mkdir -p $(@D)
	@awk -f sql/embed.awk $(QUERIES) > $@

$(BUILD)/sections.c: sql/embed.awk $(NAMED) $(SECTIONS) $(SHARED) $(QUERIES) sql/tracediff sql/hta | needed
	@mkdir -p $(@D)
	@awk -v report=1 -v queries="$(QUERIES)" -v given="$(GIVEN)" -f sql/embed.awk $(SECTIONS) > $@

$(BUILD)/patterns.c: sql/embed_patterns.awk $(PATTERNS) $(wildcard sql/patterns/*) $(wildcard sql/diagnoses/*.sql) | needed
	@mkdir -p $(@D)
	@awk -f sql/embed_patterns.awk sql/diagnoses/*.sql $(PATTERNS) > $@

$(BUILD)/unit/%: tests/c/unit/%.c tests/c/unit/unit.h $(LOWER_OBJECTS)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -o $@ $< $(LOWER_OBJECTS) $(LDFLAGS) -pthread -lz -lm -ldl

# A program that reads the inputs it is given; with `make fuzz`, one that makes them up.
FUZZ_FLAGS ?= -DREPLAY

# What makes rows by SQLite's functions.
ROWS = database profilers rocprof xplane
$(BUILD)/fuzz/rows_fuzz: MORE_OBJECTS = $(filter $(ROWS:%=$(BUILD)/ext/%/%),$(OBJECTS))
$(BUILD)/fuzz/rows_fuzz: $(filter $(ROWS:%=$(BUILD)/ext/%/%),$(OBJECTS))

$(BUILD)/fuzz/%: tests/c/fuzz/%.c $(wildcard tests/c/fuzz/*.h) $(LOWER_OBJECTS)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) $(FUZZ_FLAGS) -o $@ $< $(MORE_OBJECTS) $(LOWER_OBJECTS) $(LDFLAGS) -pthread -lz -lm -ldl -lsqlite3

# The programs stand before the C library's functions, also for what they load.
$(BUILD)/fault/%: tests/c/fault/%.c | needed
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(FLAGS) -rdynamic -o $@ $< $(LDFLAGS) -lsqlite3 -ldl

-include $(OBJECTS:.o=.d) $(HELD_OBJECTS:.o=.d)
