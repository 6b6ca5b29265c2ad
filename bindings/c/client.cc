// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about the client.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/c/handles.h"

using heatsink::capi::CallbackFailed;
using heatsink::capi::duration_of_ms;
using heatsink::capi::fail;
using heatsink::capi::guarded;
using heatsink::capi::has_key;
using heatsink::capi::key_of;
using heatsink::capi::missing_argument;
using heatsink::client::Client;
using heatsink::client::HotEvent;
using heatsink::client::HotKeyInfo;

namespace {

using LocalValue = heatsink::client::Local<std::string>;
static_assert(sizeof(LocalValue) <= sizeof(heatsink_value::held));
static_assert(alignof(LocalValue) <= alignof(heatsink_value));

LocalValue* held_by(heatsink_value* value) {
  return std::launder(reinterpret_cast<LocalValue*>(value->held));
}

int copy_out(const std::string& value, char* buffer, size_t capacity, size_t* size) {
  *size = value.size();
  if (value.size() > capacity)
    return fail(HEATSINK_TOO_SMALL, "the buffer is too small: the value needs " +
                                        std::to_string(value.size()) +
                                        " bytes, but the buffer has " + std::to_string(capacity));
  std::copy_n(value.data(), value.size(), buffer);
  return HEATSINK_OK;
}

// What a callback for a write said.
void expect_written(int code, const heatsink_reply& reply) {
  if (code == HEATSINK_OK) return;
  throw CallbackFailed(reply.error.empty() ? "the write failed without an error message"
                                           : reply.error);
}

heatsink_stats_values values_of(const heatsink::client::Stats& now) {
  return {.reads_per_second = now.reads_per_second,
          .writes_per_second = now.writes_per_second,
          .hit_ratio = now.hit_ratio,
          .hot_share = now.hot_share,
          .hot_keys = now.hot_keys,
          .copies = now.copies,
          .promotions = now.promotions,
          .demotions = now.demotions,
          .loads = now.loads,
          .load_failures = now.load_failures,
          .waits = now.waits,
          .refusals = now.refusals,
          .refreshes = now.refreshes,
          .refresh_failures = now.refresh_failures,
          .refresh_drops = now.refresh_drops,
          .stale_served = now.stale_served,
          .copies_bytes = now.copies_bytes,
          .distinct_keys = now.distinct_keys,
          .distinct_keys_per_second = now.distinct_keys_per_second,
          .reads = now.reads,
          .writes = now.writes,
          .hits = now.hits,
          .no_room = now.no_room,
          .window_loads = now.in_window.loads,
          .window_load_failures = now.in_window.load_failures,
          .window_refusals = now.in_window.refusals,
          .window_refreshes = now.in_window.refreshes,
          .window_refresh_failures = now.in_window.refresh_failures,
          .window_refresh_drops = now.in_window.refresh_drops};
}

// Most functions: a client and a key.
template <class Call>
int with_key(heatsink_client* client, const char* key, size_t key_size, Call call) noexcept {
  if (client == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&]() -> int { return call(client->client, key_of(key, key_size)); });
}

// `look` gives a LocalValue, which is made where the caller keeps it.
template <class Look>
int hold_one(heatsink_client* client, const char* key, size_t key_size, heatsink_value* value,
             Look look) noexcept {
  if (value == nullptr) return missing_argument();
  if (value->is_held != 0)
    return fail(HEATSINK_INVALID, "this heatsink_value still holds a value: release it first");
  value->is_hit = 0;
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    const LocalValue* const local = new (value->held) LocalValue(look(cache, name));
    value->is_held = 1;
    value->is_hit = local->is_hit() ? 1 : 0;
    if (!*local) {
      heatsink_value_release(value);
      return int{HEATSINK_NONE};
    }
    value->data = (*local)->data();
    value->size = (*local)->size();
    return int{HEATSINK_OK};
  });
}

}  // namespace

int heatsink_open(const heatsink_options* options, heatsink_client** client) {
  if (client == nullptr) return missing_argument();
  *client = nullptr;
  return guarded([&] {
    const heatsink_options defaults;
    const heatsink_options& chosen = options != nullptr ? *options : defaults;
    *client = new heatsink_client{Client<std::string>(chosen.values)};
    return HEATSINK_OK;
  });
}

