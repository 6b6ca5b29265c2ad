// SPDX-License-Identifier: Apache-2.0
// Counts captured commands over the last ten seconds: which keys, by whom, and how they were
// answered.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "heatsink/capture/capture.h"
#include "heatsink/detect/detect.h"
#include "heatsink/observe/key_answers.h"
#include "heatsink/observe/monitor_window.h"
#include "heatsink/stats/stats.h"

namespace heatsink::observe {

// A read whose reply was not captured is taken to have weighed what the latest reads of its key
// did, where that is known: of a key that was among the busiest.
// Fixed memory: about 6 MB, whatever the traffic. One thread. Answers are kept of the keys that
// were busiest at the last summarize(), so that is to be called about every second.
class CaptureTally {
 public:
  static constexpr Nanos kWindow = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 100;
  static constexpr std::size_t kServersMax = 64;        // more are not told apart
  static constexpr std::size_t kAddressesMax = 10'000;  // of clients

  explicit CaptureTally(std::uint64_t seed);

  void take(const capture::CapturedCommand& command, TimePoint now);

  // The window as it stands. O(tracked keys), about a millisecond.
  detect::Summary summarize(TimePoint now);
  // Of a key of the last summarize(); nothing: no reply is known yet.
  std::optional<KeyAnswers> answers(KeyHash key, TimePoint now);

  // Addresses of servers that were asked for keys, ever; and of those the busiest.
  std::size_t servers() const { return servers_.size(); }
  std::string busiest_server() const;

 private:
  struct Answers {
    stats::Window latency;  // in nanoseconds
    stats::Window absent;   // a 1 for each read that found nothing, a 0 for each other
    std::optional<double> read_bytes = {};  // of the latest reads, the mean
  };
  using Address = std::array<unsigned char, 16>;

  std::uint32_t client_number(const capture::Endpoint& client);
  static void take_answer(const capture::CapturedCommand& command, bool writes, Answers& answers,
                          TimePoint now);
  void count_server(const capture::Endpoint& server);
  void follow(const detect::Summary& summary);

  std::uint64_t seed_;
  MonitorNames names_;
  detect::Recorder recorder_;
  boost::unordered_flat_map<std::uint64_t, Answers> followed_;
  boost::unordered_flat_map<Address, std::uint32_t> clients_;
  std::map<capture::Endpoint, std::uint64_t> servers_;  // accesses
};

}  // namespace heatsink::observe
