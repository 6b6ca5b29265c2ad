// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_proofs.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::topology {
namespace {

void expect(const SlotProofs& proofs, NodeIndex master, TimePoint since, TimePoint until) {
  const SlotProofs::Proof proof = proofs.of(7);
  EXPECT_EQ(proof.master, master);
  EXPECT_EQ(proof.since, since);
  EXPECT_EQ(proof.until, until);
}

TEST(SlotProofs, NothingIsProvenAtTheStart) {
  SlotProofs proofs;
  expect(proofs, kNoNode, TimePoint::min(), TimePoint::min());
  proofs.end(7);
  proofs.prove(8, 1, at(5), at(6));
  expect(proofs, kNoNode, TimePoint::min(), TimePoint::min());
}

TEST(SlotProofs, ProofsInARowAreOneProof) {
  SlotProofs proofs;
  proofs.prove(7, 1, at(10), at(11));
  expect(proofs, 1, at(11), at(10));
  proofs.prove(7, 1, at(20), at(21));
  expect(proofs, 1, at(11), at(20));
  proofs.prove(7, 1, at(15), at(16));  // late
  expect(proofs, 1, at(11), at(20));
}

TEST(SlotProofs, ASlotThatWasAwayProvesItselfAnew) {
  SlotProofs proofs;
  proofs.prove(7, 1, at(10), at(11));
  proofs.end(7);
  EXPECT_EQ(proofs.of(7).until, TimePoint::min());
  proofs.prove(7, 1, at(30), at(31));
  expect(proofs, 1, at(31), at(30));
}

TEST(SlotProofs, AnotherMasterProvesItselfAnew) {
  SlotProofs proofs;
  proofs.prove(7, 1, at(10), at(11));
  proofs.prove(7, 2, at(12), at(13));
  expect(proofs, 2, at(13), at(12));
}

}  // namespace
}  // namespace heatsink::topology
