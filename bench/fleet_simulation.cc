// SPDX-License-Identifier: Apache-2.0
#include "bench/fleet_simulation.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/fleet_windows.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/fleet/testing/memory_server.h"

namespace heatsink::bench {
namespace {

constexpr Nanos kTurn = Millis(10);

double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

// The selector of an instance, which has not counted the key hot by itself. In large fleets all
// instances share one, which judges each list once: that needs less memory, and is a little early,
// because an instance alone reads fewer lists.
class Judge {
 public:
  Judge() : selector_(options()) {}

  Result<fleet::List> read(const std::string& bytes, std::uint64_t shards, TimePoint now) {
    if (bytes == bytes_) return list_;
    Result<fleet::Message> message =
        fleet::decode(bytes, fleet::list_bounds(shards), kFleetSeed, now);
    if (!message.ok()) return message.error();
    if (list_ && message->sequence <= list_->sequence) {  // of a slower shard
      return fleet::List(std::make_shared<const fleet::Message>(std::move(*message)));
    }
    bytes_ = bytes;
    list_ = std::make_shared<const fleet::Message>(std::move(*message));
    judge(now);
    return list_;
  }

  // From this list on, the key is hot; 0: in none yet.
  std::uint64_t hot_from() const { return hot_from_; }
  const fleet::List& list() const { return list_; }

 private:
  static detect::SelectorOptions options() {
    detect::Rule rule;
    rule.measure.window = kFleetWindow;
    detect::set_thresholds(rule, {}, {});
    detect::SelectorOptions selector;
    selector.rules = detect::RuleSet(rule);
    return selector;
  }

  void judge(TimePoint now) {
    detect::Summary here;
    here.at = now;
    here.window = here.covered = kFleetWindow;
    here.settled = true;
    const auto windows = fleet::windows_of(*list_, selector_options_.rules.measures());
    for (const detect::Change& change : selector_.update({&here, 1}, windows)) {
      if (change.kind == detect::Change::Kind::kPromote && change.verdict.count.key == "sale:1" &&
          hot_from_ == 0)
        hot_from_ = list_->sequence;
    }
  }

  const detect::SelectorOptions selector_options_ = options();
  detect::Selector selector_;
  std::string bytes_;
  fleet::List list_;
  std::uint64_t hot_from_ = 0;
};

class Simulation {
 public:
  explicit Simulation(const FleetLoad& load)
      : load_(load), judges_(load.instances <= kJudgesMax ? load.instances : 1) {
    members_.reserve(load.instances);
    for (std::uint64_t i = 0; i < load.instances; ++i) {
      counts_.emplace_back(load, i);
      fleet::MemberOptions options;
      options.id = "instance-" + std::to_string(i);
      options.shards = load.shards;
      options.seed = kFleetSeed;
      options.random_seed = i;
      options.reader = [this, i](const std::string& bytes, TimePoint now) {
        return judge_of(i).read(bytes, load_.shards, now);
      };
      members_.push_back(std::make_unique<fleet::Member>(options, server_));
    }
    server_.now = now_;
  }

  FleetFound run() {
    // Until the lists are those of all instances, and come at the pace of that number.
    const auto is_complete = [this] { return list() && list()->instances == load_.instances; };
    for (const TimePoint end = now_ + std::chrono::seconds(60); now_ < end && !is_complete();)
      turn(-1);
    const Nanos step = list() ? list()->step : Nanos(0);
    for (const TimePoint end = now_ + 2 * step; now_ < end;) turn(-1);
    begin();
    // A turn later than the slowest reader.
    for (const TimePoint end = now_ + std::chrono::seconds(30) + 4 * step;
         now_ < end && found_.size() < load_.instances;) {
      turn(seconds(now_ - began_at_));
      look();
    }
    return result();
  }

 private:
  static constexpr std::uint64_t kJudgesMax = 1000;

  Judge& judge_of(std::size_t instance) { return judges_[judges_.size() == 1 ? 0 : instance]; }
  const fleet::List& list() const { return judges_.front().list(); }

  void begin() {
    began_at_ = now_;
    commands_ = server_.commands;
    in_ = server_.bytes_in;
    out_ = server_.bytes_out;
    reports_ = reports();
    is_found_.assign(load_.instances, false);
  }

  void turn(double hot_for) {
    now_ += kTurn;
    server_.deliver(now_);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i]->due() > now_) continue;
      members_[i]->turn(now_, counts_[i].windows(now_, hot_for));
    }
  }

  void look() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (is_found_[i] || judge_of(i).hot_from() == 0) continue;
      const fleet::List list = members_[i]->list(now_);
      if (!list || list->sequence < judge_of(i).hot_from()) continue;
      is_found_[i] = true;
      found_.push_back(seconds(now_ - began_at_));
    }
  }

  std::uint64_t reports() const {
    std::uint64_t sum = 0;
    for (const auto& member : members_) sum += member->counts().reports;
    return sum;
  }

  FleetFound result() const {
    FleetFound out;
    out.by_all = found_.size() == load_.instances;
    if (!found_.empty()) {
      out.first_s = found_.front();
      out.median_s = found_[found_.size() / 2];
      out.last_s = found_.back();
    }
    const double took = seconds(now_ - began_at_);
    out.reports_per_s = static_cast<double>(reports() - reports_) / took;
    out.commands_per_s = static_cast<double>(server_.commands - commands_) / took;
    out.in_mb_per_s = static_cast<double>(server_.bytes_in - in_) / took / 1e6;
    out.out_mb_per_s = static_cast<double>(server_.bytes_out - out_) / took / 1e6;
    out.step_s = list() ? seconds(list()->step) : 0;
    return out;
  }

  const FleetLoad load_;
  TimePoint now_{std::chrono::seconds(1000)};
  fleet::MemoryServer server_;
  std::deque<Judge> judges_;
  std::deque<SimulatedCounts> counts_;
  std::vector<std::unique_ptr<fleet::Member>> members_;
  TimePoint began_at_{};
  std::uint64_t commands_ = 0, in_ = 0, out_ = 0, reports_ = 0;
  std::vector<bool> is_found_;
  std::vector<double> found_;
};

}  // namespace

FleetFound simulate_fleet(const FleetLoad& load) { return Simulation(load).run(); }

}  // namespace heatsink::bench
