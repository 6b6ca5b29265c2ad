// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/spread_keys.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/units.h"
#include "heatsink/distributed/spread_functions.h"
#include "heatsink/spread/spread.h"

namespace heatsink::distributed {
namespace {

static_assert(kSpreadValueBytesMax == spread::kValueBytesMax);

std::string ms_of(Nanos time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// Without a map of the nodes: far from each other, so that ranges of slots get equally many. A
// proxy that finds them uneven replaces them.
std::string wanted_slots(std::string_view key, std::size_t copies) {
  const std::uint16_t slot = resp::key_slot(key);
  std::vector<std::uint16_t> slots;
  for (std::size_t i = 0; i < copies; ++i) slots.push_back(spread::part_slot(slot, i));
  return spread::slots_text(slots);
}

Status check_timeout(Nanos timeout) {
  if (timeout > Nanos(0) && timeout <= std::chrono::hours(1)) return Unit{};
  return Error{ErrorCode::kOutOfRange, "timeout is " + format_duration(timeout) +
                                           ", but must be longer than 0 and at most 1h"};
}

Status check_pieces(std::string_view option, std::size_t count) {
  if (count >= 2 && count <= spread::kPiecesMax) return Unit{};
  return Error{ErrorCode::kOutOfRange, std::string(option) + " is " + std::to_string(count) +
                                           ", but must be from 2 to " +
                                           std::to_string(spread::kPiecesMax)};
}

Status check(const SpreadOptions& options) {
  if (Status copies = check_pieces("copies", options.copies); !copies.ok()) return copies;
  if (options.ttl < Millis(100) || options.ttl > std::chrono::minutes(1))
    return Error{ErrorCode::kOutOfRange,
                 "ttl is " + format_duration(options.ttl) + ", but must be from 100ms to 1m"};
  return check_timeout(options.timeout);
}

}  // namespace

class SpreadKeys::Core {
 public:
  Core(std::shared_ptr<Server> server, const SpreadOptions& options)
      : server_(std::move(server)), options_(options) {}

  Result<std::optional<std::string>> get(const std::string& key);
  Status written(const std::string& key);

 private:
  struct Known {
    std::vector<std::uint16_t> slots;
    TimePoint at;
  };

  Result<resp::Value> call(std::string_view function, std::string key,
                           std::vector<std::string> args, Nanos patience) {
    return server_->call_and_wait(spread_call(function, std::move(key), std::move(args)),
                                  BootClock::now() + std::min(patience, options_.timeout));
  }
  std::optional<std::vector<std::uint16_t>> slots_of(const std::string& key);
  std::optional<std::uint16_t> slot_to_read(const std::string& key);
  Result<std::optional<std::string>> ask_key(const std::string& key, std::int64_t& ttl_ms);

  const std::shared_ptr<Server> server_;
  const SpreadOptions options_;
  SharedRandom random_;
  std::mutex mutex_;
  // Both guarded by mutex_. The second: slots whose node was late, until then.
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::uint16_t, TimePoint> suspects_;
};

// nullopt: the server did not say.
std::optional<std::vector<std::uint16_t>> SpreadKeys::Core::slots_of(const std::string& key) {
  const TimePoint now = BootClock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && now - found->second.at < spread::kLayoutFresh)
      return found->second.slots;
  }
  const Result<resp::Value> reply =
      call("spread_layout", spread::layout_name(key),
           {"", wanted_slots(key, options_.copies), std::to_string(spread::kLayoutLeastMs),
            std::to_string(spread::kLayoutEndsMs)},
           options_.timeout);
  if (!reply.ok()) return std::nullopt;
  std::vector<std::uint16_t> slots =
      spread::parse_layout(reply->text).value_or(spread::Layout{}).slots;
  const std::lock_guard lock(mutex_);
  if (known_.size() >= spread::kLayoutsKept) known_.clear();
  known_[key] = {slots, now};
  return slots;
}

// nullopt: there is no copy, or its node was late a moment ago.
std::optional<std::uint16_t> SpreadKeys::Core::slot_to_read(const std::string& key) {
  if (key.size() > kSpreadKeyBytesMax) return std::nullopt;
  const auto slots = slots_of(key);
  if (!slots || slots->empty()) return std::nullopt;
  const std::uint16_t slot = (*slots)[random_.next() % slots->size()];
  const std::lock_guard lock(mutex_);
  const auto suspect = suspects_.find(slot);
  if (suspect == suspects_.end()) return slot;
  if (suspect->second > BootClock::now()) return std::nullopt;
  suspects_.erase(suspect);
  return slot;
}

Result<std::optional<std::string>> SpreadKeys::Core::ask_key(const std::string& key,
                                                             std::int64_t& ttl_ms) {
  Result<resp::Value> reply = call("spread_key", key, {}, options_.timeout);
  if (!reply.ok()) return reply.error();
  if (reply->items.size() != 2) return Error{ErrorCode::kProtocol, "no value and TTL of " + key};
  ttl_ms = std::max<std::int64_t>(-1, reply->items[1].integer);
  resp::Value& value = reply->items[0];
  // Lua's false, for a missing key, is null.
  if (value.type != resp::Value::Type::kString) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value.text));
}

