// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/memory_use.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace heatsink::proxy {
namespace {

std::map<std::string, double> parts(const MemoryUse& use, std::uint64_t resident) {
  MetricSamples samples;
  append_memory_samples(samples, use, resident);
  std::map<std::string, double> values;
  for (const MetricSample& sample : samples) values[sample.labels.at(0).second] = sample.value;
  return values;
}

TEST(MemoryUse, ThePartsAreTheWhole) {
  const auto values =
      parts({.clients = 1, .upstream = 2, .detection = 3, .copies = 4, .addresses = 5}, 100);
  EXPECT_EQ(values.at("clients"), 1);
  EXPECT_EQ(values.at("addresses"), 5);
  EXPECT_EQ(values.at("other"), 85);
  double sum = 0;
  for (const auto& [of, bytes] : values) sum += bytes;
  EXPECT_EQ(sum, 100);
}

TEST(MemoryUse, EachComponentHasItsName) {
  const auto values = parts({.tls = 6, .history = 7, .log = 8, .fixed = 9, .program = 10}, 40);
  EXPECT_EQ(values.at("tls"), 6);
  EXPECT_EQ(values.at("history"), 7);
  EXPECT_EQ(values.at("log"), 8);
  EXPECT_EQ(values.at("fixed"), 9);
  EXPECT_EQ(values.at("program"), 10);
  EXPECT_EQ(values.at("other"), 0);
}

TEST(MemoryUse, WhatWasNeverWrittenIsNotInRam) {
  EXPECT_EQ(parts({.detection = 300}, 100).at("other"), 0);
}

}  // namespace
}  // namespace heatsink::proxy
