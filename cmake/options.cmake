# Language, warnings, sanitizers, and `hilo_library`, through which each folder of src/ becomes one static library.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(HILO_SANITIZE "" CACHE STRING "value of -fsanitize=, empty for none")
option(HILO_JEMALLOC "back the arenas with jemalloc" ON)
# Loading seven shared libraries takes 2.5 ms of a process, more than a small compile.
option(HILO_STATIC_LIBRARIES "link archives of the libraries that are not the C library's, where they are installed" ON)
# The C library's own loader and relocations are another 0.2 ms; sanitizers need them.
option(HILO_STATIC_TOOLS "link the tools without any shared library" OFF)
option(HILO_FUZZ "build the fuzz targets for libFuzzer (clang)" OFF)
option(HILO_BENCH "build the Google Benchmark harness" OFF)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(hilo_flags INTERFACE)
target_link_options(hilo_flags INTERFACE -Wl,--build-id=sha1)
target_compile_definitions(hilo_flags INTERFACE _GNU_SOURCE)
target_compile_options(hilo_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Werror -Wshadow -Wundef -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wformat=2 -Wconversion -Wimplicit-fallthrough
  -Wno-sign-conversion>
  -fno-omit-frame-pointer)
# With LTO the objects hold plain code too, for the programs that are linked without it (tests/CMakeLists.txt).
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(hilo_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-ffat-lto-objects>)
endif()
if(HILO_SANITIZE)
  target_compile_options(hilo_flags INTERFACE -fsanitize=${HILO_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(hilo_flags INTERFACE -fsanitize=${HILO_SANITIZE})
endif()
if(HILO_FUZZ)
  target_compile_options(hilo_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# hilo_library(<folder> SOURCES … LIBRARIES …): the static library hilo_<folder>. It is linked with exactly what is named, so
# that an include against the arrows of docs/architecture.md does not link.
function(hilo_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;PRIVATE" ${ARGN})
  add_library(hilo_${folder} STATIC ${ARG_SOURCES})
  target_include_directories(hilo_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(hilo_${folder} PUBLIC ${ARG_LIBRARIES} PRIVATE hilo_flags ${ARG_PRIVATE})
endfunction()
