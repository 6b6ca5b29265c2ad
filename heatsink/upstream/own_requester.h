// SPDX-License-Identifier: Apache-2.0
// Receives the replies to requests that the proxy sends by itself, in whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/known_scripts.h"
#include "heatsink/command/pending.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// A base for state machines that send small requests on shared connections. One worker's thread.
// Each request in flight has a ticket of its own, not 0; the machine outlives its requests in
// flight. They use database 0, unless they are the same in all. Memory: the replies that are
// arriving, each up to kReplyMax; a longer one counts as an error.
class OwnRequester : public Requester {
 public:
  static constexpr std::size_t kReplyMax = 64 * 1024;

  OwnRequester(const OwnRequester&) = delete;

  std::size_t in_flight() const { return in_flight_; }

  // Requester
  std::uint64_t id() const override { return 0; }
  bool closed() const override { return false; }
  void hold() override {}
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    std::string& reply = arriving(ticket);
    if (reply.size() <= kReplyMax) reply.append(bytes);
  }
  void reply_done(Pending& pending, bool /*ok*/, const resp::ReplyScanner& /*reply*/,
                  std::string_view /*kept*/) override {
    --in_flight_;
    resp::Value value;
    std::size_t used = 0;
    const std::string reply = take_arrived(pending.ticket);
    const bool is_whole = reply.size() <= kReplyMax &&
                          resp::parse_value(reply, value, used) == resp::ValueStatus::kValue;
    if (!is_whole) {
      value = {};
      value.type = resp::Value::Type::kError;
      value.text = "the reply is too long";
    }
    answered(pending.ticket, value);
  }
  void reply_lost(Pending& pending, bool /*begun*/, const std::string& problem) override {
    --in_flight_;
    static_cast<void>(take_arrived(pending.ticket));
    lost(pending.ticket, problem);
  }

 protected:
  OwnRequester() = default;
  ~OwnRequester() = default;

  // Each request ends with one of these calls.
  virtual void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) = 0;
  virtual void lost(ReplyQueue::Ticket ticket, const std::string& problem) = 0;

  void send(Upstream& connection, ReplyQueue::Ticket ticket, bool read_only,
            std::initializer_list<std::string_view> args) {
    send_words(connection, ticket, read_only, {args.begin(), args.size()});
  }
  void send_words(Upstream& connection, ReplyQueue::Ticket ticket, bool read_only,
                  std::span<const std::string_view> args, Pending&& pending = {}) {
    pending.read_only = read_only;
    ByteBuffer wire;
    resp::append_request(wire, args);
    connection.use_db(0);
    send_in_any_db(connection, ticket, wire.view(), std::move(pending));
  }
  // In wire form. The connection stays in its database.
  void send_in_any_db(Upstream& connection, ReplyQueue::Ticket ticket, std::string_view request,
                      Pending&& pending) {
    pending.session = this;
    pending.ticket = ticket;
    ++in_flight_;
    connection.send(request, std::move(pending));
  }
  // Runs a script of the proxy's own on its one key, which comes first in `args`.
  void send_script(KnownScripts& scripts, Upstream& connection, ReplyQueue::Ticket ticket,
                   std::string_view text, const std::vector<std::string>& args) {
    const std::string sha1 = sha1_of(text);
    scripts.learn(text, nullptr);
    if (const auto missing = scripts.missing_at(connection.server(), sha1))
      connection.send_own({"SCRIPT", "LOAD", *missing});
    std::vector<std::string_view> words = {"EVALSHA", sha1, "1"};
    words.insert(words.end(), args.begin(), args.end());
    send_words(connection, ticket, false, words);
  }
  // For a derived class that takes a reply by itself.
  void reply_ended() { --in_flight_; }

 private:
  std::string& arriving(ReplyQueue::Ticket ticket) {
    for (auto& [each, bytes] : arriving_)
      if (each == ticket) return bytes;
    return arriving_.emplace_back(ticket, std::string()).second;
  }
  std::string take_arrived(ReplyQueue::Ticket ticket) {
    std::string bytes = std::move(arriving(ticket));
    std::erase_if(arriving_, [&](const auto& each) { return each.first == ticket; });
    return bytes;
  }

  std::vector<std::pair<ReplyQueue::Ticket, std::string>> arriving_;  // one per connection at most
  std::size_t in_flight_ = 0;
};

}  // namespace heatsink::proxy
