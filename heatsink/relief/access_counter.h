// SPDX-License-Identifier: Apache-2.0
// Counts the key accesses of one worker, and names the commands and clients in the counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/command/known_commands.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/detect/detect.h"
#include "heatsink/policy/options.h"
#include "heatsink/relief/client_names.h"

namespace heatsink::proxy {

// Belongs to one worker's thread.
class AccessCounter final : private detect::TallyNames {
 public:
  // `clients` must outlive it.
  AccessCounter(const policy::ProxyOptions& options, const detect::RuleSet& rules,
                const ClientNames& clients, std::uint64_t seed);

  // Counts by these options and rules from now on. Counts survive where window and dimension stay,
  // unless detection.slots or detection.memory has changed.
  // `instances`: how many proxies add up their counts.
  void reconfigure(const policy::ProxyOptions& options, const detect::RuleSet& rules,
                   std::uint64_t instances = 1);

  // May make a key urgent: see take_urgent().
  void record(const detect::Access& access, TimePoint now) noexcept {
    urgent_ |= recorders_.record(access, now);
  }

  // Called at the end of a turn. True: hand on a summary now. True at most once in kUrgentPause,
  // because a summary costs as much as thousands of accesses.
  static constexpr Nanos kUrgentPause = Millis(5);
  bool take_urgent(TimePoint now) noexcept;
  // An urgent key waits for the pause to end: call take_urgent() again after it.
  bool waits() const { return urgent_; }

  std::vector<detect::Summary> summarize(TimePoint now);

  CommandNumbers& commands() { return commands_; }
  std::size_t memory_bytes() const { return recorders_.memory_bytes(); }
  // Null: no rule counts bytes. The table is rarely in the CPU cache when it is asked, twice for
  // each read: on random keys it took 4.6 % of the proxy's CPU time (perf, 16 GETs at once), so
  // only rules that count bytes pay for it.
  ReplySizes* reply_sizes() const { return reply_sizes_.get(); }

 private:
  std::string command(std::uint16_t number) const override { return commands_.name(number); }
  std::string client(std::uint32_t number) const override { return clients_.name(number); }

  const ClientNames& clients_;
  const std::uint64_t seed_;
  CommandNumbers commands_;
  std::unique_ptr<ReplySizes> reply_sizes_;  // once made, it stays
  std::int64_t slots_;
  Bytes memory_;
  detect::RecorderSet recorders_;
  std::vector<detect::CountLevel> floors_;
  TimePoint last_urgent_at_{};
  bool urgent_ = false;
};

}  // namespace heatsink::proxy
