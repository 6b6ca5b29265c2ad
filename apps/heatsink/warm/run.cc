// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/run.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/process/progress.h"
#include "apps/heatsink/warm/answer.h"
#include "apps/heatsink/warm/ask.h"
#include "heatsink/base/base64.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr Nanos kLookInterval = Millis(200);
// When the search is over and keys are still loading: how long to wait without progress.
constexpr Nanos kLoadPatience = std::chrono::seconds(3);

Result<WarmSearchRow> begin(const WarmRun& run) {
  json::object order{{"pattern_base64", base64(*run.pattern)},
                     {"db", run.db},
                     {"concurrency", run.batch},
                     {"rate", run.keys_per_second}};
  if (run.limit) order["limit"] = *run.limit;
  const Result<std::string> answer = order_proxy(run, std::move(order));
  return answer.ok() ? parse_warm_search(*answer) : answer.error();
}

// Ends the search and returns its last state.
Result<std::string> end(const WarmRun& run, std::uint64_t id) {
  return ask_proxy(run, {"POST", "/api/warm/end", R"({"search": )" + std::to_string(id) + "}"});
}

Result<std::string> look(const WarmRun& run, std::uint64_t id) {
  return ask_proxy(run, {"GET", "/api/warm?search=" + std::to_string(id), ""});
}

// Decides when to stop waiting.
class Patience {
 public:
  bool is_over(const WarmSearchRow& search, TimePoint now) {
    if (search.loading != loading_ || !search.over()) changed_at_ = now;
    loading_ = search.loading;
    return search.over() && (search.loading == 0 || now - changed_at_ >= kLoadPatience);
  }

 private:
  std::uint64_t loading_ = 0;
  TimePoint changed_at_{};
};

void show(ProgressLine& line, const WarmSearchRow& search) {
  if (!search.over()) return line.show(search.state, search.progress);
  line.show("loading", 1 - static_cast<double>(search.loading) /
                               static_cast<double>(std::max<std::uint64_t>(search.warmed, 1)));
}

// Returns the last answer.
Result<std::string> watch(const WarmRun& run, std::uint64_t id, EndSignals& signals) {
  ProgressLine line;
  Patience patience;
  for (bool ended = false;;) {
    Result<std::string> answer = look(run, id);
    if (!answer.ok()) return answer;
    const Result<WarmSearchRow> search = parse_warm_search(*answer);
    if (!search.ok()) return search.error();
    const TimePoint now = BootClock::now();
    if (ended || patience.is_over(*search, now)) return answer;
    show(line, *search);
    ended = signals.wait_until(now + kLookInterval);
    if (!ended) continue;
    if (Result<std::string> told = end(run, id); !told.ok()) return told;
  }
}

int tell(const WarmRun& run, const WarmSearchRow& search, const std::vector<WarmRow>& rows) {
  std::cout << (run.json ? warm_rows_json(rows, search.json)
                         : search_summary(search) + (rows.empty() ? "" : warm_summary(rows)));
  const bool whole = search.left_out == 0 || (run.limit && search.warmed >= *run.limit);
  return search.state == "finished" && !rows.empty() && whole && all_done(rows) ? kDone : kFailed;
}

int fail(const WarmRun& run, const std::string& why) {
  std::cerr << "heatsink warm: " << run.admin.text() << ": " << one_line(why) << "\n";
  return kFailed;
}

// REQUIRES an order that begins a pattern. Prints to stdout; draws a progress bar on stderr if that
// is a terminal. Returns an exit code. A signal that ends programs ends the search: keys warmed by
// then stay so, and are reported.
int run_search(const WarmRun& run) {
  EndSignals signals;  // declared before the search begins, so that a signal can end it
  const Result<WarmSearchRow> begun = begin(run);
  if (!begun.ok()) return fail(run, begun.error().message);
  const Result<std::string> answer = watch(run, begun->id, signals);
  if (!answer.ok()) return fail(run, answer.error().message);
  const Result<WarmSearchRow> search = parse_warm_search(*answer);
  const Result<std::vector<WarmRow>> rows = parse_warm_answer(*answer);
  if (!search.ok() || !rows.ok())
    return fail(run, search.ok() ? rows.error().message : search.error().message);
  if (search->state == "failed") return fail(run, search->note);
  return tell(run, *search, *rows);
}

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
