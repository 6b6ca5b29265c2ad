// SPDX-License-Identifier: Apache-2.0
// Whether the fills of a key pay: a fill costs the server more than the read that it stands for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::proxy {

// A key that is read in a hundred ways (HGET of this field and that) has copies for eight: most
// fills push out a copy before anybody has had it, and each costs two commands instead of one. So
// in each second, after kTrial fills, there must have been as many hits as fills; else the reads go
// to the server until the second is over.
//
// One worker's thread. Fixed memory; two keys in one place take turns in it.
class Payoff {
 public:
  static constexpr std::uint32_t kTrial = 16;
  static constexpr Nanos kWindow = std::chrono::seconds(1);

  bool pays(KeyHash key, TimePoint now) {
    Place& place = at(key);
    if (place.key != key || now >= place.until) place = {key, now + kWindow, 0, 0};
    return place.fills < kTrial || place.hits >= place.fills;
  }
  void filled(KeyHash key) { ++at(key).fills; }  // REQUIRES pays(key) just now
  void hit(KeyHash key) {
    Place& place = at(key);
    if (place.key == key) ++place.hits;
  }

 private:
  struct Place {
    KeyHash key;
    TimePoint until{};
    std::uint32_t fills = 0;
    std::uint32_t hits = 0;  // and readers that joined a fill
  };

  Place& at(KeyHash key) { return places_[key.value % places_.size()]; }

  std::array<Place, 1024> places_{};  // 24 KiB
};

}  // namespace heatsink::proxy
