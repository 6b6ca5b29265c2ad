// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/sentinel_replies.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/redis/refusal.h"
#include "heatsink/topology/leader_verdict.h"

namespace heatsink::topology {
namespace {

using resp::Value;

constexpr std::size_t kHostBytes = 253, kNameBytes = 64, kNamesMax = 5;

std::string_view field(const Value& of, std::string_view name) {
  const Value* const found = of.find(name);
  return found != nullptr && found->is_text() ? std::string_view(found->text) : "";
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<net::HostPort> address_in(std::string_view host, std::string_view port) {
  const auto number = number_in<std::uint16_t>(port);
  if (host.empty() || host.size() > kHostBytes || !number || *number == 0) return std::nullopt;
  return reachable_address({std::string(host), *number});
}

std::optional<net::HostPort> address_of(const Value& member) {
  return address_in(field(member, "ip"), field(member, "port"));
}

bool has_flag(std::string_view flags, std::string_view wanted) {
  while (!flags.empty()) {
    const std::size_t comma = std::min(flags.find(','), flags.size());
    if (flags.substr(0, comma) == wanted) return true;
    flags.remove_prefix(std::min(comma + 1, flags.size()));
  }
  return false;
}

}  // namespace

std::optional<SentinelAnswer> parse_sentinel_answer(const Value& address, const Value& master) {
  if (address.type != Value::Type::kArray || address.items.size() != 2) return std::nullopt;
  const auto named = address_in(address.items[0].text, address.items[1].text);
  const auto shown = address_of(master);
  const auto epoch = number_in<std::uint64_t>(field(master, "config-epoch"));
  if (!named || !shown || !epoch) return std::nullopt;
  SentinelAnswer out;
  out.master = *named;
  out.epoch = *epoch;
  const std::string_view flags = field(master, "flags");
  out.doubts = has_flag(flags, "s_down") || has_flag(flags, "o_down") ||
               has_flag(flags, "failover_in_progress");
  out.others = number_in<std::uint64_t>(field(master, "num-other-sentinels")).value_or(0);
  return out;
}

bool is_unknown_master(const Value& address, const Value& master) {
  return address.type == Value::Type::kNull ||
         (master.is_error() && master.text.starts_with("ERR No such master"));
}

std::vector<SentinelMember> parse_members(const Value& reply, std::size_t count_max) {
  std::vector<SentinelMember> out;
  if (reply.type != Value::Type::kArray) return out;
  out.reserve(std::min(count_max, reply.items.size()));
  for (const Value& each : reply.items) {
    if (out.size() >= count_max) break;
    if (auto address = address_of(each))
      out.push_back({*std::move(address), std::string(field(each, "runid"))});
  }
  return out;
}

std::string names_of_masters(const Value& reply) {
  std::string out;
  if (reply.type != Value::Type::kArray) return out;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    if (i == kNamesMax) return out + ", ...";
    out += (out.empty() ? "'" : ", '") + printable(field(reply.items[i], "name"), kNameBytes) + "'";
  }
  return out;
}

std::string why_no_answer(const Value& address, const Value& master, const Value& masters,
                          const std::string& name) {
  if (is_unknown_master(address, master)) {
    const std::string names = names_of_masters(masters);
    return "it does not watch '" + printable(name, kNameBytes) + "'" +
           (names.empty() ? std::string(" nor any other master") : ", but " + names);
  }
  const Value& first = address.is_error() ? address : master;
  if (!first.is_error()) return "it is no Sentinel: it does not answer like one";
  if (first.text.starts_with("ERR unknown command"))
    return "it is no Sentinel but a data server: "
           "use redis://, or redis+replicas:// with all servers";
  return redis::quoted_reply(first);
}

}  // namespace heatsink::topology
