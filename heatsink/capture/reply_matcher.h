// SPDX-License-Identifier: Apache-2.0
// Inside capture: reads one connection and decides which reply belongs to which request.
//
// A server answers in order, so the n-th reply belongs to the n-th request, if both are counted
// from a point where no request was outstanding. The beginning of a connection is such a point. The
// count becomes doubtful
//   - when bytes are missing,
//   - when the connection is older than the capture,
//   - when a reply cannot belong to its request: there is no request; by its acknowledgement the
//     reply was sent before the request had come; or the command never has replies of this type.
// Then all waiting commands are reported without replies, and counting starts again at a *quiet*
// point: a request
//   - whose sender has received all that the server has sent,
//   - before which the server, in its last segment, had received all that the client had sent,
//   - and before which neither side sent anything for kQuiet.
// A command may still be outstanding there, so one quiet point is not enough. From the first one
// on, replies are matched, but they are reported only from the second one on, if in between each
// reply had its request and each request its reply. A wrong count would have to survive two pauses
// whose only outstanding commands take the server longer than kQuiet.
//
// While replies are not watched, commands are reported at once. When watching begins, the
// connection is treated like one joined at that time.
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

// Shared by all matchers of a decoder.
struct MatcherContext {
  resp::CommandTable table;
  CommandTraitsOf traits{table};
  OnCommand on_command;
  CaptureCounters counters = {};
  ReplyWatch watch = {};
  std::vector<resp::KeyRef> refs = {};  // of the current command
  std::vector<CapturedKey> keys = {};   // of the current command
};

// Which replies of the connection the capture sees.
enum class Replies : std::uint8_t { kAll, kFromNowOn, kNone };

// One per connection; not thread-safe.
class ReplyMatcher final : public StreamSink {
 public:
  static constexpr Nanos kQuiet = Millis(1);
  // A joined connection is given up if this many bytes contain no request.
  static constexpr std::uint64_t kForeignBytes = 4 << 20;

  // `whole`: the capture has the beginning of the connection. `strict`: the first request must be a
  // multi-bulk request of a known command.
  ReplyMatcher(MatcherContext& context, Endpoint client, Endpoint server, bool whole, bool strict,
               Replies replies);

  void take(const Arrival& arrival) override;
  void lose(Side side, std::uint64_t bytes) override;
  // The capture begins or stops seeing replies, between two packets.
  void watch(bool replies);
  // The end: reports all waiting commands without replies.
  void finish();

  // The connection is unreadable (encrypted, or another protocol) and needs no further bytes.
  bool is_dead() const { return is_dead_; }
  std::size_t bytes() const;  // memory that grows with the traffic

 private:
  enum class Matching {
    kCertain,
    kTried,  // matched since a quiet point, but not reported yet
    kLost,   // until a quiet place
    kNever,  // replies cannot be counted
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
  bool is_new_watch_;  // replies are watched again, but not matched since
  std::uint32_t db_ = 0;
  std::uint32_t db_before_ = 0;  // the last SELECT
  std::int64_t last_ns_ = 0;     // the latest segment of either side
  // how much the server had received when it sent its last segment
  std::uint32_t server_heard_ = 0;
  bool server_heard_known_ = false;
  std::int64_t reply_ns_ = 0;  // first byte of the current reply
  std::uint64_t reply_bytes_ = 0;
};

}  // namespace heatsink::capture
