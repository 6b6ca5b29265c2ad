// SPDX-License-Identifier: Apache-2.0
// For tests: bytes read as a trace.
#pragma once

#include <string>

#include "heatsink/replay/read_trace.h"

namespace heatsink::replay {

inline Result<Trace> read(const std::string& bytes, const ReadOptions& options = {}) {
  auto source = ByteSource::of(bytes);
  if (!source) return source.error();
  return read_trace(**source, options, {});
}

}  // namespace heatsink::replay
