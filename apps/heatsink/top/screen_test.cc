// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top/sample_for_test.h"
#include "heatsink/tui/tui.h"

namespace heatsink::app {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TopModel busy() {
  TopModel model("127.0.0.1:6390", seconds(1));
  for (int i = 1; i <= 30; ++i) {
    HotkeysView answer = sample_answer();
    answer.node.requests_rate *= i / 30.0;
    answer.node.hits_rate *= (i > 10 ? i - 10 : 0) / 20.0;
    answer.keys[0].rate *= std::min(0.2 + 0.1 * (i - 22), 1.0);
    if (i < 27) answer.keys[2].rate *= 0.3 + 0.1 * (i % 5);
    model.answered(answer);
  }
  return model;
}

TopModel quiet() {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.keys.clear();
  answer.headline = "nothing is hot: no key reaches 3000/s (detection.hot-qps)";
  model.answered(answer);
  return model;
}

TEST(TopScreen, BusyIn80x24) {
  EXPECT_EQ(draw_top(busy(), {80, 24}, kNow).text(),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m
requests 42.1k/s   reads 41.8k/s   writes 310/s   hit ratio 71.8 %
LOAD TAKEN OFF the server: 71.2 %   30.0k/s   local copies 2 (4.0 KiB)
requests                              ▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▅▆▆▆▆▇▇▇▇███ max 42.1k/s
hits                                  ▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆ same scale

hot 3, write-hot 1, warm 1   by rate ▼   per second over 10s
# KEY                  RATE/s    TREND ERR  SHARE  RD/s WR/s   HITS STATE
1 product:1000:price    21.0k ▃▄▅▅▆▇▇█ ±12 49.9 % 20.8k  210 99.0 % cached
2 blob\x00\xff:\x1b[2J   9.0k ████████ ±12 21.4 %  8.9k   90 99.0 % cached
3 counter:visits         3.5k ▅▆▃▄████ ±12  8.3 %  1.0k 2.5k    0 % write-hot
4 größe:日本             3.4k ████████ ±12  8.1 %  3.4k   34    0 % hot: value …
5 user:1002:profile       612 ████████ ±12  1.5 %   606  6.1    0 % warm









1: GET 99.0 %, SET 1.0 %   from 10.0.0.7 63.2 %, 10.0.0.8 36.8 %
 q quit  h help  p pause  Enter open  / filter  s sort  t templates  n nodes
)");
}

TEST(TopScreen, WhatClientsKeepHasAColumn) {
  EXPECT_THAT(draw_top(busy(), {120, 40}, kNow).text(), Not(HasSubstr("KEPT")));
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.keys[1].kept_by = 40;
  model.answered(answer);
  const std::string text = draw_top(model, {120, 40}, kNow).text();
  EXPECT_THAT(text, HasSubstr(" HITS KEPT STATE"));
  EXPECT_THAT(text, HasSubstr("99.0 %   40 cached"));
}

TEST(TopScreen, BusyIn120x40) {
  EXPECT_EQ(draw_top(busy(), {120, 40}, kNow).text(),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m
requests 42.1k/s   reads 41.8k/s   writes 310/s   hit ratio 71.8 %   misses 11.8k/s
LOAD TAKEN OFF the server: 71.2 %   30.0k/s   local copies 2 (4.0 KiB)
requests                                                                      ▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▅▆▆▆▆▇▇▇▇███ max 42.1k/s
hits                                                                          ▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆ same scale

hot 3, write-hot 1, warm 1   by rate ▼   per second over 10s
# KEY                RATE/s    TREND ERR  SHARE  RD/s WR/s   HITS STATE                                            SINCE
1 product:1000:price  21.0k ▃▄▅▅▆▇▇█ ±12 49.9 % 20.8k  210 99.0 % cached                                           3m12s
2 blob\x00\xff:\x1b…   9.0k ████████ ±12 21.4 %  8.9k   90 99.0 % cached                                           3m12s
3 counter:visits       3.5k ▅▆▃▄████ ±12  8.3 %  1.0k 2.5k    0 % write-hot                                        3m12s
4 größe:日本           3.4k ████████ ±12  8.1 %  3.4k   34    0 % hot: value larger than cache.maximum-value-bytes 3m12s
5 user:1002:profile     612 ████████ ±12  1.5 %   606  6.1    0 % warm                                             3m12s

























1: GET 99.0 %, SET 1.0 %   from 10.0.0.7 63.2 %, 10.0.0.8 36.8 %
 q quit  h help  p pause  Enter open  / filter  s sort  t templates  n nodes  l slots
)");
}

TEST(TopScreen, NothingIsHot) {
  EXPECT_EQ(draw_top(quiet(), {80, 24}, kNow).text(),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m
requests 42.1k/s   reads 41.8k/s   writes 310/s   hit ratio 71.8 %
LOAD TAKEN OFF the server: 71.2 %   30.0k/s   local copies 2 (4.0 KiB)
requests                                                           █ max 42.1k/s
hits                                                               ▆ same scale

nothing is hot: no key reaches 3000/s (detection.hot-qps)
















 q quit  h help  p pause  Enter open  / filter  s sort  t templates  n nodes
)");
}

TEST(TopScreen, NoAnswerYet) {
  TopModel model("127.0.0.1:6390", seconds(1));
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(),
              HasSubstr("asking http://127.0.0.1:6390 ...\n"));
  model.failed("Connection refused", kNow - seconds(12));
  EXPECT_EQ(draw_top(model, {80, 24}, kNow).text(), R"(heatsink top

NO ANSWER from http://127.0.0.1:6390 for 12s: Connection refused

Is 'heatsink proxy' running, with --admin 127.0.0.1:6390?
Trying again every 1s.

















 q quit  h help  p pause  Enter open  / filter  s sort  t templates  n nodes
)");
}

TEST(TopScreen, SilentAfterAnAnswerKeepsTheLastPicture) {
  TopModel model = busy();
  model.failed("Connection refused", kNow - seconds(12));
  EXPECT_EQ(draw_top(model, {80, 24}, kNow).text(),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m
requests 42.1k/s   reads 41.8k/s   writes 310/s   hit ratio 71.8 %
LOAD TAKEN OFF the server: 71.2 %   30.0k/s   local copies 2 (4.0 KiB)
requests                              ▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▅▆▆▆▆▇▇▇▇███ max 42.1k/s
hits                                  ▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆ same scale
NO ANSWER from http://127.0.0.1:6390 for 12s: Connection refused
hot 3, write-hot 1, warm 1   by rate ▼   per second over 10s
# KEY                  RATE/s    TREND ERR  SHARE  RD/s WR/s   HITS STATE
1 product:1000:price    21.0k ▃▄▅▅▆▇▇█ ±12 49.9 % 20.8k  210 99.0 % cached
2 blob\x00\xff:\x1b[2J   9.0k ████████ ±12 21.4 %  8.9k   90 99.0 % cached
3 counter:visits         3.5k ▅▆▃▄████ ±12  8.3 %  1.0k 2.5k    0 % write-hot
4 größe:日本             3.4k ████████ ±12  8.1 %  3.4k   34    0 % hot: value …
5 user:1002:profile       612 ████████ ±12  1.5 %   606  6.1    0 % warm









1: GET 99.0 %, SET 1.0 %   from 10.0.0.7 63.2 %, 10.0.0.8 36.8 %
 q quit  h help  p pause  Enter open  / filter  s sort  t templates  n nodes
)");
}

TEST(TopScreen, StaleReadsStandAtTheTop) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.node.stale_confirmed = 2;
  model.answered(answer);
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(),
              HasSubstr("coherence up   STALE READS 2   clients 50"));
}

