// SPDX-License-Identifier: Apache-2.0
// The pages behind the table, as they stand in a terminal of 80 x 24 and in wider ones.
#include "apps/heatsink/top/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top/sample_for_test.h"
#include "apps/heatsink/top/screen.h"

namespace heatsink::app {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

HotkeysView detailed_answer() {
  HotkeysView view = sample_answer();
  KeyView& key = view.keys[0];
  key.reason = "21000/s >= hot-qps auto=421 (49.9 % of traffic)";
  key.max_staleness = seconds(1);
  key.value_bytes = Bytes{118};
  return view;
}

TopModel watched(const HotkeysView& view) {
  TopModel model("127.0.0.1:6390", seconds(1));
  for (int i = 1; i <= 40; ++i) {
    HotkeysView answer = view;
    if (!answer.keys.empty()) answer.keys[0].rate *= i / 40.0;
    model.answered(answer);
  }
  return model;
}

TopModel on_key(const HotkeysView& view) {
  TopModel model = watched(view);
  model.open_key = OpenKey{model.view->keys[0]};
  model.choices.page = Page::kKey;
  return model;
}

std::string picture(const TopModel& model, tui::Size size = {80, 24}) {
  return draw_top(model, size, kNow).text();
}

HotkeysView cluster_answer() {
  HotkeysView view = sample_answer();
  view.cluster = true;
  view.nodes = {view.node, view.node, view.node};
  const double parts[] = {0.7, 0.2, 0.1};
  for (std::size_t i = 0; i < 3; ++i) {
    NodeView& node = view.nodes[i];
    node.upstream = "10.0.0." + std::to_string(i + 1) + ":6379";
    node.requests_rate *= parts[i];
    node.reads_rate *= parts[i];
    node.writes_rate *= parts[i];
    node.replicas = 1;
  }
  view.nodes[2].upstream_up = false;
  for (std::size_t i = 0; i < view.keys.size(); ++i) view.keys[i].node = view.nodes[i % 2].upstream;
  return view;
}

TEST(TopPages, AKeyIn80x24) {
  EXPECT_EQ(picture(on_key(detailed_answer())),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

key       product:1000:price (db 0)
state     hot, with a local copy at most 1s stale; for 3m12s
why       21000/s >= hot-qps auto=421 (49.9 % of traffic)
rate      21.0k/s ±12; 49.9 % of all accesses; over 10s
history   ▁▁▂▂▂▂▂▂▃▃▃▃▃▃▄▄▄▄▄▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇███ max 21.0k/s
          40 answers, one every 1s
reads     20.8k/s: 20.6k/s hits (99.0 %), 210/s misses
writes    210/s
bytes     2.5MB/s
commands  GET 99.0 %, SET 1.0 %
clients   10.0.0.7 63.2 %, 10.0.0.8 36.8 %
value     longest reply 118 B
place     127.0.0.1:6379

done      local copies: they answer 99.0 % of its reads, which takes off 98.0 %
          of its load on the server (48.9 % of the node's requests)
helps     copies by age: takes off 50.0 % of its load on the server (0.5 % of
          the node's requests); kept for 10s: 448 B in each of 2 processes; up
          to 10s stale; needs code
            #include <heatsink/client.h>
            auto config = heatsink::ClientOptions().with("cache.expire-after-wri
 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, AKeyIn120x40) {
  EXPECT_EQ(picture(on_key(detailed_answer()), {120, 40}),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

key       product:1000:price (db 0)
state     hot, with a local copy at most 1s stale; for 3m12s
why       21000/s >= hot-qps auto=421 (49.9 % of traffic)
rate      21.0k/s ±12; 49.9 % of all accesses; over 10s
history   ▁▁▂▂▂▂▂▂▃▃▃▃▃▃▄▄▄▄▄▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇███ max 21.0k/s
          40 answers, one every 1s
reads     20.8k/s: 20.6k/s hits (99.0 %), 210/s misses
writes    210/s
bytes     2.5MB/s
commands  GET 99.0 %, SET 1.0 %
clients   10.0.0.7 63.2 %, 10.0.0.8 36.8 %
value     longest reply 118 B
place     127.0.0.1:6379

done      local copies: they answer 99.0 % of its reads, which takes off 98.0 % of its load on the server (48.9 % of the
          node's requests)
helps     copies by age: takes off 50.0 % of its load on the server (0.5 % of the node's requests); kept for 10s: 448 B
          in each of 2 processes; up to 10s stale; needs code
            #include <heatsink/client.h>
            auto config = heatsink::ClientOptions().with("cache.expire-after-write", "10s").value();
            heatsink::Client client(config);
            client.get("product:1000:price", load);
helps     copies by age: takes off 49.5 % of its load on the server (0.5 % of the node's requests); kept for 1s: 448 B
          in each of 2 processes; up to 1s stale; needs code
            #include <heatsink/client.h>
            auto config = heatsink::ClientOptions().with("cache.expire-after-write", "1s").value();
            heatsink::Client client(config);
            client.get("product:1000:price", load);
no use    gathered writes: takes off 3.6 % of its load on the server (0.0 % of the node's requests); 195 of 210 writes a
          second reach the server, each up to 2ms later
no use    warming: takes off nothing more now; before the next rush it loads the key and keeps it
            heatsink warm --for 30m 'product:1000:price'
no use    the library: costs the server 94.4 % more than now; a copy in each of at least 2 processes, and no round trip;
          needs code
no use    one read at expiry: no TTL is known for it, so there is no stampede when it ends
no use    stale-while-error: takes no load off, but keeps a hot key readable while the server cannot be reached
            rules:
 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, AWriteHotKeyOfACluster) {
  HotkeysView view = cluster_answer();
  view.keys.erase(view.keys.begin(), view.keys.begin() + 2);
  view.keys[0].cache_note = "it has too many writes for its reads";
  view.keys[0].type = "string";
  view.keys[0].encoding = "int";
  view.keys[0].value_bytes = Bytes{8};
  view.keys[0].never_expires = true;
  EXPECT_EQ(picture(on_key(view)),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

key       counter:visits (db 0)
state     write-hot, without a local copy: it has too many writes for its reads;
          for 3m12s
why       above the threshold of this node
rate      3.5k/s ±12; 8.3 % of all accesses; over 10s
history   ▁▁▂▂▂▂▂▂▃▃▃▃▃▃▄▄▄▄▄▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇███ max 3.5k/s
          40 answers, one every 1s
reads     1.0k/s: 0/s hits (0 %), 1.0k/s misses
writes    2.5k/s
bytes     420kB/s
commands  INCR 71.4 %, GET 28.6 %
clients   10.0.0.7 63.2 %, 10.0.0.8 36.8 %
value     8 B, type string, encoding int, no TTL
place     10.0.0.1:6379, slot 15662

helps     gathered writes: takes off 57.2 % of its load on the server (6.8 % of
          the node's requests); 499 of 2500 writes a second reach the server,
          each up to 2ms later
            rules:
              - match: "counter:visits"
                coalesce: 2ms
 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, TheHelpFitsInEightyColumns) {
  const tui::Screen wide = draw_help_page(200);
  for (int row = 0; row < wide.size().height; ++row)
    for (int column = 80; column < 200; ++column)
      ASSERT_EQ(wide.at(column, row).glyph, " ") << "line " << row;
}

TEST(TopPages, WhatDoesNotFitIsScrolledTo) {
  TopModel model = on_key(detailed_answer());
  model.choices.scroll = 4;
  EXPECT_THAT(picture(model), Not(HasSubstr("why")));
  model.choices.scroll = 1000;
  EXPECT_THAT(picture(model), HasSubstr("a limit"));
}

TEST(TopPages, AKeyThatIsNoLongerListedSaysSo) {
  TopModel model = on_key(detailed_answer());
  HotkeysView view = detailed_answer();
  view.keys.erase(view.keys.begin());
  model.answered(view);
  EXPECT_THAT(picture(model), HasSubstr("no longer listed"));
}

TEST(TopPages, NodesIn80x24) {
  TopModel model = watched(cluster_answer());
  model.choices.page = Page::kNodes;
  EXPECT_EQ(picture(model),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

all       requests 42.1k/s, reads 41.8k/s, writes 310/s, hits 30.0k/s, load
          taken off 71.2 %
copies    2 (4.0 KiB)

NODE          REQ/s  SHARE  RD/s WR/s KEYS IN KEYS BUSIEST KEY
10.0.0.1:6379 29.5k 70.0 % 29.3k  217    3  59.6 % product:1000:price
10.0.0.2:6379  8.4k 20.0 %  8.4k   62    2  29.5 % blob\x00\xff:\x1b[2J
10.0.0.3:6379  4.2k 10.0 %  4.2k   31    0     0 %













 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, ASingleNode) {
  TopModel model = watched(sample_answer());
  model.choices.page = Page::kNodes;
  EXPECT_EQ(picture(model, {80, 12}),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

all       requests 42.1k/s, reads 41.8k/s, writes 310/s, hits 30.0k/s, load
          taken off 71.2 %
copies    2 (4.0 KiB)

NODE           REQ/s SHARE  RD/s WR/s KEYS IN KEYS BUSIEST KEY
127.0.0.1:6379 42.1k 100 % 41.8k  310    5  89.1 % product:1000:price



 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

// At 80 columns the table has room for their beginnings only.
TEST(TopPages, WhatASourceCostsAndDoesNotSeeIsToldWhole) {
  HotkeysView view = sample_answer();
  view.sources = {{"lfu", "running", "SCAN and OBJECT FREQ of at most 10000 keys/s",
                   "differences between rates above 30/s; the last minutes (keys that were hot "
                   "before still show); reads and writes; clients",
                   "no key had more than its upper bound (99 %)", "3 of 4 masters looked at", 0.4}};
  view.cross_check = {"product:1000:price: lfu says 30/s, slots 21.0k/s"};
  TopModel model = watched(view);
  model.choices.page = Page::kSources;
  EXPECT_THAT(picture(model, {80, 14}), HasSubstr(R"(
source    lfu, running, 40.0 %
costs     SCAN and OBJECT FREQ of at most 10000 keys/s
blind to  differences between rates above 30/s; the last minutes (keys that were
          hot before still show); reads and writes; clients
bounds    no key had more than its upper bound (99 %)
now       3 of 4 masters looked at

differ    product:1000:price: lfu says 30/s, slots 21.0k/s
)"));
  model.choices.page = Page::kKeys;
  model.observed = true;
  model.view->sources[0].confidence = std::string(100, 'x');
  model.view->cross_check.clear();
  EXPECT_THAT(picture(model, {80, 14}), HasSubstr("\n" + std::string(79, 'x') + "…\n"));
  EXPECT_THAT(picture(watched(sample_answer()), {80, 14}), Not(HasSubstr("source")));
}

TEST(TopPages, OfAProxyTheSourceIsTheProxy) {
  TopModel model = watched(sample_answer());
  model.choices.page = Page::kSources;
  EXPECT_THAT(picture(model, {80, 14}), HasSubstr("source    the proxy or the library itself"));
}

TEST(TopPages, SlotsFollowFromTheKeys) {
  HotkeysView view = cluster_answer();
  view.keys.push_back(sample_key("{product:1000:price}:stock", 700, "warm"));  // the first's slot
  view.keys.back().node = view.keys[0].node;
  TopModel model = watched(view);
  model.choices.page = Page::kSlots;
  EXPECT_EQ(picture(model, {80, 14}),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

slots     sums of the 6 listed keys, busiest first; keys that are not warm are
          missing

 SLOT RATE/s  SHARE  RD/s WR/s KEYS BUSIEST KEY          NODE
14253  21.7k 51.5 % 21.5k  217    2 product:1000:price   10.0.0.1:6379
16155   9.0k 21.4 %  8.9k   90    1 blob\x00\xff:\x1b[2J 10.0.0.2:6379
15662   3.5k  8.3 %  1.0k 2.5k    1 counter:visits       10.0.0.1:6379
 3618   3.4k  8.1 %  3.4k   34    1 größe:日本           10.0.0.2:6379
 9393    612  1.5 %   606  6.1    1 user:1002:profile    10.0.0.1:6379


 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, SlotsOfAServerThatIsNoClusterSaySo) {
  TopModel model = watched(sample_answer());
  model.choices.page = Page::kSlots;
  EXPECT_THAT(picture(model), HasSubstr("this server is not a cluster"));
}

TEST(TopPages, SlotsThatTheServerCounts) {
  HotkeysView view = cluster_answer();
  view.slots = {{.slot = 7, .node = "10.0.0.3:6379", .keys = 40, .cpu_share = 0.01},
                {.slot = 14253,
                 .node = "10.0.0.1:6379",
                 .keys = 2000,
                 .cpu_share = 0.6,
                 .bytes_rate = 30'000}};
  TopModel model = watched(view);
  model.choices.page = Page::kSlots;
  EXPECT_EQ(picture(model, {80, 9}),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

slots     counted by the servers, busiest first; CPU: share of its node's CPU

 SLOT    CPU BYTES/s KEYS IN KEYS/s BUSIEST KEY        NODE
14253 60.0 %   30.0k 2.0k     21.0k product:1000:price 10.0.0.1:6379
    7  1.0 %       -   40                              10.0.0.3:6379

 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, SlotsThatAScanHasSummed) {
  HotkeysView view = cluster_answer();
  view.slots = {{.slot = 7, .node = "10.0.0.3:6379", .keys = 20'000, .rate = 3667},
                {.slot = 14253, .node = "10.0.0.1:6379", .keys = 2000, .rate = 43'210}};
  TopModel model = watched(view);
  model.choices.page = Page::kSlots;
  EXPECT_EQ(picture(model, {80, 10}),
            R"(Hot keys of 127.0.0.1:6379 up   coherence up   clients 50   running 1h02m

slots     sums of the estimates of all scanned keys, busiest first. Use them to
          compare slots; a slot with many cold keys is shown too high

 SLOT RATE/s  KEYS IN KEYS/s BUSIEST KEY        NODE
14253  43.2k  2.0k     21.0k product:1000:price 10.0.0.1:6379
    7   3.7k 20.0k                              10.0.0.3:6379

 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
  view.slots[0].cpu_share = 0.25;  // as soon as one slot has it
  model = watched(view);
  model.choices.page = Page::kSlots;
  EXPECT_THAT(picture(model), HasSubstr(" SLOT RATE/s    CPU  KEYS IN KEYS/s"));
}

// Some nodes may not be observed; their load is shown all the same.
TEST(TopPages, NodesOfAnObservedCluster) {
  HotkeysView view = cluster_answer();
  view.sources.emplace_back();
  view.sources[0].name = "monitor";
  view.sources[0].state = "running";
  view.nodes[1].is_watched = false;
  view.nodes[1].requests_rate = kUnknown;
  view.nodes[2].trouble = "Connection refused";
  std::erase_if(view.keys, [&](const KeyView& key) { return key.node != view.nodes[0].upstream; });
  TopModel model = watched(view);
  model.observed = true;
  model.choices.page = Page::kNodes;
  EXPECT_EQ(picture(model, {80, 11}),
            R"(Hot keys of 127.0.0.1:6379 up   source monitor   watched 1h02m   masters 2/3

all       requests 33.7k/s, reads 41.8k/s, writes 310/s
down      10.0.0.3:6379: Connection refused

NODE          REQ/s  SHARE  RD/s WR/s KEYS IN KEYS BUSIEST KEY
10.0.0.1:6379 29.5k 87.5 % 29.3k  217    3  74.5 % product:1000:price
10.0.0.2:6379     -      -  8.4k   62    -       -
10.0.0.3:6379  4.2k 12.5 %  4.2k   31    0     0 %

 q quit  h help  p pause  Esc back  arrows, PgUp, PgDn scroll  n nodes  l slots
)");
}

TEST(TopPages, HelpIn80x24) {
  TopModel model = watched(sample_answer());
  model.choices.page = Page::kHelp;
  const std::string shown = picture(model);
  EXPECT_THAT(shown, HasSubstr("write-hot: written so much that a copy would cost more"));
  EXPECT_THAT(shown, HasSubstr("\nq, Ctrl-C  quit\n"));
  EXPECT_THAT(shown, Not(HasSubstr("counter:visits")));
}

TEST(TopPages, HelpIsThereBeforeTheFirstAnswer) {
  TopModel model("127.0.0.1:6390", seconds(1));
  model.choices.page = Page::kHelp;
  EXPECT_THAT(picture(model), HasSubstr("RATE/s"));
  model.choices.page = Page::kSlots;
  EXPECT_THAT(picture(model), HasSubstr("asking http://"));
}

TEST(TopPages, SilenceIsToldOnEveryPage) {
  for (const Page page : kAllPages) {
    TopModel model = on_key(sample_answer());
    model.choices.page = page;
    model.failed("Connection refused", kNow - seconds(12));
    EXPECT_THAT(picture(model), HasSubstr("NO ANSWER from http://127.0.0.1:6390 for 12s"));
  }
}

TEST(TopPages, HostileNamesMoveNothing) {
  const std::string hostile = "\x1b]0;owned\x07\r\n\u202E";
  HotkeysView view = cluster_answer();
  for (NodeView& node : view.nodes) node.upstream = hostile;
  KeyView& key = view.keys[0];
  key.name = key.raw_name = key.verdict = key.reason = key.rule = key.node = hostile;
  key.type = key.encoding = key.level = key.cache_note = hostile;
  key.commands[0].name = key.clients[0].name = hostile;
  TopModel model = on_key(view);
  model.view->sources = {{hostile, hostile, hostile, hostile, hostile, hostile, kUnknown}};
  for (const Page page : kAllPages) {
    model.choices.page = page;
    const std::string shown = picture(model, {100, 40});
    for (const char c : shown) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    EXPECT_THAT(shown, Not(HasSubstr("\u202E")));
  }
}

TEST(TopPages, MoreRowsThanAScreenCanHoldAreCut) {
  HotkeysView view;
  for (std::uint16_t slot = 0; slot < 16384; ++slot)
    view.slots.push_back({.slot = slot, .node = "", .cpu_share = 1.0 / (slot + 1)});
  EXPECT_EQ(draw_slots_page(view, 80).size().height, tui::Screen::kSideMax);
}

}  // namespace
}  // namespace heatsink::app
