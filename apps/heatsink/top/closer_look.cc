// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/closer_look.h"

#include <fmt/format.h>

#include <algorithm>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kProblemBytesMax = 1024;

// A truncated name may be the beginning of several keys, so it does not match.
bool is_row_of(const KeyView& row, const CloserLook& look) {
  return row.raw_name == look.raw_name && !row.name_truncated && (!look.db || row.db == *look.db);
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

void set_value(KeyView& row, const KeyView& told) {
  row.type = told.type;
  row.encoding = told.encoding;
  if (told.value_bytes) row.value_bytes = told.value_bytes;
  if (told.memory_bytes) row.memory_bytes = told.memory_bytes;
  row.ttl = told.ttl;
  row.never_expires = told.never_expires;
  row.value_problem = told.value_problem;
  row.kept_by = told.kept_by;  // exact, while the list of all keys has a part
}

}  // namespace

std::vector<CloserLook> closer_looks(const HotkeysView& view, const CloserLook& look) {
  std::vector<CloserLook> out;
  const auto add = [&](std::uint64_t db) {
    const bool known = std::ranges::any_of(out, [db](const auto& each) { return each.db == db; });
    if (!known && out.size() < kCloserRowsMax) out.push_back({look.raw_name, db, look.though_cold});
  };
  for (const KeyView& row : view.keys) {
    if (is_row_of(row, look)) add(row.db);
  }
  if (out.empty() && look.though_cold) add(look.db.value_or(0));
  return out;
}

std::string closer_path(const CloserLook& look) {
  return fmt::format("/api/key?name={}&db={}", escaped(look.raw_name), look.db.value_or(0));
}

void add_closer_look(HotkeysView& view, const HotkeysView& key, const CloserLook& look) {
  if (key.keys.size() != 1) return;
  const KeyView& told = key.keys.front();
  CloserLook here = look;
  here.db = told.db;
  bool found = false;
  for (KeyView& row : view.keys) {
    if (!is_row_of(row, here)) continue;
    found = true;
    set_value(row, told);
  }
  if (!found && look.though_cold) view.keys.push_back(told);
}

void add_problem(HotkeysView& view, std::string_view why, const CloserLook& look) {
  for (KeyView& row : view.keys) {
    if (is_row_of(row, look)) row.value_problem = one_line(why, kProblemBytesMax);
  }
}

}  // namespace heatsink::app
