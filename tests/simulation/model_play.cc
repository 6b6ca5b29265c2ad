// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_play.h"

#include <algorithm>
#include <chrono>

#include "heatsink/base/printable.h"
#include "heatsink/resp/value.h"
#include "tests/simulation/model_compare.h"
#include "tests/simulation/model_sides.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kSlept = Millis(ModelStep::kShortMs + 3);
constexpr std::size_t kDatabasesPlayed = 3;
constexpr int kShrinkingPatienceMs = 200;
// ctest ends a test after five minutes, and a test that it ends cannot say what differed.
constexpr std::chrono::seconds kShrinkingMax{60};

bool asks(const ModelStep& step, std::initializer_list<std::string_view> names) {
  return std::any_of(step.requests.begin(), step.requests.end(), [&](const ModelRequest& request) {
    return std::find(names.begin(), names.end(), request[0]) != names.end();
  });
}

std::string shown(const std::vector<std::string>& replies) {
  std::string out;
  for (const std::string& reply : replies) out += "      " + printable(reply) + "\n";
  return out.empty() ? "      nothing\n" : out;
}

}  // namespace

std::string to_text(const ModelStep& step) {
  std::string out = std::to_string(step.client) + ":";
  for (const ModelRequest& request : step.requests) {
    for (const std::string& word : request)
      out += " " + (word.empty() || word.find(' ') != std::string::npos ? "'" + word + "'" : word);
    out += ";";
  }
  if (step.then == ModelStep::Then::kSleep) out += " (sleep)";
  if (step.then == ModelStep::Then::kExpireCycle) out += " (sleep, expire cycle)";
  return out;
}

ModelPlay::ModelPlay(const resp::testing::RedisProcess& server)
    : server_(server), patience_ms_(kPatienceMs) {
  RealPeer peer(server.socket_path());
  const resp::Value hello = peer.ask({"HELLO", "3"});
  flavor_ = flavor_of(hello.find("server")->text, hello.find("version")->text);
}

std::optional<ModelDifference> ModelPlay::play(const std::vector<ModelStep>& steps) {
  ModelSide model(*flavor_);
  RealSide real(server_);
  real.patience_ms = patience_ms_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string difference = step_difference(model, real, steps[i]);
    if (!difference.empty()) return ModelDifference{i, std::move(difference)};
  }
  return std::nullopt;
}

std::string ModelPlay::step_difference(ModelSide& model, RealSide& real, const ModelStep& step) {
  model.send(step.client, step.requests);
  real.send(step.client, step.requests);
  ModelTolerance tolerance;
  for (std::size_t i = 0; i < ModelStep::kClients; ++i)
    tolerance.ids.emplace_back(model.ids[i], real.ids[i]);
  tolerance.ids_are_told = asks(step, {"CLIENT", "EXEC"});
  tolerance.ttls_are_told = asks(step, {"TTL", "PTTL", "HPTTL", "EXEC"});
  tolerance.is_unordered = asks(step, {"HGETALL", "HKEYS", "HVALS", "EXEC"});
  tolerance.ttl_seconds = kToleranceSeconds;
  std::string out;
  const auto compare = [&](std::size_t i, bool in_order) {
    std::vector<std::string> ours = split_replies(model.take(i));
    std::vector<std::string> theirs = real.take(i, ours.size(), model.ended(i));
    if (!in_order) {
      std::sort(ours.begin(), ours.end());
      std::sort(theirs.begin(), theirs.end());
    }
    const bool same = model.ended(i) == real.ended(i) &&
                      std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                 [&](const std::string& one, const std::string& other) {
                                   return same_reply(one, other, tolerance);
                                 });
    if (!same)
      out += "  client " + std::to_string(i) + (model.ended(i) ? " (ended by the model)" : "") +
             (real.ended(i) ? " (ended by the server)" : "") + " was told by the model\n" +
             shown(ours) + "    and by the server\n" + shown(theirs);
  };
  compare(step.client, true);
  real.settle();
  for (std::size_t i = 0; i < ModelStep::kClients; ++i) compare(i, true);
  if (step.then != ModelStep::Then::kNothing) {
    model.pass(kSlept);
    const double seconds = std::chrono::duration<double>(kSlept).count();
    real.control.ask({"DEBUG", "SLEEP", std::to_string(seconds)});
  }
  if (step.then == ModelStep::Then::kExpireCycle) {
    out += cycle_difference(model, real);
    real.settle();
    for (std::size_t i = 0; i < ModelStep::kClients; ++i) compare(i, false);
  }
  for (std::size_t i = 0; i < ModelStep::kClients && out.empty(); ++i) {
    if (!model.ended(i)) continue;
    model.connect(i);
    real.connect(i);
  }
  return out;
}

std::string ModelPlay::cycle_difference(ModelSide& model, RealSide& real) {
  model.model.expire_some(SIZE_MAX);
  model.pass(Nanos(0));
  const auto differs = [&]() -> std::string {
    for (std::size_t db = 0; db < kDatabasesPlayed; ++db) {
      const std::size_t ours = model.model.keys(static_cast<std::uint32_t>(db));
      const std::size_t theirs = real.keys(db);
      if (ours != theirs)
        return "  database " + std::to_string(db) + " has " + std::to_string(ours) +
               " keys in the model and " + std::to_string(theirs) + " in the server\n";
    }
    return "";
  };
  // The server's cycle runs between two commands: each question lets it run once more.
  constexpr int kQuestionsMax = 20'000;
  real.control.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "1"});
  std::string out = differs();
  for (int i = 0; i < kQuestionsMax && !out.empty(); ++i) out = differs();
  real.control.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
  return out;
}

std::vector<ModelStep> ModelPlay::shrunk(std::vector<ModelStep> steps) {
  const auto keep_until = [&](const ModelDifference& found) { steps.resize(found.step + 1); };
  if (const auto found = play(steps)) keep_until(*found);
  patience_ms_ = kShrinkingPatienceMs;
  const auto end = std::chrono::steady_clock::now() + kShrinkingMax;
  const auto has_time = [end] { return std::chrono::steady_clock::now() < end; };
  for (std::size_t size = std::max<std::size_t>(steps.size() / 2, 1); size > 0; size /= 2) {
    for (std::size_t at = 0; at < steps.size() && has_time();) {
      std::vector<ModelStep> fewer = steps;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, fewer.size() - at)));
      const auto found = play(fewer);
      if (!found) {
        at += size;
        continue;
      }
      steps = std::move(fewer);
      keep_until(*found);
    }
  }
  return steps;
}

std::pair<std::string, std::string> ModelPlay::ask_both(const ModelRequest& request) {
  ModelSide model(*flavor_);
  RealSide real(server_);
  model.send(0, {request});
  real.send(0, {request});
  const std::vector<std::string> theirs = real.take(0, 1, false);
  return {model.take(0), theirs.empty() ? "" : theirs.front()};
}

}  // namespace heatsink::simulation