int heatsink_close(heatsink_client* client) {
  if (client == nullptr) return missing_argument();
  return guarded([&] {
    client->client.close();
    return HEATSINK_OK;
  });
}

void heatsink_free(heatsink_client* client) { delete client; }

int heatsink_get(heatsink_client* client, const char* key, size_t key_size,
                 const heatsink_loader* loader, heatsink_value* value) {
  if (loader == nullptr) return missing_argument();
  return hold_one(client, key, key_size, value, [&](const Client<>& cache, std::string_view name) {
    return cache.get(name, loader->load);
  });
}

int heatsink_read(heatsink_client* client, const char* key, size_t key_size,
                  heatsink_value* value) {
  return hold_one(client, key, key_size, value,
                  [](const Client<>& cache, std::string_view name) { return cache.read(name); });
}

int heatsink_load(heatsink_client* client, const char* key, size_t key_size,
                  const heatsink_loader* loader, heatsink_value* value) {
  if (loader == nullptr) return missing_argument();
  return hold_one(client, key, key_size, value, [&](const Client<>& cache, std::string_view name) {
    return cache.load(name, loader->load);
  });
}

int heatsink_peek(heatsink_client* client, const char* key, size_t key_size,
                  heatsink_value* value) {
  return hold_one(client, key, key_size, value,
                  [](const Client<>& cache, std::string_view name) { return cache.peek(name); });
}

void heatsink_value_release(heatsink_value* value) {
  if (value == nullptr || value->is_held == 0) return;
  std::destroy_at(held_by(value));
  value->data = nullptr;
  value->size = 0;
  value->is_held = 0;
}

int heatsink_get_copy(heatsink_client* client, const char* key, size_t key_size,
                      const heatsink_loader* loader, char* buffer, size_t capacity, size_t* size) {
  if (loader == nullptr || size == nullptr || (buffer == nullptr && capacity != 0))
    return missing_argument();
  *size = 0;
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) -> int {
    const LocalValue value = cache.get(name, loader->load);
    return value ? copy_out(*value, buffer, capacity, size) : int{HEATSINK_NONE};
  });
}

int heatsink_set(heatsink_client* client, const char* key, size_t key_size, const char* value,
                 size_t value_size, heatsink_store_fn store, void* user) {
  if (store == nullptr || (value == nullptr && value_size != 0)) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    cache.set(name, value_size == 0 ? std::string() : std::string(value, value_size),
              [&](const std::string& to, const std::string& bytes) {
                heatsink_reply reply;
                expect_written(
                    store(user, to.data(), to.size(), bytes.data(), bytes.size(), &reply), reply);
              });
    return HEATSINK_OK;
  });
}

int heatsink_del(heatsink_client* client, const char* key, size_t key_size,
                 heatsink_remove_fn remove_key, void* user) {
  if (remove_key == nullptr) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    cache.del(name, [&](const std::string& gone) {
      heatsink_reply reply;
      expect_written(remove_key(user, gone.data(), gone.size(), &reply), reply);
    });
    return HEATSINK_OK;
  });
}

int heatsink_server_get(heatsink_client* client, const char* key, size_t key_size,
                        heatsink_value* value) {
  return hold_one(client, key, key_size, value,
                  [](const Client<>& cache, std::string_view name) { return cache.get(name); });
}

int heatsink_server_fetch(heatsink_client* client, const char* key, size_t key_size,
                          void (*tell)(void* user, const char* value, size_t size), void* user) {
  if (tell == nullptr) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    const std::optional<std::string> value = cache.fetch(name);
    if (!value) return int{HEATSINK_NONE};
    tell(user, value->data(), value->size());
    return int{HEATSINK_OK};
  });
}

int heatsink_server_set(heatsink_client* client, const char* key, size_t key_size,
                        const char* value, size_t value_size, uint64_t ttl_ms) {
  if (value == nullptr && value_size != 0) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    const std::string_view bytes =
        value_size == 0 ? std::string_view() : std::string_view(value, value_size);
    std::optional<heatsink::Millis> ttl;
    if (ttl_ms != 0) ttl = duration_of_ms(ttl_ms);
    cache.set(name, bytes, ttl);
    return HEATSINK_OK;
  });
}

int heatsink_server_del(heatsink_client* client, const char* key, size_t key_size) {
  return with_key(client, key, key_size, [](const Client<>& cache, std::string_view name) {
    cache.del(name);
    return HEATSINK_OK;
  });
}

