// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/handles.h"

#include <algorithm>
#include <array>

#include "heatsink/base/version.h"

namespace heatsink::capi {
namespace {

// Not a string: to tell that there is no memory must not need any.
thread_local std::array<char, 501> last_error{};

}  // namespace

int fail(int code, std::string_view message) noexcept {
  const std::size_t size = std::min(message.size(), last_error.size() - 1);
  *std::copy_n(message.data(), size, last_error.data()) = '\0';
  return code;
}

int missing_argument() noexcept {
  return fail(HEATSINK_INVALID, "a required argument is a null pointer");
}

LoadCall::LoadCall(heatsink_load_fn load, void* user, void (*free_user)(void*)) : load_(load) {
  // Not by the constructor with a deleter: it frees `user` when there is no memory.
  struct Owner {
    void* user = nullptr;
    void (*free_user)(void*) = nullptr;
    Owner() = default;
    Owner(const Owner&) = delete;
    ~Owner() {
      if (free_user != nullptr) free_user(user);
    }
  };
  auto owner = std::make_shared<Owner>();
  owner->user = user;
  owner->free_user = free_user;
  user_ = std::shared_ptr<void>(std::move(owner), user);
}

std::optional<std::string> LoadCall::operator()(const std::string& key) const {
  heatsink_reply reply;
  const int code = load_(user_.get(), key.data(), key.size(), &reply);
  if (code == HEATSINK_NONE) return std::nullopt;
  if (code != HEATSINK_OK)
    throw CallbackFailed(reply.error.empty() ? "the loader failed without an error message"
                                             : reply.error);
  if (!reply.value) throw CallbackFailed("the loader returned HEATSINK_OK but gave no value");
  return std::move(reply.value);
}

}  // namespace heatsink::capi

using heatsink::capi::fail;
using heatsink::capi::guarded;
using heatsink::capi::LoadCall;
using heatsink::capi::missing_argument;

uint32_t heatsink_abi_version() { return HEATSINK_ABI_VERSION; }

const char* heatsink_version() { return heatsink::version(); }

const char* heatsink_last_error() { return heatsink::capi::last_error.data(); }

int heatsink_reply_value(heatsink_reply* reply, const char* value, size_t size) {
  if (reply == nullptr || (value == nullptr && size != 0)) return missing_argument();
  return guarded([&] {
    reply->value.emplace(value == nullptr ? "" : value, size);
    return HEATSINK_OK;
  });
}

void heatsink_reply_error(heatsink_reply* reply, const char* message) {
  if (reply == nullptr || message == nullptr) return;
  (void)guarded([&] {
    reply->error = message;
    return HEATSINK_OK;
  });
}

heatsink_loader* heatsink_loader_new(heatsink_load_fn load, void* user, void (*free_user)(void*)) {
  heatsink_loader* loader = nullptr;
  if (load == nullptr) {
    missing_argument();
    return nullptr;
  }
  (void)guarded([&] {
    auto empty = std::make_unique<heatsink_loader>();  // so that nothing fails once `user` is ours
    empty->load = LoadCall(load, user, free_user);
    loader = empty.release();
    return HEATSINK_OK;
  });
  return loader;
}

void heatsink_loader_free(heatsink_loader* loader) { delete loader; }
