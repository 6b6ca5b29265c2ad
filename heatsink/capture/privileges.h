// SPDX-License-Identifier: Apache-2.0
// Inside capture: gets the privileges that opening a capture needs, and gives them up.
#pragma once

#include <string>

#include "heatsink/base/result.h"

namespace heatsink::capture {

// Root becomes the user who called sudo, or else nobody (where such a user does not exist, as in a
// user namespace, it stays the root that it is there); then no capability is left, nor any way to
// get one by exec. The user changes for the whole process, the capabilities for the calling thread
// and those it starts later. An error (kPermission) leaves the process as it may be: end it.
Status drop_privileges();

// How to be allowed to capture, for a person.
std::string how_to_permit();

}  // namespace heatsink::capture
