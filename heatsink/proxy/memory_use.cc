// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/memory_use.h"

#include <algorithm>
#include <string>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr MetricRow kMemory{
    "heatsink_memory_bytes", MetricKind::kGauge,
    "Memory of the process in RAM, by use. of is clients (their states and buffers), upstream "
    "(connections to the server), detection (counters of keys), copies (local copies), addresses "
    "(of clients) or other (program code, stacks, tables of fixed size, and what the allocator "
    "keeps for the next clients).",
    "of"};

}  // namespace

void append_memory_samples(MetricSamples& samples, const MemoryUse& use, std::uint64_t resident) {
  const std::pair<const char*, std::uint64_t> parts[] = {{"clients", use.clients},
                                                         {"upstream", use.upstream},
                                                         {"detection", use.detection},
                                                         {"copies", use.copies},
                                                         {"addresses", use.addresses}};
  std::uint64_t known = 0;
  for (const auto& [of, bytes] : parts) {
    samples.push_back({&kMemory, static_cast<double>(bytes), {{"of", of}}});
    known += bytes;
  }
  // The parts are estimates, and their sum may exceed the resident memory.
  const std::uint64_t other = resident - std::min(resident, known);
  samples.push_back({&kMemory, static_cast<double>(other), {{"of", "other"}}});
}

MetricRows memory_rows() { return {&kMemory}; }

}  // namespace heatsink::proxy
