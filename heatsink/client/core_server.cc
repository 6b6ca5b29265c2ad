// SPDX-License-Identifier: Apache-2.0
// The part of a Core that has a server: copies of level `key` (docs/design/coherence.md).

#include "heatsink/client/core.h"
#include "heatsink/client/errors.h"

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

// To be called before the load: then whatever changes the value behind it is told. Without a server
// nobody tells; the load counts from when it began.
Core::Watch Core::watch(KeyHash hash, TimePoint now) {
  if (server_ == nullptr) return {.is_tracked = true, .tracked_at = now};
  const std::string name = hot_.name(hash);
  return name.empty() ? Watch{} : server_->watch(name);
}

// A fill that did not see it yet ends with this.
void Core::passed(KeyHash hash) {
  if (server_ == nullptr || is_in_forked_child_ || !hot_.has(hash)) return;
  const std::lock_guard lock(keeping_);
  fences_.raise(name_of(hash), now());
  hot_.drop(hash);
}

// ---- what the server tells

void Core::on_changed(std::string_view key) {
  count(counters_.invalidations);
  const KeyHash name = hash(key);
  const std::lock_guard lock(keeping_);
  fences_.raise(name_of(name), now());
  hot_.drop(name);
}

void Core::on_all_changed() {
  count(counters_.flushes);
  const std::lock_guard lock(keeping_);
  all_changed_at_ = now();
  for (const std::string& key : hot_.keys()) hot_.drop(hash(key));
}

void Core::on_proven(TimePoint until) {
  served_until_.store(until.time_since_epoch().count(), std::memory_order_release);
}

// ---- what the server is asked

std::optional<std::string> Core::fetch(std::string_view key) {
  resp::Value reply = server().ask({"GET", key});
  expect_done(reply);
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
