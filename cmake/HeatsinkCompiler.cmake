# SPDX-License-Identifier: Apache-2.0
# Compiler settings that every target of the tree shares, as the interface target heatsink_compiler.
add_library(heatsink_compiler INTERFACE)
target_include_directories(heatsink_compiler INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(heatsink_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough
  -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 in inlined standard library code at -O2 and above.
  target_compile_options(heatsink_compiler INTERFACE
    -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang-tidy finds the same, for a tenth of its time (.clang-tidy).
  target_compile_options(heatsink_compiler INTERFACE -Wreserved-identifier)
endif()
if(HEATSINK_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Asio (in the admin room) uses fences, which g++'s thread sanitizer does not see.
  target_compile_options(heatsink_compiler INTERFACE -Wno-tsan)
endif()
# The checks of each pointer (is it null, is it aligned, does it point to its class) take a sixth of
# the time to compile. The address sanitizer sees a use of null, too, and -Wcast-align sees casts.
option(HEATSINK_POINTER_CHECKS "The undefined behaviour sanitizer checks each pointer" ON)
if(HEATSINK_SANITIZE)
  add_compile_options(-fsanitize=${HEATSINK_SANITIZE} -fno-sanitize-recover=all)
  if(NOT HEATSINK_POINTER_CHECKS)
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  add_link_options(-fsanitize=${HEATSINK_SANITIZE})
endif()

# What users run is hardened (docs/decisions/0047-debian-packages-by-debhelper.md has the cost), and
# does not name the folder that it was built in.
option(HEATSINK_HARDENED "Release builds check buffers and stacks, and bind symbols early" ON)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=heatsink)
  if(HEATSINK_HARDENED)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
    add_link_options(-Wl,-z,relro -Wl,-z,now)
  endif()
endif()

# heatsink_off_the_hot_path(TARGET): no request runs its code, so -O1 will do: it compiles in
# 70 % of the time of -O3 (docs/design/checks.md).
function(heatsink_off_the_hot_path TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# heatsink_compute(TARGET ...): tests play millions of steps through the code of these targets. A
# sanitizer's build compiles them by -O1, and all else by -O0, for which clang takes two fifths of
# the time (docs/design/checks.md). Names that are no target of this build are left out.
function(heatsink_compute)
  if(NOT HEATSINK_SANITIZE)
    return()
  endif()
  foreach(target ${ARGN})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE -O1)
    endif()
  endforeach()
endfunction()

# With the base directory, a second checkout finds what the first has compiled.
find_program(HEATSINK_CCACHE ccache)
if(HEATSINK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${HEATSINK_CCACHE})
endif()
find_program(HEATSINK_MOLD mold)
if(HEATSINK_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)
