// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about keys on several nodes of a cluster.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/limit_values.h"
#include "heatsink/client/server_options.h"
#include "heatsink/distributed/spread_keys.h"

using heatsink::capi::duration_of_ms;
using heatsink::capi::fail;
using heatsink::capi::given;
using heatsink::capi::guarded;
using heatsink::capi::has_key;
using heatsink::capi::key_of;
using heatsink::capi::known_of;
using heatsink::capi::missing_argument;
using heatsink::distributed::Server;
using heatsink::distributed::SplitCounter;
using heatsink::distributed::SplitCounterOptions;
using heatsink::distributed::SpreadKeys;
using heatsink::distributed::SpreadOptions;

struct heatsink_spread_keys {
  std::unique_ptr<SpreadKeys> keys;
};

// A SplitCounter per call: it is only a name and the options beside the server.
struct heatsink_split_counter {
  std::shared_ptr<Server> server;
  SplitCounterOptions options;

  std::unique_ptr<SplitCounter> at(std::string_view key) const {
    return given(SplitCounter::make(server, key, options));
  }
};

namespace {

std::shared_ptr<Server> server_of(const heatsink_options& options) {
  return given(Server::open(heatsink::client::server_options(options.values, "heatsink-spread")));
}

}  // namespace

// ---- copies

int heatsink_spread_open(const heatsink_options* options, const heatsink_spread* spread,
                         size_t size, heatsink_spread_keys** keys) {
  if (options == nullptr || keys == nullptr) return missing_argument();
  *keys = nullptr;
  return guarded([&] {
    const heatsink_spread known = known_of(spread, size);
    SpreadOptions wanted;
    if (known.copies != 0) wanted.copies = known.copies;
    if (known.ttl_ms != 0) wanted.ttl = duration_of_ms(known.ttl_ms);
    if (known.timeout_ms != 0) wanted.timeout = duration_of_ms(known.timeout_ms);
    *keys = new heatsink_spread_keys{given(SpreadKeys::make(server_of(*options), wanted))};
    return HEATSINK_OK;
  });
}

void heatsink_spread_free(heatsink_spread_keys* keys) { delete keys; }

int heatsink_spread_get(heatsink_spread_keys* keys, const char* key, size_t key_size,
                        void (*tell)(void* user, const char* value, size_t size), void* user) {
  if (keys == nullptr || tell == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&]() -> int {
    const auto value = keys->keys->get(key_of(key, key_size));
    if (!value.ok()) return fail(HEATSINK_FAILED, value.error().message);
    if (!value->has_value()) return HEATSINK_NONE;
    tell(user, (*value)->data(), (*value)->size());
    return HEATSINK_OK;
  });
}

int heatsink_spread_written(heatsink_spread_keys* keys, const char* key, size_t key_size) {
  if (keys == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&]() -> int {
    const auto ended = keys->keys->written(key_of(key, key_size));
    return ended.ok() ? int{HEATSINK_OK} : fail(HEATSINK_FAILED, ended.error().message);
  });
}

// ---- counters in parts

int heatsink_split_open(const heatsink_options* options, const heatsink_split* split, size_t size,
                        heatsink_split_counter** counter) {
  if (options == nullptr || counter == nullptr) return missing_argument();
  *counter = nullptr;
  return guarded([&] {
    const heatsink_split known = known_of(split, size);
    SplitCounterOptions wanted;
    if (known.parts != 0) wanted.parts = known.parts;
    if (known.timeout_ms != 0) wanted.timeout = duration_of_ms(known.timeout_ms);
    auto made = std::make_unique<heatsink_split_counter>(
        heatsink_split_counter{.server = server_of(*options), .options = wanted});
    made->at("");  // for its checks of the options
    *counter = made.release();
    return HEATSINK_OK;
  });
}

void heatsink_split_free(heatsink_split_counter* counter) { delete counter; }

int heatsink_split_add(heatsink_split_counter* counter, const char* key, size_t key_size,
                       int64_t amount) {
  if (counter == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&]() -> int {
    const auto added = counter->at(key_of(key, key_size))->add(amount);
    return added.ok() ? int{HEATSINK_OK} : fail(HEATSINK_FAILED, added.error().message);
  });
}

int heatsink_split_value(heatsink_split_counter* counter, const char* key, size_t key_size,
                         int64_t* value) {
  if (counter == nullptr || value == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&]() -> int {
    const auto sum = counter->at(key_of(key, key_size))->value();
    if (!sum.ok()) return fail(HEATSINK_FAILED, sum.error().message);
    *value = *sum;
    return HEATSINK_OK;
  });
}
