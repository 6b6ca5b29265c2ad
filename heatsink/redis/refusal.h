// SPDX-License-Identifier: Apache-2.0
// Classifies a server's error replies by their meaning for heatsink's own connections.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// True: the server no longer vouches for its data, so every local copy is in doubt. MOVED and ASK
// are not among these errors: they concern one slot, and the heartbeat notices moved slots.
bool ends_proof(std::string_view error);

// The error text without the arguments that a server repeats after "unknown command": those of AUTH
// and HELLO are a password.
std::string_view without_arguments(std::string_view error);

// The server's error text without_arguments(), cut after 200 bytes.
std::string quoted_reply(const resp::Value& reply);

// "the server refused the login (NOAUTH): ...", with what to do. Never a password. `error`: the
// server's reply to HELLO or AUTH, without its type byte.
std::string login_problem(std::string_view error);
bool is_login_problem(std::string_view message);  // of login_problem()
// Whether the error means that user or password are wrong or missing.
bool refuses_login(std::string_view error);

// `what` failed with this error reply. kPermission (NOPERM) and kUnsupported (an unknown command)
// last until an operator acts. Other errors (LOADING, MASTERDOWN) may pass: kUnavailable.
Error refusal_error(std::string_view what, const resp::Value& reply);

}  // namespace heatsink::redis
