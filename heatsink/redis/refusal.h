// SPDX-License-Identifier: Apache-2.0
// Classifies the error replies of a server by what they mean to a connection of heatsink.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// True: the server no longer answers for its data, so every local copy is in doubt. MOVED and ASK
// concern one slot; the heartbeat finds out about the others.
bool means_lost(std::string_view error);

// What the server said, cut after 200 bytes.
std::string replied(const resp::Value& reply);

// `what` failed with this error reply. kPermission (NOPERM) and kUnsupported (an unknown command)
// last until an operator acts; others (LOADING, MASTERDOWN) may pass: kUnavailable.
Error refused(std::string_view what, const resp::Value& reply);

}  // namespace heatsink::redis