TEST(TopScreen, WithoutCoherenceItSaysWhyNothingIsServedLocally) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.node.upstream_up = false;
  answer.node.coherence = "the server refuses CLIENT TRACKING";
  model.answered(answer);
  const std::string picture = draw_top(model, {80, 24}, kNow).text();
  EXPECT_THAT(picture, HasSubstr("127.0.0.1:6379 DOWN   coherence DOWN"));
  EXPECT_THAT(picture,
              HasSubstr("\nnot serving local copies: the server refuses CLIENT TRACKING\n"));
}

TEST(TopScreen, CopiesThatAreTurnedOffAreNoFault) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.node.coherence = "off (cache.enabled is false)";
  model.answered(answer);
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(),
              HasSubstr("127.0.0.1:6379 up   coherence off   clients 50"));
}

TEST(TopScreen, AHostileAnswerPutsNoControlByteOnTheScreen) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  const std::string hostile = "\x1b]0;owned\x07\r\n\u202E";
  answer.node.upstream = answer.node.coherence = hostile;
  answer.keys[0].name = answer.keys[0].verdict = answer.keys[0].reason = hostile;
  answer.keys[0].rule = answer.keys[0].commands[0].name = answer.headline = hostile;
  model.answered(answer);
  model.failed(hostile, kNow);
  const std::string text = draw_top(model, {200, 40}, kNow).text() + frame_text(model, kNow);
  for (const char c : text) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  for (const char c : summary_text(model, seconds(1)))
    ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(TopScreen, AnySizeIsDrawn) {
  TopModel model = busy();
  model.open_key = OpenKey{sample_key("k", 5000, "hot")};
  for (const Page page : kAllPages) {
    model.choices.page = page;
    for (int width : {1, 2, 5, 20, 79, 81, 300}) {
      for (int height : {1, 2, 7, 8, 9, 10, 60}) {
        EXPECT_EQ(draw_top(model, {width, height}, kNow).size(), (tui::Size{width, height}));
      }
    }
  }
}

