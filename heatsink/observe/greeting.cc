// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/greeting.h"

#include "heatsink/base/printable.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {
namespace {

constexpr std::size_t kErrorBytesShown = 160;

std::string what_to_do(std::string_view error) {
  if (error.starts_with("NOPERM"))
    return "the user has no right to it: grant it with ACL SETUSER, or log in as another user";
  if (is_unknown_command(error))
    return "this server does not have the command, or it was renamed or disabled";
  if (error.starts_with("NOAUTH"))
    return "the server needs a password: use --password-file, or redis://user:password@host";
  if (error.starts_with("WRONGPASS")) return "the user or password is wrong";
  if (error.starts_with("LOADING")) return "the server is loading its data: try again later";
  return "";
}

}  // namespace

std::size_t append_greeting(ByteBuffer& out, const Login& login) {
  const redis::Credentials& who = login.credentials;
  if (who.given() && who.user.empty()) resp::append_request(out, {"AUTH", who.password});
  if (who.given() && !who.user.empty()) resp::append_request(out, {"AUTH", who.user, who.password});
  resp::append_request(out, {"CLIENT", "SETNAME", login.name});
  return who.given() ? 2 : 1;
}

Status judge_greeting(std::string_view error, std::size_t left) {
  const bool of_auth = left == 2;
  // Without AUTH, a server that needs a password answers the first command with NOAUTH.
  if (!error.empty() && (of_auth || error.starts_with("NOAUTH")))
    return refusal("the login", error);
  return Unit{};
}

bool is_unknown_command(std::string_view error) {
  return resp::is_unknown_command(error) || error.starts_with("ERR unknown sub");
}

bool is_final(const Error& why) {
  return why.code == ErrorCode::kPermission || why.code == ErrorCode::kUnsupported ||
         why.code == ErrorCode::kProtocol;
}

Error refusal(std::string_view what, std::string_view error) {
  const bool forbidden =
      error.starts_with("NOPERM") || error.starts_with("NOAUTH") || error.starts_with("WRONGPASS");
  const ErrorCode code = forbidden                   ? ErrorCode::kPermission
                         : is_unknown_command(error) ? ErrorCode::kUnsupported
                                                     : ErrorCode::kUnavailable;
  std::string message = "the server refuses " + std::string(what) + " (\"" +
                        printable(error, kErrorBytesShown) + "\")";
  const std::string advice = what_to_do(error);
  if (!advice.empty()) message += ": " + advice;
  return {code, std::move(message)};
}

}  // namespace heatsink::observe
