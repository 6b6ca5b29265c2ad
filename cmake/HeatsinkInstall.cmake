# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the library for C++ as one archive, the one for C as a shared
# one, their headers, and what find_package(heatsink) and pkg-config read; and the program, if it
# was built.
#
# An application gets these headers and no other: tests/install builds with nothing else.
include(CMakePackageConfigHelpers)
# Debian's folder of libraries whatever the prefix is, so that the packages (/usr) and a copy below
# /usr/local are installed from one build; both linkers and both CMake look there.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE
    AND (NOT CMAKE_INSTALL_LIBDIR OR CMAKE_INSTALL_LIBDIR STREQUAL "lib"))
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Folder of libraries" FORCE)
endif()
include(GNUInstallDirs)
foreach(package fmt yaml-cpp)
  find_package(${package} REQUIRED)
endforeach()
find_package(OpenSSL 3.0 REQUIRED)

# The rooms that an application links, as one archive: what they are is nobody else's business.
add_library(heatsink_archive STATIC)
foreach(room admin_pages admit base cache client client_metrics detect distributed fleet heat
    httpd limit net redis report resp spread stats topology)
  target_sources(heatsink_archive PRIVATE $<TARGET_OBJECTS:heatsink_${room}>)
endforeach()
target_sources(heatsink_archive PRIVATE $<TARGET_OBJECTS:heatsink_boost_json>)
target_compile_features(heatsink_archive PUBLIC cxx_std_20)
target_link_libraries(heatsink_archive
  PRIVATE fmt::fmt yaml-cpp OpenSSL::SSL OpenSSL::Crypto PUBLIC Threads::Threads)
set_target_properties(heatsink_archive PROPERTIES
  LINKER_LANGUAGE CXX EXPORT_NAME client OUTPUT_NAME heatsink-client)
install(TARGETS heatsink_archive heatsink_c EXPORT heatsink
  ARCHIVE COMPONENT library LIBRARY COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/heatsink.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
foreach(header
  base/clock.h base/hash.h base/result.h base/units.h
  cache/read_guard.h
  client/begun_write.h client/cached_value.h client/client.h client/engine.h client/errors.h
  client/local.h client/options.h client/size_of.h client/stats.h client/window_stats.h
  distributed/function_library.h distributed/rate_limiter.h
  distributed/rate_limiter_metrics.h distributed/server.h distributed/spread_keys.h
  limit/carry_over.h limit/limit.h limit/limiter.h limit/limiter_table.h limit/rate.h
  limit/shared_limits.h
  resp/value.h)
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/heatsink/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heatsink/${room} COMPONENT library)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/include/heatsink/client.h
  ${PROJECT_SOURCE_DIR}/include/heatsink/limits.h
  ${PROJECT_SOURCE_DIR}/include/heatsink/spread.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heatsink COMPONENT library)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heatsink)
install(EXPORT heatsink NAMESPACE heatsink:: FILE heatsinkTargets.cmake DESTINATION ${package}
  COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heatsinkConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/heatsinkConfig.cmake INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/heatsinkConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/heatsinkConfig.cmake
  ${PROJECT_BINARY_DIR}/package/heatsinkConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)

file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name heatsink heatsink-client)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
    ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endforeach()

if(HEATSINK_APPS)
  install(TARGETS heatsink RUNTIME COMPONENT program)
endif()
