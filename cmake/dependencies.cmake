# Libraries from the system, each as one target that is linked only where it is used:
#   PkgConfig::JEMALLOC CK PROTOBUF_C XXHASH CRYPTO JANSSON ZSTD ZLIB, CMOCKA (tests), benchmark::benchmark (bench)
# and hilo_malloc, which a tool links to have its arenas (and everything else) backed by jemalloc.
# Debian's packages are listed in scripts/packages.txt; `make build` installs what is missing.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# hilo_require(<PREFIX> <pkg-config module> <Debian package>)
function(hilo_require prefix module package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${prefix}_FOUND)
    message(FATAL_ERROR "${module} was not found; on Debian: apt-get install ${package}")
  endif()
endfunction()

# hilo_require_program(<VARIABLE> <program> <Debian package>)
function(hilo_require_program variable program package)
  find_program(${variable} ${program})
  if(NOT ${variable})
    message(FATAL_ERROR "the program `${program}` was not found; on Debian: apt-get install ${package}")
  endif()
endfunction()

hilo_require(CK ck libck-dev)
hilo_require(CMOCKA cmocka libcmocka-dev)
hilo_require(CRYPTO libcrypto libssl-dev)
hilo_require(JANSSON jansson libjansson-dev)
hilo_require(PROTOBUF_C libprotobuf-c libprotobuf-c-dev)
hilo_require(XXHASH libxxhash libxxhash-dev)
hilo_require(ZLIB zlib zlib1g-dev)
hilo_require(ZSTD libzstd libzstd-dev)
hilo_require_program(PROTOC protoc protobuf-compiler)
hilo_require_program(PROTOC_C protoc-c protobuf-c-compiler)

add_library(hilo_malloc INTERFACE)
if(HILO_JEMALLOC)
  hilo_require(JEMALLOC jemalloc libjemalloc-dev)
  # Interposed on malloc: the linker must keep it although no symbol of its own is used.
  target_link_libraries(hilo_malloc INTERFACE -Wl,--no-as-needed PkgConfig::JEMALLOC -Wl,--as-needed)
endif()

if(HILO_BENCH)
  enable_language(CXX)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    message(FATAL_ERROR "Google Benchmark was not found; on Debian: apt-get install libbenchmark-dev")
  endif()
endif()
