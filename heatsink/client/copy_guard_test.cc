// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/copy_guard.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heatsink/client/copies_for_test.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::client {
namespace {

constexpr Nanos kMoment = Millis(1);
const KeyHash kA = hash_for_test("a");

ClientOptions with_server() {
  ClientOptions options;
  options.server_url = kSomeServer;
  return options;
}

struct Guarded : CopiesForTest {
  explicit Guarded(const ClientOptions& given = {}, admit::AdmissionState* admission = nullptr)
      : CopiesForTest(given, admission) {
    for (const char* key : {"a", "b"}) kept.make_hot(key, hash_for_test(key));
  }
  // A load of `a` from `begun` on ends now.
  CopyGuard::KeepResult end_load(const ServerLink::Watch& begun, int n = 1) {
    return guard.keep(kA, begun, value_of(n));
  }
};

TEST(CopyGuard, ALoadThatNothingOvertookBecomesTheCopy) {
  Guarded it;
  const CopyGuard::KeepResult result = it.keep("a", 7);
  EXPECT_TRUE(result.is_unchanged);
  EXPECT_TRUE(result.is_kept);
  EXPECT_EQ(it.copy("a"), 7);
  EXPECT_FALSE(it.keep("cold", 7).is_kept) << "the key is not kept";
}

TEST(CopyGuard, AChangeDuringALoadRefusesItsValueAndEndsTheCopy) {
  Guarded it;
  it.keep("a", 1);
  const ServerLink::Watch begun = it.watch();
  it.pass(kMoment);
  it.guard.changed(kA);
  EXPECT_EQ(it.copy("a"), 0);
  EXPECT_FALSE(it.end_load(begun).is_unchanged);
  EXPECT_EQ(it.copy("a"), 0);
  it.pass(kMoment);
  EXPECT_TRUE(it.keep("a", 2).is_kept) << "it began after the change";
}

TEST(CopyGuard, ALoadThatIsNotTrackedIsNotKept) {
  Guarded it(with_server());
  EXPECT_FALSE(it.end_load({.is_tracked = false, .tracked_at = it.runtime.time}).is_unchanged);
}

// Its value may be that of a server that was replaced, unless the client's own connection read it.
TEST(CopyGuard, WhileTheServersAreUncertainOnlyOwnReadsAreKept) {
  Guarded it(with_server());
  ServerLink::Watch begun = it.watch();
  begun.has_certain_owner = false;
  it.pass(kMoment);
  EXPECT_FALSE(it.end_load(begun).is_kept);
  begun = it.watch();
  begun.has_certain_owner = false;
  it.pass(kMoment);
  it.guard.has_read(hash_for_test("b"));
  EXPECT_FALSE(it.end_load(begun).is_kept) << "another key was read";
  it.pass(kMoment);
  begun = it.watch();
  begun.has_certain_owner = false;
  it.pass(kMoment);
  it.guard.has_read(kA);
  EXPECT_TRUE(it.end_load(begun).is_kept);
}

// The loader has asked a node that the library does not follow yet (docs/decisions/0129).
TEST(CopyGuard, AValueOfAKeyThatTheNodeOfAClusterDoesNotHaveIsNotKept) {
  Guarded it(with_server());
  ServerLink::Watch begun = it.watch();
  begun.is_missing = true;
  it.pass(kMoment);
  EXPECT_TRUE(it.end_load(begun).is_kept) << "one server: the key came during the load";
  it.pass(kMoment);
  begun = it.watch();
  begun.server = 1;
  begun.is_missing = true;
  it.pass(kMoment);
  EXPECT_FALSE(it.end_load(begun).is_kept);
}

// Both say the same, so the answer is the copy.
TEST(CopyGuard, AMissingKeyIsKeptThatTheNodeOfAClusterDoesNotHave) {
  Guarded it(with_server());
  ServerLink::Watch begun = it.watch();
  begun.server = 1;
  begun.is_missing = true;
  it.pass(kMoment);
  EXPECT_TRUE(it.guard.keep(kA, begun, std::make_shared<MissingValue>()).is_kept);
  const SharedCachedValue copy = it.kept.copy(kA);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->missing);
}

// With a server, a value that was shown must not be replaced by that of an earlier load.
TEST(CopyGuard, OfTwoLoadsTheOneThatBeganLaterStays) {
  Guarded it(with_server());
  const ServerLink::Watch first = it.watch();
  it.pass(kMoment);
  EXPECT_TRUE(it.keep("a", 2).is_kept);
  EXPECT_FALSE(it.end_load(first).is_kept);
  EXPECT_EQ(it.copy("a"), 0) << "which of the two is newer is unknown";
}