TEST(TopScreen, KeysPressedShow) {
  TopModel model = busy();
  model.choices.paused = true;
  model.choices.rows.order.by = SortBy::kWrites;
  const std::string picture = draw_top(model, {80, 24}, kNow).text();
  EXPECT_THAT(picture, HasSubstr("PAUSED, p resume  Enter open"));
  EXPECT_THAT(picture, HasSubstr("\n1 counter:visits "));
  model.choices.page = Page::kHelp;
  const std::string help = draw_top(model, {80, 24}, kNow).text();
  EXPECT_THAT(help, HasSubstr("quit\n"));
  EXPECT_THAT(help, Not(HasSubstr("counter:visits")));
}

TEST(TopScreen, CountedTemplatesAndTheRest) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  KeyView user;
  user.name = user.raw_name = "user:*:profile";
  user.dimension = "requests";
  user.rate = user.rate_low = user.rate_high = user.reads_rate = 14'000;
  user.share = 0.332;
  answer.templates = TemplatesView{{user}, 150, 421.1};
  model.answered(answer);
  const auto shown = [&] { return draw_top(model, {80, 24}, kNow).text(); };
  EXPECT_THAT(shown(), Not(HasSubstr("in no listed template")));
  model.choices.rows.templates = true;
  EXPECT_THAT(shown(), HasSubstr("user:*:profile"));
  EXPECT_THAT(shown(), HasSubstr("14.0k"));
  EXPECT_THAT(shown(),
              HasSubstr("\nin no listed template: 150/s to 421/s (1.0 % of all)\n q quit"));
  const std::string frame = frame_text(model, kNow);
  for (const TopRow& row : model.rows().rows)
    EXPECT_THAT(frame, HasSubstr(row.key->name)) << "the last line takes no row's place";
  model.choices.rows.group = id_of(user);
  EXPECT_THAT(shown(), Not(HasSubstr("in no listed template")));
}

TEST(TopScreen, BytesSaySoAndTheRuleIsNamed) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  answer.keys.resize(1);
  answer.keys[0].dimension = "bytes";
  answer.keys[0].rule = "product:*";
  answer.keys[0].rate = answer.keys[0].rate_high = 52.4e6;
  answer.keys[0].rate_low = 51.2e6;
  model.answered(answer);
  const std::string picture = draw_top(model, {80, 24}, kNow).text();
  EXPECT_THAT(picture, HasSubstr("product:1000:price 52.4MB ±1.2MB 49.9 % 20.8k  210"));
  EXPECT_THAT(picture, HasSubstr("\n1 (rule product:*): GET 99.0 %, SET 1.0 %   from 10.0.0.7"));
}

TEST(TopScreen, DetailGivesWayToKeys) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  while (answer.keys.size() < 14) answer.keys.push_back(sample_key("k", 600, "warm"));
  model.answered(answer);
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(), Not(HasSubstr("from 10.0.0.7")));
}

