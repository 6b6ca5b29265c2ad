// SPDX-License-Identifier: Apache-2.0
// What top knows at a moment: the last answer, a short history, and what the person chose.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top_view.h"
#include "heatsink/base/clock.h"

namespace heatsink::app {

enum class SortBy { kRate, kShare, kWrites, kHits };
std::string_view to_string(SortBy sort);
SortBy after(SortBy sort);  // in the order above, round
SortBy before(SortBy sort);

// A plain value that the pictures are made from; time is an argument. Not thread-safe.
struct TopModel {
  static constexpr std::size_t kHistoryMax = 1000;     // answers
  static constexpr std::size_t kRememberedMax = 1000;  // keys

  explicit TopModel(std::string admin_address, Nanos poll_interval)
      : admin(std::move(admin_address)), interval(poll_interval) {}

  void answered(HotkeysView answer);
  void failed(std::string why, TimePoint now);

  // The last answer's keys in the chosen order, busiest first.
  std::vector<const KeyView*> sorted_keys() const;

  // Whom we ask, for people: "http://127.0.0.1:6390", "redis://db7:6379".
  std::string asked() const {
    if (admin.starts_with("unix:")) return admin;
    return (observed ? "redis://" : "http://") + admin;
  }

  std::string admin;      // "127.0.0.1:6390"; of an observed server its own address
  bool observed = false;  // a server is asked itself, not a proxy
  Nanos interval;
  SortBy sort = SortBy::kRate;
  bool paused = false;
  bool help = false;

  std::optional<HotkeysView> view;      // the last answer; nothing yet
  std::string problem;                  // why the last poll failed; "" if it did not
  std::optional<TimePoint> down_since;  // of the first failure in a row
  std::vector<double> requests, hits;   // rates of the last answers, oldest first

  // For the summary at the end.
  struct HotKey {
    double rate_max = 0;
    bool write_hot = false;
  };
  std::map<std::string, HotKey> hot_keys;  // seen hot or write-hot, at most kRememberedMax
  double requests_sum = 0, hits_sum = 0;   // of the answers' rates
  std::size_t answers = 0;
};

}  // namespace heatsink::app
