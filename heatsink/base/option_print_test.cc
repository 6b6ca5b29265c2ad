// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option_print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/option_for_test.h"

namespace heatsink {
namespace {

using ::testing::HasSubstr;

TEST(OptionPrint, YamlIsGroupedAndCommented) {
  OneRowOfEachType s;
  ASSERT_TRUE(s.set.set("cache.level", "off").ok());
  EXPECT_EQ(to_yaml(s.set),
            "# Event loops. (1 .. 256, default 2)\n"
            "workers: 2\n"
            "# Address. (default 127.0.0.1:6380)\n"
            "listen: \"127.0.0.1:6380\"\n"
            "\n"
            "cache:\n"
            "  # Whether to cache. (true | false, default true)\n"
            "  enabled: true\n"
            "  # Coherence. (off | ttl | key, default key)\n"
            "  level: \"off\"\n"
            "  # Bytes of copies. (1kb .. 1gb, default 64mb)\n"
            "  size: 64mb\n"
            "\n"
            "detection:\n"
            "  # Hysteresis. (0 .. 1, default 0.8)\n"
            "  ratio: 0.8\n"
            "  # Length of the window. (1s .. 1h, default 10s)\n"
            "  window: 10s\n");
}

TEST(OptionPrint, LongHelpIsWrapped) {
  std::int64_t value = 0;
  OptionSet set;
  std::string help;
  for (int i = 0; i < 50; ++i) help += "word" + std::to_string(i) + " ";
  set.add({"a.b", &value, help, 0, 1, {}});
  const std::string yaml = to_yaml(set);
  std::size_t start = 0;
  while (start < yaml.size()) {
    const std::size_t end = yaml.find('\n', start);
    EXPECT_LE(end - start, 100u);
    start = end + 1;
  }
  EXPECT_THAT(yaml, HasSubstr("word49"));
}

TEST(OptionPrint, MarkdownIsOneTablePerGroup) {
  OneRowOfEachType s;
  EXPECT_THAT(to_markdown(s.set),
              HasSubstr("## cache\n\n| option | default | bounds | meaning |\n|---|---|---|---|\n"
                        "| `cache.enabled` | `true` | `true \\| false` | Whether to cache. |\n"));
  EXPECT_THAT(to_markdown(s.set),
              HasSubstr("| `listen` | `127.0.0.1:6380` | any text | Address. |\n"));
}

}  // namespace
}  // namespace heatsink
