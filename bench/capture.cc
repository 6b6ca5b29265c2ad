// SPDX-License-Identifier: Apache-2.0
// capture: commands per second and core from a capture file, unpipelined and pipelined, with the
// keys recorded by the detector as `heatsink top` does. Target: 1 M/s.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/figures.h"
#include "heatsink/capture/capture.h"
#include "heatsink/capture/testing/traffic.h"
#include "heatsink/detect/detect.h"

namespace heatsink::bench {
namespace {

using capture::testing::bulk;
using capture::testing::request;
using capture::testing::TcpDialogue;

constexpr int kConnections = 50;
constexpr int kRounds = 3;
constexpr std::uint64_t kCommands = 1'000'000;
constexpr double kTarget = 1e6;  // commands per second
constexpr std::uint64_t kSeed = 42;

// 9 GETs and 1 SET of 64 bytes by turns, over 100 000 keys with names of 16 bytes.
struct Mix {
  std::uint64_t state = kSeed;
  int turn = 0;

  void append(std::string& asked, std::string& answered) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::string key = fmt::format("user:{:011}", (state >> 33) % 100'000);
    if (++turn % 10 == 0) {
      asked += request({"SET", key, std::string(64, 'v')});
      answered += "+OK\r\n";
    } else {
      asked += request({"GET", key});
      answered += bulk(std::string(64, 'v'));
    }
  }
};

// A temporary file that goes with its owner.
class Traffic {
 public:
  explicit Traffic(int pipeline) {
    path_ = "/tmp/heatsink-bench-capture-XXXXXX";
    file_ = fdopen(mkstemp(path_.data()), "w+b");
    if (file_ == nullptr) std::abort();
    write(pipeline);
  }
  ~Traffic() {
    std::fclose(file_);
    unlink(path_.c_str());
  }
  Traffic(const Traffic&) = delete;

  std::FILE* file() const { return file_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void write(int pipeline) {
    std::vector<TcpDialogue> talks;
    for (int i = 0; i < kConnections; ++i) {
      talks.emplace_back(capture::testing::ipv4(7, static_cast<std::uint16_t>(40'000 + i)),
                         capture::testing::ipv4(1, 6379));
      talks.back().open();
    }
    put(capture::testing::pcap_header(capture::LinkType::kEthernet));
    Mix mix;
    for (std::uint64_t made = 0; made < kCommands;) {
      for (TcpDialogue& talk : talks) {
        std::string asked;
        std::string answered;
        for (int i = 0; i < pipeline; ++i, ++made) mix.append(asked, answered);
        talk.now_ns = now_ns_ += 2 * TcpDialogue::kStep;
        talk.request(std::move(asked)).reply(std::move(answered));
        std::string packets;
        for (const capture::testing::Frame& frame : talk.frames())
          capture::testing::append_pcap(packets, frame.at_ns, frame.bytes());
        talk.frames().clear();
        put(packets);
      }
    }
    std::fflush(file_);
  }

  void put(std::string_view bytes) { bytes_ += std::fwrite(bytes.data(), 1, bytes.size(), file_); }

  std::string path_;
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::int64_t now_ns_ = 1'700'000'000'000'000'000;
};

struct Cost {
  double seconds = 0;
  capture::CaptureCounters counters;
};

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

Cost decode(const Traffic& traffic, detect::Recorder* recorder) {
  std::rewind(traffic.file());
  const double before = cpu_s();
  auto file = capture::PacketFile::open([&](std::span<char> out) -> Result<std::size_t> {
    return std::fread(out.data(), 1, std::min<std::size_t>(out.size(), 1 << 18), traffic.file());
  });
  if (!file) std::abort();
  capture::DecoderOptions options;
  options.ports = {6379};
  capture::Decoder decoder(options, [&](const capture::CapturedCommand& command) {
    if (recorder == nullptr) return;
    for (const capture::CapturedKey& key : command.keys)
      recorder->record(command.access(key, kSeed), TimePoint(Nanos(command.at_ns)));
  });
  capture::Packet packet;
  for (;;) {
    const Result<bool> there = (*file)->next(packet);
    if (!there) std::abort();
    if (!*there) break;
    decoder.packet(packet);
  }
  decoder.finish();
  return {cpu_s() - before, decoder.counters()};
}

void measure(Figures& figures, int pipeline, bool recorded) {
  const Traffic traffic(pipeline);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    detect::RecorderOptions options;
    detect::Recorder recorder(options);
    const Cost cost = decode(traffic, recorded ? &recorder : nullptr);
    if (cost.counters.commands_answered < kCommands) std::abort();
    best = std::max(best, static_cast<double>(cost.counters.commands) / cost.seconds);
  }
  figures.row({fmt::format("{} a segment{}", pipeline, recorded ? ", recorded" : ""),
               fmt::format("{:.2f}", best / 1e6), fmt::format("{:.0f}", 1e9 / best),
               fmt::format("{}", traffic.bytes() >> 20), figures.judged(best >= kTarget)});
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  using namespace heatsink::bench;
  Figures figures(argc > 1 && std::string_view(argv[1]) == "--json");
  figures.table("Commands from a capture file, one core",
                {"commands", "M/s", "ns each", "MiB", "target"});
  for (const bool recorded : {false, true}) {
    for (const int pipeline : {1, 16}) measure(figures, pipeline, recorded);
  }
  return figures.finish();
}
