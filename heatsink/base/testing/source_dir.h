// SPDX-License-Identifier: Apache-2.0
// Where the tree is that this program was built from, for tests and benches that read its files.
#pragma once

namespace heatsink {

// An absolute path without a slash at its end. Defined in a file that CMake writes
// (cmake/HeatsinkTest.cmake), so that no other object depends on where the checkout is and a
// compiler cache can serve every checkout.
extern const char* const kSourceDir;

}  // namespace heatsink
