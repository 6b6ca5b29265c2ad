// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a capture file: it must end or fail within the limits, with counters that
// agree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "heatsink/capture/capture.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heatsink::capture;
  // The first byte chooses the ports, and whether replies are watched in turns, so that one corpus
  // serves all modes.
  if (size == 0) return 0;
  DecoderOptions options;
  if (data[0] % 2 == 0) options.ports = {6379};
  options.connections_max = 8;
  options.memory_max = heatsink::kibibytes(256);
  std::string_view file(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto opened = PacketFile::open([&file](std::span<char> out) -> heatsink::Result<std::size_t> {
    const std::size_t taken = file.copy(out.data(), out.size());
    file.remove_prefix(taken);
    return taken;
  });
  if (!opened) return 0;
  std::uint64_t told = 0;
  Decoder decoder(options, [&told](const CapturedCommand& command) {
    ++told;
    require(!command.reply || !command.reply->latency || command.reply->latency->count() >= 0);
    for (const CapturedKey& key : command.keys) (void)command.access(key, 1);
  });
  Packet packet;
  for (unsigned taken = 0;; ++taken) {
    const auto there = (*opened)->next(packet);
    require(there.ok() || !there.error().message.empty());
    if (!there || !*there) break;
    if (data[0] % 4 >= 2 && taken % 8 == 0)
      decoder.watch({taken % 16 == 0 ? 0 : ReplyWatch::kAll}, packet.at_ns);
    decoder.packet(packet);
  }
  const std::uint64_t connections_now = decoder.counters().connections_now;
  require(connections_now <= options.connections_max);
  decoder.finish();
  const CaptureCounters& counters = decoder.counters();
  require(counters.commands == told && counters.connections_now == 0);
  require(counters.commands_answered + counters.commands_unmatched + counters.commands_unwatched ==
          told);
  require(counters.connections >= counters.connections_joined);
  (void)counters.caveats();
  return 0;
}
