// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/read_trace.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/capture/capture.h"
#include "heatsink/replay/line_reader.h"
#include "heatsink/replay/line_source.h"

namespace heatsink::replay {
namespace {

constexpr std::uint64_t kLinesPerProgress = 1 << 16;
constexpr std::size_t kFirstLineShown = 60;

void note_bad(ReadingFacts& facts, std::uint64_t number, std::string_view why) {
  ++facts.bad_lines;
  if (facts.first_bad_lines.size() < ReadingFacts::kBadLinesNamed)
    facts.first_bad_lines.push_back({number, std::string(why)});
}

Error unknown_format(std::string_view first_line) {
  return invalid_argument(
      fmt::format("not a trace that heatsink can read; it begins with '{}'. "
                  "Use CSV with a header line that has a column 'key', "
                  "the output of 'redis-cli MONITOR', a recording of 'heatsink top --record', "
                  "or a packet capture",
                  printable(first_line, kFirstLineShown)));
}

// A file with more bad lines than good ones is refused: its accesses would mislead.
Status believable(const ReadingFacts& facts) {
  if (facts.bad_lines * 2 <= facts.lines) return Unit{};
  return invalid_argument(fmt::format("{} of {} lines cannot be read; line {}: {}", facts.bad_lines,
                                      facts.lines, facts.first_bad_lines[0].number,
                                      facts.first_bad_lines[0].why));
}

Result<Trace> read_lines(ByteSource& source, const ReadOptions& options,
                         const ReadProgress& progress) {
  LineSource lines(source);
  TraceBuilder builder(options.memory_max);
  std::unique_ptr<LineReader> reader;
  while (!builder.facts().full) {
    Result<LineSource::Line> line = lines.next();
    if (!line) return line.error();
    if (line->end) break;
    if (!reader && line->text.empty() && !line->too_long) continue;
    if (!reader && !(reader = reader_for(line->text))) return unknown_format(line->text);
    const std::string_view why =
        line->too_long ? "it is longer than 32 MiB" : reader->take(line->text, builder);
    if (!why.empty()) note_bad(builder.facts(), lines.number(), why);
    if (progress && lines.number() % kLinesPerProgress == 0) progress(builder.size());
  }
  if (!reader) return invalid_argument("the file is empty");
  builder.facts().lines = lines.number();
  builder.facts().format = reader->format();
  if (const Status status = believable(builder.facts()); !status) return status.error();
  return std::move(builder).finish(options.timing);
}

}  // namespace

Result<Trace> read_trace(ByteSource& source, const ReadOptions& options,
                         const ReadProgress& progress) {
  Result<std::string> head = source.take(capture::PacketFile::kMagicBytes);
  if (!head) return head.error();
  const bool is_capture = capture::PacketFile::recognises(*head);
  const auto whole = ByteSource::behind(std::move(*head), source);
  return is_capture ? read_capture(*whole, options, progress)
                    : read_lines(*whole, options, progress);
}

}  // namespace heatsink::replay
