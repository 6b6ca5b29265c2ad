// SPDX-License-Identifier: Apache-2.0
// Gives names to the numbers of commands and clients.
#pragma once

#include <cstdint>
#include <string>

namespace heatsink::detect {

// The names of the numbers in an Access. The recorder's thread calls it in summarize(), for the few
// keys with commands and clients. Must outlive the recorder.
class TallyNames {
 public:
  virtual ~TallyNames() = default;
  virtual std::string command(std::uint16_t number) const = 0;
  virtual std::string client(std::uint32_t number) const = 0;
};

}  // namespace heatsink::detect
