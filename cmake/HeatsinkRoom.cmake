# SPDX-License-Identifier: Apache-2.0
# heatsink_room(NAME [THREADS] [SHARDS n] [STATISTICS PATTERN] SOURCES ...
#   [DEPS ...] [LIBS ...] [TESTS ...] [ALONE ...] [TEST_LIBS ...] [FUZZERS ...])
#
# One room = one static library heatsink::NAME from the sources beside the call. DEPS are rooms,
# LIBS are outside libraries. Each TESTS file joins the one test program NAME_test of the room
# (ctest knows each case by its own name). The files of ALONE are tests, too: the program
# NAME_alone_test. Each FUZZERS file becomes a heatsink_fuzzer().
# THREADS, SHARDS, STATISTICS and ALONE: as heatsink_test() has them.
include(HeatsinkTest)

function(heatsink_room NAME)
  cmake_parse_arguments(ROOM "THREADS" "SHARDS;STATISTICS"
    "SOURCES;DEPS;LIBS;TESTS;ALONE;TEST_LIBS;FUZZERS" ${ARGN})
  add_library(heatsink_${NAME} STATIC ${ROOM_SOURCES})
  add_library(heatsink::${NAME} ALIAS heatsink_${NAME})
  list(TRANSFORM ROOM_DEPS PREPEND heatsink::)
  target_link_libraries(heatsink_${NAME}
    PUBLIC ${ROOM_DEPS} ${ROOM_LIBS} Threads::Threads PRIVATE heatsink_compiler)
  # Not by heatsink_compiler: an application that links a room has warnings of its own.
  target_include_directories(heatsink_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_features(heatsink_${NAME} PUBLIC cxx_std_20)
  if(HEATSINK_TESTS AND ROOM_TESTS)
    set(how "")
    if(ROOM_THREADS)
      list(APPEND how THREADS)
    endif()
    if(ROOM_SHARDS)
      list(APPEND how SHARDS ${ROOM_SHARDS})
    endif()
    if(ROOM_STATISTICS)
      list(APPEND how STATISTICS ${ROOM_STATISTICS})
    endif()
    heatsink_test(${NAME}_test ${how} SOURCES ${ROOM_TESTS}
      LIBS heatsink::${NAME} ${ROOM_TEST_LIBS})
    if(ROOM_ALONE)
      heatsink_test(${NAME}_alone_test ALONE SOURCES ${ROOM_ALONE}
        LIBS heatsink::${NAME} ${ROOM_TEST_LIBS})
    endif()
  endif()
  if(HEATSINK_FUZZ)
    foreach(file ${ROOM_FUZZERS})
      heatsink_fuzzer(${file} LIBS heatsink::${NAME} ${ROOM_TEST_LIBS})
    endforeach()
  endif()
endfunction()

# heatsink_fuzzer(x_fuzz.cc [LIBS ...]): one libFuzzer program, its corpus in corpus/x_fuzz beside
# it. libFuzzer sees which branches of LIBS an input reaches, and of no other room: to record that
# costs a seventh of the time to compile.
function(heatsink_fuzzer FILE)
  cmake_parse_arguments(FUZZER "" "" "LIBS" ${ARGN})
  get_filename_component(fuzzer ${FILE} NAME_WE)
  add_executable(${fuzzer} ${FILE})
  target_link_libraries(${fuzzer} PRIVATE ${FUZZER_LIBS} heatsink_compiler)
  target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
  list(FILTER FUZZER_LIBS INCLUDE REGEX "^heatsink")
  foreach(lib ${FUZZER_LIBS})
    get_target_property(room ${lib} ALIASED_TARGET)
    if(NOT room)
      set(room ${lib})
    endif()
    target_compile_options(${room} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY HEATSINK_FUZZERS ${fuzzer})
  set_property(GLOBAL APPEND PROPERTY HEATSINK_FUZZER_ROWS
    "$<TARGET_FILE:${fuzzer}> ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${fuzzer}\n")
endfunction()

# heatsink_fuzzers(): the target `fuzzers`, and fuzzers.txt with a line "program corpus" for each.
function(heatsink_fuzzers)
  get_property(fuzzers GLOBAL PROPERTY HEATSINK_FUZZERS)
  get_property(rows GLOBAL PROPERTY HEATSINK_FUZZER_ROWS)
  string(JOIN "" rows ${rows})
  add_custom_target(fuzzers DEPENDS ${fuzzers})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/fuzzers.txt CONTENT "${rows}")
endfunction()
