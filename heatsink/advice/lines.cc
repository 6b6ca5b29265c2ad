// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "heatsink/base/printable.h"

namespace heatsink::advice {
namespace {

// In a pattern a name stands for itself only with its special characters escaped.
std::string as_pattern(std::string_view name) {
  std::string out;
  for (const char byte : name) {
    if (std::string_view("\\*?[").find(byte) != std::string_view::npos) out += '\\';
    out += byte;
  }
  return out;
}

// YAML and Python turn "\xNN" beyond ASCII into a character of two bytes.
bool has_wide_escape(std::string_view shown) {
  for (std::size_t at = 0; at + 2 < shown.size(); ++at) {
    if (shown[at] != '\\') continue;
    if (shown[at + 1] == 'x' && shown[at + 2] >= '8') return true;
    ++at;
  }
  return false;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::optional<std::string> quoted(std::string_view bytes) {
  const std::string shown = printable(bytes, std::string::npos);
  if (has_wide_escape(shown)) return std::nullopt;
  return fmt::format("\"{}\"", shown);
}

std::string shell_name(std::string_view bytes) {
  std::string out = "'";
  for (const char byte : printable(bytes, std::string::npos)) {
    if (byte == '\'')
      out += "'\\''";
    else
      out += byte;
  }
  return out + "'";
}

Lines rule_lines(const KeyPlace& place, const Lines& settings) {
  std::optional<std::string> match;
  // A rule for one key has the key's name.
  const std::string_view of = place.rule.empty() && place.name ? *place.name : place.rule;
  if (std::any_of(of.begin(), of.end(), is_control)) return {};
  const bool is_for_one = place.rule.empty() || place.rule == place.name;
  if (!is_for_one)
    match = quoted(place.rule);
  else if (place.name)
    match = quoted(as_pattern(*place.name));
  if (!match) return {};
  Lines out;
  if (!place.has_proxy) {
    out = {"# heatsink proxy --config heatsink.yaml", "upstream:", "  url: " + server_url(place)};
  } else if (!place.rule.empty()) {
    out = {"# its current rule, with this addition:"};
  }
  out.emplace_back("rules:");
  out.push_back("  - match: " + *match);
  for (const std::string& setting : settings) out.push_back("    " + setting);
  return out;
}

Lines warm_lines(const KeyPlace& place) {
  if (!place.name) return {};
  const std::string db = place.db == 0 ? "" : fmt::format(" --db {}", place.db);
  const char* dashes = place.name->starts_with('-') ? "-- " : "";
  return {fmt::format("heatsink warm --for 30m{} {}{}", db, dashes, shell_name(*place.name))};
}

std::string server_url(const KeyPlace& place) {
  return "redis://" + (place.server.empty() ? "SERVER:6379" : place.server);
}

}  // namespace heatsink::advice
