// SPDX-License-Identifier: Apache-2.0
// Reads any lines after a valid beginning of a recording, of MONITOR output or of CSV: it must
// count bad lines, take the others, and keep no more of a line than key names. The first byte
// chooses the format.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/replay/line_reader.h"

namespace {

using namespace heatsink::replay;

constexpr std::array<std::string_view, 3> kFirstLines = {
    R"({"heatsink_recording":1})", R"(1.5 [0 127.0.0.1:6379] "get" "a")", "t_ms,key,op,size,db"};

void require(bool truth) {
  if (!truth) std::abort();
}

// A bad line adds nothing.
void take(LineReader& reader, std::string_view line, TraceBuilder& out) {
  const std::size_t before = out.size();
  const std::string alone(line);  // its own allocation, so that a sanitizer sees a step too far
  const std::string_view why = reader.take(alone, out);
  if (!why.empty()) require(out.size() == before);
}

void check(const Trace& trace, std::string_view all) {
  std::int64_t before_ns = 0;
  for (const TraceAccess& access : trace.accesses) {
    require(access.at_ns >= before_ns && access.key < trace.keys.size());
    before_ns = access.at_ns;
  }
  require(trace.keys.size() <= trace.accesses.size());
  for (std::uint32_t key = 0; key < trace.keys.size(); ++key) {
    // No name is longer than the text it came in.
    require(trace.keys.name(key).size() <= std::min(all.size(), KeyNames::kNameBytesMax));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view first = kFirstLines[data[0] % kFirstLines.size()];
  const std::string text =
      std::string(first) + '\n' + std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto reader = reader_for(first);
  require(reader != nullptr);
  TraceBuilder builder(heatsink::mebibytes(1));
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    take(*reader, rest.substr(0, end), builder);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto trace = std::move(builder).finish({.rate = 0, .speed = 1});
  if (trace.ok()) check(*trace, text);
  return 0;
}
