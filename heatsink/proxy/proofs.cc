// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/proofs.h"

namespace heatsink::proxy {

// Asked again at half of its life, so that a key in use is never without; and once more after a
// quarter, should that answer not come.
Proofs::Word Proofs::ask(const Right& right, TimePoint now, TimePoint changed_at) {
  if (!places_) return Word::kUnproven;
  Place& place = at(right);
  const Nanos age = now - place.asked_at;
  if (place.right != right || age > life_ || place.asked_at <= changed_at) return Word::kUnproven;
  if (age <= life_ / 2 || now - place.renewed_at <= life_ / 4) return Word::kProven;
  place.renewed_at = now;
  return Word::kAgeing;
}

void Proofs::heard(const AskedRight& asked, bool allowed) {
  if (!allowed && !places_) return;
  if (!places_) places_ = std::make_unique<Place[]>(kPlaces);
  Place& place = at(asked.right);
  if (!allowed) {
    if (place.right == asked.right) place = {};
  } else if (place.right != asked.right || place.asked_at < asked.asked_at) {
    place = {asked.right, asked.asked_at, asked.asked_at};
  }
}

}  // namespace heatsink::proxy
