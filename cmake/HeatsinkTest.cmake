# SPDX-License-Identifier: Apache-2.0
# How a test becomes a row of ctest: GoogleTest programs, and programs that start processes.
#
# Labels that tests/runner and ./check know:
#   process  starts programs and waits for them: repeated once, alone, if it fails
#   tree     looks at the tree or at the compiler, not at our binaries: not under a sanitizer
#   slow     takes more than a few seconds: not in ./check --quick
#   long     only in the long form of the checks (./check --long)
include(GoogleTest)

# "address" or "thread" in a build with sanitizers, else empty.
set(HEATSINK_SANITIZER "")
if(HEATSINK_SANITIZE MATCHES "(address|thread)")
  set(HEATSINK_SANITIZER ${CMAKE_MATCH_1})
endif()

# How many times longer a test of processes waits.
set(HEATSINK_SLOWNESS 1)
if(HEATSINK_SANITIZER)
  set(HEATSINK_SLOWNESS 6)
endif()

# heatsink_source_dir: heatsink/base/testing/source_dir.h.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/source_dir.cc @ONLY CONTENT
"#include \"heatsink/base/testing/source_dir.h\"
const char* const heatsink::kSourceDir = \"${PROJECT_SOURCE_DIR}\";
")
add_library(heatsink_source_dir STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/source_dir.cc)
target_include_directories(heatsink_source_dir PRIVATE ${PROJECT_SOURCE_DIR})

# heatsink_test(NAME [THREADS] [STARTS_SERVERS] [ALONE] [SHARDS n] [STATISTICS PATTERN]
#   SOURCES ... [LIBS ...]): one GoogleTest program; main comes from gmock_main.
#
# A pattern is that of --gtest_filter, with colons between.
#
# THREADS: its cases run several threads. The thread sanitizer's build leaves out all others: it
# has nothing to find there. ctest starts a process for each case, so that it can name the case. A
# process costs a sanitizer more than the case itself, so there the whole program is one test, or,
# if it takes minutes, SHARDS of them that run at the same time.
#
# STARTS_SERVERS: its cases talk to real servers, so they count as process tests: one that fails on
# a busy machine runs again, alone.
#
# STATISTICS: cases that play millions of inputs to see how accurate something is. What they do to
# memory and threads, others do with thousands: under a sanitizer they run in the long form only.
#
# ALONE: each case needs a process of its own, or the sanitizer's allocator is in its way, so a
# sanitizer's build has no such program.
#
# With HEATSINK_EVERY_CASE off, a build without sanitizers has only what the address sanitizer's
# build leaves out: cases that match STATISTICS, programs that are ALONE or start servers, and
# process tests without SANITIZERS address.
function(heatsink_test NAME)
  cmake_parse_arguments(TEST "THREADS;STARTS_SERVERS;ALONE" "SHARDS;STATISTICS" "SOURCES;LIBS"
    ${ARGN})
  if(TEST_ALONE AND HEATSINK_SANITIZER)
    return()
  endif()
  find_package(GTest REQUIRED)
  set(is_whole OFF)
  if(HEATSINK_EVERY_CASE OR TEST_STARTS_SERVERS OR TEST_ALONE)
    set(is_whole ON)
  endif()
  add_executable(${NAME} ${TEST_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${TEST_LIBS} GTest::gmock_main heatsink_compiler)
  heatsink_off_the_hot_path(${NAME})
  if(HEATSINK_SANITIZER STREQUAL "thread" AND NOT TEST_THREADS)
    set_target_properties(${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
  elseif(HEATSINK_SANITIZER)
    if(NOT TEST_SHARDS)
      set(TEST_SHARDS 1)
    endif()
    math(EXPR last "${TEST_SHARDS} - 1")
    foreach(shard RANGE ${last})
      set(row ${NAME})
      if(last GREATER 0)
        set(row ${NAME}.${shard})
      endif()
      add_test(NAME ${row} COMMAND ${NAME} --gtest_brief=1 --gtest_filter=-${TEST_STATISTICS})
      # Those in shards begin first, so that nothing waits for one that began last.
      set_tests_properties(${row} PROPERTIES TIMEOUT 900 COST ${last}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
    if(TEST_STATISTICS)
      add_test(NAME ${NAME}.statistics
        COMMAND ${NAME} --gtest_brief=1 --gtest_filter=${TEST_STATISTICS})
      set_tests_properties(${NAME}.statistics PROPERTIES TIMEOUT 1800 LABELS "slow;long")
    endif()
  elseif(NOT is_whole AND NOT TEST_STATISTICS)
    set_target_properties(${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    set(some)
    if(NOT is_whole)
      set(some TEST_FILTER ${TEST_STATISTICS})
    endif()
    set(labels)
    if(TEST_STARTS_SERVERS)
      set(labels LABELS process)
    endif()
    gtest_discover_tests(${NAME} ${some} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 ${labels})
  endif()
endfunction()

# heatsink_process_tests(SUITE TESTS name ... [QUICK name ...] [ENVIRONMENT VAR=value ...]
#   [MODIFICATION ...] [SANITIZERS address thread] [PROPERTIES ...])
#
# Each file name_test.py beside the call is the test SUITE.name. QUICK: which of them end within
# about five seconds, so that ./check --quick runs them. SANITIZERS: whose question it asks
# (docs/design/checks.md); under any other sanitizer only the long form runs it.
function(heatsink_process_tests SUITE)
  cmake_parse_arguments(SUITE "" ""
    "TESTS;QUICK;ENVIRONMENT;MODIFICATION;SANITIZERS;PROPERTIES" ${ARGN})
  if(NOT HEATSINK_EVERY_CASE AND NOT HEATSINK_SANITIZER AND "address" IN_LIST SUITE_SANITIZERS)
    return()
  endif()
  set(every_label process)
  if(HEATSINK_SANITIZER AND NOT HEATSINK_SANITIZER IN_LIST SUITE_SANITIZERS)
    list(APPEND every_label long)
  endif()
  foreach(name ${SUITE_TESTS})
    set(labels ${every_label})
    if(NOT name IN_LIST SUITE_QUICK)
      list(APPEND labels slow)
    endif()
    add_test(NAME ${SUITE}.${name}
      COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${name}_test.py)
    set_tests_properties(${SUITE}.${name} PROPERTIES
      ENVIRONMENT "${SUITE_ENVIRONMENT};HEATSINK_TEST_SLOWNESS=${HEATSINK_SLOWNESS}"
      ENVIRONMENT_MODIFICATION "${SUITE_MODIFICATION}" LABELS "${labels}"
      SKIP_REGULAR_EXPRESSION "Ran 0 tests" TIMEOUT 600 ${SUITE_PROPERTIES})
  endforeach()
endfunction()
