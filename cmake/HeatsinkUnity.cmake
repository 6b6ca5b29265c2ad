# SPDX-License-Identifier: Apache-2.0
# heatsink_unity(BATCH): compiles up to BATCH .cc files of each target as one translation unit.
#
# Most of a file's cost is its includes and the templates they instantiate; a unit pays them once
# (docs/design/checks.md has the figures). CMake's own CMAKE_UNITY_BUILD names the files by absolute
# paths, and so a compiler cache that was filled by another checkout would have to run the
# preprocessor for each unit. These units include by paths relative to the tree: they are the same
# text in every checkout.
function(heatsink_unity BATCH)
  heatsink_unity_folder(${PROJECT_SOURCE_DIR} ${BATCH})
endfunction()

function(heatsink_unity_folder FOLDER BATCH)
  get_property(folders DIRECTORY ${FOLDER} PROPERTY SUBDIRECTORIES)
  foreach(each ${folders})
    heatsink_unity_folder(${each} ${BATCH})
  endforeach()
  get_property(targets DIRECTORY ${FOLDER} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(each ${targets})
    heatsink_unity_target(${each} ${FOLDER} ${BATCH})
  endforeach()
endfunction()

# Replaces the target's .cc files by units. A target of one file, files that the build writes, and
# files with CMake's own property SKIP_UNITY_BUILD_INCLUSION stay as they are.
function(heatsink_unity_target TARGET FOLDER BATCH)
  get_target_property(sources ${TARGET} SOURCES)
  set(files)
  set(others)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${FOLDER} NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${path}" generated)
    get_property(alone SOURCE "${path}" TARGET_DIRECTORY ${TARGET}
      PROPERTY SKIP_UNITY_BUILD_INCLUSION)
    if(NOT generated AND NOT alone AND path MATCHES "\\.cc$")
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND files "${path}")
    else()
      list(APPEND others ${source})
    endif()
  endforeach()
  list(LENGTH files count)
  if(count LESS 2)
    return()
  endif()

  # As few units as BATCH allows, of nearly the same size.
  math(EXPR units "(${count} + ${BATCH} - 1) / ${BATCH}")
  math(EXPR last "${units} - 1")
  foreach(unit RANGE ${last})
    math(EXPR begin "${unit} * ${count} / ${units}")
    math(EXPR size "(${unit} + 1) * ${count} / ${units} - ${begin}")
    list(SUBLIST files ${begin} ${size} part)
    list(TRANSFORM part REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN part "\n" text)
    set(path ${PROJECT_BINARY_DIR}/unity/${TARGET}_${unit}.cc)
    file(CONFIGURE OUTPUT ${path} CONTENT "${text}\n" @ONLY)
    list(APPEND others ${path})
  endforeach()
  set_property(TARGET ${TARGET} PROPERTY SOURCES ${others})
endfunction()
