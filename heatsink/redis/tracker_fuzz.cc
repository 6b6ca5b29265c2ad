// SPDX-License-Identifier: Apache-2.0
// Feeds the tracker any bytes from the server at any time, between fills, barriers and ticks. The
// tracker must answer each question exactly once, report only valid replies, send only valid
// requests, and reach the same result however the bytes are split.
//
// The input is a script: one byte selects an action, its operands follow, and so on to the end.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/redis/tracker.h"
#include "heatsink/resp/request_parser.h"

namespace {

using namespace heatsink;
using redis::FillReply;

void require(bool holds) {
  if (!holds) std::abort();
}

// The replies of a correct server, alone and as a cluster node, to the handshake and to each
// heartbeat.
constexpr std::array<std::string_view, 4> kPhrases = {
    "+PONG\r\n%1\r\n+version\r\n+7.0.15\r\n"
    "*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n"
    "+OK\r\n%0\r\n:0\r\n",
    "%1\r\n+role\r\n+master\r\n:0\r\n",
    "+PONG\r\n%1\r\n+mode\r\n+cluster\r\n-NOPERM\r\n+OK\r\n%0\r\n:0\r\n",
    "%1\r\n+mode\r\n+cluster\r\n$35\r\naa :1@2 myself,master - 0 0 1 c 1-5\r\n:0\r\n",
};
constexpr std::array<std::string_view, 3> kNames = {"a", "b", ""};

// Checks the tracker's contract and records its events.
class Auditor final : public redis::TrackerEvents {
 public:
  void on_facts(const redis::ServerFacts& facts) override {
    add("facts " + facts.version + (facts.commands ? " commands" : ""));
  }
  void on_up() override { add("up"); }
  void on_heartbeat(TimePoint sent_at) override {
    require(sent_at <= now);
    add("heartbeat " + std::to_string(sent_at.time_since_epoch().count()));
  }
  void on_invalidate(std::string_view name) override { add("invalidate " + std::string(name)); }
  void on_flush() override { add("flush"); }
  void on_filled(FillReply& reply) override {
    require(std::exchange(fills_waiting[reply.id], false));
    require(reply.sent_at <= now && (!reply.ttl || *reply.ttl >= Nanos(0)));
    if (reply.usable()) {
      require(is_one_reply(reply.reply));
      require(reply.resp2.empty() || is_one_reply(reply.resp2));
    }
    add("filled " + reply.reply + reply.resp2 + (reply.spoiled ? " spoiled" : ""));
  }
  void on_barrier(std::uint64_t token) override {
    require(std::exchange(barriers_waiting[token], false));
    add("barrier");
  }
  void on_rights_changed() override { add("rights changed"); }
  void on_down(const std::string& reason) override {
    require(!reason.empty());
    add("down");
  }

  bool anyone_waits() const {
    const auto waits = [](const auto& entry) { return entry.second; };
    return std::any_of(fills_waiting.begin(), fills_waiting.end(), waits) ||
           std::any_of(barriers_waiting.begin(), barriers_waiting.end(), waits);
  }

  TimePoint now{};
  std::map<redis::FillId, bool> fills_waiting;
  std::map<std::uint64_t, bool> barriers_waiting;
  std::string said;

 private:
  static bool is_one_reply(std::string_view bytes) {
    resp::Value value;
    std::size_t consumed = 0;
    return resp::parse_value(bytes, value, consumed) == resp::ValueStatus::kValue &&
           consumed == bytes.size();
  }
  void add(const std::string& line) { said += line + '\n'; }
};

class Play {
 public:
  Play(std::string_view script, std::size_t piece_bytes)
      : script_(script), piece_bytes_(piece_bytes) {}

  std::string run() {
    tracker_.connected(auditor_.now);
    while (!script_.empty()) step(take_byte());
    lose("the end");
    require(!auditor_.anyone_waits());
    return std::move(auditor_.said);
  }

 private:
  static redis::TrackerOptions options() {
    redis::TrackerOptions options;
    options.heartbeat_key = "hb";
    options.value_bytes_max = 10;
    options.reply_bytes_max = 64;
    options.rights_interval = Millis(200);
    return options;
  }

  std::uint8_t take_byte() {
    if (script_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(script_.front());
    script_.remove_prefix(1);
    return byte;
  }

  void step(std::uint8_t what) {
    switch (what % 8) {
      case 0:
        return hear(take_bytes(take_byte()));
      case 1:
        return hear(kPhrases[take_byte() % kPhrases.size()]);
      case 2:
        return wait(Millis(take_byte() * 8));
      case 3:
        return fill_string(kNames[take_byte() % kNames.size()]);
      case 4:
        return fill_hash(kNames[take_byte() % kNames.size()]);
      case 5:
        auditor_.barriers_waiting[++last_] = true;
        return tracker_.barrier(last_, auditor_.now);
      case 6:
        return tracker_.touch(take_byte() % 2, kNames, auditor_.now);
      default:
        return tracker_.ask_eviction(auditor_.now);
    }
  }

  std::string_view take_bytes(std::size_t n) {
    const std::string_view bytes = script_.substr(0, n);
    script_.remove_prefix(bytes.size());
    return bytes;
  }

  // For bytes that end the connection, the splitting decides how much was parsed: a reply with too
  // long an announced length is not awaited, and might be invalid later on.
  void hear(std::string_view bytes) {
    const std::size_t said_before = auditor_.said.size();
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, piece_bytes_);
      bytes.remove_prefix(piece.size());
      // a copy of its own: the sanitizer sees a read past its end
      const std::vector<char> alone(piece.begin(), piece.end());
      const Status heard = tracker_.received({alone.data(), alone.size()}, auditor_.now);
      if (heard.ok()) continue;
      lose(heard.error().message);
      auditor_.said.resize(said_before);
      return;
    }
  }

  void wait(Nanos time) {
    auditor_.now += time;
    const Status in_time = tracker_.tick(auditor_.now);
    if (!in_time.ok()) lose(in_time.error().message);
  }

  void fill_string(std::string_view key) {
    auditor_.fills_waiting[++last_] = true;
    tracker_.fill(last_, {.key = key, .db = take_byte() % 2U}, auditor_.now);
  }

  void fill_hash(std::string_view key) {
    auditor_.fills_waiting[++last_] = true;
    const std::array<std::string_view, 3> request = {"HGETALL", key, "f"};
    const auto fields = static_cast<redis::FieldNames>(take_byte() % 4);
    const std::size_t words = fields == redis::FieldNames::kArguments ? 3 : 2;
    tracker_.fill(last_, {key, 0, std::span(request).first(words), resp::Resp2Form{}, fields},
                  auditor_.now);
  }

  // Acts like the owner after an error, and reconnects at once.
  void lose(const std::string& why) {
    check_output();
    tracker_.disconnected(why);
    require(!tracker_.up() && !auditor_.anyone_waits());
    tracker_.connected(auditor_.now);
  }

  void check_output() {
    resp::RequestParser parser;
    while (!tracker_.output().empty()) {
      require(parser.parse(tracker_.output().view()) == resp::ParseStatus::kRequest);
      tracker_.output().consume(parser.size());
    }
  }

  std::string_view script_;
  std::size_t piece_bytes_;
  Auditor auditor_;
  redis::Tracker tracker_{options(), auditor_};
  std::uint64_t last_ = 0;  // FillId or token
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  require(Play(script, std::string_view::npos).run() == Play(script, 1).run());
  return 0;
}
