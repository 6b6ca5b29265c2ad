// SPDX-License-Identifier: Apache-2.0
// Provides tests of a connection's parts with receivers of replies that note what they get.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/command/pending.h"
#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// All that happens, in its order: "settled 1", "client 1 gets +OK|".
using PlayedEvents = std::vector<std::string>;

// "+OK|": without CR, and with a bar for each LF.
inline std::string shown_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes)
    if (c != '\r') out.push_back(c == '\n' ? '|' : c);
  return out;
}

// A client, and the owner of a private connection.
class PlayedReceiver final : public ConnectionOwner {
 public:
  PlayedReceiver(PlayedEvents& events, std::uint64_t id) : events_(events), id_(id) {}

  Pending request() {
    Pending pending;
    pending.session = this;
    pending.ticket = ++last_ticket_;
    pending.read_only = true;
    return pending;
  }

  std::uint64_t id() const override { return id_; }
  bool closed() const override { return is_closed; }
  void hold() override {}
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    note("gets " + std::to_string(ticket) + " " + shown_bytes(bytes));
  }
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    note((ticket == ReplyQueue::kNone ? "hears " : "gets ") + shown_bytes(bytes));
  }
  void take_whole(const Pending& pending, std::string_view bytes, TimePoint /*read_at*/) override {
    note("whole " + std::to_string(pending.ticket) + " " + shown_bytes(bytes));
  }
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& /*reply*/,
                  std::string_view kept) override {
    note("done " + std::to_string(pending.ticket) + (ok ? "" : " error") +
         (kept.empty() ? "" : " " + shown_bytes(kept)));
  }
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override {
    note("lost " + std::to_string(pending.ticket) + (begun ? " begun: " : ": ") + problem);
  }
  void ask_again(std::string_view request, const Pending& pending) override {
    note("again " + std::to_string(pending.ticket) + " " + shown_bytes(request));
  }
  bool may_ask_again(ReplyQueue::Ticket /*ticket*/) const override { return is_repeatable; }
  bool congested() const override { return is_congested; }
  bool receives_messages() const override { return is_subscriber; }
  bool is_streaming() const override { return streams; }
  bool takes_back(Pending& /*pending*/, std::string_view error) override {
    if (takes_errors) note("takes back " + shown_bytes(error));
    return takes_errors;
  }
  Keeps keeps(const Pending& /*pending*/, TimePoint /*read_at*/) override { return keeps_bytes; }
  void private_ready() override {}
  std::unique_ptr<Upstream> private_failed(const std::string& /*reason*/) override {
    return nullptr;
  }

  bool is_closed = false, is_repeatable = false, is_congested = false, is_subscriber = false;
  bool streams = false, takes_errors = false;
  Keeps keeps_bytes = Keeps::kNothing;

 private:
  void note(const std::string& what) {
    events_.push_back("client " + std::to_string(id_) + " " + what);
  }

  PlayedEvents& events_;
  const std::uint64_t id_;
  ReplyQueue::Ticket last_ticket_ = 0;
};

}  // namespace heatsink::proxy
