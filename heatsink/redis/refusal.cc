// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/refusal.h"

#include <array>

namespace heatsink::redis {
namespace {

ErrorCode code_of(std::string_view error) {
  if (error.starts_with("NOPERM")) return ErrorCode::kPermission;
  const bool is_unknown = error.starts_with("ERR unknown") || error.starts_with("NOPROTO");
  return is_unknown ? ErrorCode::kUnsupported : ErrorCode::kUnavailable;
}

constexpr std::string_view kLoginRefused = "the server refused the login (";

}  // namespace

bool refuses_login(std::string_view error) {
  return error.starts_with("NOAUTH") || error.starts_with("WRONGPASS");
}

std::string login_problem(std::string_view error) {
  const std::string_view code = error.substr(0, error.find(' '));
  std::string out = std::string(kLoginRefused) + std::string(code.substr(0, 32)) + "): ";
  if (code == "NOAUTH")
    return out +
           "it wants a password, and none is given: "
           "set upstream.password-file (the proxy), or put it into the URL (the library)";
  if (code == "WRONGPASS")
    return out +
           "the user or the password is wrong: compare upstream.url and upstream.password-file "
           "(the proxy) or the URL (the library) with the server's ACL";
  return out + std::string(without_arguments(error).substr(0, 200));
}

bool is_login_problem(std::string_view message) { return message.starts_with(kLoginRefused); }

bool ends_proof(std::string_view error) {
  static constexpr std::array<std::string_view, 5> kCodes = {"CLUSTERDOWN", "LOADING", "MASTERDOWN",
                                                             "NOAUTH", "READONLY"};
  for (std::string_view code : kCodes) {
    if (error.starts_with(code)) return true;
  }
  return false;
}

std::string_view without_arguments(std::string_view error) {
  return error.substr(0, error.find(", with args beginning with"));
}

std::string quoted_reply(const resp::Value& reply) {
  return "the server replied \"" + std::string(without_arguments(reply.text).substr(0, 200)) + "\"";
}

Error refusal_error(std::string_view what, const resp::Value& reply) {
  return {code_of(reply.text), std::string(what) + ": " + quoted_reply(reply)};
}

}  // namespace heatsink::redis
