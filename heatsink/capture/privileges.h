// SPDX-License-Identifier: Apache-2.0
// Inside capture: explains the privileges that a capture needs, and drops them after opening.
#pragma once

#include <string>

#include "heatsink/base/result.h"

namespace heatsink::capture {

// Root becomes the user who called sudo, or else "nobody". (Where that user does not exist, as in a
// user namespace, the process keeps the namespace's root.) Then no capability is left, and exec
// cannot regain one. The user changes for the whole process, capabilities only for the calling
// thread and threads that it starts later. After an error (kPermission) the process may be half
// changed: end it.
Status drop_privileges();

// A sentence for the user: how to get the permission to capture.
std::string how_to_permit();

}  // namespace heatsink::capture
