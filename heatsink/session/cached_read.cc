// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/cached_read.h"

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

// As rueidis writes them; another client that means the same is served by the server.
constexpr std::string_view kBegins = "*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nPTTL\r\n";
constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";
constexpr std::string_view kExec = "*1\r\n$4\r\nEXEC\r\n";

}  // namespace

std::optional<CachedRead> CachedRead::find(std::string_view bytes,
                                           std::vector<std::string_view>& args) {
  if (!bytes.starts_with(kBegins)) return std::nullopt;
  resp::RequestParser parser;
  const std::string_view behind_multi = bytes.substr(kMulti.size());
  if (parser.parse(behind_multi) != resp::ParseStatus::kRequest || parser.args().size() != 2)
    return std::nullopt;
  const std::string_view key = parser.args()[1];
  const std::string_view behind_ttl = behind_multi.substr(parser.size());
  if (!behind_ttl.starts_with('*') || parser.parse(behind_ttl) != resp::ParseStatus::kRequest)
    return std::nullopt;
  const bool is_of_key = parser.args().size() >= 2 && parser.args()[1] == key;
  const std::string_view read = behind_ttl.substr(0, parser.size());
  if (!is_of_key || !behind_ttl.substr(read.size()).starts_with(kExec)) return std::nullopt;
  args = parser.args();
  const std::size_t before = bytes.size() - behind_ttl.size();
  return CachedRead{read, before + read.size() + kExec.size()};
}

}  // namespace heatsink::proxy
