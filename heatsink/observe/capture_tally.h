// SPDX-License-Identifier: Apache-2.0
// Counts captured commands over the last ten seconds: keys, clients, and the replies.
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
#include "heatsink/observe/monitor_window.h"
#include "heatsink/observe/source.h"
#include "heatsink/stats/stats.h"

namespace heatsink::observe {

// A read without a captured reply counts with the mean size of the latest reads of its key, if its
// key was among the busiest and the size is known.
//
// Memory is fixed: about 6 MB, whatever the traffic. One thread. Replies are tracked for the keys
// that were busiest at the last summarize(), so call that about once a second.
class CaptureTally {
 public:
  static constexpr Nanos kWindow = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 100;
  static constexpr std::size_t kServersMax = 64;        // further servers are counted as one
  static constexpr std::size_t kAddressesMax = 10'000;  // of clients; later clients have no name

  explicit CaptureTally(std::uint64_t seed);

  void take(const capture::CapturedCommand& command, TimePoint now);

  // The window up to `now`. O(tracked keys), about a millisecond.
  detect::Summary summarize(TimePoint now);
  // For a key of the last summarize(); nothing if no reply is known yet.
  std::optional<KeyAnswers> answers(KeyHash key, TimePoint now);

  // The number of server addresses that ever had a key command; and the busiest of them.
  std::size_t servers() const { return servers_.size(); }
  std::string busiest_server() const;

 private:
  struct Answers {
    stats::Window latency;  // in nanoseconds
    stats::Window absent;   // 1 for each read that found nothing, 0 for each other read
    std::optional<double> read_bytes = {};  // the mean over the latest reads
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
