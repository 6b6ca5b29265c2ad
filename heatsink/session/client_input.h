// SPDX-License-Identifier: Apache-2.0
// Finds the requests in a client's bytes, one after the other, and keeps what has to wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/oversized_request.h"
#include "heatsink/command/request.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/step.h"

namespace heatsink::proxy {

// One per client; the worker's thread. At most one request waits, and the bytes behind it are kept
// as they came. Cost: a request is parsed once, and copied only if it waits; bytes that are
// processed at once are not copied. Virtual calls: one or two for each request, and for each run of
// plain ones. Memory: the bytes that are kept; is_full() says when no more should be read.
class ClientInput {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual bool closed() const = 0;
    virtual bool is_closing() const = 0;  // what the client sends is dropped
    // A further request may be processed, as far as replies and connections let it.
    virtual bool may_take() const = 0;
    // Plain GETs or SETs at the front, many at a time. Returns the number of bytes done.
    virtual std::size_t take_run(std::string_view bytes, TimePoint now) = 0;
    // Step::kStall: the request waits, and stall() was called.
    virtual Step take(Request& request) = 0;
    // The same for one whose end has not come, and that is too big to keep; calls
    // begin_oversized(), unless it waits. Then its bytes follow.
    virtual Step take_oversized(Request& request) = 0;
    virtual void send_rest(std::string_view bytes) = 0;
    virtual void rest_is_broken() = 0;
    // The bytes are no request: the client gets this error, and no other request is taken.
    virtual void refuse(std::string_view error) = 0;
    virtual void refuse_tls() = 0;

   protected:
    ~Client() = default;
  };

  explicit ClientInput(Client& client) : client_(client) {}  // which outlives it
  ClientInput(const ClientInput&) = delete;

  // While no request is half read. `is_login`: the client has not logged in.
  void set_limits(const resp::RequestLimits& limits, bool is_login) {
    parser_.set_limits(is_login ? resp::limits_before_auth(limits) : limits);
    is_login_ = is_login;
  }
  bool is_at_start() const { return parser_.at_start(); }  // no request is half read

  // `now` was read after the bytes. Return the number of bytes that were processed. The client may
  // be closed meanwhile.
  std::size_t take(std::string_view bytes, TimePoint now);
  std::size_t go_on(TimePoint now);  // what it waits for may be there now: tries again

  // ---- what waits

  // The request that take() looks at, or the next one, waits for this.
  void stall(Awaited why) { awaited_ = why; }
  Awaited awaited() const { return awaited_; }
  Request* waiting() const { return waiting_.get(); }  // null: none
  // Instead of the one that was sent. It waits with Awaited::kPause.
  void wait_with(std::unique_ptr<Request> request) {
    waiting_ = std::move(request);
    awaited_ = Awaited::kPause;
  }
  // The client must take replies before more is processed.
  bool is_throttled() const { return throttled_; }
  // Processes nothing while `wanted`.
  void hold(bool wanted) { holds_ = wanted; }
  bool is_held() const { return holds_; }
  bool is_stopped() const { return holds_ || awaited_ != Awaited::kNothing; }
  bool waits_for_nothing() const { return awaited_ == Awaited::kNothing && !throttled_; }
  // No further bytes should be read: what is kept waits.
  bool is_full() const { return bytes_.size() >= kStalledMax && !waits_for_nothing(); }

  // ---- a request that is too big to keep

  void begin_oversized(OversizedRequest::Fate fate) { oversized_.begin(fate); }
  const OversizedRequest& oversized() const { return oversized_; }

  // ---- what it keeps

  std::string_view bytes() const { return bytes_.view(); }
  std::size_t memory() const {
    return bytes_.capacity() + parser_.capacity_bytes() +
           (waiting_ == nullptr ? 0 : waiting_->kept_bytes());
  }
  // Frees an empty buffer of more than `kept` bytes, and what the parser keeps if `idle`.
  void shrink(std::size_t kept, bool idle);
  void release() { bytes_.release(); }
  void close() {
    bytes_.release();
    waiting_.reset();
  }

 private:
  // Read ahead while a request waits, to notice that the client leaves.
  static constexpr std::size_t kStalledMax = 64 * 1024;

  std::size_t consume(std::string_view bytes, TimePoint now);
  bool consume_one(std::string_view bytes, bool is_first, TimePoint now, std::size_t& used);
  bool parse(std::string_view bytes, std::size_t& size);
  std::size_t stream_on(std::string_view bytes);
  bool is_tls(std::string_view bytes);
  void look_again(TimePoint now);
  Step look_at(Request& request) {
    return request.raw.empty() ? client_.take_oversized(request) : client_.take(request);
  }

  Client& client_;
  resp::RequestParser parser_;
  ByteBuffer bytes_;                  // that could not be processed yet
  std::unique_ptr<Request> waiting_;  // later ones wait behind it
  Awaited awaited_ = Awaited::kNothing;
  OversizedRequest oversized_;
  bool throttled_ = false;
  bool holds_ = false;
  bool is_login_ = false;
};

}  // namespace heatsink::proxy
