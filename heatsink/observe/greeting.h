// SPDX-License-Identifier: Apache-2.0
// The first commands of each observing connection: its name, and RESP2, which all servers speak.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/redis.h"

namespace heatsink::observe {

struct Login {
  redis::Credentials credentials;
  std::string name = "heatsink-observe";  // in CLIENT LIST; a server may refuse it
};

// Appends AUTH (if there is a password) and CLIENT SETNAME. How many replies they have.
std::size_t append_greeting(ByteBuffer& out, const Login& login);

// Judges a reply's error line (without '-', "" if it was none) to the greeting that has `left`
// replies to come, this one included: only AUTH's counts. No error repeats a password.
Status judge_greeting(std::string_view error, std::size_t left);

// What a server's error means, as a sentence with what to do: "-NOPERM", "unknown command",
// "-NOAUTH", ... `what`: the command that was refused.
Error refusal(std::string_view what, std::string_view error);
bool is_unknown_command(std::string_view error);
// Trying again is of no use: forbidden, not there, or no Redis.
bool is_final(const Error& why);

}  // namespace heatsink::observe
