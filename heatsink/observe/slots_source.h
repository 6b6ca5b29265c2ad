// SPDX-License-Identifier: Apache-2.0
// A source that reads the cluster's statistics per slot, and the keys of the hottest slot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/lfu_estimate.h"
#include "heatsink/observe/monitor_source.h"
#include "heatsink/observe/rows.h"
#include "heatsink/observe/source.h"
#include "heatsink/topology/topology.h"

namespace heatsink::observe {

// Compares CLUSTER SLOT-STATS once a second. When a slot takes kHotSlotShare of the node's CPU
// time, the source names its keys with short windows of MONITOR. If MONITOR is forbidden, it lists
// keys of the hottest slot (CLUSTER GETKEYSINSLOT), ordered by their access counters (OBJECT FREQ)
// if the server has them.
class SlotsSource final : public Source {
 public:
  static constexpr double kHotSlotShare = 0.05;
  static constexpr std::size_t kSlotsShown = 5;
  static constexpr std::size_t kSlotsTold = 100;  // as numbers
  static constexpr std::size_t kKeysListed = 100;

  explicit SlotsSource(MonitorSourceOptions options);

  std::span<ServerProtocol* const> protocols() override { return protocols_; }
  void tick(TimePoint now) override;
  void own_connection(const std::string& local) override { monitor_.own_connection(local); }
  Observation observe(TimePoint now) override;

 private:
  struct Asked {
    topology::SlotStats stats;
    TimePoint at{};
  };
  void ask_stats(TimePoint now);
  void take_stats(const resp::Value& reply, TimePoint now);
  struct Listed {
    std::string key;
    std::optional<int> counter;
  };
  void list_keys(TimePoint now);
  void ask_settings(TimePoint now);
  void ask_counters(const std::vector<resp::Value>& keys, TimePoint now);
  std::vector<KeyRow> listed_rows() const;
  void give_up(std::string why);
  std::string slots_text() const;
  bool is_hot_slot(std::uint16_t slot) const;

  std::string server_;
  CommandPipeline pipeline_;
  MonitorSource monitor_;
  std::vector<ServerProtocol*> protocols_;
  bool asking_ = false;
  bool drilling_ = false;  // MONITOR runs
  bool listing_ = false;   // the list of keys is awaited
  TimePoint next_list_at_{};
  std::uint16_t listed_slot_ = 0;
  std::optional<LfuSettings> settings_;  // nothing: not asked for yet
  TimePoint next_at_{};
  TimePoint started_at_{};
  std::optional<Asked> before_;
  std::vector<topology::SlotLoad> load_;
  std::vector<Listed> listing_now_, listed_;
  SourceState state_ = SourceState::kStarting;
  std::string note_;
  std::string why_no_keys_;
};

}  // namespace heatsink::observe
