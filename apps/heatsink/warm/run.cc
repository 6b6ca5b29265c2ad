// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/run.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <iostream>
#include <span>
#include <utility>

#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/process/progress.h"
#include "apps/heatsink/warm/answer.h"
#include "apps/heatsink/warm/ask.h"
#include "apps/heatsink/warm/search.h"
#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr int kAskedAgainMax = 3;  // for keys that are still loading

Result<std::vector<WarmRow>> rows_of(const Result<std::string>& answer) {
  if (!answer.ok()) return answer.error();
  return parse_warm_answer(*answer);
}

json::object key_of(std::string_view name, std::uint32_t db) {
  return {{"name_base64", base64(name)}, {"db", db}};
}

Result<std::vector<WarmRow>> order(const WarmRun& run, std::span<const std::string> keys) {
  json::array list;
  for (const std::string& name : keys) list.push_back(key_of(name, run.db));
  return rows_of(order_proxy(run, {{"keys", std::move(list)}}));
}

// Ends the warming of a pattern's keys.
Result<std::vector<WarmRow>> end_pattern(const WarmRun& run) {
  return rows_of(order_proxy(run, {{"pattern_base64", base64(*run.pattern)}, {"db", run.db}}));
}

// The earliest time of the next batch, at the wanted rate.
TimePoint next_at(const WarmRun& run, TimePoint began, std::size_t done) {
  if (run.keys_per_second <= 0) return began;
  const auto due = std::chrono::duration<double>(static_cast<double>(done) / run.keys_per_second);
  return began + std::chrono::duration_cast<Nanos>(due);
}

Result<std::vector<WarmRow>> order_batch(const WarmRun& run, std::span<const std::string> keys) {
  Result<std::vector<WarmRow>> rows = order(run, keys);
  const auto loads = [](const WarmRow& row) { return row.outcome == "loading"; };
  for (int again = 0; again < kAskedAgainMax && rows.ok(); ++again) {
    if (std::none_of(rows->begin(), rows->end(), loads)) break;
    rows = order(run, keys);
  }
  return rows;
}

// After a signal it reports what has been done so far.
Result<std::vector<WarmRow>> order_all(const WarmRun& run) {
  EndSignals signals;
  ProgressLine line;
  std::vector<WarmRow> rows;
  const TimePoint began = BootClock::now();
  const std::span<const std::string> keys(run.keys);
  for (std::size_t at = 0; at < keys.size(); at += run.batch) {
    line.show("warming", static_cast<double>(at) / static_cast<double>(keys.size()));
    const auto batch = keys.subspan(at, std::min(run.batch, keys.size() - at));
    Result<std::vector<WarmRow>> told = order_batch(run, batch);
    if (!told.ok()) return told.error();
    std::move(told->begin(), told->end(), std::back_inserter(rows));
    const std::size_t done = at + batch.size();
    if (done < keys.size() && signals.wait_until(next_at(run, began, done))) break;
  }
  return rows;
}

Result<std::vector<WarmRow>> rows_for(const WarmRun& run) {
  if (run.what == WarmRun::What::kList) return rows_of(ask_proxy(run, {"GET", "/api/warm", ""}));
  return run.pattern ? end_pattern(run) : order_all(run);
}

}  // namespace

int run_warm(const WarmRun& run) {
  if (run.pattern && run.what == WarmRun::What::kBegin) return run_search(run);
  const bool lists = run.what == WarmRun::What::kList;
  const Result<std::vector<WarmRow>> rows = rows_for(run);
  if (!rows.ok()) {
    std::cerr << "heatsink warm: " << run.admin.text() << ": " << one_line(rows.error().message)
              << "\n";
    return kFailed;
  }
  std::cout << (run.json ? warm_rows_json(*rows) : lists ? warm_table(*rows) : warm_summary(*rows));
  const bool whole = run.pattern ? !rows->empty() : rows->size() >= run.keys.size();
  return lists || (whole && all_done(*rows)) ? kDone : kFailed;
}

}  // namespace heatsink::app
