// SPDX-License-Identifier: Apache-2.0
// The model server against a real one: random commands of several clients give the same replies and
// pushes, and leave the same keys. Skipped where there is no redis-server.
//
// HEATSINK_MODEL_SEED, _SEEDS and _STEPS: other, more and longer plays; a step takes about 1 ms.
// HEATSINK_TEST_SERVER: another server.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/resp/command_table.h"
#include "heatsink/resp/value.h"
#include "tests/simulation/model_generator.h"
#include "tests/simulation/model_play.h"

namespace heatsink::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

resp::testing::RedisProcess& real_server() {
  static resp::testing::RedisProcess process;
  return process;
}

class ModelDifferential : public testing::Test {
 protected:
  void SetUp() override {
    if (!real_server().running()) GTEST_SKIP() << "no redis-server in PATH";
    play_ = std::make_unique<ModelPlay>(real_server());
    ASSERT_TRUE(play_->flavor()) << "model_flavor.h does not know this version of the server";
  }

  // What differs, with the fewest steps that show it; "" if nothing does.
  //
  // A difference counts if a second play has it, too. The server reads a clock, the model's time
  // stands still: where the machine stops the server for a millisecond between two requests of one
  // write, a key of PX 1 has ended for the server alone.
  std::string difference(const std::vector<ModelStep>& steps) {
    const auto first = play_->play(steps);
    if (!first) return "";
    std::string text = "step " + std::to_string(first->step) + ", " + to_text(steps[first->step]) +
                       "\n" + first->text;
    if (!play_->play(steps)) {
      std::cerr << text << "a second play of these steps does not differ\n";
      return "";
    }
    const std::vector<ModelStep> few = play_->shrunk(steps);
    const auto shorter = play_->play(few);
    text += shorter ? "with these steps alone\n" : "not each time; last with these steps\n";
    for (const ModelStep& step : few) text += "  " + to_text(step) + "\n";
    return text + (shorter ? shorter->text : "");
  }

  std::unique_ptr<ModelPlay> play_;
};

TEST_F(ModelDifferential, RandomSteps) {
  const std::uint64_t first = number_from("HEATSINK_MODEL_SEED", 1);
  const std::uint64_t count = number_from("HEATSINK_MODEL_STEPS", 1500);
  const std::uint64_t seeds = number_from("HEATSINK_MODEL_SEEDS", 5);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed)
    ASSERT_EQ(difference(ModelGenerator(seed).steps(count)), "") << "seed " << seed;
}

TEST_F(ModelDifferential, RandomStepsOfHashes) {
  const std::uint64_t first = number_from("HEATSINK_MODEL_SEED", 1);
  const std::uint64_t count = number_from("HEATSINK_MODEL_STEPS", 1500);
  const std::uint64_t seeds = number_from("HEATSINK_MODEL_SEEDS", 2);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    ASSERT_EQ(difference(ModelGenerator(seed, ModelGenerator::Of::kHashes).steps(count)), "")
        << "seed " << seed;
  }
}

resp::CommandTable table_of(const std::string& reply) {
  resp::Value value;
  std::size_t consumed = 0;
  EXPECT_EQ(resp::parse_value(reply, value, consumed), resp::ValueStatus::kValue);
  return resp::CommandTable::from_reply(value).value();
}

TEST_F(ModelDifferential, Command) {
  const auto [ours, theirs] = play_->ask_both({"COMMAND"});
  const resp::CommandTable model = table_of(ours), real = table_of(theirs);
  EXPECT_GT(model.size(), 60u);
  for (const resp::Command& command : model.commands()) {
    if (command.name.find('|') != std::string::npos) continue;  // the model has not all of these
    const resp::Command* other = real.find_name(command.name);
    ASSERT_NE(other, nullptr) << command.name;
    EXPECT_EQ(command.arity, other->arity) << command.name;
    EXPECT_EQ(command.first_key, other->first_key) << command.name;
    EXPECT_EQ(command.last_key, other->last_key) << command.name;
    EXPECT_EQ(command.key_step, other->key_step) << command.name;
    constexpr std::uint32_t kCompared = resp::kWrite | resp::kReadonly;
    EXPECT_EQ(command.flags & kCompared, other->flags & kCompared) << command.name;
  }
}

}  // namespace
}  // namespace heatsink::simulation
