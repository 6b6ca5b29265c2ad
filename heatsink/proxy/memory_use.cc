// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/memory_use.h"

#include <algorithm>
#include <string>
#include <utility>

namespace heatsink::proxy {
namespace {

constexpr MetricRow kMemory{
    "heatsink_memory_bytes", MetricKind::kGauge,
    "Memory of the process in RAM, by component. clients: their states and buffers; tls: what "
    "OpenSSL holds; upstream: connections to the server; detection: counters of keys; copies: "
    "local "
    "copies; addresses: of clients; history: events of keys; log: lines that wait to be written; "
    "fixed: stacks, and tables of fixed size; program: code and libraries; other: mostly what the "
    "allocator keeps for the next clients.",
    "component"};

}  // namespace

void append_memory_samples(MetricSamples& samples, const MemoryUse& use, std::uint64_t resident) {
  const std::pair<const char*, std::uint64_t> parts[] = {
      {"clients", use.clients},     {"tls", use.tls},       {"upstream", use.upstream},
      {"detection", use.detection}, {"copies", use.copies}, {"addresses", use.addresses},
      {"history", use.history},     {"log", use.log},       {"fixed", use.fixed},
      {"program", use.program}};
  std::uint64_t known = 0;
  for (const auto& [component, bytes] : parts) {
    samples.push_back({&kMemory, static_cast<double>(bytes), {{"component", component}}});
    known += bytes;
  }
  // The parts are estimates, and their sum may exceed the resident memory.
  const std::uint64_t other = resident - std::min(resident, known);
  samples.push_back({&kMemory, static_cast<double>(other), {{"component", "other"}}});
}

MetricRows memory_rows() { return {&kMemory}; }

}  // namespace heatsink::proxy
