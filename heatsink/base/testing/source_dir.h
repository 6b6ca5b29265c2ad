// SPDX-License-Identifier: Apache-2.0
// The source tree of this build, for tests and benches that read its files.
#pragma once

namespace heatsink {

// An absolute path without a slash at its end. CMake writes its definition to a separate file
// (cmake/HeatsinkTest.cmake), so that no other object depends on the checkout's path and a compiler
// cache can serve all checkouts.
extern const char* const kSourceDir;

}  // namespace heatsink
