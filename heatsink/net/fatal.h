// SPDX-License-Identifier: Apache-2.0
// Ends the process when the kernel gives a thread no event loop.
#pragma once

namespace heatsink::net {

// Prints the call and the reason from errno, and aborts. Only for failures that no caller could
// survive.
[[noreturn]] void die_of_errno(const char* call);

}  // namespace heatsink::net
