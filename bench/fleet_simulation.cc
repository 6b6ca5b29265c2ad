// SPDX-License-Identifier: Apache-2.0
#include "bench/fleet_simulation.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "bench/fleet_judge.h"
#include "bench/fleet_windows.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/fleet/testing/memory_server.h"

namespace heatsink::bench {
namespace {

// As of fleet::Link: a timer is never set for an earlier moment.
constexpr Nanos kTimerMin = Millis(1);

// Goes from event to event: a member that is due, or a reply that has come.
class Simulation {
 public:
  explicit Simulation(const FleetLoad& load)
      : load_(load), keys_(load), discovery_(load.shards, judging_.rules) {
    server_.now = now_;
    for (std::uint64_t i = 0; i < load.instances; ++i) {
      instances_.emplace_back(*this, i);
      arm(instances_.back());
    }
  }

  FleetFound run() {
    // Until the lists are those of all instances, and come at the pace of that number.
    const auto is_complete = [this] { return first().instances() == load_.instances; };
    run_until(now_ + std::chrono::seconds(60), is_complete);
    const Nanos step = fleet::step_of(first().instances(), Millis(250));
    run_until(now_ + 2 * step, [] { return false; });
    begin();
    // A turn later than the slowest reader.
    run_until(now_ + std::chrono::seconds(30) + 4 * step,
              [this] { return discovery_.found().size() == load_.instances; });
    return result(step);
  }

 private:
  // One member with its counts, and its way to the server.
  struct Instance final : private fleet::Port {
    Instance(Simulation& owner, std::uint64_t i)
        : simulation(owner),
          number(i),
          counts(owner.load_, i, owner.keys_),
          judge(owner.judging_),
          member(options(), *this) {}

    fleet::MemberOptions options() {
      fleet::MemberOptions options;
      options.id = "instance-" + std::to_string(number);
      options.shards = simulation.load_.shards;
      options.seed = kFleetSeed;
      options.random_seed = number;
      options.reader = [this](const std::string& bytes, TimePoint now) {
        return simulation.discovery_.read(judge, bytes, now);
      };
      return options;
    }

    // A reply may change when the member is due.
    void ask(std::vector<std::string> words, Done done) override {
      simulation.server_.ask(std::move(words), [this, done = std::move(done)](
                                                   Result<resp::Value> reply, TimePoint at) {
        done(std::move(reply), at);
        simulation.arm(*this);
      });
    }

    Simulation& simulation;
    const std::uint64_t number;
    SimulatedCounts counts;
    Judge judge;
    fleet::Member member;
    TimePoint armed_for = TimePoint::max();
  };

  struct Timer {
    TimePoint due;
    std::uint64_t number;  // of the instance
    bool operator>(const Timer& other) const {
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  const fleet::Member& first() const { return instances_.front().member; }

  void arm(Instance& instance) {
    const TimePoint due = std::max(instance.member.due(), now_ + kTimerMin);
    if (due >= instance.armed_for) return;
    instance.armed_for = due;
    timers_.push({due, instance.number});
  }

  void begin() {
    discovery_.begin(now_);
    commands_ = server_.commands;
    in_ = server_.bytes_in;
    out_ = server_.bytes_out;
    reports_ = reports();
  }

  template <class Predicate>
  void run_until(TimePoint end, Predicate is_done) {
    while (now_ < end && !is_done()) {
      const TimePoint timer = timers_.empty() ? TimePoint::max() : timers_.top().due;
      now_ = std::max(now_, std::min({timer, server_.due(), end}));
      server_.deliver(now_);
      if (timer > now_) continue;
      Instance& instance = instances_[timers_.top().number];
      timers_.pop();
      if (instance.armed_for == timer) turn(instance);  // else it was due earlier, meanwhile
    }
  }

  void turn(Instance& instance) {
    instance.armed_for = TimePoint::max();
    instance.member.turn(now_, instance.member.needs_counts(now_)
                                   ? instance.counts.windows(now_, discovery_.hot_for(now_))
                                   : std::span<const detect::Summary>());
    arm(instance);
  }

  std::uint64_t reports() const {
    std::uint64_t sum = 0;
    for (const Instance& instance : instances_) sum += instance.member.counts().reports;
    return sum;
  }

  FleetFound result(Nanos step) const {
    FleetFound out;
    const std::vector<double>& found = discovery_.found();
    out.by_all = found.size() == load_.instances;
    if (!found.empty()) {
      out.first_s = found.front();
      out.median_s = found[found.size() / 2];
      out.most_s = found[found.size() * 99 / 100];
      out.last_s = found.back();
    }
    const double took = discovery_.hot_for(now_);
    out.reports_per_s = static_cast<double>(reports() - reports_) / took;
    out.commands_per_s = static_cast<double>(server_.commands - commands_) / took;
    out.in_mb_per_s = static_cast<double>(server_.bytes_in - in_) / took / 1e6;
    out.out_mb_per_s = static_cast<double>(server_.bytes_out - out_) / took / 1e6;
    out.step_s = seconds(step);
    return out;
  }

  const FleetLoad load_;
  const detect::SelectorOptions judging_ = Judge::options();
  SimulatedKeys keys_;
  Discovery discovery_;
  TimePoint now_{std::chrono::seconds(1000)};
  fleet::MemoryServer server_;
  std::deque<Instance> instances_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t commands_ = 0, in_ = 0, out_ = 0, reports_ = 0;
};

}  // namespace

FleetFound simulate_fleet(const FleetLoad& load) { return Simulation(load).run(); }

}  // namespace heatsink::bench
