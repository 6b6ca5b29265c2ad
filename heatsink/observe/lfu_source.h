// SPDX-License-Identifier: Apache-2.0
// A source that reads the server's access counters key by key: SCAN and OBJECT FREQ, paced.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/lfu_estimate.h"
#include "heatsink/observe/lfu_slots.h"
#include "heatsink/observe/rows.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct LfuSourceOptions {
  Login login;
  std::string server;  // as displayed, without a password
  std::uint32_t db = 0;
  bool all_databases = true;  // false: only `db`
  double keys_per_second = 5000;
  // Its counter is read before the scan, and it always has a row if it exists.
  std::optional<std::string> first_key{};
  std::optional<std::uint32_t> first_db{};  // of first_key; nothing: in each database
  std::uint64_t seed = 0;
  // Where a scan resumes: the last argument of `keep`; "" begins a new scan. The source calls
  // `keep` about once a second, and with "" at the end of the scan.
  std::string resume_from;
  std::function<void(const std::string&)> keep;
};

// Makes one scan through the databases, then finishes. Keeps the kKept keys with the highest
// counters and, in a cluster, the sums of all keys per slot. It writes nothing and changes no
// counter: OBJECT does not count as an access.
class LfuSource final : public Source {
 public:
  static constexpr std::size_t kKept = 200;
  static constexpr std::size_t kBatch = 100;             // keys per SCAN
  static constexpr std::size_t kFirstDatabasesMax = 16;  // that are asked for the first key

  explicit LfuSource(LfuSourceOptions options);

  std::span<ServerProtocol* const> protocols() override { return protocols_; }
  void tick(TimePoint now) override;
  Observation observe(TimePoint now) override;

 private:
  struct Candidate {
    int counter = 0;
    std::uint32_t db = 0;
    std::string key;
  };
  struct Database {
    std::uint32_t number = 0;
    double keys = 0;
  };

  void ask_settings(TimePoint now);
  void ask_setting(std::string_view name, TimePoint now,
                   std::function<void(const std::string&)> take);
  void take_keyspace(const std::string& info);
  void begin_scan(TimePoint now);
  void ask_first_key(TimePoint now);
  void take_first_counter(std::uint32_t db, const Result<resp::Value>& reply);
  double progress() const;
  KeyRow row_of(const Candidate& key) const;
  std::vector<Candidate> listed() const;
  void ask_batch(TimePoint now);
  void take_batch(const resp::Value& reply, TimePoint now);
  void take_counter(const std::string& key, const Result<resp::Value>& reply, TimePoint now);
  void finish_batch(TimePoint now);
  void next_database(TimePoint now);
  void keep_best(Candidate candidate);
  void give_up(std::string why);
  void lose(const Error& why);
  bool restore(std::string_view text);
  bool restore_slots(std::istream& in);
  std::string saved() const;
  SourceFacts facts() const;
  std::optional<double> absent_max() const;

  LfuSourceOptions options_;
  CommandPipeline pipeline_;
  std::vector<ServerProtocol*> protocols_;
  LfuSettings settings_;
  bool settings_known_ = true;
  std::string policy_;
  std::vector<Database> databases_;
  std::size_t at_ = 0;  // of databases_
  std::string cursor_ = "0";
  std::string batch_cursor_ = "0";  // of the current batch
  std::size_t in_batch_ = 0;        // counters still to be answered
  bool asked_ = false;              // for the settings
  bool busy_ = false;               // a batch is in progress
  // Slots and counters of the current batch. They are added when the batch is complete, because a
  // lost connection makes the source ask for the whole batch again.
  std::vector<std::pair<std::uint16_t, int>> batch_;
  std::optional<LfuSlots> slots_;  // nothing: the server is not a cluster node, or does not say
  bool selected_ = false;
  TimePoint next_at_{};
  TimePoint kept_at_{};
  TimePoint started_at_{};
  // when counters were read; nothing: not yet, or partly in an earlier run
  std::optional<Interval> looked_;
  double scanned_ = 0;
  std::vector<Candidate> best_;   // by counter, descending
  std::vector<Candidate> first_;  // the first key, for each database that has it
  SourceState state_ = SourceState::kStarting;
  std::string note_;
};

}  // namespace heatsink::observe
