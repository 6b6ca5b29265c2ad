# SPDX-License-Identifier: Apache-2.0
# Boost.JSON as the library heatsink_boost_json, from the headers alone, so that nothing but
# libboost1.81-dev has to be installed; two copies of src.hpp in one program would not link.
add_library(heatsink_boost_json STATIC ${PROJECT_SOURCE_DIR}/cmake/boost_json.cc)
# The library of applications has it, too.
set_target_properties(heatsink_boost_json PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
