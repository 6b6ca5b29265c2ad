// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/spread_functions.h"

#include <condition_variable>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "heatsink/spread/spread.h"

namespace heatsink::distributed {
namespace {

const FunctionLibrary& spread_library() {
  static const FunctionLibrary kLibrary(
      "heatsink_spread", "",
      {// The copy, or a lease that this call has set.
       {"spread_read", R"(
          local text = redis.call('GET', KEYS[1])
          if text then return text end
          redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
          return {1})"},
       {"spread_key", "return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}", false},
       {"spread_end", "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])"},
       {"spread_fill", spread::kFillScript},
       {"spread_layout", R"(
          local text = redis.call('GET', KEYS[1])
          if text then return text end
          ARGV[1] = '')" + std::string(spread::kLayoutScript)},
       {"spread_add", "return redis.call('INCRBY', KEYS[1], ARGV[1])"},
       {"spread_part", "return redis.call('GET', KEYS[1])", false}});
  return kLibrary;
}

std::uint64_t seed_of_process() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

FunctionCall spread_call(std::string_view function, std::string key,
                         std::vector<std::string> args) {
  return {&spread_library().function(function), {std::move(key)}, std::move(args)};
}

std::vector<Result<resp::Value>> call_all(Server& server, std::vector<FunctionCall> calls,
                                          TimePoint deadline) {
  struct Replies {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<Result<resp::Value>>> all;
    std::size_t left = 0;
  };
  const auto replies = std::make_shared<Replies>();
  replies->all.resize(calls.size());
  replies->left = calls.size();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    server.call(std::move(calls[i]), deadline, [replies, i](Result<resp::Value> reply) {
      const std::lock_guard lock(replies->mutex);
      replies->all[i].emplace(std::move(reply));
      if (--replies->left == 0) replies->changed.notify_all();
    });
  }
  std::unique_lock lock(replies->mutex);
  replies->changed.wait(lock, [&] { return replies->left == 0; });
  std::vector<Result<resp::Value>> out;
  out.reserve(replies->all.size());
  for (auto& reply : replies->all) out.push_back(std::move(*reply));
  return out;
}

SharedRandom::SharedRandom() : random_(seed_of_process()) {}

}  // namespace heatsink::distributed
