# Packages of PLATFORM. The library of this machine's Linux is made by the compiler of `make`, whose speed it has; it
# needs no newer glibc than pack.py says, which checks it. In an older glibc, threads and dlopen() are in libraries of
# their own. The libraries of the other platforms are made by `make cross`.

PORTABLE = $(DIST)/portable/tracediff.so
OLD_GLIBC = ext/packages/library/old_glibc.c
FOREIGN = $(filter-out $(NATIVE),$(PLATFORM))
OWN = $(if $(filter $(NATIVE),$(PLATFORM)),$(PORTABLE))
PACKED = $(OWN) $(foreach of,$(FOREIGN),$(CROSSED)/$(of)/tracediff.$(or $(SUFFIX_$(firstword $(subst -, ,$(of)))),so))
HELD_FOR = $(subst -, ,$(NATIVE))

# With apsw, of PyPI, it also works in a Python whose sqlite3 loads no extensions.
install_wheel = pip install --find-links $(DIST)/packages 'sqlite-tracediff[apsw]'

dist: ## make all packages and their SHA256SUMS, in dist/packages: PLATFORM=... some
	@rm -rf $(DIST)/packages
	@$(MAKE) --no-print-directory PLATFORM='$(PLATFORM)' $(KINDS)
	@test -s $(LIBRARY) || echo "  packed without charts: 'make charts' fetches the library that draws them"
	@cd $(DIST)/packages && sha256sum *tracediff* > SHA256SUMS

wheel: ## make the package for Python, of this machine, and print how to install it: PLATFORM=... others
npm: ## make the packages for Node, of this machine: npm install ./dist/packages/*.tgz
deb: ## make the package for Debian and Ubuntu, of this machine: apt install ./dist/packages/*.deb
tarball: ## make the archive with install.sh, of this machine
$(KINDS): needed $(OWN) $(FOREIGN:%=cross-%)
	@rm -f $(DIST)/packages/SHA256SUMS
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null)} \
	$(PYTHON) ext/packages/pack.py $@ $(DIST)/packages $(PACKED)
	@$(if $(filter wheel,$(MAKECMDGOALS)),$(if $(filter wheel,$@),echo "In a virtual environment: $(install_wheel)"))

HELD_OBJECTS = $(BUILD)/held/decoder.o $(BUILD)/held/decoder_isal.o
$(PORTABLE): $(filter-out %/decoder.o %/decoder_isal.o,$(OBJECTS)) $(HELD_OBJECTS) $(ZLIB) $(BUILD)/isal.a $(OLD_GLIBC)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CC) $(filter-out -MMD -MP,$(FLAGS)) -s -o $@ $^ $(LINK) -lm -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2

$(HELD_OBJECTS): $(BUILD)/held/%.o: ext/source/%.c $(CROSSED)/sources
	@mkdir -p $(@D)
	@$(CC) $(HELD) $(FLAGS) -c -o $@ $<

test-packages: dist ## make packages, and install them in clean environments of their platforms: TRY=... some
	@PYTHON=$(PYTHON) PLATFORM='$(PLATFORM)' sh tests/hosts/packages.sh build/packages $(DIST)/packages $(TRY)
