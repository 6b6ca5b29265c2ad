// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/spread_keys.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <utility>

#include "heatsink/base/units.h"

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

std::string ms_of(Nanos time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// Without a map of the nodes: far from each other, so that ranges of slots get equally many. A
// proxy that finds them uneven replaces them.
std::string wanted_slots(std::string_view key, std::size_t copies) {
  const std::uint16_t slot = resp::key_slot(key);
  std::string text;
  for (std::size_t i = 0; i < copies; ++i)
    text += (text.empty() ? "" : ",") + std::to_string(spread::part_slot(slot, i));
  return text;
}

// Sends all calls at once, and waits for the replies.
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

FunctionCall spread_call(std::string_view function, std::string key,
                         std::vector<std::string> args) {
  return {&spread_library().function(function), {std::move(key)}, std::move(args)};
}

}  // namespace

SpreadKeys::SpreadKeys(Server& server, const SpreadOptions& options, std::uint64_t seed)
    : server_(server), options_(options), random_(seed) {}

std::uint64_t SpreadKeys::random() {
  const std::lock_guard lock(mutex_);
  return random_.next();
}

Result<resp::Value> SpreadKeys::call(std::string_view function, std::string key,
                                     std::vector<std::string> args) {
  return server_.call_and_wait(spread_call(function, std::move(key), std::move(args)),
                               BootClock::now() + options_.timeout);
}

// nullopt: the server did not say.
std::optional<std::vector<std::uint16_t>> SpreadKeys::slots_of(const std::string& key) {
  const TimePoint now = BootClock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && now - found->second.at < kFresh) return found->second.slots;
  }
  const Result<resp::Value> reply =
      call("spread_layout", spread::layout_name(key),
           {"", wanted_slots(key, options_.copies), std::to_string(spread::kLayoutLeastMs),
            std::to_string(spread::kLayoutEndsMs)});
  if (!reply.ok()) return std::nullopt;
  std::vector<std::uint16_t> slots =
      spread::parse_layout(reply->text).value_or(spread::Layout{}).slots;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kKeysMax) known_.clear();
  known_[key] = {slots, now};
  return slots;
}

Result<std::optional<std::string>> SpreadKeys::ask_key(const std::string& key,
                                                       std::int64_t* ttl_ms) {
  Result<resp::Value> reply = call("spread_key", key, {});
  if (!reply.ok()) return reply.error();
  if (reply->items.size() != 2) return Error{ErrorCode::kProtocol, "no value and TTL of " + key};
  if (ttl_ms != nullptr) *ttl_ms = std::max<std::int64_t>(-1, reply->items[1].integer);
  resp::Value& value = reply->items[0];
  // Lua's false, for a missing key, is null.
  if (value.type != resp::Value::Type::kString) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value.text));
}

Result<std::optional<std::string>> SpreadKeys::get(std::string_view name) {
  const std::string key(name);
  const auto slots = slots_of(key);
  if (!slots || slots->empty()) return ask_key(key, nullptr);
  const std::string copy = spread::copy_name((*slots)[random() % slots->size()], key);
  const std::string lease = spread::lease_text(random());
  const Nanos life = spread::jittered(options_.ttl, random());
  const Result<resp::Value> found = call("spread_read", copy, {lease, ms_of(life)});
  const bool granted = found.ok() && found->type == resp::Value::Type::kArray;
  if (found.ok() && !granted) {
    const spread::CopyText text = spread::parse_copy(found->text);
    const spread::AfterCopy next = spread::after_copy(text.kind);
    if (next == spread::AfterCopy::kServe) return std::optional<std::string>(text.value);
    if (next == spread::AfterCopy::kServeNone) return std::optional<std::string>();
  }
  std::int64_t ttl_ms = -1;
  Result<std::optional<std::string>> value = ask_key(key, &ttl_ms);
  if (!value.ok() || !granted) return value;
  const std::string text =
      value->has_value() ? spread::value_text(**value) : std::string(spread::kNoneText);
  // Its reply does not matter: the lease may have ended, or a writer came.
  server_.call(spread_call("spread_fill", copy, {lease, text, std::to_string(ttl_ms)}),
               BootClock::now() + options_.timeout, [](const Result<resp::Value>&) {});
  return value;
}

Status SpreadKeys::written(std::string_view name) {
  const std::string key(name);
  const auto slots = slots_of(key);
  if (!slots)
    return Error{ErrorCode::kUnavailable,
                 "the node of '" + key + "' does not say where its copies are; they end within " +
                     format_duration(options_.ttl)};
  std::vector<FunctionCall> calls;
  for (const std::uint16_t slot : *slots)
    calls.push_back(spread_call("spread_end", spread::copy_name(slot, key),
                                {std::string(spread::kTombstoneText), ms_of(spread::kTombstone)}));
  for (const Result<resp::Value>& reply :
       call_all(server_, std::move(calls), BootClock::now() + options_.timeout))
    if (!reply.ok()) return reply.error();
  return Unit{};
}

SplitCounter::SplitCounter(Server& server, std::string_view key, std::size_t parts, Nanos timeout,
                           std::uint64_t seed)
    : server_(server), key_(key), parts_(parts), timeout_(timeout), random_(seed) {}

Status SplitCounter::add(std::int64_t amount) {
  std::size_t part = 0;
  {
    const std::lock_guard lock(mutex_);
    part = random_.next() % parts_;
  }
  const Result<resp::Value> reply = server_.call_and_wait(
      spread_call("spread_add", spread::part_name(key_, part), {std::to_string(amount)}),
      BootClock::now() + timeout_);
  if (!reply.ok()) return reply.error();
  return Unit{};
}

Result<std::int64_t> SplitCounter::value() {
  std::vector<FunctionCall> calls;
  for (std::size_t part = 0; part < parts_; ++part)
    calls.push_back(spread_call("spread_part", spread::part_name(key_, part), {}));
  spread::PartSum sum;
  for (const Result<resp::Value>& reply :
       call_all(server_, std::move(calls), BootClock::now() + timeout_)) {
    if (!reply.ok()) return reply.error();
    if (reply->type == resp::Value::Type::kString) sum.add(reply->text);
  }
  switch (sum.state()) {
    case spread::PartSum::State::kNone:
      return std::int64_t{0};
    case spread::PartSum::State::kSum:
      return sum.value();
    case spread::PartSum::State::kNotInteger:
      return Error{ErrorCode::kInvalidArgument, "a part of '" + key_ + "' is no integer"};
    case spread::PartSum::State::kTooLarge:
      break;
  }
  return Error{ErrorCode::kOutOfRange, "the sum of the parts of '" + key_ + "' is out of range"};
}

}  // namespace heatsink::distributed
