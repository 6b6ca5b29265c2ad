// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/template_counter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/zipf.h"
#include "heatsink/detect/key_template.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kTemplateSeed = 7;
constexpr TimePoint kTemplateStart{seconds(1000)};
// The name and the count of each template, by its hash; in database 0.
using Exact = std::map<std::uint64_t, std::pair<std::string, std::uint64_t>>;

Recorder template_recorder(std::size_t bytes = 100'000) {
  RecorderOptions options;
  options.seed = kTemplateSeed;
  options.template_bytes = bytes;
  return Recorder(options);
}

void access(Recorder& recorder, std::string_view key, TimePoint now, std::uint32_t db = 0,
            AccessKind kind = AccessKind::kRead) {
  recorder.record(
      {.hash = in_db(hash_name(key, kTemplateSeed), db), .key = key, .db = db, .kind = kind}, now);
}

TemplateCounts templates_of(Recorder& recorder, TimePoint now = kTemplateStart) {
  return recorder.summarize(now, 1000).templates.value();
}

const KeyCount* find_template(const TemplateCounts& counts, std::string_view name,
                              std::uint32_t db = 0) {
  for (const KeyCount& each : counts.list)
    if (each.key == name && each.db == db) return &each;
  return nullptr;
}

std::uint64_t hash_of(std::string_view pattern) { return hash_name(pattern, kTemplateSeed).value; }

// Every listed template holds its exact count, and no other one has more than absent_max.
std::string first_fault(const TemplateCounts& counts, const Exact& exact) {
  std::map<std::uint64_t, const KeyCount*> listed;
  for (const KeyCount& each : counts.list) {
    const auto at = exact.find(each.hash.value);
    if (at == exact.end()) return each.key + " is invented";
    const auto& [name, count] = at->second;
    if (each.key_truncated ? !name.starts_with(each.key) : name != each.key)
      return each.key + " is not " + name;
    if (each.low > count || each.high < count)
      return name + " has " + std::to_string(count) + ", not " + std::to_string(each.low) + " .. " +
             std::to_string(each.high);
    listed[each.hash.value] = &each;
  }
  for (const auto& [hash, named] : exact) {
    if (named.second > counts.absent_max && !listed.contains(hash))
      return named.first + " is missing with " + std::to_string(named.second);
  }
  return "";
}

void expect_one(Exact& exact, std::string_view key) {
  std::pair<std::string, std::uint64_t>& at = exact[hash_of(key_template(key))];
  at.first = key_template(key);
  ++at.second;
}

