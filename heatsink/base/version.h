// SPDX-License-Identifier: Apache-2.0
// The version of heatsink, as the build was configured with it.
#pragma once

namespace heatsink {

// "1.2.3"; static.
const char* version();

}  // namespace heatsink
