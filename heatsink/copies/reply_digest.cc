// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/reply_digest.h"

#include <cstddef>

#include "heatsink/base/hash.h"
#include "heatsink/resp/reply_scanner.h"

namespace heatsink::copies {
namespace {

constexpr std::uint64_t kSeed = 0x5bd1e995;

std::uint64_t hash(std::string_view bytes) noexcept { return hash_name(bytes, kSeed).value; }

// Removes and returns the next whole element, or the rest if it is none.
std::string_view take_element(resp::ReplyScanner& scanner, std::string_view& rest) noexcept {
  const resp::ScanStep step = scanner.feed(rest);
  const std::size_t size = step.status == resp::ScanStatus::kReply ? step.consumed : rest.size();
  const std::string_view element = rest.substr(0, size);
  rest.remove_prefix(size);
  return element;
}

}  // namespace

// A sum ignores the order of its terms but counts duplicates.
std::uint64_t reply_digest(std::string_view wire, ReplyOrder order) noexcept {
  const bool aggregate = wire.starts_with('*') || wire.starts_with('~') || wire.starts_with('%');
  const std::size_t line_end = wire.find("\r\n");
  if (order == ReplyOrder::kMatters || !aggregate || line_end == std::string_view::npos)
    return hash(wire);
  std::uint64_t sum = hash(wire.substr(0, line_end));
  std::string_view rest = wire.substr(line_end + 2);
  resp::ReplyScanner scanner;
  while (!rest.empty()) {
    const std::string_view first = take_element(scanner, rest);
    const std::size_t behind =
        wire.front() == '%' && !rest.empty() ? take_element(scanner, rest).size() : 0;
    sum += hash({first.data(), first.size() + behind});
  }
  return sum;
}

}  // namespace heatsink::copies
