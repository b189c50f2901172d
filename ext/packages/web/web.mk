# Builds dist/tracediff.html: SQLite and the extension as WebAssembly, in one page that works from the disk.
# The compiler is Emscripten, from Debian. SQLite's source is in a package of npm, that of zlib as in cross.mk.

WEB = build/web
SQLITE = better-sqlite3
SQLITE_VERSION = 13.2.0
SQLITE_SHA256 = 40487589df3496f2ee0079d22b73c63fccebe7db0e8ee9a2c42421861e321e0b
WEB_EXAMPLES = $(wildcard examples/gpu/*/*.gz)
WEB_FLAGS = -msimd128 -msse2 -I$(WEB) -I$(CROSSED)/zlib -DSQLITE_THREADSAFE=0 -DSQLITE_DEFAULT_MEMSTATUS=0 \
	-DSQLITE_TEMP_STORE=2 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA
# What is linked beside the extension, and what worker.js calls.
WEB_OBJECTS = $(WEB)/sqlite3.o $(WEB)/web.o $(patsubst $(BUILD)/%,$(WEB)/%,$(ZLIB))
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
web: needed $(CROSSED)/sources $(WEB)/sqlite3.c ## make the page that compares traces in a browser, dist/tracediff.html
	@$(MAKE) --no-print-directory all find_needed=: BUILD=$(WEB) DIST=$(WEB) SUFFIX=js CC=emcc HOW= \
		EXTRA='$(WEB_FLAGS)' LIBS= LINK='$(WEB_LINK)' ADDED='$(WEB_OBJECTS)'
	@echo "  PAGE $(DIST)/tracediff.html"
	@mkdir -p $(DIST)
	@$(PYTHON) ext/packages/web/bundle.py $(DIST)/tracediff.html $(WEB)/tracediff $(WEB_EXAMPLES)

$(WEB)/sqlite3.o: $(WEB)/sqlite3.c
$(WEB)/web.o: ext/packages/web/web.c $(WEB)/sqlite3.c
$(WEB)/sqlite3.o $(WEB)/web.o:
	@echo "  CC   $<"
	@$(CC) -O3 $(EXTRA) -c -o $@ $<

$(WEB)/sqlite3.c: | needed
	@mkdir -p $(@D)
	@echo "  NPM  $(SQLITE) $(SQLITE_VERSION)"
	@cd $(@D) && npm pack --silent $(SQLITE)@$(SQLITE_VERSION) >/dev/null && \
		echo '$(SQLITE_SHA256)  $(SQLITE)-$(SQLITE_VERSION).tgz' | sha256sum --check --quiet && \
		tar xzmf $(SQLITE)-$(SQLITE_VERSION).tgz --strip-components=3 package/deps/sqlite3
