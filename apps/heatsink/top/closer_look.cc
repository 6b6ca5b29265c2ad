// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/closer_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <functional>

#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kProblemBytesMax = 1024;
constexpr std::array<const char*, 7> kOfValue = {"type",         "encoding",    "value_bytes",
                                                 "memory_bytes", "ttl_seconds", "never_expires",
                                                 "value_problem"};

// Whoever answers there may answer anything.
std::optional<json::value> parsed(std::string_view text) {
  boost::system::error_code error;
  json::value out = json::parse({text.data(), text.size()}, error);
  if (error || !out.is_object()) return std::nullopt;
  const json::value* keys = out.as_object().if_contains("keys");
  if (keys == nullptr || !keys->is_array()) return std::nullopt;
  return out;
}

std::optional<std::uint64_t> number(const json::value* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto out = value->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(out);
}

bool is_row_of(const json::value& row, const CloserLook& look) {
  const json::object* members = row.if_object();
  if (members == nullptr) return false;
  const json::value* name = members->if_contains("name_base64");
  const json::value* truncated = members->if_contains("name_truncated");
  const bool whole = truncated == nullptr || !truncated->is_bool() || !truncated->as_bool();
  if (name == nullptr || !name->is_string() || !whole) return false;
  const auto db = number(members->if_contains("db"));
  return name->as_string() == base64(look.raw_name) && db && (!look.db || *db == *look.db);
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// Of each row that is about the key; whether there was one.
bool change_rows(json::value& hotkeys, const CloserLook& look,
                 const std::function<void(json::object&)>& change) {
  bool found = false;
  for (json::value& row : hotkeys.as_object()["keys"].as_array()) {
    if (!is_row_of(row, look)) continue;
    found = true;
    change(row.as_object());
  }
  return found;
}

}  // namespace

std::vector<CloserLook> closer_looks(std::string_view hotkeys, const CloserLook& look) {
  std::vector<CloserLook> out;
  auto list = parsed(hotkeys);
  if (!list) return out;
  const auto add = [&](std::uint64_t db) {
    const bool known = std::ranges::any_of(out, [db](const auto& each) { return each.db == db; });
    if (!known && out.size() < kCloserRowsMax) out.push_back({look.raw_name, db, look.though_cold});
  };
  change_rows(*list, look,
              [&add](const json::object& row) { add(*number(row.if_contains("db"))); });
  if (out.empty() && look.though_cold) add(look.db.value_or(0));
  return out;
}

std::string closer_path(const CloserLook& look) {
  return fmt::format("/api/key?name={}&db={}", escaped(look.raw_name), look.db.value_or(0));
}

std::string with_closer_look(std::string_view hotkeys, std::string_view key,
                             const CloserLook& look) {
  auto list = parsed(hotkeys);
  auto told = parsed(key);
  if (!list || !told) return std::string(hotkeys);
  const json::array& rows = told->as_object()["keys"].as_array();
  if (rows.size() != 1 || !rows[0].is_object()) return std::string(hotkeys);
  const json::object& row = rows[0].as_object();
  CloserLook here = look;
  here.db = number(row.if_contains("db"));
  const bool found = change_rows(*list, here, [&row](json::object& listed) {
    for (const char* member : kOfValue) {
      if (const json::value* value = row.if_contains(member)) listed[member] = *value;
    }
  });
  if (!found && look.though_cold) list->as_object()["keys"].as_array().push_back(row);
  return json::serialize(*list) + "\n";
}

std::string with_no_closer_look(std::string_view hotkeys, std::string_view why,
                                const CloserLook& look) {
  auto list = parsed(hotkeys);
  if (!list) return std::string(hotkeys);
  change_rows(*list, look, [why](json::object& listed) {
    listed["value_problem"] = one_line(why, kProblemBytesMax);
  });
  return json::serialize(*list) + "\n";
}

}  // namespace heatsink::app
