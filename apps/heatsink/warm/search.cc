// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/search.h"

#include <iostream>
#include <optional>
#include <string>

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

}  // namespace

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

}  // namespace heatsink::app