TEST(TopScreen, StatesHaveColours) {
  const tui::Screen screen = draw_top(busy(), {80, 24}, kNow);
  EXPECT_TRUE(screen.at(2, 8).style.reverse) << "the cursor";
  EXPECT_EQ(screen.at(2, 9).style.color, tui::Color::kGreen);
  EXPECT_EQ(screen.at(2, 10).style.color, tui::Color::kMagenta);
  EXPECT_EQ(screen.at(2, 11).style.color, tui::Color::kRed);
  EXPECT_TRUE(screen.at(79, 23).style.reverse);
}

TEST(TopFrame, HasNoFooterAndOnlyTheRowsItNeeds) {
  TopModel model = busy();
  model.choices.rows.limit = 2;
  const std::string frame = frame_text(model, kNow);
  EXPECT_THAT(frame, HasSubstr("\n2 blob"));
  EXPECT_THAT(frame, Not(HasSubstr("counter")));
  EXPECT_THAT(frame, Not(HasSubstr("q quit")));
  EXPECT_TRUE(frame_text(quiet(), kNow).ends_with("(detection.hot-qps)\n"));
}

TEST(TopSummary, NamesTheKeysAndTheLoadTakenOff) {
  EXPECT_EQ(
      summary_text(busy(), seconds(30)),
      "heatsink top: watched 127.0.0.1:6379 for 30s. 4 keys were hot: product:1000:price "
      "(21.0k/s),\n"
      "blob\\x00\\xff:\\x1b[2J (9.0k/s), counter:visits (3.5k/s, write-hot), größe:日本 (3.4k/s). "
      "On average\n"
      "clients sent 42.1k/s and the server got 12.1k/s: 71.2 % of the load was taken off it.\n");
}

TEST(TopScreen, WhatIsCalledHotIsSaidInAWord) {
  HotkeysView view = sample_answer();
  view.node.dimension = "requests";
  view.node.hot = 3000;
  TopModel model("127.0.0.1:6390", seconds(1));
  model.answered(view);
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(),
              HasSubstr("by rate ▼   hot from 3000/s   per second over 10s\n"));
  view.sources.emplace_back();
  view.sources[0].name = "monitor";
  view.sources[0].state = "running";
  model.answered(view);
  EXPECT_THAT(draw_top(model, {80, 24}, kNow).text(), HasSubstr("   hot from 1 %   "));
}

TEST(TopSummary, IsNoWiderThanTheTerminal) {
  for (const int columns : {40, 60, 80}) {
    const std::string text = summary_text(busy(), seconds(30), columns);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(tui::display_width(text.substr(at, end - at)), columns) << text;
      at = end + 1;
    }
  }
}

TEST(TopSummary, OfAnObservedServerNoLoadIsTakenOff) {
  TopModel model = busy();
  model.observed = true;
  EXPECT_THAT(summary_text(model, seconds(30)),
              AllOf(HasSubstr("21.8k/s"), Not(HasSubstr("taken off"))));
}

TEST(TopSummary, SaysWhenThereWasNothing) {
  EXPECT_THAT(summary_text(quiet(), seconds(30)), HasSubstr("for 30s. No key was hot. On average"));
  TopModel model("127.0.0.1:6390", seconds(1));
  model.failed("Connection refused", kNow);
  EXPECT_EQ(summary_text(model, seconds(30)),
            "heatsink top: no answer from http://127.0.0.1:6390 in 30s: Connection refused\n");
}

TEST(TopSummary, ManyKeysAndLongNamesStayOneParagraph) {
  TopModel model("127.0.0.1:6390", seconds(1));
  HotkeysView answer = sample_answer();
  for (int i = 0; i < 50; ++i) {
    answer.keys.push_back(
        sample_key(std::string(1000, 'k') + std::to_string(i), 100'000 + i, "hot"));
  }
  model.answered(answer);
  const std::string summary = summary_text(model, seconds(30));
  EXPECT_LT(summary.size(), 800u);
  EXPECT_THAT(
      summary,
      HasSubstr("and 49 more"));  // 54 hot names, of which the long ones differ only past the cut
}

TEST(Frame, IsNotCutUnlessColumnsAreAsked) {
  TopModel model = quiet();
  model.view->headline = "nothing is hot: " + std::string(300, 'x') + " end";
  EXPECT_THAT(frame_text(model, kNow), HasSubstr("x end\n"));
  EXPECT_THAT(frame_text(model, kNow, 120), Not(HasSubstr("x end")));
}

}  // namespace
}  // namespace heatsink::app
