// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/known_names.h"

#include <bit>
#include <utility>

#include "heatsink/base/hash.h"
#include "heatsink/base/random.h"

namespace heatsink::distributed {
namespace {

constexpr std::size_t kPlacesAtFirst = 16;

unsigned shift_for(std::size_t places) {
  return 64U - static_cast<unsigned>(std::countr_zero(places));
}

}  // namespace

KnownNames::KnownNames(std::uint64_t secret)
    : factors_{}, shift_(shift_for(kPlacesAtFirst)), places_(kPlacesAtFirst) {
  Random random(secret);
  for (std::uint64_t& factor : factors_) factor = random.next() | 1U;
}

std::uint64_t KnownNames::hash_of_long(std::string_view name) const noexcept {
  return hash_name(name, factors_[0]).value;
}

void KnownNames::add(std::string_view name, std::uint32_t number) {
  if (2 * ++size_ > places_.size()) {
    const std::vector<Place> before =
        std::exchange(places_, std::vector<Place>(2 * places_.size()));
    shift_ = shift_for(places_.size());
    for (const Place& place : before) {
      if (place.number != kUnknown) put(place);
    }
  }
  put({words_of(name), name.data(), static_cast<std::uint32_t>(name.size()), number});
}

void KnownNames::put(const Place& place) {
  std::size_t at = place_of(place.words);
  while (places_[at].number != kUnknown) at = (at + 1) & (places_.size() - 1);
  places_[at] = place;
}

}  // namespace heatsink::distributed