Result<std::optional<std::string>> SpreadKeys::Core::get(const std::string& key) {
  std::int64_t ttl_ms = -1;
  const std::optional<std::uint16_t> slot = slot_to_read(key);
  if (!slot) return ask_key(key, ttl_ms);
  const std::string copy = spread::copy_name(*slot, key);
  const std::string lease = spread::lease_text(random_.next());
  const Nanos life = spread::jittered(options_.ttl, random_.next());
  const Result<resp::Value> found =
      call("spread_read", copy, {lease, ms_of(life)}, spread::kReadPatience);
  const bool granted = found.ok() && found->type == resp::Value::Type::kArray;
  if (found.ok() && !granted) {
    const spread::CopyText text = spread::parse_copy(found->text);
    const spread::AfterCopy next = spread::after_copy(text.kind);
    if (next == spread::AfterCopy::kServe) return std::optional<std::string>(text.value);
    if (next == spread::AfterCopy::kServeNone) return std::optional<std::string>();
  }
  if (!found.ok()) {
    const std::lock_guard lock(mutex_);
    suspects_[*slot] = BootClock::now() + spread::kSuspicion;
  }
  Result<std::optional<std::string>> value = ask_key(key, ttl_ms);
  if (!value.ok() || !granted) return value;
  if (value->has_value() && (*value)->size() > kSpreadValueBytesMax) return value;
  const std::string text =
      value->has_value() ? spread::value_text(**value) : std::string(spread::kNoneText);
  // Its reply does not matter: the lease may have ended, or a writer came.
  server_->call(spread_call("spread_fill", copy, {lease, text, std::to_string(ttl_ms)}),
                BootClock::now() + options_.timeout, [](const Result<resp::Value>&) {});
  return value;
}

Status SpreadKeys::Core::written(const std::string& key) {
  if (key.size() > kSpreadKeyBytesMax) return Unit{};
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
       call_all(*server_, std::move(calls), BootClock::now() + options_.timeout))
    if (!reply.ok()) return reply.error();
  return Unit{};
}

Result<std::unique_ptr<SpreadKeys>> SpreadKeys::make(std::shared_ptr<Server> server,
                                                     const SpreadOptions& options) {
  if (const Status checked = check(options); !checked.ok()) return checked.error();
  return std::unique_ptr<SpreadKeys>(
      new SpreadKeys(std::make_unique<Core>(std::move(server), options)));
}

SpreadKeys::SpreadKeys(std::unique_ptr<Core> core) : core_(std::move(core)) {}
SpreadKeys::~SpreadKeys() = default;

Result<std::optional<std::string>> SpreadKeys::get(std::string_view key) {
  return core_->get(std::string(key));
}
Status SpreadKeys::written(std::string_view key) { return core_->written(std::string(key)); }

// ---- counters

class SplitCounter::Core {
 public:
  Core(std::shared_ptr<Server> server, std::string_view key, const SplitCounterOptions& options)
      : server_(std::move(server)), key_(key), options_(options) {}

  Status add(std::int64_t amount) {
    const std::string part = spread::part_name(key_, random_.next() % options_.parts);
    const Result<resp::Value> reply =
        server_->call_and_wait(spread_call("spread_add", part, {std::to_string(amount)}),
                               BootClock::now() + options_.timeout);
    if (!reply.ok()) return reply.error();
    return Unit{};
  }
  Result<std::int64_t> value();

 private:
  const std::shared_ptr<Server> server_;
  const std::string key_;
  const SplitCounterOptions options_;
  SharedRandom random_;
};

Result<std::int64_t> SplitCounter::Core::value() {
  std::vector<FunctionCall> calls;
  for (std::size_t part = 0; part < options_.parts; ++part)
    calls.push_back(spread_call("spread_part", spread::part_name(key_, part), {}));
  spread::PartSum sum;
  for (const Result<resp::Value>& reply :
       call_all(*server_, std::move(calls), BootClock::now() + options_.timeout)) {
    if (!reply.ok()) return reply.error();
    if (reply->type == resp::Value::Type::kString) sum.add(reply->text);
  }
  switch (sum.state()) {
    case spread::PartSum::State::kNone:
      return std::int64_t{0};
    case spread::PartSum::State::kSum:
      return sum.value();
    case spread::PartSum::State::kNotInteger:
      return invalid_argument("a part of '" + key_ + "' is no integer");
    case spread::PartSum::State::kTooLarge:
      break;
  }
  return Error{ErrorCode::kOutOfRange, "the sum of the parts of '" + key_ + "' is out of range"};
}

Result<std::unique_ptr<SplitCounter>> SplitCounter::make(std::shared_ptr<Server> server,
                                                         std::string_view key,
                                                         const SplitCounterOptions& options) {
  if (const Status parts = check_pieces("parts", options.parts); !parts.ok()) return parts.error();
  if (const Status timeout = check_timeout(options.timeout); !timeout.ok()) return timeout.error();
  if (key.size() > kSpreadKeyBytesMax)
    return Error{ErrorCode::kOutOfRange, "the key of a counter in parts has " +
                                             std::to_string(key.size()) + " bytes, but may have " +
                                             std::to_string(kSpreadKeyBytesMax)};
  return std::unique_ptr<SplitCounter>(
      new SplitCounter(std::make_unique<Core>(std::move(server), key, options)));
}

SplitCounter::SplitCounter(std::unique_ptr<Core> core) : core_(std::move(core)) {}
SplitCounter::~SplitCounter() = default;

Status SplitCounter::add(std::int64_t amount) { return core_->add(amount); }
Result<std::int64_t> SplitCounter::value() { return core_->value(); }

}  // namespace heatsink::distributed
