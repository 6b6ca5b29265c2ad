// SPDX-License-Identifier: Apache-2.0
// Runs one client of the load: sends requests, reads replies, and reconnects after each failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/load/key_list.h"
#include "apps/heatsink/load/source.h"
#include "apps/heatsink/load/tally.h"
#include "heatsink/base/byte_buffer.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/reply_scanner.h"

namespace heatsink::app {

struct LoadTarget {
  net::RedisUrl url;
  std::vector<net::ResolvedAddress> addresses;  // not empty; tried in order
};

// The form of the requests.
struct LoadShape {
  std::size_t pipeline = 1;  // maximum of requests without a reply
  std::size_t value_bytes = 64;
  bool closed = false;                   // send the next requests only when no reply is missing
  std::string prefix;                    // before the name of each key
  std::shared_ptr<const KeyList> names;  // nullptr: key_name()
};

// Lives on the loop's thread. Does not own arguments passed by reference, which must outlive it.
// Memory is bounded by the pipeline: at most `pipeline` requests wait for a reply.
class LoadConnection final : public net::FdHandler {
 public:
  static constexpr Nanos kReplyTimeout = std::chrono::seconds(5);
  static constexpr Nanos kBackoffMin = Millis(50);
  static constexpr Nanos kBackoffMax = std::chrono::seconds(2);
  static constexpr std::size_t kErrorBytesMax = 160;

  LoadConnection(net::EventLoop& loop, const LoadTarget& target, Tally& tally,
                 const LoadShape& shape);
  ~LoadConnection();
  LoadConnection(const LoadConnection&) = delete;

  void connect();
  // Takes operations from `source` from now on; replies to earlier requests still count. REQUIRES:
  // before the first connect(), or nothing in flight of another source.
  void use(OperationSource& source) { source_ = &source; }

  // Sends the operations that are due and fit the pipeline.
  void pump(TimePoint now);
  // Closes the connection if a reply is overdue.
  void check_timeout(TimePoint now);

  void on_readable() override;
  void on_writable() override;

 private:
  enum class State : std::uint8_t { kDown, kConnecting, kGreeting, kReady };

  void greet();
  void append(const Operation& operation);
  void flush();
  bool scan(std::string_view bytes);  // false: the connection has failed
  bool finish_reply(TimePoint now);
  void count(const Operation& operation, TimePoint now);
  void fail(const std::string& why);
  void close();

  net::EventLoop& loop_;
  const LoadTarget& target_;
  Tally& tally_;
  OperationSource* source_ = nullptr;
  const LoadShape& shape_;

  State state_ = State::kDown;
  net::Fd socket_;
  net::TimerId reconnect_timer_ = 0;
  std::size_t attempts_ = 0;  // chooses the address
  unsigned failures_ = 0;     // in a row; determines the back-off
  std::size_t greetings_left_ = 0;
  resp::ReplyScanner scanner_;
  std::string error_text_;  // of the current reply, if it is an error
  bool reply_begun_ = false;
  ByteBuffer out_;
  std::deque<Operation> in_flight_;
  TimePoint last_progress_{};
  std::uint64_t value_version_ = 0;
  std::string value_;
};

}  // namespace heatsink::app
