// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_admission.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heatsink::admit {
namespace {

class CopyAdmissionTest : public testing::Test {
 protected:
  void choose(std::uint32_t reads) { state_.publish(reads, 1024, 0); }

  AdmissionState state_{1024};
  CopyAdmission reader_{state_};
  const KeyHash key_{7};
};

TEST_F(CopyAdmissionTest, AWriteEndsTheCountOfReads) {
  choose(2);
  EXPECT_FALSE(reader_.earns_copy(key_));
  reader_.saw(key_, true);
  EXPECT_FALSE(reader_.earns_copy(key_));
  EXPECT_TRUE(reader_.earns_copy(key_));
}

TEST_F(CopyAdmissionTest, WritesNeedNotEndCountsWhereNoReadCounts) {
  choose(2);
  EXPECT_FALSE(state_.counts_reads()) << "no read has been counted";
  EXPECT_FALSE(reader_.earns_copy(key_));
  EXPECT_TRUE(state_.counts_reads());
  choose(Choice::kNever);
  EXPECT_FALSE(state_.counts_reads());
  EXPECT_FALSE(reader_.earns_copy(key_));
  choose(2);
  EXPECT_TRUE(state_.counts_reads());
}

}  // namespace
}  // namespace heatsink::admit
