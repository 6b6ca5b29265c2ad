// SPDX-License-Identifier: Apache-2.0
// What top knows at a moment: the last answer, a short history, and what the person chose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/top/history.h"
#include "apps/heatsink/top/rows.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"

namespace heatsink::app {

enum class Page : std::uint8_t { kKeys, kKey, kNodes, kSlots, kSources, kHelp };

// The key whose page is open, as it was last listed.
struct OpenKey {
  KeyView key;
  bool listed = true;  // by the last answer
};

// What the person at the keys chose; top_input.h changes it.
struct TopChoices {
  Page page = Page::kKeys;
  Page before_help = Page::kKeys;  // where help was asked for
  bool paused = false;
  RowChoices rows;
  // The row the cursor is on: the key, wherever it goes, or the row, if it is not given (the first
  // until the cursor is moved).
  std::optional<KeyId> selected;
  std::size_t cursor = 0;
  std::size_t scroll = 0;             // rows above what the other pages show
  std::optional<std::string> prompt;  // the filter that is being typed
  std::string prompt_problem;         // why it is none
};

// A plain value that the pictures are made from; time is an argument. Not thread-safe.
struct TopModel {
  static constexpr std::size_t kHistoryMax = 1000;     // answers
  static constexpr std::size_t kRememberedMax = 1000;  // keys

  explicit TopModel(std::string admin_address, Nanos poll_interval)
      : admin(std::move(admin_address)), interval(poll_interval) {}

  void answered(HotkeysView answer);
  void failed(std::string why, TimePoint now);

  // The last answer's keys as chosen; valid until the next answer.
  TopRows rows() const;
  // The place of the cursor in them; 0 where there are none.
  std::size_t cursor_in(const TopRows& rows) const;
  // The rates of a row in the last answers, oldest first: of a template the sums of its keys'.
  std::vector<double> history_of(const TopRow& row) const;

  // Whom we ask, for people: "http://127.0.0.1:6390", "redis://db7:6379".
  std::string asked() const {
    if (captured || admin.starts_with("unix:")) return admin;
    return (observed ? "redis://" : "http://") + admin;
  }

  std::string admin;      // "127.0.0.1:6390"; of an observed server its own address
  bool observed = false;  // a server is asked itself, not a proxy
  bool captured = false;  // nobody is asked: `admin` says what is listened to
  Nanos interval;
  TopChoices choices;

  std::optional<HotkeysView> view;      // the last answer; nothing yet
  std::optional<OpenKey> open_key;      // of Page::kKey
  std::string problem;                  // why the last poll failed; "" if it did not
  std::optional<TimePoint> down_since;  // of the first failure in a row
  std::vector<double> requests, hits;   // rates of the last answers, oldest first
  KeyHistories histories;

  // For the summary at the end.
  struct HotKey {
    double rate_max = 0;
    bool write_hot = false;
  };
  std::map<std::string, HotKey> hot_keys;  // seen hot or write-hot, at most kRememberedMax
  double requests_sum = 0, hits_sum = 0;   // of the answers' rates
  std::size_t answers = 0;                 // that said something

 private:
  void remember(const HotkeysView& answer);
};

}  // namespace heatsink::app