int heatsink_server_state(heatsink_client* client) {
  if (client == nullptr) return missing_argument();
  return guarded([&]() -> int {
    const heatsink::client::Stats now = client->client.stats();
    if (now.level == "ttl") return HEATSINK_NONE;
    return now.server_problem.empty() ? int{HEATSINK_OK}
                                      : fail(HEATSINK_FAILED, now.server_problem);
  });
}

int heatsink_update(heatsink_client* client, const char* key, size_t key_size, const char* value,
                    size_t value_size) {
  if (value == nullptr && value_size != 0) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    cache.update(name, value_size == 0 ? std::string() : std::string(value, value_size));
    return HEATSINK_OK;
  });
}

int heatsink_invalidate(heatsink_client* client, const char* key, size_t key_size) {
  return with_key(client, key, key_size, [](const Client<>& cache, std::string_view name) {
    cache.invalidate(name);
    return HEATSINK_OK;
  });
}

int heatsink_is_hot(heatsink_client* client, const char* key, size_t key_size) {
  return with_key(client, key, key_size, [](const Client<>& cache, std::string_view name) {
    return cache.is_hot(name) ? 1 : 0;
  });
}

int heatsink_is_kept(heatsink_client* client, const char* key, size_t key_size) {
  return with_key(client, key, key_size, [](const Client<>& cache, std::string_view name) {
    return cache.is_kept(name) ? 1 : 0;
  });
}

int heatsink_record(heatsink_client* client, const char* key, size_t key_size) {
  return with_key(client, key, key_size, [](const Client<>& cache, std::string_view name) {
    cache.record(name);
    return HEATSINK_OK;
  });
}

int heatsink_warm(heatsink_client* client, const char* key, size_t key_size,
                  const heatsink_loader* loader, uint64_t for_ms) {
  if (loader == nullptr) return missing_argument();
  return with_key(client, key, key_size, [&](const Client<>& cache, std::string_view name) {
    const std::vector<std::string> keys = {std::string(name)};
    if (cache.warm(keys, loader->load, duration_of_ms(for_ms)).empty()) return int{HEATSINK_OK};
    return fail(HEATSINK_REFUSED, "cache.maximum-size keys are already hot");
  });
}

int heatsink_stats(heatsink_client* client, heatsink_stats_values* stats, size_t size) {
  if (client == nullptr || stats == nullptr) return missing_argument();
  if (size == 0) return fail(HEATSINK_INVALID, "the size of the structure must not be 0");
  return guarded([&] {
    const heatsink_stats_values values = values_of(client->client.stats());
    std::memset(stats, 0, size);
    std::memcpy(stats, &values, std::min(size, sizeof(values)));
    return HEATSINK_OK;
  });
}

int heatsink_metrics(heatsink_client* client,
                     void (*tell)(void* user, const char* text, size_t size), void* user) {
  if (client == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    const std::string text = client->client.metrics_text();
    tell(user, text.c_str(), text.size());
    return HEATSINK_OK;
  });
}

int heatsink_on_report(heatsink_client* client,
                       void (*tell)(void* user, const heatsink_stats_values* stats, size_t size),
                       void* user) {
  if (client == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    client->client.on_report([tell, user](const heatsink::client::Stats& now) {
      const heatsink_stats_values values = values_of(now);
      tell(user, &values, sizeof(values));
    });
    return HEATSINK_OK;
  });
}

int heatsink_top(heatsink_client* client, size_t n,
                 void (*tell)(void* user, const heatsink_hot_key* key), void* user) {
  if (client == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    for (const HotKeyInfo& each : client->client.top(n)) {
      const heatsink_hot_key key = {each.key.data(),    each.key.size(), each.temperature.c_str(),
                                    each.rate_low,      each.rate_high,  each.share,
                                    each.reads,         each.writes,     each.hits,
                                    each.reason.c_str()};
      tell(user, &key);
    }
    return HEATSINK_OK;
  });
}

int heatsink_on_hot(heatsink_client* client,
                    void (*tell)(void* user, const char* key, size_t key_size, int is_hot,
                                 const char* reason),
                    void* user) {
  if (client == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    client->client.on_hot([tell, user](const HotEvent& event) {
      tell(user, event.key.data(), event.key.size(), event.is_hot ? 1 : 0, event.reason.c_str());
    });
    return HEATSINK_OK;
  });
}
