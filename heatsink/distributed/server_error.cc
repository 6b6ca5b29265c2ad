// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server_error.h"

#include <algorithm>
#include <array>
#include <string>

namespace heatsink::distributed {
namespace {

// Errors of Redis and Valkey. Some versions put "ERR " before an error inside a script.
constexpr std::array<std::string_view, 14> kTransient = {
    "LOADING",    "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",  "BUSY",       "OOM",
    "NOREPLICAS", "MISCONF",  "MOVED",      "ASK",         "UNBLOCKED", "UNKILLABLE", "FAILOVER"};
constexpr std::array<std::string_view, 3> kForbidden = {"NOPERM", "NOAUTH", "WRONGPASS"};

constexpr std::size_t kToldBytesMax = 300;

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& codes) {
  if (text.starts_with("ERR ")) text.remove_prefix(4);
  const std::string_view code = text.substr(0, text.find(' '));
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

Error error_of(const resp::Value& reply) {
  const std::string said = "the server replied \"" + reply.text.substr(0, kToldBytesMax) + "\"";
  if (is_one_of(reply.text, kTransient)) return {ErrorCode::kUnavailable, said};
  if (is_one_of(reply.text, kForbidden))
    return {ErrorCode::kPermission,
            said +
                ": grant its user +fcall and +function|load, or +evalsha and +eval, "
                "and the commands that the function runs on its keys"};
  return invalid_argument(said);
}

}  // namespace heatsink::distributed
