// SPDX-License-Identifier: Apache-2.0
// Matches key names with a pattern of KEYS and SCAN: exact, "user:*", or with ? [a-z] \ and *.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::detect {

// Immutable: any number of threads may call it. It follows the server's stringmatchlen() (util.c).
// Case matters. [^a] is the complement. A class without "]" ends with the pattern. "]" directly
// after "[" closes an empty class. [b-a] is [a-b]. A backslash makes the next byte literal, and is
// literal itself at the end. The server compares the ends of a range as its machine's char; here
// bytes beyond 127 are above all others. Each pattern is valid.
class KeyPattern {
 public:
  enum class Kind : std::uint8_t { kGlob, kPrefix, kExact };  // in rising precedence

  explicit KeyPattern(std::string_view pattern);

  Kind kind() const { return kind_; }
  // For an exact name or a prefix, its text without backslashes; for a glob, its literal beginning.
  const std::string& head() const { return head_; }
  // The number of literal bytes, a measure of how specific the pattern is.
  std::size_t literal_bytes() const { return literal_bytes_; }

  // Takes at most pattern bytes x key bytes steps, whatever they are. It never backtracks over a
  // star: pieces between stars have fixed lengths, so the leftmost position of each is as good as
  // any other.
  bool matches(std::string_view key) const;

 private:
  using ByteSet = std::bitset<256>;
  // Matches one byte of a key: a literal, any byte, or one of a class.
  struct Step {
    enum class Kind : std::uint8_t { kByte, kAny, kSet } kind;
    unsigned char byte;
    std::uint16_t set;
  };
  using Steps = std::vector<Step>;

  Steps read_piece(std::string_view& rest);  // up to the next star, which stays in `rest`
  ByteSet read_class(std::string_view& rest) const;
  void add_byte(Steps& to, char byte);
  bool fits(const Step& step, char byte) const;
  bool fits_at(const Steps& piece, std::string_view key) const;  // REQUIRES: key is long enough
  bool middle_fits(std::string_view key) const;

  Kind kind_ = Kind::kGlob;
  std::string head_;
  std::size_t literal_bytes_ = 0;
  std::size_t bytes_min_ = 0;  // the shortest key that matches
  std::vector<Steps> pieces_;  // between the stars; the first and the last may be empty
  std::vector<ByteSet> sets_;
};

}  // namespace heatsink::detect
