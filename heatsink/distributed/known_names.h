// SPDX-License-Identifier: Apache-2.0
// Which number a name has, as one thread knows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace heatsink::distributed {

// A hash table with open addressing that grows with its names and never forgets one: 96 bytes each
// at most. Exact: the bytes of a name decide, not its hash. One thread.
//
// find() takes about 3 ns for names of up to kWordBytes: they are read once, as four words, which
// are hashed (multilinear: Lemire, Kaser, The Computer Journal 2014; the upper bits of a sum of
// products with secret odd factors) and compared with what is there, without a call.
class KnownNames {
 public:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr std::size_t kWordBytes = 32;

  // `secret`: so that nobody can choose names that meet.
  explicit KnownNames(std::uint64_t secret);

  // kUnknown: it was not added.
  std::uint32_t find(std::string_view name) const noexcept {
    const Words words = words_of(name);
    for (std::size_t at = index_of(words);; at = (at + 1) & (entries_.size() - 1)) {
      const Entry& entry = entries_[at];
      if (holds(entry, words, name)) [[likely]]
        return entry.number;
      if (entry.number == kUnknown) return kUnknown;
    }
  }

  // REQUIRES that it is not known, that `name` outlives this, and another number than kUnknown.
  void add(std::string_view name, std::uint32_t number);

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  // All bytes of a name of up to kWordBytes, some of them twice; of a longer one its hash.
  using Words = std::array<std::uint64_t, 4>;
  struct Entry {
    Words words{};
    const char* name = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t number = kUnknown;
  };

  template <class Unsigned>
  static Unsigned load(const char* from) noexcept {
    Unsigned word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  Words words_of(std::string_view name) const noexcept {
    const char* const first = name.data();
    const char* const end = first + name.size();
    using U64 = std::uint64_t;
    if (name.size() >= 16 && name.size() <= kWordBytes) [[likely]]
      return {load<U64>(first), load<U64>(first + 8), load<U64>(end - 16), load<U64>(end - 8)};
    if (name.size() > kWordBytes) return {hash_of_long(name), 0, 0, 0};
    if (name.size() >= 8) return {load<U64>(first), load<U64>(end - 8), 0, 0};
    if (name.size() >= 4) return {load<std::uint32_t>(first), load<std::uint32_t>(end - 4), 0, 0};
    Words few{};
    for (const char byte : name) few[0] = few[0] << 8U | static_cast<unsigned char>(byte);
    return few;
  }
  std::uint64_t hash_of_long(std::string_view name) const noexcept;
  std::size_t index_of(const Words& words) const noexcept {
    return (words[0] * factors_[0] + words[1] * factors_[1] + words[2] * factors_[2] +
            words[3] * factors_[3]) >>
           shift_;
  }
  static bool holds(const Entry& entry, const Words& words, std::string_view name) noexcept {
    const std::uint64_t other = (entry.words[0] ^ words[0]) | (entry.words[1] ^ words[1]) |
                                (entry.words[2] ^ words[2]) | (entry.words[3] ^ words[3]) |
                                (entry.bytes ^ name.size());
    return other == 0 && entry.number != kUnknown &&
           (name.size() <= kWordBytes || std::memcmp(entry.name, name.data(), name.size()) == 0);
  }
  void put(const Entry& entry);

  std::array<std::uint64_t, 4> factors_;
  unsigned shift_;
  std::vector<Entry> entries_;  // a power of two of them, half of them used at most
  std::size_t size_ = 0;
};

}  // namespace heatsink::distributed
