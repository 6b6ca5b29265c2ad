// SPDX-License-Identifier: Apache-2.0
// Holds what the keeper has to say about verdicts until the workers deliver it to subscribers of
// the channel __heatsink__:hot.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::copies {

// The proxy answers this channel itself (docs/guides/verdicts.md).
inline constexpr std::string_view kHotChannel = "__heatsink__:hot";

// Messages of one moment. Immutable, so that all workers and subscribers share one.
struct VerdictNews {
  bool is_list = false;            // of all hot keys: replaces all that a subscriber knows
  std::vector<std::string> wires;  // whole messages in RESP2; RESP3 differs in the first byte
};

// A slot per worker. The keeper puts, and the worker takes. A worker that takes nothing for long
// loses the news, and learns that it has: it then asks for a list. Memory: kWaitingMax messages per
// worker, and one list.
class VerdictInbox {
 public:
  static constexpr std::size_t kWaitingMax = 2000;  // messages

  using News = std::shared_ptr<const VerdictNews>;

  explicit VerdictInbox(std::size_t workers);

  // True: the worker does not know yet that there is something to take, and must be told.
  [[nodiscard]] bool put(std::size_t worker, News news);

  struct Content {
    bool has_gap = false;    // before `news`, changes were lost
    bool lost_list = false;  // and a list, too
    std::vector<News> news;
  };
  Content take(std::size_t worker);

 private:
  struct Slot {
    std::mutex mutex;  // guards all
    Content content;
    std::size_t messages = 0;
    bool is_told = false;
  };

  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace heatsink::copies
