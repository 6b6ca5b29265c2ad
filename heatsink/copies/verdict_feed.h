// SPDX-License-Identifier: Apache-2.0
// Tells workers with subscribers of the channel __heatsink__:hot which keys became hot or cold.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/copies/verdict_inbox.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/verdict_json.h"

namespace heatsink::copies {

// The keeper's thread, except inbox(). Without a subscriber it makes nothing. With some it writes
// each message once, whatever the number of subscribers: O(changes), and O(hot keys) at most once
// per judgement for a list.
class VerdictFeed {
 public:
  static constexpr std::size_t kListMax = 1000;  // keys in a list: the hottest ones

  // `tell`: the inbox has something for this worker.
  VerdictFeed(const NodeState& shared, std::size_t workers,
              std::function<void(std::size_t worker)> tell);

  VerdictInbox& inbox() { return inbox_; }  // any thread: for VerdictInbox::take()

  // The worker has subscribers from now on, and one of them needs a list. `present`: hot and
  // write-hot keys, the hottest first; called only if the last list is not of now.
  void give_list(std::size_t worker, const std::function<std::vector<detect::Verdict>()>& present,
                 report::BothClocks now);
  void end(std::size_t worker) { hears_[worker] = false; }  // it has none any more

  // Changes with true names. Those between cold and warm are of no interest to clients.
  void note(std::span<const detect::Change> changes, report::BothClocks now);
  // All keys were judged once more: a list of before has old rates.
  void judged() { list_.reset(); }

 private:
  report::VerdictForClients for_clients(const detect::Verdict& verdict) const;
  void put(std::size_t worker, const VerdictInbox::News& news);

  const NodeState& shared_;
  const std::function<void(std::size_t worker)> tell_;
  VerdictInbox inbox_;
  std::vector<bool> hears_;  // by worker
  VerdictInbox::News list_;  // null: the next one is made anew
};

}  // namespace heatsink::copies
