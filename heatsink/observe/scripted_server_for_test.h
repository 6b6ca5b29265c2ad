// SPDX-License-Identifier: Apache-2.0
// For tests: a server that answers by a function, on all connections of a source.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/observe/source.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

// Values as a server sends them.
inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string number(std::int64_t n) { return ":" + std::to_string(n) + "\r\n"; }
inline std::string list(const std::vector<std::string>& items) {
  std::string out = "*" + std::to_string(items.size()) + "\r\n";
  for (const std::string& item : items) out += item;
  return out;
}

// Moves a source through virtual time: connects the protocols that want it, answers their commands,
// and closes the others.
class ScriptedServer {
 public:
  using Args = std::vector<std::string>;
  // Returns the reply's bytes, or "" for no reply. `protocol`: the index in Source::protocols().
  using Script = std::function<std::string(std::size_t protocol, const Args& args)>;

  ScriptedServer(Source& source, Script script) : source_(source), script_(std::move(script)) {}

  TimePoint now() const { return now_; }
  void run_for(Nanos duration, Nanos step = Millis(5)) {
    for (const TimePoint end = now_ + duration; now_ < end; now_ += step) turn();
  }
  // Sends bytes that no command asked for, if that protocol is connected.
  void say(std::size_t protocol, std::string_view bytes) {
    if (open_[protocol]) deliver(protocol, bytes);
  }
  void cut(std::size_t protocol, const std::string& why = "the connection was lost") {
    if (!open_[protocol]) return;
    open_[protocol] = false;
    source_.protocols()[protocol]->lost({ErrorCode::kUnavailable, why}, now_);
  }
  bool is_open(std::size_t protocol) { return open_[protocol]; }

 private:
  void turn() {
    source_.tick(now_);
    const auto all = source_.protocols();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]->wanted()) open_[i] = false;
      if (all[i]->wanted() && !open_[i]) {
        open_[i] = true;
        asked_[i].clear();
        all[i]->connected(now_);
      }
      if (open_[i]) answer(i);
    }
  }
  void answer(std::size_t i) {
    ByteBuffer& output = source_.protocols()[i]->output();
    asked_[i] += output.view();
    output.clear();
    while (!asked_[i].empty() && open_[i]) {
      resp::Value request;
      std::size_t consumed = 0;
      if (resp::parse_value(asked_[i], request, consumed) != resp::ValueStatus::kValue) return;
      asked_[i].erase(0, consumed);
      Args args;
      for (const resp::Value& item : request.items) args.push_back(item.text);
      const std::string reply =
          args[0] == "AUTH" || args[0] == "CLIENT" ? "+OK\r\n" : script_(i, args);
      if (!reply.empty()) deliver(i, reply);
    }
  }
  void deliver(std::size_t i, std::string_view bytes) {
    ServerProtocol& protocol = *source_.protocols()[i];
    const Status understood = protocol.received(bytes, now_);
    if (understood) return;
    open_[i] = false;
    protocol.lost(understood.error(), now_);
  }

  Source& source_;
  Script script_;
  TimePoint now_{std::chrono::seconds(100)};
  std::map<std::size_t, bool> open_;
  std::map<std::size_t, std::string> asked_;
};

}  // namespace heatsink::observe
