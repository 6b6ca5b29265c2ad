// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/warm_plans.h"

#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

// Two times computed from different clocks count as equal within this difference.
constexpr Nanos kSameMoment = std::chrono::seconds(2);

}  // namespace

WarmPlans::WarmPlans(const std::deque<policy::WarmingOptions>& items) {
  for (const policy::WarmingOptions& item : items) {
    Result<std::vector<report::WarmKey>> keys = item.keys();
    const Result<policy::WarmWindow> window = item.window();
    if (!keys.ok() || !window.ok()) continue;
    plans_.push_back({*window, std::move(*keys)});
    if (item.pattern.empty()) continue;
    plans_.back().pattern = item.names();
    plans_.back().search_again = item.search_again;
  }
}

// Begins a window once, and again after a clock jump. Doing so at each look would bring back keys
// that were ended by hand.
void WarmPlans::look(WallTime wall, TimePoint now, Warmer& warmer, Searches& searches) {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    Plan& plan = plans_[i];
    const auto source = static_cast<std::uint32_t>(i + 1);
    const std::optional<WallTime> end = plan.window.open_until(wall);
    if (!end) {
      if (!std::exchange(plan.until, std::nullopt)) continue;
      searches.end_source(source);
      warmer.end_source(source);
      continue;
    }
    const TimePoint until = now + (*end - wall);
    const bool is_known = plan.until && std::chrono::abs(until - *plan.until) <= kSameMoment;
    if (is_known) continue;
    plan.until = until;
    begin(plan, source, now, warmer, searches);
  }
}

void WarmPlans::end_all(Warmer& warmer, Searches& searches) {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    if (!std::exchange(plans_[i].until, std::nullopt)) continue;
    searches.end_source(static_cast<std::uint32_t>(i + 1));
    warmer.end_source(static_cast<std::uint32_t>(i + 1));
  }
}

void WarmPlans::begin(const Plan& plan, std::uint32_t source, TimePoint now, Warmer& warmer,
                      Searches& searches) {
  if (plan.pattern) {
    searches.end_source(source);  // a search with another end time
    searches.begin({*plan.pattern, source, *plan.until, plan.search_again}, now);
    return;
  }
  std::size_t refused = 0;
  std::string why;
  for (const report::WarmKey& key : plan.keys) {
    std::string its_why;
    if (warmer.begin(key, source, *plan.until, now, its_why)) continue;
    if (refused++ == 0) why = its_why;
  }
  if (refused == 0) return;
  log(LogLevel::kWarning, "warming " + std::to_string(source) + ": " + std::to_string(refused) +
                              " of " + std::to_string(plan.keys.size()) + " keys are not warmed: " +
                              why + ": shorten the list, or change that");
}

}  // namespace heatsink::copies
