// SPDX-License-Identifier: Apache-2.0
// Publishes configurations to threads that read them without a lock.
#include "heatsink/copies/node_state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace heatsink::copies {
namespace {

// A configuration with `rules` rules, all at one level, so that a torn one would be seen.
policy::ProxyOptions options_with(std::size_t rules) {
  policy::ProxyOptions options;
  options.level = rules % 2 == 0 ? cache::Level::kKey : cache::Level::kSession;
  for (std::size_t i = 0; i < rules; ++i) {
    policy::RuleOptions rule;
    rule.match = "k" + std::to_string(i);
    rule.level = options.level;
    options.rules.push_back(rule);
  }
  return options;
}

std::shared_ptr<const PolicySnapshot> next_of(const NodeState& state, std::size_t rules) {
  return std::make_shared<const PolicySnapshot>(options_with(rules), state.credentials(),
                                                state.shown, state.held().get());
}

TEST(NodeState, TheNextConfigurationIsCurrentAtOnce) {
  NodeState state(options_with(1), net::RedisUrl{}, 1);
  cache::Epochs::Reader& reader = state.epochs.add_reader();
  reader.quiescent();
  const PolicySnapshot& before = state.current();
  state.publish(next_of(state, 4));
  EXPECT_EQ(state.current().generation, 2U);
  EXPECT_EQ(state.rules().rules().size(), 5U);
  state.epochs.collect();
  EXPECT_EQ(before.options.rules.size(), 1U) << "the reader's turn is not over";
  EXPECT_EQ(state.epochs.retired(), 1U);
  reader.quiescent();
  state.epochs.collect();
  EXPECT_EQ(state.epochs.retired(), 0U);
  reader.offline();
}

TEST(NodeState, WhoHoldsAConfigurationKeepsIt) {
  NodeState state(options_with(1), net::RedisUrl{}, 1);
  const std::shared_ptr<const PolicySnapshot> held = state.held();
  state.publish(next_of(state, 2));
  state.epochs.collect();
  EXPECT_EQ(held->options.rules.size(), 1U);
  EXPECT_EQ(held->generation + 1, state.held()->generation);
}

TEST(NodeState, KeysEarnCopiesOnceAConfigurationLetsThem) {
  policy::ProxyOptions off = options_with(1);
  off.cache_enabled = false;
  NodeState state(off, net::RedisUrl{}, 1);
  EXPECT_EQ(state.admission, nullptr);
  state.publish(next_of(state, 1));
  ASSERT_NE(state.admission, nullptr);
  const admit::AdmissionState* const made = state.admission.get();
  state.publish(std::make_shared<const PolicySnapshot>(off, state.credentials(), state.shown,
                                                       state.held().get()));
  EXPECT_EQ(state.admission.get(), made) << "workers may look at it";
}

// For tsan and asan, too: readers take their turns while configurations come and go.
TEST(NodeState, ReadersNeverSeeAMixtureOrAFreedOne) {
  constexpr std::size_t kReaders = 3, kChanges = 300;
  NodeState state(options_with(0), net::RedisUrl{}, 1);
  std::vector<cache::Epochs::Reader*> readers;
  for (std::size_t i = 0; i < kReaders; ++i) readers.push_back(&state.epochs.add_reader());
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> turns{0}, torn{0};
  std::vector<std::thread> threads;
  for (cache::Epochs::Reader* const reader : readers) {
    threads.emplace_back([&, reader] {
      std::uint64_t latest = 0;
      while (!over.load()) {
        reader->quiescent();
        const PolicySnapshot& policy = state.current();
        const auto rule = policy.rule_of("k0");
        const bool fits = policy.consistency.size() == policy.options.rules.size() + 1 &&
                          policy.consistency[rule].level == policy.consistency[0].level;
        if (!fits || policy.generation < latest) torn.fetch_add(1);
        latest = policy.generation;
        turns.fetch_add(1);
      }
      reader->offline();
    });
  }
  for (std::size_t i = 1; i <= kChanges || turns.load() < kChanges; ++i) {
    state.publish(next_of(state, i % 7));
    state.epochs.collect();
  }
  over.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn.load(), 0U);
  state.epochs.collect();
  EXPECT_EQ(state.epochs.retired(), 0U);
}

}  // namespace
}  // namespace heatsink::copies
