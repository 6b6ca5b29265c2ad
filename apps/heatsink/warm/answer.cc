// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>

#include "heatsink/tui/tui.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// In the order of the output.
constexpr std::array<std::string_view, 8> kOutcomes = {
    "loaded", "missing", "no-string", "too-big", "refused", "loading", "ended", "not-warmed"};

Error not_ours(const char* what) {
  return {ErrorCode::kProtocol, std::string("its answer is not one of heatsink's: ") + what};
}

std::optional<std::string> text_in(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_null()) return "";
  return value->is_string() ? std::optional(std::string(value->get_string())) : std::nullopt;
}

std::optional<WarmRow> row_in(const json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const json::object& key = value.get_object();
  const auto base64 = text_in(key, "name_base64");
  const auto name = text_in(key, "name");
  const auto outcome = text_in(key, "outcome");
  const auto note = text_in(key, "note");
  const auto until = text_in(key, "warmed_until");
  const json::value* db = key.if_contains("db");
  if (!base64 || !name || !outcome || !note || !until || db == nullptr || !db->is_int64())
    return std::nullopt;
  return WarmRow{*base64,  *name, static_cast<std::uint32_t>(db->get_int64()),
                 *outcome, *note, *until};
}

std::string counts(const std::vector<WarmRow>& rows) {
  std::string out;
  for (const std::string_view outcome : kOutcomes) {
    const auto count = std::count_if(rows.begin(), rows.end(),
                                     [&](const WarmRow& row) { return row.outcome == outcome; });
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, outcome);
  }
  return out.empty() ? "no keys" : out;
}

std::string line_of(const WarmRow& row) {
  return fmt::format("  {} (db {}): {}{}\n", tui::safe_text(row.name), row.db,
                     tui::safe_text(row.outcome),
                     row.note.empty() ? "" : ": " + tui::safe_text(row.note));
}

Result<json::object> answer_in(std::string_view body) {
  json::error_code error;
  json::value parsed = json::parse({body.data(), body.size()}, error);
  if (error || !parsed.is_object()) return not_ours("it is not a JSON object");
  const auto problem = text_in(parsed.get_object(), "problem");
  if (!problem) return not_ours("\"problem\" is missing");
  if (!problem->empty()) return Error{ErrorCode::kUnavailable, *problem};
  return std::move(parsed.get_object());
}

std::optional<std::uint64_t> count_in(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

bool read_counts(const json::object& from, WarmSearchRow& to) {
  const std::array<std::pair<const char*, std::uint64_t*>, 5> members{{{"id", &to.id},
                                                                       {"found", &to.found},
                                                                       {"warmed", &to.warmed},
                                                                       {"loading", &to.loading},
                                                                       {"left_out", &to.left_out}}};
  for (const auto& [name, count] : members) {
    const auto told = count_in(from, name);
    if (!told) return false;
    *count = *told;
  }
  return true;
}

bool read_texts(const json::object& from, WarmSearchRow& to) {
  const std::array<std::pair<const char*, std::string*>, 3> members{
      {{"pattern", &to.pattern}, {"state", &to.state}, {"note", &to.note}}};
  for (const auto& [name, text] : members) {
    auto told = text_in(from, name);
    if (!told) return false;
    *text = *std::move(told);
  }
  return true;
}

bool read_names(const json::object& from, std::vector<std::string>& to) {
  const json::value* names = from.if_contains("left_out_names");
  if (names == nullptr || !names->is_array()) return false;
  for (const json::value& name : names->get_array()) {
    if (!name.is_string()) return false;
    to.emplace_back(name.get_string());
  }
  return true;
}

}  // namespace

