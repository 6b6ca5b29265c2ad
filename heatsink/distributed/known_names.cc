// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/known_names.h"

#include <bit>
#include <utility>

#include "heatsink/base/hash.h"
#include "heatsink/base/random.h"

namespace heatsink::distributed {
namespace {

constexpr std::size_t kEntriesAtFirst = 16;

unsigned shift_for(std::size_t entries) {
  return 64U - static_cast<unsigned>(std::countr_zero(entries));
}

}  // namespace

KnownNames::KnownNames(std::uint64_t secret)
    : factors_{}, shift_(shift_for(kEntriesAtFirst)), entries_(kEntriesAtFirst) {
  Random random(secret);
  for (std::uint64_t& factor : factors_) factor = random.next() | 1U;
}

std::uint64_t KnownNames::hash_of_long(std::string_view name) const noexcept {
  return hash_name(name, factors_[0]).value;
}

void KnownNames::add(std::string_view name, std::uint32_t number) {
  if (2 * ++size_ > entries_.size()) {
    const std::vector<Entry> before =
        std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    shift_ = shift_for(entries_.size());
    for (const Entry& entry : before) {
      if (entry.number != kUnknown) put(entry);
    }
  }
  put({words_of(name), name.data(), static_cast<std::uint32_t>(name.size()), number});
}

void KnownNames::put(const Entry& entry) {
  std::size_t at = index_of(entry.words);
  while (entries_[at].number != kUnknown) at = (at + 1) & (entries_.size() - 1);
  entries_[at] = entry;
}

}  // namespace heatsink::distributed
