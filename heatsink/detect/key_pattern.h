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

// Immutable, so any number of threads may ask. As stringmatchlen() of the server (util.c) takes it:
// case matters; [^a] is what is not in the class; a class without its end goes on to the end of the
// pattern; "]" closes a class even at once, which then holds nothing; [b-a] is [a-b]; a backslash
// takes the next byte as it is, and is itself as the last. Where the server compares the ends of a
// range as its machine's char, bytes beyond 127 are here above all others. Any pattern has a
// meaning.
class KeyPattern {
 public:
  enum class Kind : std::uint8_t { kGlob, kPrefix, kExact };  // in rising precedence

  explicit KeyPattern(std::string_view pattern);

  Kind kind() const { return kind_; }
  // Of an exact name or a prefix, without its backslashes; of a glob what it begins with.
  const std::string& head() const { return head_; }
  // Bytes that are given literally: how closely the pattern says what it means.
  std::size_t literal_bytes() const { return literal_bytes_; }

  // At most pattern bytes x key bytes steps, whatever they are: what a star takes is never tried
  // again, because the pieces between stars have fixed lengths and the leftmost place of each is
  // as good as any other.
  bool matches(std::string_view key) const;

 private:
  using ByteSet = std::bitset<256>;
  // One byte of a key: this one, any, or one of a class.
  struct Step {
    enum class Kind : std::uint8_t { kByte, kAny, kSet } kind;
    unsigned char byte;
    std::uint16_t set;
  };
  using Steps = std::vector<Step>;

  Steps read_piece(std::string_view& rest);  // up to the next star, which it leaves
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
