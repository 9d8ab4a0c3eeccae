# The front door: set-up, build, test, demo. The build itself is CMake's (CMakePresets.json).

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CLANG_FORMAT ?= clang-format
# Nothing is written outside the tree.
export CCACHE_DIR ?= $(CURDIR)/.cache/ccache
export PIP_CACHE_DIR ?= $(CURDIR)/.cache/pip

.PHONY: help demo test build setup bench fuzz golden format tidy install clean

help:
	@echo 'make demo     set up, build, compile a sharded model, run it on its 8 ranks, compare the results'
	@echo 'make test     set up, build (release, asan, tsan, clang), run every test'
	@echo 'make build    release binaries in build/release/bin'
	@echo 'make bench    the benchmark suite, JSON in build/bench'
	@echo 'make fuzz     build and run the fuzz targets (FUZZ_SECONDS=60 each)'
	@echo 'make golden   rewrite the expectations of tests/file; review the diff'
	@echo 'make format   clang-format over src, tests and bench'
	@echo 'make tidy     clang-tidy over the files that differ from origin/main'
	@echo 'make install  PREFIX=/usr/local, DESTDIR honoured'
	@echo 'make clean    remove build/ (what compilers and pip keep for next time is in .cache/)'
	@echo 'The outside corpus is found by HILO_CORPUS (default ../shared/corpus).'

setup:
	@scripts/setup.sh

demo:
	@scripts/demo.sh

test:
	@scripts/test.sh

release = cmake --preset release >build/release.configure.log 2>&1 || { cat build/release.configure.log; exit 1; }; \
  cmake --build --preset release -j $(JOBS) --target

build: setup
	@$(release) tools

bench: setup
	@$(release) tools hilo_bench
	@scripts/bench.sh

fuzz: setup
	@scripts/fuzz.sh

golden: setup
	@$(release) all
	@HILO_UPDATE=1 build/venv/bin/python tests/file/run.py --bin build/release/bin

format:
	@git ls-files -co --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'bench/*.cc' 'include/*.h' \
	  | xargs -r $(CLANG_FORMAT) -i --style=file

tidy: build
	@scripts/tidy.sh

install: build
	@cmake --install build/release --prefix "$(PREFIX)"

clean:
	@rm -rf build
