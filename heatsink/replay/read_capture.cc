// SPDX-License-Identifier: Apache-2.0
// Reads a packet capture as a trace. Keeps only key names, never values or passwords.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heatsink/base/heartbeat_key.h"
#include "heatsink/capture/capture.h"
#include "heatsink/replay/read_trace.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {
namespace {

constexpr std::uint64_t kPacketsPerProgress = 1 << 16;

class CaptureReader {
 public:
  explicit CaptureReader(Bytes memory_max) : builder_(memory_max) {}

  // The decoder reports commands when they are answered, so their times are not in order across
  // connections. The trace takes a slightly late command at the time of the one before.
  void take(const capture::CapturedCommand& command) {
    if (command.keys.empty()) ++builder_.facts().keyless;
    last_ns_ = std::max(last_ns_, command.at_ns);
    if (is_heartbeat(command)) {
      builder_.facts().behind_proxy = true;
      return;
    }
    const bool is_get = command.command != nullptr && is_copied_read(command.command->name);
    for (const capture::CapturedKey& key : command.keys) {
      RawAccess access{key.name, command.db, last_ns_, Operation::kRead, {}};
      if (key.write) access.operation = Operation::kWrite;
      if (is_get) access.operation = Operation::kGet;
      if (is_get && command.reply && !command.reply->null && !command.reply->error)
        access.value_bytes = command.reply->bytes;
      if (!builder_.add(access)) return;
    }
  }

  TraceBuilder& builder() { return builder_; }

 private:
  static bool is_heartbeat(const capture::CapturedCommand& command) {
    return command.keys.size() == 1 && command.command != nullptr &&
           command.command->name == "exists" && is_heartbeat_key(command.keys[0].name);
  }

  TraceBuilder builder_;
  std::int64_t last_ns_ = 0;
};

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += " " + sentence;
  return text;
}

}  // namespace

Result<Trace> read_capture(ByteSource& source, const ReadOptions& options,
                           const ReadProgress& progress) {
  auto file =
      capture::PacketFile::open([&source](std::span<char> out) { return source.read(out); });
  if (!file) return file.error();
  CaptureReader reader(options.memory_max);
  ReadingFacts& facts = reader.builder().facts();
  facts.format = "a packet capture";
  capture::Decoder decoder(
      {}, [&reader](const capture::CapturedCommand& command) { reader.take(command); });
  capture::Packet packet;
  for (std::uint64_t packets = 1; !facts.full; ++packets) {
    const Result<bool> there = (*file)->next(packet);
    if (!there) facts.caveats.push_back(there.error().message + "; the part before was read.");
    if (!there || !*there) break;
    decoder.packet(packet);
    if (progress && packets % kPacketsPerProgress == 0) progress(reader.builder().size());
  }
  decoder.finish();
  for (std::string& caveat : decoder.counters().caveats())
    facts.caveats.push_back(std::move(caveat));
  if (reader.builder().size() == 0) {
    return invalid_argument(fmt::format("no Redis command with a key in its {} packets.{}",
                                        decoder.counters().packets, joined(facts.caveats)));
  }
  return std::move(reader.builder()).finish(options.timing);
}

}  // namespace heatsink::replay
