// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/past.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "apps/heatsink/top/input.h"
#include "apps/heatsink/top/model.h"
#include "apps/heatsink/top/sample_for_test.h"
#include "apps/heatsink/top/screen.h"
#include "heatsink/tui/terminal.h"

namespace heatsink::app {
namespace {

using heat::Kind;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr WallTime kBegin(seconds(1'795'867'200));  // 2026-11-28 12:00:00 UTC

// 30 steps of 10 s; after the first ten, "a" gets ever busier. A cluster's node and slot, too.
heat::HeatMap five_minutes() {
  heat::HeatMap map;
  map.step = map.window = seconds(10);
  const auto row = [](Kind kind, std::string name) {
    return heat::HeatMap::Row{.identity = {kind, 0, false, std::move(name)}};
  };
  map.rows = {row(Kind::kKey, "a"), row(Kind::kKey, "b\x1b"), row(Kind::kTemplate, "user:*"),
              row(Kind::kNode, "10.0.0.1:7000"), row(Kind::kSlot, "15495")};
  for (int i = 0; i < 30; ++i) {
    heat::HeatMap::Step& step = map.steps.emplace_back();
    step.begin = TimePoint(kBegin.time_since_epoch() + seconds(10 * i));
    const double rate = i < 10 ? 0 : 64.0 * (i - 9);
    const auto all = static_cast<float>(rate + 128);
    step.totals = {all, 0.9F * all, 0.1F * all, 0.5F * all, all, 0.6F * all, 0.001F, 0.01F, all};
    step.unnamed_max = {5, 1, 2, 0};
    const double rates[] = {rate, 32, 64, rate, rate};
    for (std::size_t j = 0; j < map.rows.size(); ++j) {
      map.rows[j].mean.push_back(heat::code_of(rates[j]));
      map.rows[j].max.push_back(heat::code_of(rates[j]));
      map.rows[j].writes.push_back(0);
      map.rows[j].hits.push_back(heat::code_of(rates[j] / 2));
      map.rows[j].bytes.push_back(0);
    }
  }
  return map;
}

HotkeysView now_of(const std::string& upstream) {
  HotkeysView view;
  view.node.upstream = upstream;
  return view;
}

TEST(Past, AMomentIsTheStepThatItIsIn) {
  const auto moment = past_moment(five_minutes(), kBegin + seconds(195), now_of("db:1"));
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->at, kBegin + seconds(190));
  const HotkeysView& view = moment->view;
  EXPECT_EQ(view.node.upstream, "db:1");
  ASSERT_EQ(view.keys.size(), 2U);
  EXPECT_EQ(view.keys[0].raw_name, "a");
  EXPECT_NEAR(view.keys[0].rate, 640, 20);
  EXPECT_NEAR(view.keys[0].hit_ratio, 0.5, 0.05);
  EXPECT_TRUE(std::isnan(view.keys[0].rate_high)) << "the history keeps no bound of it";
  EXPECT_EQ(view.keys[1].name, "b\\x1b");
  EXPECT_NEAR(view.node.offload, 0.4, 0.01);
  EXPECT_EQ(view.node.absent_max, 5);
  ASSERT_TRUE(view.templates);
  EXPECT_EQ(view.templates->list[0].raw_name, "user:*");
  EXPECT_NEAR(view.templates->rest_high, 768 - 64, 4);
  ASSERT_EQ(view.nodes.size(), 1U);
  EXPECT_EQ(view.nodes[0].upstream, "10.0.0.1:7000");
  ASSERT_EQ(view.slots.size(), 1U);
  EXPECT_EQ(view.slots[0].slot, 15495);
  EXPECT_EQ(moment->requests.size(), 20U);
  EXPECT_NEAR(moment->requests.back(), 768, 1);
  EXPECT_EQ(moment->histories.of(id_of(view.keys[0])).size(), 10U) << "since it was first seen";
}

TEST(Past, AGapIsNoMoment) {
  EXPECT_FALSE(past_moment(five_minutes(), kBegin - seconds(1), {}));
  EXPECT_TRUE(past_moment(five_minutes(), kBegin + minutes(5) + seconds(5), {}));
  EXPECT_FALSE(past_moment(five_minutes(), kBegin + minutes(6), {}));
  EXPECT_FALSE(past_moment({}, kBegin, {}));
}

TEST(Past, AnAnswerBecomesAColumn) {
  HotkeysView view = sample_answer();
  view.node.absent_max = 4;
  const heat::Moment moment = moment_of(view, TimePoint(seconds(77)));
  EXPECT_EQ(moment.at, TimePoint(seconds(77)));
  EXPECT_NEAR(moment.totals.requests, view.node.requests_rate, 1);
  EXPECT_TRUE(std::isnan(moment.totals.node_commands)) << "one server";
  ASSERT_EQ(moment.items.size(), view.keys.size());
  EXPECT_EQ(moment.items[0].identity.name, "product:1000:price");
  EXPECT_DOUBLE_EQ(moment.items[0].rate, view.keys[0].rate);
  EXPECT_EQ(moment.unnamed_max[0], 4);
}

TEST(Past, RowsOfAColumnSumToItsTotalWhateverTimeTheRequestsAreOf) {
  HotkeysView view = sample_answer();
  view.node.requests_rate /= 3;  // between two windows of the source
  EXPECT_NEAR(moment_of(view, TimePoint(seconds(77))).totals.requests, 42'110, 1);
  view.keys.clear();
  EXPECT_DOUBLE_EQ(moment_of(view, TimePoint(seconds(77))).totals.requests,
                   view.node.requests_rate);
}

TEST(Past, TheBusiestOfManyKeysAreNamedAndTheNextOneIsTheBound) {
  HotkeysView view;
  for (int i = 0; i < 100; ++i)
    view.keys.push_back(sample_key(std::to_string(i), 1000 - i, "warm"));
  const heat::Moment moment = moment_of(view, TimePoint(seconds(77)));
  EXPECT_EQ(moment.items.size(), heat::kPerMoment[0]);
  EXPECT_EQ(moment.unnamed_max[0], 1000 - 64);
}

TEST(Past, ItsOwnAnswersCanBeReadBack) {
  heat::History history;
  for (int second = 100; second < 110; ++second)
    history.add(moment_of(sample_answer(), TimePoint(seconds(second))));
  const heat::HeatMap map =
      history.read({.from = TimePoint(seconds(90)), .to = TimePoint(seconds(120))});
  const auto moment = past_moment(map, WallTime(seconds(105)), sample_answer());
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->at, WallTime(seconds(105)));
  EXPECT_EQ(moment->view.keys[0].name, "product:1000:price");
}

class PastScreen : public testing::Test {
 protected:
  PastScreen() {
    setenv("TZ", "UTC", 1);
    tzset();
    model_.answered(sample_answer());
    model_.clock = kBegin + minutes(5);
  }
  ~PastScreen() override { unsetenv("TZ"); }

  void press(int key) { EXPECT_TRUE(pressed(model_, key, {80, 24})); }
  void show(WallTime at) { model_.show_past(*past_moment(five_minutes(), at, *model_.view)); }
  std::string picture() const { return draw_top(model_, {80, 24}, kNow).text(); }

  TopModel model_{"127.0.0.1:6390", seconds(1)};
};

TEST_F(PastScreen, In80x24) {
  show(kBegin + seconds(195));
  EXPECT_EQ(picture(),
            R"(Hot keys of 127.0.0.1:6379 at 12:03:10   1m50s ago   mean of 10s
requests 768/s   reads 691/s   writes 77/s   hit ratio 55.6 %   misses 307/s
LOAD TAKEN OFF the server: 40.0 %   307/s
requests                                        ▂▂▂▂▂▂▂▂▂▂▃▃▄▅▅▆▆▇▇█ max 768/s
hits                                            ▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▄▄▄▅ same scale

2 keys; one that is not listed had at most 5/s   by rate ▼
# KEY   RATE/s ERR  SHARE RD/s WR/s   HITS STATE SINCE BYTES/s MISS/s WHY
1 a        645   - 84.0 %  645    0 50.0 %                   -    323
2 b\x1b     32   -  4.2 %   32    0 50.0 %                   -     16













 q quit  h help  [ ] 10s back, on  { } 10min  Esc now  Enter open  s sort
)");
}

TEST_F(PastScreen, BracketsStepThroughTimeAndTheirEndIsNow) {
  press('[');
  EXPECT_EQ(model_.choices.at, model_.clock - seconds(10));
  press('{');
  EXPECT_EQ(model_.choices.at, model_.clock - seconds(610));
  press('}');
  press(']');
  EXPECT_FALSE(model_.choices.at);
  press(']');
  EXPECT_FALSE(model_.choices.at) << "there is nothing after now";
}

TEST_F(PastScreen, EscapeGoesBackToNow) {
  press('[');
  press(tui::kEscape);
  EXPECT_FALSE(model_.choices.at);
}

TEST_F(PastScreen, AnswersGoOnAndAreShownWhenItIsOver) {
  show(kBegin + seconds(195));
  HotkeysView later = sample_answer();
  later.node.requests_rate = 777;
  model_.answered(later);
  EXPECT_NEAR(model_.view->node.requests_rate, 768, 1) << "the past stays";
  EXPECT_EQ(model_.requests.back(), 777) << "the curve of now goes on";
  model_.show_now();
  EXPECT_EQ(model_.view->node.requests_rate, 777);
  EXPECT_THAT(picture(), Not(HasSubstr("ago")));
}

TEST_F(PastScreen, AGapSaysThatNothingWasCounted) {
  model_.show_gap(kBegin + minutes(1));
  EXPECT_THAT(picture(), HasSubstr("at 12:01:00   4m00s ago"));
  EXPECT_THAT(picture(), HasSubstr("nothing was counted then"));
}

TEST_F(PastScreen, AKeyIsOpenedThenToo) {
  show(kBegin + seconds(195));
  press(tui::kEnter);
  const std::string shown = picture();
  EXPECT_THAT(shown, HasSubstr("key       a (db 0)"));
  EXPECT_THAT(shown, HasSubstr("at least 645/s"));
  EXPECT_THAT(shown, HasSubstr("10 steps of 10s"));
  show(kBegin + seconds(45));
  EXPECT_THAT(picture(), HasSubstr("at most 5/s: it was not among the busiest then"));
}

TEST_F(PastScreen, NodesAndSlotsAreThoseOfThen) {
  show(kBegin + seconds(195));
  press('n');
  EXPECT_THAT(picture(), HasSubstr("10.0.0.1:7000"));
  EXPECT_THAT(picture(), Not(HasSubstr("copies")));
  press('l');
  EXPECT_THAT(picture(), HasSubstr("15495"));
}

TEST_F(PastScreen, WhyAMomentCannotBeShown) {
  model_.past_problem = "status 404";
  EXPECT_THAT(picture(), HasSubstr("that moment cannot be shown: status 404"));
  press('[');
  EXPECT_EQ(model_.past_problem, "");
}

}  // namespace
}  // namespace heatsink::app
