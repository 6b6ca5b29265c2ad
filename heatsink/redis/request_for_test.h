// SPDX-License-Identifier: Apache-2.0
// A moment in milliseconds, and a request in bytes. For tests.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {

inline TimePoint at(int ms) { return TimePoint(Millis(ms)); }

inline std::string request(std::initializer_list<std::string_view> args) {
  ByteBuffer out;
  resp::append_request(out, args);
  return std::string(out.view());
}

}  // namespace heatsink::redis