Result<WarmSearchRow> parse_warm_search(std::string_view body) {
  const Result<json::object> answer = answer_in(body);
  if (!answer.ok()) return answer.error();
  const json::value* list = answer->if_contains("searches");
  if (list == nullptr || !list->is_array() || list->get_array().size() != 1 ||
      !list->get_array()[0].is_object())
    return not_ours("it does not have exactly one search");
  const json::object& search = list->get_array()[0].get_object();
  WarmSearchRow row;
  const auto db = count_in(search, "db");
  const json::value* progress = search.if_contains("progress");
  if (!read_counts(search, row) || !read_texts(search, row) ||
      !read_names(search, row.left_out_names) || !db || progress == nullptr ||
      !progress->is_number())
    return not_ours("its search is malformed");
  row.db = static_cast<std::uint32_t>(*db);
  row.progress = progress->to_number<double>();
  row.json = json::serialize(search);
  return row;
}

std::string search_summary(const WarmSearchRow& search) {
  const std::string of = fmt::format("{} (db {})", tui::safe_text(search.pattern), search.db);
  const std::string ended = search.state == "ended" ? "; the search was stopped" : "";
  if (search.found == 0) return "no key matches " + of + ended + "\n";
  std::string out = fmt::format("{} {} {}{}", search.found,
                                search.found == 1 ? "key matches" : "keys match", of, ended);
  if (search.left_out == 0) return out + "\n";
  out +=
      fmt::format("; {} left out: {}\n  left out:", search.left_out, tui::safe_text(search.note));
  for (const std::string& name : search.left_out_names) out += " " + tui::safe_text(name);
  const std::uint64_t others =
      search.left_out - std::min<std::uint64_t>(search.left_out, search.left_out_names.size());
  return out + (others > 0 ? fmt::format(" and {} more\n", others) : "\n");
}

Result<std::vector<WarmRow>> parse_warm_answer(std::string_view body) {
  const Result<json::object> answer = answer_in(body);
  if (!answer.ok()) return answer.error();
  const json::value* keys = answer->if_contains("keys");
  if (keys == nullptr || !keys->is_array()) return not_ours("\"keys\" is missing");
  std::vector<WarmRow> rows;
  for (const json::value& each : keys->get_array()) {
    std::optional<WarmRow> row = row_in(each);
    if (!row) return not_ours("one of its keys is malformed");
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::string warm_summary(const std::vector<WarmRow>& rows) {
  std::string until;
  for (const WarmRow& row : rows) until = std::max(until, row.until);
  std::string out = until.empty() ? "" : "warmed until " + tui::safe_text(until) + ": ";
  out += counts(rows) + "\n";
  std::size_t told = 0;
  for (const WarmRow& row : rows) {
    if (row.outcome == "loaded" || row.outcome == "ended") continue;
    if (++told > kTroubleMax) continue;
    out += line_of(row);
  }
  if (told > kTroubleMax)
    out += fmt::format("  and {} more (--json lists all)\n", told - kTroubleMax);
  return out;
}

std::string warm_table(const std::vector<WarmRow>& rows) {
  if (rows.empty()) return "no keys are being warmed\n";
  std::string out;
  for (const WarmRow& row : rows) {
    out += fmt::format("{}  {:<9}  db {}  {}{}\n", tui::safe_text(row.until),
                       tui::safe_text(row.outcome), row.db, tui::safe_text(row.name),
                       row.note.empty() ? "" : "  (" + tui::safe_text(row.note) + ")");
  }
  return out;
}

std::string warm_rows_json(const std::vector<WarmRow>& rows, std::string_view search) {
  json::array keys;
  for (const WarmRow& row : rows) {
    json::object key;
    key["name"] = row.name;
    key["name_base64"] = row.name_base64;
    key["db"] = row.db;
    key["outcome"] = row.outcome;
    key["note"] = row.note;
    key["warmed_until"] = row.until.empty() ? json::value(nullptr) : json::value(row.until);
    keys.push_back(std::move(key));
  }
  json::object out{{"keys", std::move(keys)}};
  if (!search.empty()) out["search"] = json::parse({search.data(), search.size()});
  return json::serialize(out) + "\n";
}

bool all_done(const std::vector<WarmRow>& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const WarmRow& row) {
    return row.outcome == "refused" || row.outcome == "loading" || row.outcome == "not-warmed";
  });
}

}  // namespace heatsink::app
