// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/hotkeys_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace heatsink::observe {
namespace {

bool is_list(const resp::Value& value) {
  return value.type == resp::Value::Type::kArray || value.type == resp::Value::Type::kMap;
}

using resp::Value;

double number_of(const Value* value) {
  if (value == nullptr) return 0;
  if (value->type == Value::Type::kInteger)
    return static_cast<double>(std::max<std::int64_t>(value->integer, 0));
  double number = 0;
  std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  return number > 0 ? number : 0;
}

KeyRow row_of(const std::string& key, double db) {
  KeyRow row;
  row.count.key = key.substr(0, detect::kKeyBytesMax);
  row.count.key_truncated = key.size() > detect::kKeyBytesMax;
  row.count.db = static_cast<std::uint32_t>(std::min(db, 1e6));
  return row;
}

HotkeysReply of_valkey(const Value& reply) {
  HotkeysReply out;
  for (const Value& entry : reply.items) {
    const Value* key = is_list(entry) ? entry.find("key") : nullptr;
    if (key == nullptr || out.rows.size() == kRowsMax) continue;
    KeyRow row = row_of(key->text, number_of(entry.find("db")));
    const double qps = number_of(entry.find("qps"));
    row.rate = {qps, qps, qps};
    row.reason = "the server's own estimate";
    out.rows.push_back(std::move(row));
  }
  return out;
}

struct Parts {
  double cpu_us = 0, bytes = 0;
};

void take_list(const Value* list, double Parts::*part, std::map<std::string, Parts>& out) {
  if (list == nullptr || !is_list(*list)) return;
  for (std::size_t i = 0; i + 1 < list->items.size(); i += 2)
    out[list->items[i].text].*part = number_of(&list->items[i + 1]);
}

HotkeysReply of_redis(const Value& table) {
  HotkeysReply out;
  out.of_redis = true;
  out.active = number_of(table.find("tracking-active")) > 0;
  out.seconds = number_of(table.find("collection-duration-ms")) / 1e3;
  // A session of another client may sample one command in N. heatsink's own session takes each
  // command.
  const double sampled = std::max(number_of(table.find("sample-ratio")), 1.0);
  const double all_us = number_of(table.find("all-commands-all-slots-us"));
  const double all_bytes = number_of(table.find("net-bytes-all-commands-all-slots"));
  std::map<std::string, Parts> parts;
  take_list(table.find("by-cpu-time-us"), &Parts::cpu_us, parts);
  take_list(table.find("by-net-bytes"), &Parts::bytes, parts);
  for (const auto& [key, part] : parts) {
    if (out.rows.size() == kRowsMax) break;
    KeyRow row = row_of(key, 0);
    const double rate = out.seconds > 0 ? sampled * part.bytes / out.seconds : 0;
    row.rate = {rate, rate, rate};
    row.dimension = detect::Dimension::kBytes;
    const double cpu = all_us > 0 ? std::min(sampled * part.cpu_us / all_us, 1.0) : 0;
    const double net = all_bytes > 0 ? std::min(sampled * part.bytes / all_bytes, 1.0) : 0;
    row.share = std::max(cpu, net);
    row.reason = fmt::format("{:.1f} % of the CPU time of commands, {:.1f} % of their bytes",
                             100 * cpu, 100 * net);
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace

std::optional<HotkeysReply> parse_hotkeys_reply(const Value& reply) {
  if (reply.type == Value::Type::kNull) return HotkeysReply();
  if (!is_list(reply)) return std::nullopt;
  if (reply.items.empty()) return HotkeysReply();
  if (reply.find("tracking-active") != nullptr) return of_redis(reply);
  // Redis wraps the table in a list with one element.
  if (reply.items.size() == 1 && is_list(reply.items[0]) &&
      reply.items[0].find("tracking-active") != nullptr)
    return of_redis(reply.items[0]);
  if (!is_list(reply.items[0]) || reply.items[0].find("key") == nullptr) return std::nullopt;
  return of_valkey(reply);
}

}  // namespace heatsink::observe
