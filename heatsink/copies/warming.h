// SPDX-License-Identifier: Apache-2.0
// Keeps keys hot by order and by schedule, and says what became of each order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/pattern_searches.h"
#include "heatsink/copies/warm_plans.h"
#include "heatsink/copies/warmer.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// A key with copies, and for how long a person wants it warm (0: no order asks for it).
struct LastingKey {
  report::WarmKey key;
  Nanos lasts{0};
};

// Orders by hand, the configured windows and the searches for keys of patterns all end in the
// Warmer, which keeps keys in the hot table and loads them. Orders and outcomes of fills flow in;
// fills to request, changes for the event log and answers to orders flow out.
//
// The keeper's thread. No clock; the searches have connections of their own.
class Warming {
 public:
  // An order is answered when the server has answered for all its keys, and after this at the
  // latest.
  static constexpr Nanos kAnswerWithin = Millis(1500);

  class Owner {
   public:
    // Asks the server for the copy. It may call filled() at once.
    virtual void load(FillRequest request) = 0;
    virtual void send_loads() = 0;  // what load() has asked for goes to the server now
    // Orders have made these keys hot, or cold again. Also those whose warming has begun and ended.
    // With true names.
    virtual void note_warmed(std::vector<detect::Change> changes, TimePoint now) = 0;
    virtual bool is_hot_by_rate(KeyHash key) const = 0;
    // "up", or a sentence why no copies are served.
    virtual std::string coherence() const = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it.
  Warming(NodeState& shared, net::EventLoop& loop, Owner& owner);
  ~Warming();
  Warming(const Warming&) = delete;

  // Carries out an order. `done` gets the result, now or in a later call of this object.
  using Done = std::function<void(report::WarmReport)>;
  void order(report::WarmOrder order, TimePoint now, Done done);
  // Keys that another process had copies of: loads them, and keeps them hot for that time; for
  // `at_least` if no order does.
  void inherit(std::span<const LastingKey> keys, Nanos at_least, TimePoint now);
  // Ten times per second: begins and ends windows, loads keys, releases those whose time is over.
  void tick(TimePoint now);
  // At the end of each turn, so that a page's arrival requests the next page at once.
  void end_turn(TimePoint now);
  // A fill of any key has ended. `why` as in Warmer::filled().
  void filled(const FillRequest& asked, FillOutcome outcome, TimePoint now, const std::string& why);

  // NodeState has other options: ends the warming of keys that may have no copies any more, and
  // begins the windows that are open now. record_changes() must follow.
  void follow_options(const policy::ProxyOptions& before, TimePoint now);
  // Tells the owner what has begun and ended, and takes the entries of keys that are not hot.
  void record_changes(TimePoint now);

  const Warmer& warmer() const { return warmer_; }
  bool has_work() const;

  // The warmed keys by name, and the searches. Or one search, with its keys once it is over.
  report::WarmReport report(std::uint64_t search, TimePoint now) const;
  // At most `count_max` warmed keys, and how long their orders last.
  std::vector<LastingKey> lasting_keys(std::size_t count_max, TimePoint now) const;
  // The verdict of a warmed key that an order has made hot. Its rate stays the measured one.
  detect::Verdict as_warmed(detect::Verdict verdict, TimePoint now) const;
  // The same for a warmed key without a verdict.
  detect::Verdict verdict_of(KeyHash key, TimePoint now) const;

 private:
  struct Waiter;

  void end_searches(Waiter& waiter);
  void begin_search(Waiter& waiter, TimePoint now);
  void add_search(std::uint64_t id, bool with_keys, report::WarmReport& report) const;
  void record_refusal(const Warmer::WarmingChange& warming);
  void answer_waiters(TimePoint now);
  report::WarmedKey outcome_of(const Waiter& waiter, std::size_t i) const;
  report::WarmedKey report_on(KeyHash key) const;

  NodeState& shared_;
  net::EventLoop& loop_;
  Owner& owner_;
  Warmer warmer_;
  PatternSearches searches_;
  net::TimerId search_timer_ = 0;
  WarmPlans plans_;
  TimePoint plans_looked_at_{};
  std::vector<std::unique_ptr<Waiter>> waiters_;
};

}  // namespace heatsink::copies
