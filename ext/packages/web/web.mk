# Builds dist/tracediff.html: SQLite and the extension as WebAssembly, in one page that works from the disk.
# The compiler is Emscripten, from Debian. The sources of SQLite and of zlib are in packages of npm.

WEB = build/web
SQLITE = better-sqlite3@13.2.0
SQLITE_SHA256 = 40487589df3496f2ee0079d22b73c63fccebe7db0e8ee9a2c42421861e321e0b
# Has zlib 1.3.1.
OF_ZLIB = zlib-sync@0.1.10
OF_ZLIB_SHA256 = bd2180fc18426cf464ecab1321bb31a1af81c36b927a28cdb26c3a56f302f2b6
WEB_EXAMPLES = $(wildcard examples/gpu/*/*.gz)
WEB_FLAGS = -msimd128 -msse2 -I$(WEB) -I$(WEB)/deps/zlib -DSQLITE_THREADSAFE=0 -DSQLITE_DEFAULT_MEMSTATUS=0 \
	-DSQLITE_TEMP_STORE=2 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA
# What is linked beside the extension, and what worker.js calls.
WEB_ZLIB = $(ZLIB:$(BUILD)/%=$(WEB)/%)
WEB_OBJECTS = $(WEB)/sqlite3.o $(WEB)/web.o $(WEB_ZLIB)
WEB_CALLS = malloc free web_open web_prepare $(addprefix sqlite3_,prepare_v2 step finalize column_count column_name \
	column_type column_text column_blob column_bytes errmsg sql serialize free)
empty :=
comma := ,
WEB_LINK = -O3 -s MODULARIZE=1 -s EXPORT_NAME=tracediff -s ENVIRONMENT=worker -s ALLOW_MEMORY_GROWTH=1 \
	-s INITIAL_MEMORY=64MB -s MAXIMUM_MEMORY=4GB -s TOTAL_STACK=4MB -s FORCE_FILESYSTEM=1 -lworkerfs.js \
	-s EXPORTED_FUNCTIONS=$(subst $(empty) ,$(comma),$(WEB_CALLS:%=_%)) \
	-s EXPORTED_RUNTIME_METHODS=FS,WORKERFS,UTF8ToString,stringToUTF8,lengthBytesUTF8

# Debian's Emscripten finds acorn only where Debian's node looks.
web: export NODE_PATH := $(NODE_PATH):/usr/share/nodejs
web: needed $(LIBRARY) $(WEB)/sqlite3.c $(WEB)/deps ## make the page that compares traces in a browser, dist/tracediff.html
	@$(MAKE) --no-print-directory all find_needed=: BUILD=$(WEB) DIST=$(WEB) SUFFIX=js CC=emcc HOW= \
		EXTRA='$(WEB_FLAGS)' LIBS= LINK='$(WEB_LINK)' ADDED='$(WEB_OBJECTS)'
	@echo "  PAGE $(DIST)/tracediff.html"
	@mkdir -p $(DIST)
	@$(PYTHON) ext/packages/web/bundle.py $(DIST)/tracediff.html $(WEB)/tracediff $(WEB_EXAMPLES)

test-web: export NODE_PATH := $(NODE_PATH):/usr/share/nodejs
test-web: all web ## test the page in Chromium, Firefox and WebKit
	@TRACEDIFF=$(DIST)/tracediff.so $(PYTHON) tests/run.py test_web

$(WEB)/sqlite3.o: $(WEB)/sqlite3.c
$(WEB)/web.o: ext/packages/web/web.c $(WEB)/sqlite3.c
$(WEB_ZLIB): $(WEB)/zlib/%.o: $(WEB)/deps/zlib/%.c
$(WEB_OBJECTS):
	@echo "  CC   $<"
	@mkdir -p $(@D)
	@$(CC) -O3 $(EXTRA) -c -o $@ $<

$(WEB)/deps/zlib/%.c: $(WEB)/deps ;

# $(call of_npm,PACKAGE@VERSION,SHA256,ARGUMENTS): unpacks files of a package, as tar's arguments say.
define of_npm
	@mkdir -p $(WEB)
	@echo "  NPM  $1"
	@cd $(WEB) && npm pack --silent $1 >/dev/null && \
		echo '$2  $(subst @,-,$1).tgz' | sha256sum --check --quiet && tar xzmf $(subst @,-,$1).tgz $3
endef

$(WEB)/sqlite3.c: | needed
	$(call of_npm,$(SQLITE),$(SQLITE_SHA256),--strip-components=3 package/deps/sqlite3)

$(WEB)/deps: | needed
	$(call of_npm,$(OF_ZLIB),$(OF_ZLIB_SHA256),--strip-components=1 package/deps/zlib)
