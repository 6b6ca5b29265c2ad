// SPDX-License-Identifier: Apache-2.0
// Writes the first commands of each observing connection. They use RESP2, which all servers speak.
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
  std::string name = "heatsink-observe";  // in CLIENT LIST; the server may refuse it
};

// Appends AUTH (if there is a password) and CLIENT SETNAME. Returns the number of replies to
// expect.
std::size_t append_greeting(ByteBuffer& out, const Login& login);

// Checks one reply of the greeting: `error` is its error line without '-', or "" if it was none.
// `left` counts the replies still to come, this one included. Only a failed AUTH is an error. Error
// messages never contain a password.
Status judge_greeting(std::string_view error, std::size_t left);

// Explains a server's error ("-NOPERM", "unknown command", "-NOAUTH", ...) as a sentence that says
// what to do. `what`: the refused command.
Error refusal(std::string_view what, std::string_view error);
bool is_unknown_command(std::string_view error);
// Retrying is useless: the command is forbidden or missing, or the server is not Redis.
bool is_final(const Error& why);

}  // namespace heatsink::observe
