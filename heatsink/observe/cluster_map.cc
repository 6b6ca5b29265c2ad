// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/cluster_map.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heatsink/observe/reply_value.h"

namespace heatsink::observe {
namespace {

using resp::Value;

constexpr std::size_t kHostBytesMax = 256;

bool is_slot(const Value& value) {
  return value.type == Value::Type::kInteger && value.integer >= 0 && value.integer < resp::kSlots;
}

// The server sends "?" for an unknown host name, and "" for the host that the client connected to.
bool is_host(const Value* value) {
  return value != nullptr && value->is_text() && !value->text.empty() && value->text != "?" &&
         value->text.size() <= kHostBytesMax;
}

std::uint16_t port_of(const Value* value) {
  const bool sound = value != nullptr && value->type == Value::Type::kInteger &&
                     value->integer > 0 && value->integer <= 65535;
  return sound ? static_cast<std::uint16_t>(value->integer) : std::uint16_t{0};
}

// One master may have many ranges.
void add_range(ClusterMap& map, const net::HostPort& address, const Value& first,
               const Value& last) {
  const auto from = static_cast<std::uint16_t>(first.integer);
  const auto count = static_cast<std::size_t>(last.integer - first.integer) + 1;
  const auto known = std::ranges::find_if(map, [&](const ClusterMaster& master) {
    return master.address.host == address.host && master.address.port == address.port;
  });
  if (known == map.end()) {
    map.push_back({address, from, count});
    return;
  }
  known->first_slot = std::min(known->first_slot, from);
  known->slots += count;
}

ClusterMap in_order(ClusterMap map) {
  std::ranges::stable_sort(map, {}, &ClusterMaster::first_slot);
  return map;
}

const Value* master_of(const Value& nodes) {
  for (const Value& node : nodes.items) {
    const Value* role = node.find("role");
    if (role != nullptr && role->text == "master") return &node;
  }
  return nullptr;
}

net::HostPort address_of(const Value& node, const net::HostPort& asked, bool tls) {
  net::HostPort out{asked.host, port_of(node.find(tls ? "tls-port" : "port"))};
  if (is_host(node.find("endpoint")))
    out.host = node.find("endpoint")->text;
  else if (is_host(node.find("ip")))
    out.host = node.find("ip")->text;
  return out;
}

bool are_ranges(const Value& slots) {
  if (!is_list(slots) || slots.items.size() % 2 != 0) return false;
  for (std::size_t i = 0; i + 1 < slots.items.size(); i += 2) {
    if (!is_slot(slots.items[i]) || !is_slot(slots.items[i + 1]) ||
        slots.items[i].integer > slots.items[i + 1].integer)
      return false;
  }
  return true;
}

}  // namespace

std::optional<ClusterMap> parse_cluster_shards(const Value& reply, const net::HostPort& asked,
                                               bool tls) {
  if (!is_list(reply)) return std::nullopt;
  ClusterMap out;
  for (const Value& shard : reply.items) {
    const Value* slots = shard.find("slots");
    const Value* nodes = shard.find("nodes");
    if (slots == nullptr || nodes == nullptr || !are_ranges(*slots)) return std::nullopt;
    const Value* master = master_of(*nodes);
    if (master == nullptr) continue;  // this shard has no master at the moment
    const net::HostPort address = address_of(*master, asked, tls);
    if (address.port == 0) continue;
    for (std::size_t i = 0; i + 1 < slots->items.size(); i += 2)
      add_range(out, address, slots->items[i], slots->items[i + 1]);
  }
  return in_order(std::move(out));
}

std::optional<ClusterMap> parse_cluster_slots(const Value& reply, const net::HostPort& asked) {
  if (!is_list(reply)) return std::nullopt;
  ClusterMap out;
  for (const Value& range : reply.items) {
    const bool sound =
        range.items.size() >= 3 && is_slot(range.items[0]) && is_slot(range.items[1]) &&
        range.items[0].integer <= range.items[1].integer && range.items[2].items.size() >= 2;
    if (!sound) return std::nullopt;
    const std::vector<Value>& master = range.items[2].items;
    const net::HostPort address{is_host(master.data()) ? master[0].text : asked.host,
                                port_of(&master[1])};
    if (address.port == 0) continue;
    add_range(out, address, range.items[0], range.items[1]);
  }
  return in_order(std::move(out));
}

}  // namespace heatsink::observe
