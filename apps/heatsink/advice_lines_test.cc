// SPDX-License-Identifier: Apache-2.0
// The advice can be pasted: the proxy's configuration accepts it, and it applies to that key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/heatsink/configuration.h"
#include "heatsink/advice/advice.h"
#include "heatsink/detect/detect.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {
namespace {

using namespace std::string_literals;

std::string text_of(const advice::Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(AdviceLines, AreAConfigurationThatMeansTheKey) {
  for (const std::string& name : {"views:1"s, "a*b?[c-d]\\"s, "it's \"quoted\": # no comment"s,
                                  "gr\u00f6\u00dfe:\u65e5\u672c"s, "-"s, " "s, "{a}"s}) {
    for (const bool has_proxy : {false, true}) {
      const advice::KeyPlace place{.name = name, .server = "10.0.0.7:6379", .has_proxy = has_proxy};
      const advice::KeyTraffic traffic{
          .reads_rate = 900,
          .writes_rate = 100,
          .use = {.clients = 2, .first_client = 0.9, .second_client = 0.1}};
      std::size_t rules = 0;
      for (const advice::Remedy& remedy : advice::advise(traffic, {}, place).remedies) {
        const std::string text = text_of(remedy.lines);
        if (text.find("rules:") == std::string::npos) continue;
        ++rules;
        policy::ProxyOptions options;
        OptionSet rows;
        options.describe(rows);
        ConfigFaults faults = apply_config_text(text, "pasted", rows);
        add_contradictions(options, rows, faults);
        for (const Error& fault : faults) ADD_FAILURE() << fault.message << "\n" << text;
        ASSERT_EQ(options.rules.size(), 1U) << text;
        const detect::KeyPattern pattern(options.rules[0].match);
        EXPECT_EQ(pattern.kind(), detect::KeyPattern::Kind::kExact) << text;
        EXPECT_EQ(pattern.head(), name) << text;
      }
      EXPECT_GE(rules, 3U) << name;
    }
  }
}

}  // namespace
}  // namespace heatsink::app
