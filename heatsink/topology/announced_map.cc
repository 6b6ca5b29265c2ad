// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/announced_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "heatsink/redis/info_text.h"

namespace heatsink::topology {
namespace {

using resp::Value;

constexpr std::size_t kHostBytesMax = 256;

bool is_list(const Value& value) {
  return value.type == Value::Type::kArray || value.type == Value::Type::kSet;
}

bool is_slot(const Value& value) {
  return value.type == Value::Type::kInteger && value.integer >= 0 && value.integer < resp::kSlots;
}

// The server sends "?" for an unknown host name, and "" for the host that the client connected to.
bool is_host(const Value* value) {
  return value != nullptr && value->is_text() && !value->text.empty() && value->text != "?" &&
         value->text.size() <= kHostBytesMax;
}

std::string text_of(const Value* value) {
  return value != nullptr && value->is_text() ? value->text : std::string();
}

std::uint16_t port_of(const Value* value) {
  const bool sound = value != nullptr && value->type == Value::Type::kInteger &&
                     value->integer > 0 && value->integer <= 65535;
  return sound ? static_cast<std::uint16_t>(value->integer) : std::uint16_t{0};
}

AnnouncedMap in_order(AnnouncedMap map) {
  for (AnnouncedShard& shard : map) std::ranges::sort(shard.slots, {}, &SlotRange::first);
  std::ranges::stable_sort(map, {}, [](const AnnouncedShard& shard) {
    return shard.slots.empty() ? resp::kSlots : std::size_t{shard.slots.front().first};
  });
  return map;
}

net::HostPort address_of(const Value& node, const net::HostPort& asked, bool tls) {
  net::HostPort out{asked.host, port_of(node.find(tls ? "tls-port" : "port"))};
  if (is_host(node.find("endpoint")))
    out.host = node.find("endpoint")->text;
  else if (is_host(node.find("ip")))
    out.host = node.find("ip")->text;
  return out;
}

bool says(const Value& node, std::string_view field, std::string_view wanted) {
  const Value* const value = node.find(field);
  return value != nullptr && value->text == wanted;
}

// False: another form.
bool read_ranges(const Value& slots, std::vector<SlotRange>& out) {
  if (!is_list(slots) || slots.items.size() % 2 != 0) return false;
  out.reserve(slots.items.size() / 2);
  for (std::size_t i = 0; i + 1 < slots.items.size(); i += 2) {
    const Value& first = slots.items[i];
    const Value& last = slots.items[i + 1];
    if (!is_slot(first) || !is_slot(last) || first.integer > last.integer) return false;
    out.push_back(
        {static_cast<std::uint16_t>(first.integer), static_cast<std::uint16_t>(last.integer)});
  }
  return true;
}

// The address of a node of CLUSTER SLOTS: [host, port, ...]. Port 0: none.
net::HostPort slots_address(const Value& node, const net::HostPort& asked) {
  if (node.items.size() < 2) return {};
  return {is_host(node.items.data()) ? node.items[0].text : asked.host, port_of(&node.items[1])};
}

bool is_same(const net::HostPort& a, const net::HostPort& b) {
  return a.port == b.port && a.host == b.host;
}

// The field with this number in a line of CLUSTER NODES, whose fields have one space between them.
std::string_view field_of(std::string_view line, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

}  // namespace

std::optional<AnnouncedMap> parse_cluster_shards(const Value& reply, const net::HostPort& asked,
                                                 bool tls) {
  if (!is_list(reply)) return std::nullopt;
  AnnouncedMap out;
  for (const Value& shard : reply.items) {
    const Value* slots = shard.find("slots");
    const Value* nodes = shard.find("nodes");
    AnnouncedShard found;
    if (slots == nullptr || nodes == nullptr || !read_ranges(*slots, found.slots))
      return std::nullopt;
    for (const Value& node : nodes->items) {
      const net::HostPort address = address_of(node, asked, tls);
      if (address.port == 0) continue;
      if (says(node, "role", "master")) {
        // A shard may show a failed master beside its successor until it has been heard of again.
        if (found.master.port != 0 && !says(node, "health", "online")) continue;
        found.master = address;
        found.id = text_of(node.find("id"));
      } else if (says(node, "health", "online")) {
        found.replicas.push_back(address);
      }
    }
    if (found.master.port != 0) out.push_back(std::move(found));
  }
  return in_order(std::move(out));
}

std::optional<AnnouncedMap> parse_cluster_slots(const Value& reply, const net::HostPort& asked) {
  if (!is_list(reply)) return std::nullopt;
  AnnouncedMap out;
  for (const Value& range : reply.items) {
    const bool sound =
        range.items.size() >= 3 && is_slot(range.items[0]) && is_slot(range.items[1]) &&
        range.items[0].integer <= range.items[1].integer && range.items[2].items.size() >= 2;
    if (!sound) return std::nullopt;
    const net::HostPort master = slots_address(range.items[2], asked);
    if (master.port == 0) continue;
    auto known = std::ranges::find_if(
        out, [&](const AnnouncedShard& shard) { return is_same(shard.master, master); });
    if (known == out.end()) {
      known = out.insert(out.end(), AnnouncedShard{.master = master, .replicas = {}, .slots = {}});
      if (range.items[2].items.size() > 2) known->id = text_of(&range.items[2].items[2]);
    }
    known->slots.push_back({static_cast<std::uint16_t>(range.items[0].integer),
                            static_cast<std::uint16_t>(range.items[1].integer)});
    for (std::size_t i = 3; i < range.items.size(); ++i) {
      const net::HostPort replica = slots_address(range.items[i], asked);
      const bool is_known = std::ranges::any_of(
          known->replicas, [&](const net::HostPort& each) { return is_same(each, replica); });
      if (replica.port != 0 && !is_known) known->replicas.push_back(replica);
    }
  }
  return in_order(std::move(out));
}

// A line: id address flags master ping-sent pong-received config-epoch link-state slots...
void note_config_epochs(const Value& nodes, AnnouncedMap& map) {
  if (!nodes.is_text()) return;
  constexpr std::size_t kId = 0, kFlags = 2, kEpoch = 6;
  struct Node {
    std::uint64_t epoch = 0;
    bool has_failed = false;
  };
  std::map<std::string_view, Node> known;
  std::string_view rest = nodes.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view digits = field_of(line, kEpoch);
    std::uint64_t epoch = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, epoch);
    if (error != std::errc{} || at != end || digits.empty()) continue;
    const std::string flags = "," + std::string(field_of(line, kFlags)) + ",";
    known[field_of(line, kId)] = {epoch, flags.find(",fail,") != std::string::npos};
  }
  for (AnnouncedShard& shard : map) {
    const auto found = known.find(shard.id);
    if (found == known.end()) continue;
    shard.config_epoch = found->second.epoch;
    shard.has_failed = found->second.has_failed;
  }
}

std::optional<ClusterView> parse_cluster_info(const Value& reply) {
  if (!reply.is_text()) return std::nullopt;
  const std::string_view text = reply.text;
  const auto epoch = redis::info_epoch(text, "cluster_current_epoch");
  if (!epoch || text.find("cluster_state:") == std::string_view::npos) return std::nullopt;
  return ClusterView{text.find("cluster_state:ok") != std::string_view::npos, *epoch};
}

}  // namespace heatsink::topology
