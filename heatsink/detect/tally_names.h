// SPDX-License-Identifier: Apache-2.0
// Gives the commands and clients that a recorder has counted by number their names.
#pragma once

#include <cstdint>
#include <string>

namespace heatsink::detect {

// Names for the numbers in an Access. Called by the recorder's thread, in summarize(), for the few
// keys whose commands and clients are told. Must outlive the recorder.
class TallyNames {
 public:
  virtual ~TallyNames() = default;
  virtual std::string command(std::uint16_t number) const = 0;
  virtual std::string client(std::uint32_t number) const = 0;
};

}  // namespace heatsink::detect
