// SPDX-License-Identifier: Apache-2.0
// Measures the memory of a client's requests and replies, as a part of proxy.maximum-memory.
#include <algorithm>

#include "heatsink/base/log.h"
#include "heatsink/proxy/session.h"

namespace heatsink::proxy {

void Session::note_memory() {
  if (closed_) return;
  if (memory_.note(buffer_bytes()) && parts_.shared.memory.is_exhausted()) host_.shed_later();
}

// This part of proxy.client-output-limit; only a fair share while memory is short, so that the
// client's socket fills instead.
std::size_t Session::kept_at_most(std::size_t part) const {
  const std::size_t limit = parts_.shared.options().client_output_max.count / part;
  return parts_.shared.memory.is_tight() ? std::min(limit, MemoryBudget::kFairBytes) : limit;
}

void Session::out_of_memory() {
  parts_.count(copies::Count::kClientsOutOfMemory);
  log_limited(LogLevel::kWarning, "out-of-memory",
              "out of memory for the replies of a client, so the client was closed; lower "
              "proxy.maximum-memory",
              parts_.loop.now());
  close();
}

}  // namespace heatsink::proxy
