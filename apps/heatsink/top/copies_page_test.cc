// SPDX-License-Identifier: Apache-2.0
// The page of copies, as it stands in a terminal of 80 x 24.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/sample_for_test.h"
#include "apps/heatsink/top/screen.h"

namespace heatsink::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TopModel with_copies(const HotkeysView& view) {
  TopModel model("127.0.0.1:6390", std::chrono::seconds(1));
  model.answered(view);
  model.choices.page = Page::kCopies;
  return model;
}

std::string drawn(const TopModel& model) { return draw_top(model, {80, 24}, kNow).text(); }

TEST(TopCopiesPage, CopiesSayWhyAndWhatAnotherSizeWouldSave) {
  const TopModel model = with_copies(sample_answer());
  EXPECT_THAT(drawn(model), HasSubstr(R"(
choice    a key gets a copy at its 3rd read among 131k reads of keys without a
          copy; copies leave a full cache in the order clock
saves     37.4 % of the reads, less what copies cost the server
now       2 copies (4.0 KiB), 65.5k fit (cache.maximum-bytes 64.0 MiB); hits
          30.0k/s; load taken off 71.2 %
costs     a fill costs the server as much as 1.7 ±0.3 reads that a copy spares
          it; an invalidation 1.2; a spared read is about 37.4us of its CPU
proxy     a fill takes it about 11.3us of CPU, and a hit spares it 1.2us;
          cache.server-weight says what its CPU is worth
prices    server 1.8x, keeper 0.9x, workers 1x (believed) of the built-in CPU
          times; a read waits 150.0us longer for a fill than for the server
no copy   102k reads of keys that had been read too seldom
          85 copies that a write ended before they had paid for their fill
          4 values that are too big (cache.maximum-value-bytes)
          0 fills without room, in the cache or in the server's table
budget    the size is right
curve     4.1k copies would save 25.0 %, 65.5k 37.4 %

# KEY                  READS      HITS/s ERR SAVES/s    CPU    SIZE FILL/s END/s
1 user:1002:profile    HGETALL, …    612 ±21     612  2.3 % 1.4 KiB    0.5   0.4
2 blob\x00\xff:\x1b[2J -               9   0     8.5 <0.1 %   412 B      0     0
)"));
}

TEST(TopCopiesPage, AHitThatTakesTheProxyLongerSaysSo) {
  TopModel model = with_copies(sample_answer());
  model.view->copies->proxy_read_cpu = std::chrono::nanoseconds(-450);
  EXPECT_THAT(drawn(model), HasSubstr("and a hit takes it longer by\n"
                                      "          0.5us; cache.server-weight"));
}

TEST(TopCopiesPage, ADatabaseOtherThanTheFirstIsShown) {
  TopModel model = with_copies(sample_answer());
  model.view->copies->top[1].db = 7;
  EXPECT_THAT(draw_top(model, {100, 24}, kNow).text(), HasSubstr("FILL/s END/s DB\n"));
}

TEST(TopCopiesPage, ANameFromAHostileNodeStaysInItsCell) {
  TopModel model = with_copies(sample_answer());
  model.view->copies->top[0].name = "\x1b[2J\nkey";
  model.view->copies->top[0].commands = {"\x1b]0;x\a"};
  const std::string screen = drawn(model);
  EXPECT_THAT(screen, Not(HasSubstr("\x1b")));
  EXPECT_THAT(screen, Not(HasSubstr("\a")));
  EXPECT_THAT(screen, Not(HasSubstr("\nkey")));
}

TEST(TopCopiesPage, WithoutHitsThereIsNoTable) {
  TopModel model = with_copies(sample_answer());
  model.view->copies->top.clear();
  EXPECT_THAT(drawn(model), Not(HasSubstr("SAVES/s")));
}

TEST(TopCopiesPage, WhereNothingPaysItSaysSo) {
  HotkeysView view = sample_answer();
  view.copies->reads = 0;
  view.copies->curve.clear();
  TopModel model = with_copies(view);
  EXPECT_THAT(drawn(model), HasSubstr("choice    nothing is copied: no choice would"));
  EXPECT_THAT(drawn(model), HasSubstr("budget    what other sizes would save is not"));
  model.view->copies.reset();
  EXPECT_THAT(drawn(model), HasSubstr("only hot keys get copies here"));
  model.view->sources.emplace_back();
  EXPECT_THAT(drawn(model), HasSubstr("an observed server has no proxy"));
}

}  // namespace
}  // namespace heatsink::app