TEST(CopyGuard, AWriteReplacesTheCopyIfNoOtherOneOverlaps) {
  Guarded it;
  it.keep("a", 1);
  it.pass(kMoment);
  const BegunWrite alone = it.guard.begin_write(kA);
  EXPECT_EQ(it.copy("a"), 1) << "without a server, until the write has ended";
  it.pass(kMoment);
  it.guard.end_write(alone, value_of(2));
  EXPECT_EQ(it.copy("a"), 2);
  it.pass(kMoment);
  const BegunWrite first = it.guard.begin_write(kA);
  const BegunWrite second = it.guard.begin_write(kA);
  it.pass(kMoment);
  it.guard.end_write(first, value_of(3));
  EXPECT_EQ(it.copy("a"), 0);
  it.pass(kMoment);
  it.guard.end_write(second, value_of(4));
  EXPECT_EQ(it.copy("a"), 0) << "the source may have executed them in either order";
}

TEST(CopyGuard, AWriteWithAServerEndsTheCopyBeforeItIsSent) {
  Guarded it(with_server());
  it.keep("a", 1);
  const BegunWrite write = it.guard.begin_write(kA);
  EXPECT_EQ(it.copy("a"), 0);
  it.pass(kMoment);
  EXPECT_FALSE(it.keep("a", 1).is_kept) << "a write is under way";
  it.guard.end_write(write, value_of(2));
  EXPECT_EQ(it.copy("a"), 0) << "nothing tracks the key";
}

TEST(CopyGuard, ChangesOfManyKeysEndTheirCopiesAndRefuseAllLoadsUnderWay) {
  const auto begun_before = [](auto change) {
    Guarded it(with_server());
    it.keep("a", 1);
    it.pass(kMoment);
    it.keep("b", 2);
    it.pass(kMoment);
    const ServerLink::Watch begun = it.watch();
    it.pass(kMoment);
    change(it.guard);
    const std::string left = std::to_string(it.copy("a")) + std::to_string(it.copy("b"));
    return left + (it.end_load(begun).is_unchanged ? " kept" : " refused");
  };
  EXPECT_EQ(begun_before([](CopyGuard& guard) { guard.all_changed(); }), "00 refused");
  EXPECT_EQ(begun_before([](CopyGuard& guard) { guard.server_changed(0); }), "00 refused");
  EXPECT_EQ(begun_before([](CopyGuard& guard) { guard.server_changed(1); }), "12 refused");
  std::vector<bool> slots(16'384);
  slots[resp::key_slot("b")] = true;
  EXPECT_EQ(begun_before([&](CopyGuard& guard) { guard.slots_changed(slots); }), "10 refused");
}

TEST(CopyGuard, AColdLoadThatIsShownEndsACopyOfAnEarlierLoad) {
  Guarded it(with_server());
  it.keep("a", 1);
  it.pass(kMoment);
  const ServerLink::Watch begun = it.watch();
  it.pass(kMoment);
  it.guard.end_cold_load(kA);
  EXPECT_EQ(it.copy("a"), 0);
  EXPECT_FALSE(it.end_load(begun).is_unchanged);
}

TEST(CopyGuard, ACopyEndsWithItsTtlOrItsKey) {
  ClientOptions options;
  options.expire_after_write = std::chrono::seconds(60);
  options.early_refresh = 0;
  Guarded it(options);
  const TimePoint now = it.runtime.time;
  CachedValue value;
  it.guard.set_times(value, now - kMoment, now);
  EXPECT_EQ(value.loaded_at, now - kMoment);
  EXPECT_EQ(value.expires_at, now - kMoment + std::chrono::seconds(60));
  it.guard.set_times(value, now - kMoment, now, now + kMoment);
  EXPECT_EQ(value.expires_at, now + kMoment);
}

TEST(CopyGuard, AClosedClientAndOneWithoutCopiesKeepNothing) {
  Guarded closed;
  closed.life.is_closed = true;
  EXPECT_FALSE(closed.keep("a", 1).is_kept);
  ClientOptions off;
  off.cache_enabled = false;
  Guarded without(off);
  EXPECT_FALSE(without.keep("a", 1).is_kept);
  without.guard.end_write(without.guard.begin_write(kA), value_of(2));
  EXPECT_EQ(without.copy("a"), 0);
}

TEST(CopyGuard, NotesWhatCopiesHaveDoneWhereKeysEarnThem) {
  admit::AdmissionState admission(100);
  Guarded it({}, &admission);
  it.keep("a", 1);
  it.pass(kMoment);
  it.guard.changed(kA);
  it.guard.changed(kA);
  const CopyGuard::Notes notes = it.guard.take_notes();
  EXPECT_EQ(notes.filled, std::vector<KeyHash>{kA});
  EXPECT_EQ(notes.ended, std::vector<KeyHash>{kA}) << "the second change found no copy";
  EXPECT_TRUE(it.guard.take_notes().filled.empty()) << "take_notes() gives each key once";
  for (std::size_t i = 0; i < CopyGuard::kNotesMax + 9; ++i) it.keep("a", 1);
  EXPECT_EQ(it.guard.take_notes().filled.size(), CopyGuard::kNotesMax);
  Guarded without;
  without.keep("a", 1);
  EXPECT_TRUE(without.guard.take_notes().filled.empty());
}

}  // namespace
}  // namespace heatsink::client
