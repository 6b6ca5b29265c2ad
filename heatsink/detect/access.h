// SPDX-License-Identifier: Apache-2.0
// Defines one access of one key, as all sources report it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/hash.h"

namespace heatsink::detect {

enum class AccessKind : std::uint8_t { kRead, kWrite };

inline constexpr std::uint16_t kNoCommand = UINT16_MAX;
inline constexpr std::uint32_t kNoClient = UINT32_MAX;

struct Access {
  KeyHash hash;  // of the name in its database (base/hash.h), with the process's seed
  // any bytes, any length; the recorder copies it (up to a limit) only to keep it
  std::string_view key;
  std::uint32_t db = 0;
  AccessKind kind = AccessKind::kRead;
  bool local_hit = false;   // a read answered from the local copy
  std::uint32_t bytes = 0;  // size of the value, if known
  // The vantage point numbers commands and clients. Their names are asked for only when needed
  // (TallyNames).
  std::uint16_t command = kNoCommand;
  std::uint32_t client = kNoClient;
};

// Gives names to the numbers of commands and clients. The names of the numbers in an Access. The
// recorder's thread calls it in summarize(), for the few keys with commands and clients. Must
// outlive the recorder.
class TallyNames {
 public:
  virtual ~TallyNames() = default;
  virtual std::string command(std::uint16_t number) const = 0;
  virtual std::string client(std::uint32_t number) const = 0;
};

}  // namespace heatsink::detect
