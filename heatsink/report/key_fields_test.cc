// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/key_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "heatsink/report/report.h"
#include "heatsink/report/testing/sample_report.h"

namespace heatsink::report {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

// All that a source can know of a key.
KeyView full_key() {
  const Report report = sample_report();
  KeyView key = key_view(report.keys.front(), report.at);
  key.value_bytes = Bytes{12};
  key.memory_bytes = Bytes{80};
  key.type = "string";
  key.encoding = "raw";
  key.ttl = Millis(1500);
  key.never_expires = true;
  key.value_problem = "NOPERM";
  key.absent_rate = 2.5;
  key.latency_mean = Nanos(30'000);
  key.latency_p99 = Nanos(90'000);
  key.node = "10.0.0.7:6379";
  return key;
}

template <class T>
json::object written(const T& value, std::span<const Field<T>> fields) {
  json::object out;
  write_fields(value, fields, out);
  return out;
}

template <class T>
void expect_reads_back(const T& value, std::span<const Field<T>> fields) {
  const json::object once = written(value, fields);
  EXPECT_EQ(once.size(), fields.size()) << "each row has its own name, and none is unset";
  std::optional<Error> error;
  Members members(once, error);
  T back;
  read_fields(members, fields, back);
  EXPECT_FALSE(error) << error->message;
  EXPECT_EQ(written(back, fields), once);
}

TEST(KeyFields, WhatIsWrittenReadsBack) {
  expect_reads_back(full_key(), key_fields());
  expect_reads_back(full_key(), template_fields());
  NodeView node = node_view(sample_report());
  node.unseen_rate = 5;
  node.may_be_pause = true;
  expect_reads_back(node, node_fields());
}

TEST(KeyFields, WhatIsNotKnownHasNoMemberOrIsNull) {
  KeyView key = full_key();
  key.type.clear();
  key.ttl.reset();
  key.never_expires = false;
  key.absent_rate = kUnknown;
  key.reply_bytes.reset();
  const json::object out = written(key, key_fields());
  for (const char* name : {"type", "ttl_seconds", "never_expires", "absent_rate"})
    EXPECT_FALSE(out.contains(name)) << name;
  EXPECT_TRUE(out.at("reply_bytes").is_null());
}

TEST(KeyFields, AMissingMemberIsNamedUnlessEarlierVersionsLackIt) {
  for (const Field<KeyView>& field : key_fields()) {
    json::object document = written(full_key(), key_fields());
    document.erase(json::string_view(field.name));
    std::optional<Error> error;
    Members members(document, error);
    KeyView key;
    read_fields(members, key_fields(), key);
    EXPECT_EQ(error.has_value(), field.presence == Presence::kAlways) << field.name;
    EXPECT_THAT(error ? error->message : "\"" + std::string(field.name) + "\"",
                HasSubstr("\"" + std::string(field.name) + "\""));
  }
}

TEST(KeyView, FollowsFromItsCounts) {
  KeyView key = full_key();
  key.value_bytes.reset();
  complete(key);
  EXPECT_DOUBLE_EQ(key.reads_rate + key.writes_rate, key.rate);
  EXPECT_DOUBLE_EQ(key.hits_rate + key.misses_rate, key.reads_rate);
  EXPECT_EQ(key.value_bytes->count, key.reply_bytes->count) << "the longest reply seen";
}

}  // namespace
}  // namespace heatsink::report
