// SPDX-License-Identifier: Apache-2.0
// Holds top's state: the last answer, a short history, and the user's choices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/history.h"
#include "apps/heatsink/top/past.h"
#include "apps/heatsink/top/rows.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::app {

enum class Page : std::uint8_t { kKeys, kKey, kNodes, kSlots, kCopies, kSources, kHelp };
inline constexpr std::array kAllPages{Page::kKeys,   Page::kKey,     Page::kNodes, Page::kSlots,
                                      Page::kCopies, Page::kSources, Page::kHelp};

// The key whose page is open, as last listed.
struct OpenKey {
  KeyView key;
  bool listed = true;  // in the last answer
};

// The user's choices; input.h changes them.
struct TopChoices {
  Page page = Page::kKeys;
  Page before_help = Page::kKeys;  // the page to return to from help
  bool paused = false;
  std::optional<WallTime> at;  // the moment to show; nothing: now
  RowChoices rows;
  // The row of the cursor: this key, wherever it moves, or if there is none, the first row (until
  // the user moves the cursor).
  std::optional<KeyId> selected;
  std::size_t cursor = 0;
  std::size_t scroll = 0;             // rows scrolled away on the other pages
  std::optional<std::string> prompt;  // the filter being typed
  std::string prompt_problem;         // why it is invalid
};

// A plain value from which the pictures are made; time is an argument. Not thread-safe.
struct TopModel {
  static constexpr std::size_t kHistoryMax = 1000;     // answers
  static constexpr std::size_t kRememberedMax = 1000;  // keys

  explicit TopModel(std::string admin_address, Nanos poll_interval)
      : admin(std::move(admin_address)), interval(poll_interval) {}

  void answered(HotkeysView answer);
  void failed(std::string why, TimePoint now);
  // Until show_now(), `view` is of that moment; answers are remembered meanwhile.
  void show_past(PastMoment moment);
  void show_now();
  // There is no column of that moment.
  void show_gap(WallTime at);

  // The keys of the last answer, filtered and sorted; valid until the next answer.
  TopRows rows() const;
  // The cursor's index in `rows`; 0 if there are none.
  std::size_t cursor_in(const TopRows& rows) const;
  // The rates of a row in the last answers, oldest first; for a template the sums of its keys.
  std::vector<double> history_of(const TopRow& row) const;

  // The address for display: "http://127.0.0.1:6390", "redis://db7:6379".
  std::string asked() const {
    if (captured || admin.starts_with("unix:")) return admin;
    return (observed ? "redis://" : "http://") + admin;
  }

  std::string admin;      // "127.0.0.1:6390"; for an observed server its own address
  bool observed = false;  // observes a server instead of asking a proxy
  bool captured = false;  // only captures: `admin` describes what is captured
  Nanos interval;
  TopChoices choices;

  std::optional<HotkeysView> view;      // the last answer, or of `past`; nothing before the first
  std::optional<PastMoment> past;       // what is shown instead of the last answer
  std::optional<HotkeysView> latest;    // with `past`: the last answer
  WallTime clock{};                     // the time of day now
  std::string past_problem;             // why the wanted moment cannot be shown; or ""
  std::optional<OpenKey> open_key;      // for Page::kKey
  std::string problem;                  // why the last poll failed; or ""
  std::optional<TimePoint> down_since;  // first failure of the current series
  std::vector<double> requests, hits;   // rates of the last answers, oldest first
  KeyHistories histories;

  // For the summary at the end.
  struct HotKey {
    double rate_max = 0;
    bool write_hot = false;
  };
  // keys that were hot or write-hot, at most kRememberedMax
  std::map<std::string, HotKey> hot_keys;
  // Sums of the answers' rates.
  double requests_sum = 0, commands_sum = 0, server_commands_sum = 0;
  std::size_t answers = 0;  // answers with data

 private:
  void remember(const HotkeysView& answer);
};

}  // namespace heatsink::app
