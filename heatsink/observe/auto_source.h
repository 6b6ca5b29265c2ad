// SPDX-License-Identifier: Apache-2.0
// Tries the sources from the cheapest on, uses the first that works, and says why others did not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heatsink/observe/source.h"

namespace heatsink::observe {

// Tries the sources in the given order. When a source fails (the server lacks, renames, forbids or
// has switched off its command), the next one starts; `note` of the one that works gives the
// reasons. Only one source has connections at a time.
class AutoSource final : public Source {
 public:
  // REQUIRES at least one.
  explicit AutoSource(std::vector<std::unique_ptr<Source>> candidates);

  std::span<ServerProtocol* const> protocols() override { return protocols_; }
  void tick(TimePoint now) override;
  void own_connection(const std::string& local) override;
  Observation observe(TimePoint now) override;

 private:
  void pass_over(TimePoint now);

  std::vector<std::unique_ptr<Source>> candidates_;
  std::vector<ServerProtocol*> protocols_;
  std::size_t at_ = 0;
  std::string passed_over_;  // "hotkeys: ...; monitor: ..."
};

}  // namespace heatsink::observe
