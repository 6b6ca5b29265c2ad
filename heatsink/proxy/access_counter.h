// SPDX-License-Identifier: Apache-2.0
// What a worker knows of who reads what: its recorders, and names for what they count.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/policy/options.h"
#include "heatsink/proxy/client_names.h"
#include "heatsink/proxy/command_numbers.h"
#include "heatsink/proxy/reply_sizes.h"

namespace heatsink::proxy {

// Belongs to one worker's thread.
class AccessCounter final : private detect::TallyNames {
 public:
  // `clients` must outlive it.
  AccessCounter(const policy::ProxyOptions& options, const detect::RuleSet& rules,
                const ClientNames& clients, std::uint64_t seed);

  // A key may just have become hot: see take_urgent().
  void record(const detect::Access& access, TimePoint now) noexcept {
    urgent_ |= recorders_.record(access, now);
  }

  // At the end of a turn: true if a summary is to be handed on at once. That is asked for at most
  // once in kUrgentPause, whatever is going on: a summary costs as much as thousands of accesses.
  static constexpr Nanos kUrgentPause = Millis(5);
  bool take_urgent(TimePoint now) noexcept;
  // Something is urgent, and has to wait for its pause: call take_urgent() again after it.
  bool waits() const { return urgent_; }

  std::vector<detect::Summary> summarize(TimePoint now);

  CommandNumbers& commands() { return commands_; }
  std::size_t memory_bytes() const { return recorders_.memory_bytes(); }
  // Null: nothing is judged by bytes. It is in no cache when it is asked, twice for each read: on
  // random keys 4.6 % of the proxy's CPU time (perf, 16 GETs at once), which only those pay who
  // want it.
  ReplySizes* reply_sizes() const { return reply_sizes_.get(); }

 private:
  std::string command(std::uint16_t number) const override { return commands_.name(number); }
  std::string client(std::uint32_t number) const override { return clients_.name(number); }

  const ClientNames& clients_;
  CommandNumbers commands_;
  std::unique_ptr<ReplySizes> reply_sizes_;
  detect::RecorderSet recorders_;
  std::vector<std::uint64_t> floors_;
  TimePoint last_urgent_at_{};
  bool urgent_ = false;
};

}  // namespace heatsink::proxy
