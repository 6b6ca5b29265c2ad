// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/explain_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

HotkeysView judged_answer() {
  HotkeysView view = sample_answer();
  view.node.dimension = "requests";
  view.node.hot = 3000;
  view.node.warm = 500;
  return view;
}

TEST(Explain, AListedKeyWithAdvice) {
  EXPECT_EQ(explain_text(judged_answer(), {"counter:visits", std::nullopt}),
            R"(key       counter:visits (db 0)
state     write-hot; for 3m12s
why       above the threshold of this node
rate      3.5k/s ±12; 8.3 % of all accesses; over 10s
reads     1.0k/s: 0/s hits (0 %), 1.0k/s misses
writes    2.5k/s
bytes     420kB/s
commands  INCR 71.4 %, GET 28.6 %
clients   10.0.0.7 63.2 %, 10.0.0.8 36.8 %
value     this source does not report size, type and TTL
place     127.0.0.1:6379

helps     gathered writes: takes off 57.2 % of its load on the server (4.8 % of the node's
          requests); 499 of 2500 writes a second reach the server, each up to 2ms later
            rules:
              - match: "counter:visits"
                coalesce: 2ms
helps     copies by age: takes off 28.6 % of its load on the server (2.4 % of the node's requests);
          kept for 10s: 330 B plus the value in each process that holds a copy; up to 10s stale;
          needs code
            #include <heatsink/client.h>
            auto config = heatsink::ClientOptions().with("cache.expire-after-write", "10s").value();
            heatsink::Client client(config);
            client.get("counter:visits", load);
helps     copies by age: takes off 28.5 % of its load on the server (2.4 % of the node's requests);
          kept for 1s: 330 B plus the value in each process that holds a copy; up to 1s stale; needs
          code
            #include <heatsink/client.h>
            auto config = heatsink::ClientOptions().with("cache.expire-after-write", "1s").value();
            heatsink::Client client(config);
            client.get("counter:visits", load);
helps     a limit: takes off 14.3 % of its load on the server (1.2 % of the node's requests); at
          3000/s, 500 requests a second are refused (with over: delay they wait)
            rules:
              - match: "counter:visits"
                limit: {rate: 3000/s, over: reject}
no use    local copies: costs the server 59.9 % more than now; 330 B plus the value in each process
          that holds a copy; a write by another client is seen when its invalidation arrives, after
          at most 1s
no use    warming: costs the server 59.9 % more than now; the effect of local copies, from now on
no use    the library: costs the server 74.6 % more than now; a copy in each of at least 2
          processes, and no round trip; needs code
no use    one read at expiry: no TTL is known for it, so there is no stampede when it ends
no use    stale-while-error: takes no load off, but keeps a hot key readable while the server cannot
          be reached
no use    a limit, rest stale: too many writes for its reads: a limit that lets its 2500 writes a
          second through holds nothing back
no use    a limit per client: takes off 0.0 % of its load on the server; at 2600/s for each client,
          twice the rate of the second busiest: 0 requests a second of the busiest (63.2 % of all)
          are refused
no use    leases: the key is not the state of a limit across processes
no use    window statistics: the key is not a log of samples (ZADD and ZREMRANGEBYSCORE, LPUSH and
          LTRIM)
no use    replica reads: it is not known here whether its node has replicas
no use    splitting: there is only one master, so all copies would be on the same node
no use    moving slots: there is only one master, so no other node to move it to
)");
}

TEST(Explain, OfAColdKeyWhatIsKnownAllTheSame) {
  HotkeysView view = judged_answer();
  KeyView cold = sample_key("counter:none", 3, "cold");
  cold.reason = "at most 3/s; a key is warm from 500/s";
  cold.type = "hash";
  cold.kept_by = 7;
  view.keys.push_back(cold);
  const Question question{"counter:none", std::nullopt};
  EXPECT_FALSE(is_listed(view, question));
  const std::string text = explain_text(view, question);
  EXPECT_THAT(text, HasSubstr("state     not one of the 5 hot"));
  EXPECT_THAT(text, HasSubstr("why       at most 3/s"));
  EXPECT_THAT(text, HasSubstr("value     type hash\n"));
  EXPECT_THAT(text, HasSubstr("kept by   7 clients in caches of their own"));
  const json::value out = json::parse(explain_json(view, question));
  EXPECT_FALSE(out.at("listed").as_bool());
  EXPECT_EQ(out.at("keys_listed").as_int64(), 5);
  EXPECT_EQ(out.at("rows").at(0).at("verdict").as_string(), "cold");
  EXPECT_EQ(out.at("rows").at(0).at("kept_by_clients").as_int64(), 7);
}

TEST(Explain, EachDatabaseThatHasIt) {
  HotkeysView view = judged_answer();
  view.keys.push_back(sample_key("counter:visits", 700, "warm"));
  view.keys.back().db = 3;
  const std::string both = explain_text(view, {"counter:visits", std::nullopt});
  EXPECT_THAT(both, HasSubstr("counter:visits (db 0)"));
  EXPECT_THAT(both, HasSubstr("\n\nkey       counter:visits (db 3)"));
  EXPECT_THAT(explain_text(view, {"counter:visits", 3}), Not(HasSubstr("(db 0)")));
}

TEST(Explain, BytesOfANameAreExact) {
  using namespace std::string_literals;
  EXPECT_EQ(find_rows(judged_answer(), {"blob\0\xff:\x1b[2J"s, std::nullopt}).size(), 1U);
  EXPECT_TRUE(find_rows(judged_answer(), {"blob\0"s, std::nullopt}).empty());
}

TEST(Explain, WhatIsNotListedIsBounded) {
  EXPECT_EQ(explain_text(judged_answer(), {"user:77:profile", std::nullopt}),
            R"(key       user:77:profile
state     not one of the 5 hot, write-hot or warm keys at 127.0.0.1:6379: its proven rate is at most
          500/s, unless a rule gives it other thresholds
listed    user:1002:profile (db 0, 612/s)
node      3 keys are hot, 1 key is write-hot
)");
}

TEST(Explain, WithoutAThresholdNoNumberIsInvented) {
  HotkeysView view = judged_answer();
  view.node.warm = kUnknown;
  const std::string text = explain_text(view, {"nobody", std::nullopt});
  EXPECT_THAT(text, HasSubstr("so it is below the\n          threshold for warm keys"));
  EXPECT_THAT(text, Not(HasSubstr("listed    ")));
}

TEST(Explain, WhatAKeyThatIsNotListedCanHaveIsTold) {
  HotkeysView view = judged_answer();
  view.node.absent_max = 42;
  EXPECT_THAT(explain_text(view, {"nobody", std::nullopt}), HasSubstr("most 42/s\n"));
  view.node.absent_max = kUnknown;
  view.sources.emplace_back();  // a threshold of an observed server bounds nothing
  EXPECT_THAT(explain_text(view, {"nobody", std::nullopt}), HasSubstr("is not known"));
}

HotkeysView observed_answer(double low, double rate, double high) {
  HotkeysView view = judged_answer();
  view.sources.emplace_back().name = "monitor";
  view.node.hot = 100;
  view.node.absent_max = 40;
  view.keys.push_back(sample_key("bursts", rate, "cold"));
  view.keys.back().rate_low = low;
  view.keys.back().rate_high = high;
  return view;
}

// Windows of MONITOR that fell into pauses prove neither that it is hot, nor that it is not.
TEST(Explain, AnObservedKeyIsDeniedOnlyIfThatIsProven) {
  const std::string open = explain_text(observed_answer(4, 80, 330), {"bursts", std::nullopt});
  EXPECT_THAT(open, HasSubstr("not proven yet: between 4/s and 330/s, and hot begins at 100/s"));
  EXPECT_THAT(open, Not(HasSubstr("at most 40/s")));
  EXPECT_THAT(open, HasSubstr("\nhelps     local copies: ")) << "advice comes anyway";
  const std::string cold = explain_text(observed_answer(4, 8, 30), {"bursts", std::nullopt});
  EXPECT_THAT(cold, HasSubstr("not hot: at most 30/s"));
  HotkeysView unseen = observed_answer(4, 8, 30);
  unseen.node.unseen_rate = 200;
  EXPECT_THAT(explain_text(unseen, {"bursts", std::nullopt}),
              HasSubstr("not proven yet: between 4/s and 208/s"));
  unseen.keys.back().verdict = "warm";
  unseen.keys.back().unproven = is_unproven(unseen.keys.back(), unseen.node);
  EXPECT_THAT(explain_text(unseen, {"bursts", std::nullopt}),
              HasSubstr("state     not proven yet: between 4/s and 208/s"));
  HotkeysView brief = observed_answer(4, 8, 30);
  brief.node.may_be_pause = true;
  brief.window = std::chrono::seconds(2);
  EXPECT_THAT(explain_text(brief, {"bursts", std::nullopt}),
              HasSubstr("not proven yet: up to 30/s in 2s, and hot begins at 100/s; that may"));
  EXPECT_THAT(explain_text(brief, {"nobody", std::nullopt}),
              AllOf(HasSubstr("not proven yet: not one of"), Not(HasSubstr("at most"))));
  unseen.node.absent_max = 240;
  EXPECT_THAT(explain_text(unseen, {"nobody", std::nullopt}), HasSubstr("have up to 240/s"));
}

TEST(Explain, LinesAreAsWideAsAsked) {
  const std::string wide = explain_text(judged_answer(), {"counter:visits", std::nullopt}, 1000);
  EXPECT_THAT(wide, HasSubstr("kept for 10s: 330 B plus the value in each process that holds a "
                              "copy; up to 10s stale; needs code\n"));
}

TEST(Explain, HostileNamesAreEscaped) {
  HotkeysView view = judged_answer();
  const std::string hostile = "\x1b]0;owned\x07\r\n";
  view.headline = view.node.upstream = hostile;
  view.keys[0].raw_name = view.keys[0].name = view.keys[0].reason = hostile;
  for (const std::string& asked : {hostile, std::string("nobody\n\x1b")})
    for (const char c : explain_text(view, {asked, std::nullopt}))
      ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(Explain, JsonHasTheSameNumbers) {
  const json::value out = json::parse(explain_json(judged_answer(), {"product:1000:price", 0}));
  EXPECT_EQ(out.at("key").as_string(), "product:1000:price");
  EXPECT_EQ(out.at("key_base64").as_string(), "cHJvZHVjdDoxMDAwOnByaWNl");
  EXPECT_TRUE(out.at("listed").as_bool());
  EXPECT_EQ(out.at("warm").as_int64(), 500);
  const json::value& row = out.at("rows").as_array().at(0);
  EXPECT_EQ(row.at("rate_low").as_int64(), 20'988);
  EXPECT_EQ(row.at("commands").at(0).at("name").as_string(), "GET");
  EXPECT_NEAR(row.at("commands").at(0).at("share").as_double(), 0.99, 0.001);
  EXPECT_TRUE(row.at("slot").is_null()) << "no cluster";
  EXPECT_TRUE(row.at("ttl_seconds").is_null());
  const json::value& first = row.at("advice").at("remedies").at(0);
  EXPECT_EQ(first.at("relief").as_string(), "local copies");
  EXPECT_TRUE(first.at("done").as_bool());
  EXPECT_FALSE(first.at("helps").as_bool());
  EXPECT_TRUE(first.at("lines").as_array().empty());
  EXPECT_GT(first.at("key_removed").as_double(), 0.9);
}

TEST(Explain, JsonOfAKeyThatIsNotListed) {
  const json::value out =
      json::parse(explain_json(judged_answer(), {std::string("\0", 1), std::nullopt}));
  EXPECT_EQ(out.at("key").as_string(), "\\x00");
  EXPECT_FALSE(out.at("listed").as_bool());
  EXPECT_TRUE(out.at("rows").as_array().empty());
}

}  // namespace
}  // namespace heatsink::app
