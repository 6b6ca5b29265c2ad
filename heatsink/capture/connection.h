// SPDX-License-Identifier: Apache-2.0
// Inside capture: turns the segments of one TCP connection into commands.
#pragma once

#include <cstdint>
#include <memory>

#include "heatsink/capture/reassembly.h"
#include "heatsink/capture/reply_matcher.h"
#include "heatsink/capture/segment.h"

namespace heatsink::capture {

// Not thread-safe. About 300 bytes; 1 KiB more from the first payload until the connection is
// closed or turns out to be unreadable.
class Connection final : private StreamSink {
 public:
  // `context` must outlive it; `strict`: see ReplyMatcher.
  Connection(MatcherContext& context, const Patience& patience, Endpoint client, Endpoint server,
             bool strict)
      : context_(context),
        client_(client),
        server_(server),
        strict_(strict),
        replies_(context.watch.covers(client.port) ? Replies::kAll : Replies::kNone),
        reassembly_(patience, context.counters) {
    if (replies_ == Replies::kNone) reassembly_.watch_server(false, *this);
  }

  // False: the segment belongs to another connection between the same ports.
  bool take(const Segment& segment, std::int64_t at_ns);
  void advance(std::int64_t now_ns) { reassembly_.advance(now_ns, *this); }
  void finish();
  // Sets whether the capture sees this connection's replies from now on.
  void watch(ReplyWatch watch);

  bool is_closed() const { return reassembly_.is_closed(); }
  bool waits() const { return reassembly_.waits(); }
  std::size_t bytes() const;  // of held segments and waiting commands
  std::int64_t last_ns() const { return last_ns_; }

 private:
  void take(const Arrival& arrival) override;
  void lose(Side side, std::uint64_t bytes) override;
  ReplyMatcher* matcher();

  MatcherContext& context_;
  Endpoint client_;
  Endpoint server_;
  bool strict_;
  Replies replies_;
  bool is_over_ = false;  // the matcher has finished; no new one begins
  std::int64_t last_ns_ = 0;
  Reassembly reassembly_;
  std::unique_ptr<ReplyMatcher> matcher_;
};

}  // namespace heatsink::capture
