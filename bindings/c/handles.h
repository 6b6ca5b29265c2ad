// SPDX-License-Identifier: Apache-2.0
// What is behind the handles of heatsink.h, and how errors cross its border.
#pragma once

#include <heatsink.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heatsink/client/client.h"

struct heatsink_options {
  heatsink::client::ClientOptions values;
};

struct heatsink_reply {
  std::optional<std::string> value;
  std::string error;
};

namespace heatsink::capi {

// A callback of the caller's failed.
class CallbackFailed : public std::runtime_error {
 public:
  explicit CallbackFailed(const std::string& why) : std::runtime_error(why) {}
};

// A load function; who copies it shares `user`.
class LoadCall {
 public:
  LoadCall() = default;
  LoadCall(heatsink_load_fn load, void* user, void (*free_user)(void*));
  std::optional<std::string> operator()(const std::string& key) const;

 private:
  heatsink_load_fn load_ = nullptr;
  std::shared_ptr<void> user_;
};

// Keeps the message for heatsink_last_error() of this thread, and returns the code.
int fail(int code, std::string_view message) noexcept;
int missing_argument() noexcept;

// A year at most, so that no clock overflows.
constexpr std::chrono::milliseconds duration_of_ms(uint64_t ms) {
  constexpr uint64_t kYearMs = 365ULL * 24 * 3600 * 1000;
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(ms, kYearMs)));
}

inline bool has_key(const char* key, std::size_t size) { return key != nullptr || size == 0; }
inline std::string_view key_of(const char* key, std::size_t size) {
  return size == 0 ? std::string_view() : std::string_view(key, size);
}

// From a structure of the caller's that may be older or newer. Null: all zeros.
template <class Values>
Values known_of(const Values* from, std::size_t size) noexcept {
  Values known = {};
  if (from != nullptr) std::memcpy(&known, from, std::min(size, sizeof(known)));
  return known;
}

// Into a structure of the caller's that may be older or newer.
template <class Values>
int give(const Values& values, void* to, std::size_t size) noexcept {
  if (size == 0) return fail(HEATSINK_INVALID, "the size of the structure must not be 0");
  std::memset(to, 0, size);
  std::memcpy(to, &values, std::min(size, sizeof(values)));
  return HEATSINK_OK;
}

// Runs `call`, which returns a code; whatever it throws becomes a code.
template <class Call>
int guarded(Call call) noexcept {
  try {
    return call();
  } catch (const CallbackFailed& error) {
    return fail(HEATSINK_FAILED, error.what());
  } catch (const client::ServerError& error) {
    return fail(HEATSINK_FAILED, error.what());
  } catch (const client::ServerUnavailable& error) {
    return fail(HEATSINK_FAILED, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(HEATSINK_INVALID, error.what());
  } catch (const client::LoadRefused& error) {
    return fail(HEATSINK_REFUSED, error.what());
  } catch (const std::bad_alloc&) {
    return fail(HEATSINK_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(HEATSINK_INTERNAL, error.what());
  }
}

}  // namespace heatsink::capi

struct heatsink_loader {
  heatsink::capi::LoadCall load;
};

struct heatsink_client {
  heatsink::client::Client<std::string> client;
};
