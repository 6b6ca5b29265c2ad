// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/csv.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "apps/heatsink/top/key_facts.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

std::string quoted(const std::string& text) {
  std::string safe = tui::safe_text(text);
  if (safe.find_first_of(",\"") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Puts an apostrophe before text that a spreadsheet may take for a formula
// (https://owasp.org/www-community/attacks/CSV_Injection).
std::string defused(std::string text) {
  constexpr std::string_view kBegins = "=+-@\t\r";
  const bool is_formula = !text.empty() && kBegins.find(text.front()) != std::string_view::npos;
  return is_formula ? "'" + text : text;
}

struct Column {
  std::string_view name;
  std::string (*text)(const TopRow&);
  bool is_foreign = false;  // its text comes from outside
};

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

std::string seconds_text(const std::optional<Nanos>& time) {
  return time ? number_text(seconds(*time)) : "";
}

constexpr std::array<Column, 24> kCsvColumns{{
    {"key", [](const TopRow& row) { return row.key->name; }, true},
    {"keys", [](const TopRow& row) { return std::to_string(row.is_template ? row.keys : 1); }},
    {"db", [](const TopRow& row) { return std::to_string(row.key->db); }},
    {"verdict", [](const TopRow& row) { return row.key->verdict; }},
    {"rate", [](const TopRow& row) { return number_text(row.key->rate); }},
    {"rate_low", [](const TopRow& row) { return number_text(row.key->rate_low); }},
    {"rate_high", [](const TopRow& row) { return number_text(row.key->rate_high); }},
    {"share", [](const TopRow& row) { return number_text(row.key->share); }},
    {"reads_rate", [](const TopRow& row) { return number_text(row.key->reads_rate); }},
    {"writes_rate", [](const TopRow& row) { return number_text(row.key->writes_rate); }},
    {"hits_rate", [](const TopRow& row) { return number_text(row.key->hits_rate); }},
    {"misses_rate", [](const TopRow& row) { return number_text(row.key->misses_rate); }},
    {"bytes_rate", [](const TopRow& row) { return number_text(row.key->bytes_rate); }},
    {"hit_ratio", [](const TopRow& row) { return number_text(row.key->hit_ratio); }},
    {"cached", [](const TopRow& row) { return std::string(row.key->cached ? "true" : "false"); }},
    {"age_seconds", [](const TopRow& row) { return number_text(seconds(row.key->age)); }},
    {"dimension", [](const TopRow& row) { return row.key->dimension; }},
    {"window_seconds", [](const TopRow& row) { return number_text(seconds(row.key->window)); }},
    {"rule", [](const TopRow& row) { return row.key->rule; }, true},
    {"node", [](const TopRow& row) { return row.key->node; }, true},
    {"slot",
     [](const TopRow& row) {
       const auto slot = !row.is_template ? slot_of(*row.key) : std::nullopt;
       return slot ? std::to_string(*slot) : std::string();
     }},
    {"reason", [](const TopRow& row) { return row.key->reason; }, true},
    {"latency_mean_seconds", [](const TopRow& row) { return seconds_text(row.key->latency_mean); }},
    {"latency_p99_seconds", [](const TopRow& row) { return seconds_text(row.key->latency_p99); }},
}};

}  // namespace

std::string csv_header() {
  std::string out = "time";
  for (const Column& column : kCsvColumns) out.append(",").append(column.name);
  return out + "\r\n";
}

std::string csv_block(const TopRows& rows, std::string_view time, CsvText text) {
  std::string out;
  for (const TopRow& row : rows.rows) {
    out += time;
    for (const Column& column : kCsvColumns) {
      std::string field = column.text(row);
      if (column.is_foreign && text == CsvText::kDefused) field = defused(std::move(field));
      out.append(",").append(quoted(field));
    }
    out += "\r\n";
  }
  return out;
}

std::string csv_time(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::duration_cast<Millis>(time.time_since_epoch()).count();
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)),
                     millis % 1000);
}

}  // namespace heatsink::app
