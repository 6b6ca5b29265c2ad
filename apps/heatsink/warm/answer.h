// SPDX-License-Identifier: Apache-2.0
// Prints the proxy's answers about warmed keys, for people and for programs.
#pragma once

#include <boost/json/array.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::app {

struct WarmRow {
  std::string name_base64;
  std::string name;  // as the proxy shows it
  std::uint32_t db = 0;
  std::string outcome;  // "loaded", "missing", ...
  std::string note;
  std::string until;  // "2026-11-21T20:30:00.000Z"; "": not warmed
};

// The progress of the search for a pattern's keys.
struct WarmSearchRow {
  std::uint64_t id = 0, found = 0, warmed = 0, loading = 0, left_out = 0;
  std::uint32_t db = 0;
  std::string pattern, state, note;
  double progress = 0;  // 0 .. 1
  std::vector<std::string> left_out_names;
  std::string json;  // the whole member, unchanged

  bool over() const { return state != "waiting" && state != "searching"; }
};

// The only search in an answer. Errors as below.
Result<WarmSearchRow> parse_warm_search(std::string_view body);

// "2400 keys match sale:* (db 0); 352 are left out: the limit is 2048 keys", and which.
std::string search_summary(const WarmSearchRow& search);

// The rows of an answer of /api/warm; kProtocol if it is not one, kUnavailable with the proxy's
// reason if the proxy could do nothing.
Result<std::vector<WarmRow>> parse_warm_answer(std::string_view body);

// "warmed until 2026-11-21T20:30:00.000Z: 2 loaded, 1 missing", and the keys that are neither
// loaded nor ended, at most kTroubleMax of them.
inline constexpr std::size_t kTroubleMax = 50;
std::string warm_summary(const std::vector<WarmRow>& rows);
std::string warm_table(const std::vector<WarmRow>& rows);  // for --list
// `search`: its JSON; "": none.
std::string warm_rows_json(const std::vector<WarmRow>& rows, std::string_view search = "");

// Whether the order is complete: no key refused, or still loading.
bool all_done(const std::vector<WarmRow>& rows);

}  // namespace heatsink::app
