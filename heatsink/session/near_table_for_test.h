// SPDX-License-Identifier: Apache-2.0
// Provides tests of NearTable with clients that note what they hear.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/session/near_table.h"

namespace heatsink::proxy {

class FakeHolder final : public NearTable::Holder {
 public:
  explicit FakeHolder(std::uint64_t its_id) : id_(its_id) {}
  std::uint64_t id() const override { return id_; }
  void end_name(NameHash name, std::string_view wire, NearTable::EndedBy by) override {
    told.push_back(name.value);
    wires.emplace_back(wire);
    own += by == NearTable::EndedBy::kItself ? 1 : 0;
    own_earlier += by == NearTable::EndedBy::kItselfEarlier ? 1 : 0;
    if (leaves != nullptr) std::exchange(leaves, nullptr)->leave(number);
  }
  std::vector<std::uint64_t> take() { return std::exchange(told, {}); }

  std::vector<std::uint64_t> told;
  std::vector<std::string> wires;
  int own = 0, own_earlier = 0;
  NearTable* leaves = nullptr;
  NearTable::Number number = 0;

 private:
  const std::uint64_t id_;
};

class NearTableTest : public testing::Test {
 public:
  static constexpr TimePoint kNow = TimePoint(std::chrono::seconds(1000));

 protected:
  NearTableTest() {
    generation = proofs->operator[](0).begin_generation();
    (*proofs)[0].prove(kNow);
    for (FakeHolder* each : {&ann, &bob}) each->number = table.join(*each);
  }
  NearBasis basis() const {
    NearBasis out;
    out.generation = generation;
    out.filled_at = kNow;
    out.ends_at = kNow + std::chrono::seconds(60);
    out.max_staleness = std::chrono::seconds(1);
    return out;
  }
  bool keep(const FakeHolder& who, std::uint64_t name, std::optional<NearBasis> rests_on) {
    return table.keep(who.number, {name}, "k" + std::to_string(name), [&] { return rests_on; });
  }
  bool keep(const FakeHolder& who, std::uint64_t name) { return keep(who, name, basis()); }

  std::unique_ptr<cache::ProofStates> proofs = std::make_unique<cache::ProofStates>();
  cache::Generation generation;
  cache::KeptNames kept;
  NearTable table{kept, 1024};
  FakeHolder ann{1}, bob{2};
};

}  // namespace heatsink::proxy
