// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/line_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heatsink::replay {
namespace {

using ::testing::ElementsAre;

// Gives at most `piece` bytes at a time.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t size = std::min({piece_, out.size(), text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), size, out.begin());
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

std::vector<std::string> lines_of(const std::string& text, std::size_t piece, std::size_t max) {
  Pieces bytes(text, piece);
  LineSource source(bytes, max);
  std::vector<std::string> out;
  for (;;) {
    const Result<LineSource::Line> line = source.next();
    if (!line.ok() || line->end) return out;
    out.push_back(line->too_long ? "<too long>" : std::string(line->text));
  }
}

TEST(LineSource, LinesInAnyPieces) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    EXPECT_THAT(lines_of("a\r\n\nbcd\nlast", piece, 100), ElementsAre("a", "", "bcd", "last"));
  }
}

TEST(LineSource, LongLinesAreLeftOutWithoutBeingKept) {
  const std::string text = "a\n" + std::string(5'000'000, 'x') + "\nb\n" + std::string(50, 'y');
  for (const std::size_t piece : {1000U, 700000U})
    EXPECT_THAT(lines_of(text, piece, 10), ElementsAre("a", "<too long>", "b", "<too long>"));
}

}  // namespace
}  // namespace heatsink::replay
