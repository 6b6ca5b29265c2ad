// SPDX-License-Identifier: Apache-2.0
// Maps names to numbers, for one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace heatsink::distributed {

// An open-addressing hash table that only grows: at most 96 bytes per name. Exact: it compares the
// bytes of names, not only hashes. One thread.
//
// find() takes about 3 ns for names of up to kWordBytes. It reads them once, as four words, which
// it hashes (multilinear: Lemire, Kaser, The Computer Journal 2014; the upper bits of a sum of
// products with secret odd factors) and compares without a call.
class KnownNames {
 public:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr std::size_t kWordBytes = 32;

  // `secret`: a random number, so that attackers cannot choose names that collide.
  explicit KnownNames(std::uint64_t secret);

  // kUnknown: the table does not have the name.
  std::uint32_t find(std::string_view name) const noexcept {
    const Words words = words_of(name);
    for (std::size_t at = index_of(words);; at = (at + 1) & (entries_.size() - 1)) {
      const Entry& entry = entries_[at];
      if (holds(entry, words, name)) [[likely]]
        return entry.number;
      if (entry.number == kUnknown) return kUnknown;
    }
  }

  // REQUIRES that the table does not have the name, that `name` outlives the table, and number !=
  // kUnknown.
  void add(std::string_view name, std::uint32_t number);

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  // All bytes of a name of up to kWordBytes (words may overlap); for a longer name, its hash.
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
  std::vector<Entry> entries_;  // size is a power of two; at most half are used
  std::size_t size_ = 0;
};

}  // namespace heatsink::distributed
