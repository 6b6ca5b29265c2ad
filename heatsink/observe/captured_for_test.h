// SPDX-License-Identifier: Apache-2.0
// For tests: commands as a capture reports them, without packets.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/capture/capture.h"

namespace heatsink::observe {

inline constexpr Nanos kLatency = std::chrono::microseconds(100);

inline capture::Endpoint endpoint(unsigned last_byte, std::uint16_t port) {
  capture::Endpoint out;
  out.address = {0, 0, 0,    0,    0,  0, 0, 0,
                 0, 0, 0xFF, 0xFF, 10, 0, 0, static_cast<unsigned char>(last_byte)};
  out.port = port;
  return out;
}

// A GET or SET of one key, sent by 10.0.0.1:50000 to 10.0.0.9:6379. `key` must outlive it.
struct Captured {
  explicit Captured(std::string_view key, bool write = false) : keys{{key, write}} {
    const std::vector<std::string_view> name{write ? "SET" : "GET"};
    command.command = resp::CommandTable::built_in().find(name);
    command.client = endpoint(1, 50'000);
    command.server = endpoint(9, 6379);
    command.argument_bytes = write ? 100 : 0;
  }
  Captured answered(Nanos latency, bool null = false) {
    command.reply = capture::CapturedReply{
        .latency = latency, .bytes = null ? 0U : 50U, .null = null, .error = false};
    return *this;
  }
  const capture::CapturedCommand& get() {
    command.keys = keys;
    return command;
  }

  std::vector<capture::CapturedKey> keys;
  capture::CapturedCommand command;
};

}  // namespace heatsink::observe
