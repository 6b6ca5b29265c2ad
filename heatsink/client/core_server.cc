// SPDX-License-Identifier: Apache-2.0
// The part of a Core that needs a server: copies of level `key` (docs/design/coherence.md).

#include "heatsink/client/core.h"
#include "heatsink/client/errors.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::client {
namespace {

void expect_done(const resp::Value& reply) {
  if (reply.is_error()) throw ServerError(reply.text);
}

}  // namespace

ServerLink& Core::server() {
  if (is_in_forked_child_)
    throw ServerUnavailable(
        "this client was created before fork(): create it in the child process");
  if (server_ == nullptr)
    throw ServerUnavailable("server.url is not set: set it, or pass a loader");
  return *server_;
}

// Call it before the load, so that the server notifies the client of every later change. Without a
// server the load counts from its beginning.
Core::Watch Core::watch(KeyHash hash, TimePoint now) {
  if (server_ == nullptr) return {.is_tracked = true, .tracked_at = now};
  const std::string name = kept_.name(hash);
  return name.empty() ? Watch{} : server_->watch(name);
}

// Ends a copy whose load may not have seen this value yet.
void Core::end_cold_load(KeyHash hash) {
  if (server_ == nullptr || is_in_forked_child_ || !kept_.has(hash)) return;
  const std::lock_guard lock(keep_mutex_);
  fences_.raise(name_of(hash), now());
  kept_.drop(hash);
}

// ---- notifications of the server

void Core::on_changed(std::string_view key) {
  count(counters_.invalidations);
  const KeyHash name = hash(key);
  const std::lock_guard lock(keep_mutex_);
  fences_.raise(name_of(name), now());
  key_changed(name);
}

void Core::on_all_changed() {
  count(counters_.flushes);
  const std::lock_guard lock(keep_mutex_);
  // Stands for a fence of every name: keep() refuses all loads tracked earlier.
  all_changed_at_ = now();
  kept_.drop_all();
}

void Core::on_server_changed(topology::ServerIndex server) {
  count(counters_.flushes);
  const std::lock_guard lock(keep_mutex_);
  all_changed_at_ = now();
  kept_.drop_if(
      [server](std::string_view, const CachedValue& cached) { return cached.server == server; });
}

void Core::on_slots_changed(const std::vector<bool>& slots) {
  const std::lock_guard lock(keep_mutex_);
  all_changed_at_ = now();
  kept_.drop_if(
      [&slots](std::string_view key, const CachedValue&) { return slots[resp::key_slot(key)]; });
}

void Core::on_proven(topology::ServerIndex server, TimePoint until) {
  served_until_.set(server, until);
}

// ---- commands to the server

std::optional<std::string> Core::fetch(std::string_view key) {
  resp::Value reply = server().ask({"GET", key});
  expect_done(reply);
  own_reads_.note(hash(key), now());
  if (reply.type == resp::Value::Type::kNull) return std::nullopt;
  return std::move(reply.text);
}

void Core::store(std::string_view key, std::string_view value, std::optional<Millis> ttl) {
  if (!ttl) {
    expect_done(server().ask({"SET", key, value}));
    return;
  }
  expect_done(server().ask({"SET", key, value, "PX", std::to_string(ttl->count())}));
}

void Core::remove(std::string_view key) { expect_done(server().ask({"DEL", key})); }

}  // namespace heatsink::client
