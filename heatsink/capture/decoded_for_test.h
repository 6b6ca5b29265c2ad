// SPDX-License-Identifier: Apache-2.0
// For tests: sends packets through a decoder, and prints the commands as lines of text.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "heatsink/capture/decoder.h"
#include "heatsink/capture/testing/traffic.h"

namespace heatsink::capture::testing {

inline const Endpoint kClient = ipv4(7, 40'000);
inline const Endpoint kServer = ipv4(1, 6379);

inline constexpr std::int64_t kPause = 5'000'000;  // longer than ReplyMatcher::kQuiet

inline TcpDialogue opened(Endpoint client = kClient, Endpoint server = kServer,
                          std::uint32_t client_seq = 1000, std::uint32_t server_seq = 5000) {
  TcpDialogue talk(client, server, client_seq, server_seq);
  talk.open();
  return talk;
}

// A TCP dialogue, and the lines expected for its commands.
struct Script {
  std::vector<std::string> expected;
  TcpDialogue talk = opened();
};

inline DecoderOptions redis_port() {
  DecoderOptions options;
  options.ports = {6379};
  return options;
}

// "GET a -> 5 bytes, 100 us"; "SET a=write"; "GET a db 3 -> null, ..."
inline std::string line_of(const CapturedCommand& command) {
  std::string line = command.command == nullptr ? "?" : command.command->name;
  for (const CapturedKey& key : command.keys)
    line += fmt::format(" {}{}", key.name, key.write ? "!" : "");
  if (command.db != 0) line += fmt::format(" db {}", command.db);
  if (!command.reply) return line + " -> ?";
  const CapturedReply& reply = *command.reply;
  line += reply.error  ? " -> error"
          : reply.null ? " -> null"
                       : fmt::format(" -> {} bytes", reply.bytes);
  return line;
}

class Decoded {
 public:
  explicit Decoded(const DecoderOptions& options = redis_port())
      : decoder_(options, [this](const CapturedCommand& command) {
          lines_.push_back(line_of(command));
          latencies_.push_back(command.reply ? command.reply->latency : std::nullopt);
          clients_.push_back(command.client.text());
        }) {}
  explicit Decoded(const std::vector<Frame>& frames, const DecoderOptions& options = redis_port())
      : Decoded(options) {
    take(frames);
    decoder_.finish();
  }
  Decoded(const Decoded&) = delete;

  void take(const std::vector<Frame>& frames) {
    for (const Frame& frame : frames) take(frame);
  }
  void take(const Frame& frame) {
    const std::string bytes = frame.bytes();
    take_bytes(frame, bytes, bytes.size());
  }
  void take_bytes(const Frame& frame, std::string_view bytes, std::size_t full_bytes) {
    Packet packet;
    packet.at_ns = frame.at_ns;
    packet.link = frame.link;
    packet.bytes = bytes;
    packet.full_bytes = full_bytes;
    decoder_.packet(packet);
  }

  Decoder& decoder() { return decoder_; }
  const CaptureCounters& counters() const { return decoder_.counters(); }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<std::optional<Nanos>>& latencies() const { return latencies_; }
  const std::vector<std::string>& clients() const { return clients_; }

 private:
  std::vector<std::string> lines_;
  std::vector<std::optional<Nanos>> latencies_;
  std::vector<std::string> clients_;
  Decoder decoder_;
};

}  // namespace heatsink::capture::testing
