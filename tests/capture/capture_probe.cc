// SPDX-License-Identifier: Apache-2.0
// capture_probe INTERFACE PORT LAST_KEY all|sampled: counts what passes on the interface until a
// command names LAST_KEY, then prints a row per key and the counters; `sampled`: as `heatsink top`
// watches the replies of a server on this machine, but with fewer it already tells `sampled`.
//
// key <db> <name> <reads> <writes> <misses> <answered> <bytes of values read>
#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/capture/capture.h"

namespace {

using namespace heatsink;

constexpr int kPollMs = 100;
constexpr double kRepliesMax = 500;  // a second: any machine is faster

struct Counts {
  std::uint64_t reads = 0, writes = 0, misses = 0, answered = 0, bytes = 0;
};

class Probe {
 public:
  explicit Probe(std::string last_key) : last_key_(std::move(last_key)) {}

  void take(const capture::CapturedCommand& command) {
    for (const capture::CapturedKey& key : command.keys) {
      Counts& counts = keys_[{command.db, std::string(key.name)}];
      ++(key.write ? counts.writes : counts.reads);
      counts.misses += command.missed() ? 1U : 0U;
      counts.answered += command.reply ? 1U : 0U;
      counts.bytes += key.write ? 0 : command.value_bytes();
      ended_ = ended_ || key.name == last_key_;
    }
  }
  bool ended() const { return ended_; }

  void print(const capture::CaptureCounters& counters) const {
    for (const auto& [key, counts] : keys_) {
      fmt::print("key {} {} {} {} {} {} {}\n", key.first, key.second, counts.reads, counts.writes,
                 counts.misses, counts.answered, counts.bytes);
    }
    fmt::print(
        "counters commands={} connections={} joined={} gaps={} dropped={} unwatched={} parts={}\n",
        counters.commands, counters.connections, counters.connections_joined, counters.gaps,
        counters.dropped_by_kernel, counters.commands_unwatched, counters.reply_parts_now);
    for (const std::string& caveat : counters.caveats()) fmt::print("caveat {}\n", caveat);
  }

 private:
  std::string last_key_;
  std::map<std::pair<std::uint32_t, std::string>, Counts> keys_;
  bool ended_ = false;
};

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int run(const capture::FeedOptions& options, const std::string& last_key) {
  Probe probe(last_key);
  auto feed = capture::CaptureFeed::open(
      options, [&probe](const capture::CapturedCommand& command) { probe.take(command); });
  if (!feed) {
    fmt::print("error {}\n", feed.error().message);
    return 1;
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  for (bool is_sampled = false; !probe.ended();) {
    pollfd waited{(*feed)->fd(), POLLIN, 0};
    poll(&waited, 1, kPollMs);
    const Result<bool> more = (*feed)->drain(now_ns());
    if (!more) return 1;
    if (!is_sampled && (*feed)->counters().reply_parts_now < capture::ReplyWatch::kParts) {
      is_sampled = true;
      fmt::print("sampled\n");
      std::fflush(stdout);
    }
  }
  probe.print((*feed)->counters());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  capture::FeedOptions options;
  options.interface = argv[1];
  options.ports = {static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10))};
  const bool is_sampled = std::string_view(argv[4]) == "sampled";
  options.replies_max = is_sampled ? kRepliesMax : std::numeric_limits<double>::infinity();
  options.servers_are_here = is_sampled;
  return run(options, argv[3]);
}