TEST(TemplateCounter, CountsKeysThatNobodyTracks) {
  Recorder recorder = template_recorder();
  for (int id = 0; id < 30'000; ++id)  // one access each: more keys than the table has
    access(recorder, "user:" + std::to_string(id), kTemplateStart, 0,
           id % 10 == 0 ? AccessKind::kWrite : AccessKind::kRead);
  access(recorder, "config", kTemplateStart);
  const TemplateCounts counts = templates_of(recorder);
  ASSERT_EQ(counts.list.size(), 2U);
  EXPECT_EQ(counts.list[0].key, "user:*");
  EXPECT_EQ(counts.list[0].low, 30'000U);
  EXPECT_EQ(counts.list[0].high, 30'000U);
  EXPECT_EQ(counts.list[0].reads, 27'000U);
  EXPECT_EQ(counts.list[0].writes, 3000U);
  EXPECT_EQ(counts.list[1].key, "config");
  EXPECT_EQ(counts.absent_max, 0U);
}

TEST(TemplateCounter, IsOffByDefault) {
  Recorder recorder{RecorderOptions{}};
  access(recorder, "user:1", kTemplateStart);
  EXPECT_EQ(recorder.summarize(kTemplateStart, 10).templates, std::nullopt);
}

TEST(TemplateCounter, ATemplateLeavesWithTheWindow) {
  Recorder recorder = template_recorder();
  access(recorder, "old:1", kTemplateStart);
  access(recorder, "new:1", kTemplateStart + seconds(5));
  const TemplateCounts counts = templates_of(recorder, kTemplateStart + seconds(11));
  EXPECT_EQ(find_template(counts, "old:*"), nullptr);
  ASSERT_NE(find_template(counts, "new:*"), nullptr);
  EXPECT_EQ(find_template(counts, "new:*")->high, 1U);
}

TEST(TemplateCounter, DatabasesAreApart) {
  Recorder recorder = template_recorder();
  access(recorder, "user:1", kTemplateStart, 0);
  access(recorder, "user:2", kTemplateStart, 3);
  access(recorder, "user:3", kTemplateStart, 3);
  const TemplateCounts counts = templates_of(recorder);
  ASSERT_NE(find_template(counts, "user:*", 3), nullptr);
  EXPECT_EQ(find_template(counts, "user:*", 3)->low, 2U);
  EXPECT_EQ(find_template(counts, "user:*", 0)->low, 1U);
}

TEST(TemplateCounter, MemoryIsFixedAndWithinItsLimit) {
  Recorder with = template_recorder(100'000);
  const Recorder without{RecorderOptions{}};
  EXPECT_LE(with.memory_bytes(), without.memory_bytes() + 100'000 + sizeof(TemplateCounter));
  EXPECT_GT(with.memory_bytes(), without.memory_bytes() + 80'000);
}

TEST(TemplateCounter, BoundsHoldOnZipfOverMoreTemplatesThanItKeeps) {
  Recorder recorder = template_recorder();
  const Zipf zipf(20'000, 1.0);
  std::mt19937_64 random(1);
  Exact exact;
  for (int i = 0; i < 200'000; ++i) {
    std::string name;  // letters only: a template of its own
    for (std::uint64_t rank = zipf.rank(random) + 1; rank > 0; rank /= 16)
      name += static_cast<char>('g' + rank % 16);
    name += ":" + std::to_string(random() % 1'000'000);
    access(recorder, name, kTemplateStart);
    expect_one(exact, name);
  }
  const TemplateCounts counts = templates_of(recorder);
  EXPECT_EQ(first_fault(counts, exact), "");
  EXPECT_EQ(counts.list.size(), kTemplatesMax);
  std::uint64_t listed = 0;
  for (const KeyCount& each : counts.list) listed += each.low;
  EXPECT_GT(listed, 80'000U);  // the 128 busiest have about half of it
}

TEST(TemplateCounter, HostileKeysKeepTheBoundsTrue) {
  Recorder recorder = template_recorder(kTemplateBytesMin);
  std::mt19937_64 random(2);
  Exact exact;
  for (int i = 0; i < 40'000; ++i) {
    std::string name;
    const std::size_t size = random() % 8 == 0 ? random() % 5000 : random() % 60;
    const int kind = static_cast<int>(random() % 4);
    for (std::size_t at = 0; at < size; ++at) {
      const std::uint64_t r = random();
      name += kind == 0   ? static_cast<char>(r)             // binary
              : kind == 1 ? static_cast<char>('0' + r % 10)  // digits only
              : kind == 2 ? "*?[]\\"[r % 5]                  // all escaped
                          : "0123456789abcdef-.:x"[r % 20];  // nearly identifiers
    }
    access(recorder, name, kTemplateStart);
    expect_one(exact, name);
  }
  EXPECT_EQ(first_fault(templates_of(recorder), exact), "");
}

// The cache by shape must not change what a name folds to: names of all lengths around a word, a
// log's entry and the limit of a template, with bytes beside those of digits.
RC_GTEST_PROP(TemplateCounter, ShapesAreTrueToTheTemplate, ()) {
  Recorder recorder = template_recorder();
  Exact exact;
  const auto names = *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(
      rc::gen::element('0', '7', '9', '/', ':', 'a', 'f', 'g', '-', '\xB0', '\xB9', '*')));
  for (const std::string& name : names) {
    for (const std::string& each : {name, name + name, name + std::string(47, '3') + name,
                                    name + std::string(127, '8'), name + std::string(128, '9')}) {
      access(recorder, each, kTemplateStart);
      expect_one(exact, each);
    }
  }
  RC_ASSERT(first_fault(templates_of(recorder), exact) == "");
}

TEST(TemplateCounter, ShardsAddUp) {
  Recorder a = template_recorder(), b = template_recorder();
  for (int i = 0; i < 10; ++i) access(a, "user:" + std::to_string(i), kTemplateStart);
  for (int i = 0; i < 5; ++i) access(b, "user:" + std::to_string(i), kTemplateStart);
  Recorder uncounted{RecorderOptions{}};
  access(uncounted, "user:1", kTemplateStart);
  std::vector<Summary> shards;
  shards.push_back(a.summarize(kTemplateStart, 10));
  shards.push_back(b.summarize(kTemplateStart, 10));
  const Summary both = merge(shards, 10);
  ASSERT_EQ(both.templates->list.size(), 1U);
  EXPECT_EQ(both.templates->list[0].low, 15U);
  EXPECT_EQ(both.templates->list[0].high, 15U);
  // A shard that does not count templates may have them all.
  shards.push_back(uncounted.summarize(kTemplateStart, 10));
  const Summary all = merge(shards, 10);
  EXPECT_EQ(all.templates->list[0].low, 15U);
  EXPECT_EQ(all.templates->list[0].high, 16U);
  EXPECT_EQ(all.templates->absent_max, 1U);
}

}  // namespace
}  // namespace heatsink::detect
