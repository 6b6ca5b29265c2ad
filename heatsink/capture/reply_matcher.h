// SPDX-License-Identifier: Apache-2.0
// Inside capture: what a client and a server say to each other, and which reply answers what.
//
// A server answers in order, so the n-th reply belongs to the n-th request: as long as both are
// counted from a place where nothing was outstanding. That is certain from a connection's
// beginning. It is in doubt when bytes are missing, when the connection is older than the capture,
// or when what comes cannot be the answer (a reply without a request; one sent before its request
// had come, as its acknowledgement tells; one of a type that the command never has). Then all that
// waits is handed out without replies, and the counting begins anew at a *quiet* place: a request
//   - whose sender has received all that the server has sent,
//   - before which the server, when it last said something, had received all that the client had,
//   - and before which nobody has said anything for kQuiet.
// A command may still have been outstanding there, so this alone is not believed: from the first
// quiet place on replies are compared, but told only from the second one on, if in between each
// reply had its request and each request its reply. So a wrong count would have to survive two
// pauses in which nothing is outstanding but what the server takes longer than kQuiet for.
//
// Where replies are not watched, requests are told at once; from when on they are watched, the
// conversation is like one that was joined then.
#pragma once

#include <cstdint>
#include <vector>

#include "heatsink/capture/captured_command.h"
#include "heatsink/capture/command_traits.h"
#include "heatsink/capture/counters.h"
#include "heatsink/capture/pending_commands.h"
#include "heatsink/capture/reassembly.h"
#include "heatsink/capture/reply_watch.h"
#include "heatsink/capture/request_reader.h"
#include "heatsink/resp/resp.h"

namespace heatsink::capture {

// What all conversations of a decoder share.
struct MatcherContext {
  resp::CommandTable table;
  CommandTraitsOf traits{table};
  OnCommand on_command;
  CaptureCounters counters = {};
  ReplyWatch watch = {};
  std::vector<resp::KeyRef> refs = {};  // of the command at hand
  std::vector<CapturedKey> keys = {};   // likewise
};

// Which replies of a connection are there to be read.
enum class Replies : std::uint8_t { kAll, kFromNowOn, kNone };

// One per connection; not thread-safe.
class ReplyMatcher final : public StreamSink {
 public:
  static constexpr Nanos kQuiet = Millis(1);
  // So much of a joined connection is searched for a request before it is given up.
  static constexpr std::uint64_t kForeignBytes = 4 << 20;

  // `whole`: from the connection's beginning on; `strict`: the first request must be a multi-bulk
  // one of a known command.
  ReplyMatcher(MatcherContext& context, Endpoint client, Endpoint server, bool whole, bool strict,
               Replies replies);

  void take(const Arrival& arrival) override;
  void lose(Side side, std::uint64_t bytes) override;
  // Whether replies come from now on: begun or ended between two packets.
  void watch(bool replies);
  // The end: what waits is handed out without replies.
  void finish();

  // Nothing can be read here, so it needs no further bytes: encrypted, or another protocol.
  bool is_dead() const { return is_dead_; }
  std::size_t bytes() const;  // of memory that grows with what is said

 private:
  enum class Matching {
    kCertain,
    kTried,  // counted from a quiet place on, not yet told
    kLost,   // until a quiet place
    kNever,  // replies that nobody can count
    kUnwatched,
  };

  bool is_recognised(const Arrival& arrival);
  void give_up(std::uint64_t CaptureCounters::*why);
  void take_requests(const Arrival& arrival);
  void take_request(const Arrival& arrival);
  void take_replies(const Arrival& arrival);
  void take_reply(const Arrival& arrival);
  std::size_t nesting_bytes() const;
  bool answers(const PendingCommands::Row& row, const Arrival& arrival) const;
  bool is_quiet(const Arrival& arrival) const;
  void pass_quiet_place();
  void doubt();
  void never_match();
  void follow_state(CommandRole role);
  bool find_keys();
  std::uint64_t argument_bytes() const;
  CapturedReply reply_of(const PendingCommands::Row& row) const;
  void report_front(const CapturedReply* reply);
  void report(const PendingCommands::Row& row, const CapturedReply* reply);

  MatcherContext& context_;
  Endpoint client_;
  Endpoint server_;
  RequestReader requests_;
  resp::ReplyScanner scanner_;
  PendingCommands pending_;
  Matching matching_;
  bool whole_;
  bool strict_;
  bool recognised_ = false;  // a request was read
  bool is_dead_ = false;
  bool db_known_;
  bool resp3_ = false;
  bool in_reply_ = false;
  bool is_new_watch_;  // the replies, and have not been told apart since
  std::uint32_t db_ = 0;
  std::uint32_t db_before_ = 0;     // the last SELECT
  std::int64_t last_ns_ = 0;        // when anybody last said something
  std::uint32_t server_heard_ = 0;  // how far the server had received when it last said something
  bool server_heard_known_ = false;
  std::int64_t reply_ns_ = 0;  // the first byte of the reply at hand
  std::uint64_t reply_bytes_ = 0;
};

}  // namespace heatsink::capture
