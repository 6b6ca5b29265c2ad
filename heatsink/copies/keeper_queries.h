// SPDX-License-Identifier: Apache-2.0
// Answers what other threads ask the keeper: reports, orders to warm keys, and what it has learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heatsink/copies/copy_orders.h"
#include "heatsink/copies/keeper_report.h"
#include "heatsink/copies/keeper_rest.h"
#include "heatsink/copies/key_inspector.h"
#include "heatsink/copies/learned.h"
#include "heatsink/copies/warming.h"
#include "heatsink/net/net.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// The public calls are for any thread but the keeper's. They wait for the keeper; without an answer
// in time the result is empty, and says so where it has a sentence for it.
class KeeperQueries {
 public:
  // All outlive it.
  struct Parts {
    NodeState& shared;
    net::EventLoop& loop;  // the keeper's
    KeeperRest& rest;
    Warming& warming;
    const KeeperReport& report;
    const HotKeys& hot_keys;
    const CopyAdmission& admission;
    CopyOrders& orders;
  };
  explicit KeeperQueries(const Parts& parts) : of_(parts), inspector_(parts.loop, parts.shared) {}
  KeeperQueries(const KeeperQueries&) = delete;

  report::Report report();  // within 1 s
  // Waits until the server has answered for all keys, at most 3 s.
  report::WarmReport warm(report::WarmOrder order);
  // The warmed keys by name, and the searches. Or one search, with its keys once it is over.
  report::WarmReport warmed(std::uint64_t search = 0);
  // Drops the copies of the key. `key` and `who` as in CopyOrders::drop(). Within 1 s.
  report::DropReport drop_copies(report::WarmKey key, std::string who);
  // What the proxy has counted of the key, and what the server says about its value. Waits for the
  // server, at most 2 s. `name` may be the redacted name.
  report::KeyInspection inspect(std::string name, std::uint32_t db);
  // For a process that takes over from another one: keys with copies, at most `count_max`. Those of
  // orders, then by worth, the best one first. Values are never passed on: the other process reads
  // them from the server. Within 1 s.
  std::vector<LastingKey> hot_names(std::size_t count_max);
  // What the keeper has learned for the choice of what gets a copy. Within 1 s.
  Learned learned();

  void tick(TimePoint now) { inspector_.tick(now); }  // the keeper, every KeyInspector::kTick

 private:
  std::vector<LastingKey> names_of_copies(std::size_t count_max) const;
  void inspect(const std::string& name, std::uint32_t db,
               const std::function<void(report::KeyInspection)>& answer);

  const Parts of_;
  KeyInspector inspector_;
};

}  // namespace heatsink::copies
