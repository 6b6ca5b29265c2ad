// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/redirect.h"

#include <charconv>
#include <string>

#include "heatsink/resp/resp.h"

namespace heatsink::topology {
namespace {

constexpr std::size_t kRedirectHostMax = 256;

template <class Number>
std::optional<Number> whole_number(std::string_view text, Number max) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > max) return std::nullopt;
  return number;
}

}  // namespace

std::string_view error_line(std::string_view reply) {
  if (reply.starts_with('-')) reply.remove_prefix(1);
  return reply.substr(0, reply.find('\r'));
}

std::optional<Redirect> parse_redirect(std::string_view line) {
  Redirect out;
  if (line.starts_with("TRYAGAIN")) {
    out.kind = Redirect::Kind::kTryAgain;
    return out;
  }
  constexpr std::string_view kMoved = "MOVED ";
  constexpr std::string_view kAsk = "ASK ";
  if (line.starts_with(kMoved)) {
    line.remove_prefix(kMoved.size());
  } else if (line.starts_with(kAsk)) {
    out.kind = Redirect::Kind::kAsk;
    line.remove_prefix(kAsk.size());
  } else {
    return std::nullopt;
  }
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto slot = whole_number<std::uint16_t>(line.substr(0, space), resp::kSlots - 1);
  const std::string_view address = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
  const std::size_t colon = address.rfind(':');
  if (!slot || colon == std::string_view::npos || colon > kRedirectHostMax) return std::nullopt;
  const auto port = whole_number<std::uint16_t>(address.substr(colon + 1), 65535);
  if (!port || *port == 0) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "?") host = "";
  out.slot = *slot;
  out.to = {std::string(host), *port};
  return out;
}

}  // namespace heatsink::topology
