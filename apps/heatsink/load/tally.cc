// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/tally.h"

namespace heatsink::app {

std::uint64_t Tally::error_count() const {
  std::uint64_t sum = 0;
  for (const auto& [text, count] : errors) sum += count;
  return sum;
}

void Tally::add_error(const std::string& text, std::uint64_t count) {
  const bool room = errors.size() < kErrorTextsMax || errors.contains(text);
  errors[room ? text : "other errors"] += count;
}

void Tally::merge(const Tally& other) {
  reads += other.reads;
  writes += other.writes;
  nils += other.nils;
  given_up += other.given_up;
  latency.merge(other.latency);
  for (const auto& [text, count] : other.errors) add_error(text, count);
}

}  // namespace heatsink::app
