// SPDX-License-Identifier: Apache-2.0
// A forked child has only the thread that forked, and the other threads' locks stay locked. The
// child's client asks the source and never waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/client/on_fork.h"
#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::IsEmpty;

// True if `check` holds in a forked child. SIGALRM ends a child that waits for a lock.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(std::chrono::duration_cast<std::chrono::seconds>(kPatience).count());
    bool holds = false;
    try {
      holds = check();
    } catch (...) {
    }
    _exit(holds ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status == 0;
}

std::optional<std::string> childs(const std::string& /*key*/) { return "the child's"; }

// Not under a sanitizer: clang 14's for addresses does not unlock its allocator in a forked child,
// and that for threads ends a forked child that starts a thread.

TEST(OnFork, TellsWhoLivesAndNobodyElse) {
  std::atomic<int> first{0}, second{0};
  const OnFork lives([&] { ++first; });
  {
    const OnFork gone([&] { ++second; });
  }
  EXPECT_TRUE(holds_in_child([&] { return first == 1 && second == 0; }));
  EXPECT_EQ(first, 0) << "only in the child";
}

TEST(ClientFork, AChildIsNotServedWhatItsParentHolds) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  EXPECT_TRUE(stage.client.peek("a"));
  EXPECT_TRUE(holds_in_child([&] {
    const auto local = stage.client.get("a", childs);
    return !local.is_hit() && local.value() == "the child's" && !stage.client.peek("a") &&
           !stage.client.is_hot("a");
  }));
  EXPECT_TRUE(stage.client.peek("a"));
}

TEST(ClientFork, AChildWarmsAndTellsNothing) {
  Stage stage;
  EXPECT_TRUE(holds_in_child([&] {
    const std::vector<std::string> keys = {"a"};
    stage.client.on_hot([](const HotEvent&) {});
    stage.client.on_report([](const Stats&) {});
    const bool is_refused = stage.client.warm(keys, childs) == keys;
    stage.client.close();
    return is_refused && stage.client.top(1).empty() && stage.client.stats().reads == 0;
  }));
}

TEST(ClientFork, AChildWaitsForNoLoadOfItsParents) {
  std::promise<void> may_answer;
  ClientOptions options;
  options.wait_timeout = kPatience;
  Stage stage(options);
  stage.source.before_answer = [go = may_answer.get_future().share()] { go.wait(); };
  const std::vector<std::string> keys = {"a"};
  EXPECT_THAT(stage.client.warm(keys, stage.source.loader()), IsEmpty());
  EXPECT_TRUE(eventually([&] { return stage.source.reads == 1; }));
  EXPECT_TRUE(
      holds_in_child([&] { return stage.client.get("a", childs).value() == "the child's"; }));
  may_answer.set_value();
}

bool reads_on(const Client<>& client) {
  client.invalidate("a");
  client.set("a", "2", [](const std::string&, const std::string&) {});
  for (int reads = 0; reads < 200; ++reads)
    if (client.get("a", childs).value() != "the child's") return false;
  client.stats();
  std::thread([&] { static_cast<void>(client.get("b", childs)); }).join();
  return true;
}

TEST(ClientFork, AChildWaitsForNoLockThatAThreadHeld) {
  ClientOptions options = eager();
  options.refresh_enabled = true;
  options.refresh_interval = Millis(10);
  options.tick = Millis(1);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&stage, &is_over, i] {
      while (!is_over) {
        stage.get("a");
        stage.get("other" + std::to_string(i));
        stage.client.invalidate("a");
        stage.client.stats();
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(holds_in_child([&] { return reads_on(stage.client); })) << i;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace heatsink::client
