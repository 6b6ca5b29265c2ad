// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a trace: the result must be an error, or a trace within its memory whose times
// never decrease.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "heatsink/replay/replay.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heatsink::replay;
  auto source = ByteSource::of(std::span(reinterpret_cast<const char*>(data), size));
  if (!source.ok()) return 0;
  ReadOptions options;
  options.memory_max = heatsink::mebibytes(1);
  const auto trace = read_trace(**source, options, {});
  if (!trace.ok()) {
    require(!trace.error().message.empty());
    return 0;
  }
  require(!trace->accesses.empty() && trace->accesses.size() <= (1U << 16));
  require(trace->facts.first_bad_lines.size() <= ReadingFacts::kBadLinesNamed);
  std::int64_t before_ns = 0;
  for (const TraceAccess& access : trace->accesses) {
    require(access.at_ns >= before_ns && access.key < trace->keys.size());
    before_ns = access.at_ns;
  }
  return 0;
}
