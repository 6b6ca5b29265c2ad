// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/tracker_link.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::proxy {

TrackerLink::~TrackerLink() {
  loop_.cancel(timer_);
  if (socket_) loop_.remove(socket_.fd());
}

void TrackerLink::connect() {
  timer_ = 0;
  if (attempt_ > 0) look_up_again();
  const std::vector<net::ResolvedAddress> addresses = shared_.addresses();
  if (addresses.empty()) {
    lost("its name has no address");
    return;
  }
  Result<net::Stream> started =
      net::Stream::connect(addresses[attempt_++ % addresses.size()], shared_.tls().upstream);
  if (!started.ok()) {
    lost(started.error().message);
    return;
  }
  socket_ = std::move(started).value();
  if (const Status added = loop_.add(socket_.fd(), net::Interest::kReadWrite, *this); !added.ok()) {
    socket_.close();
    lost(added.error().message);
    return;
  }
  timer_ = loop_.call_after(shared_.options.connect_timeout, [this] { lost(socket_.too_slow()); });
}

void TrackerLink::retry() {
  if (socket_ || timer_ == 0) return;
  loop_.cancel(timer_);
  backoff_ = Nanos(0);
  connect();
}

void TrackerLink::renew(TimePoint if_before) {
  if (!connected_ || connected_at_ >= if_before) return;
  lost("the server had to be connected to again, and may be another one");
  retry();
}

// The name may mean another machine by now. Blocks this thread, which has nothing else to keep up.
void TrackerLink::look_up_again() {
  Result<std::vector<net::ResolvedAddress>> found = net::resolve_server(shared_.upstream);
  if (found.ok()) shared_.set_addresses(std::move(found).value());
}

void TrackerLink::lost(const std::string& reason) {
  loop_.cancel(std::exchange(timer_, 0));
  if (socket_) {
    loop_.remove(socket_.fd());
    socket_.close();
  }
  if (std::exchange(connected_, false)) tracker_.disconnected(reason);
  if (problem_ != reason)
    log_limited(LogLevel::kWarning, without_it_, without_it_ + ": " + reason, loop_.now());
  problem_ = reason;
  backoff_ = std::clamp(backoff_ * 2, shared_.options.backoff_min, shared_.options.backoff_max);
  timer_ = loop_.call_after(backoff_, [this] { connect(); });
}

void TrackerLink::on_writable() {
  if (!connected_) {
    const Result<net::Interest> step = socket_.open();
    if (!step.ok()) {
      lost(step.error().message);
      return;
    }
    if (*step != net::Interest::kNone) {
      loop_.change(socket_.fd(), *step);
      return;
    }
    loop_.cancel(std::exchange(timer_, 0));
    connected_ = true;
    connected_at_ = BootClock::now();
    if (since_ != nullptr) since_->store(connected_at_.time_since_epoch().count());
    tracker_.connected(connected_at_);
  }
  flush();
}

void TrackerLink::on_readable() {
  if (!connected_) {
    on_writable();
    return;
  }
  std::array<char, 64 * 1024> bytes;
  const net::IoResult result = socket_.read(bytes.data(), bytes.size());
  if (result.status == net::IoStatus::kAgain) return;
  if (result.status == net::IoStatus::kClosed) {
    lost("tracking: " + socket_.loss());
    return;
  }
  const Status read = tracker_.received({bytes.data(), result.bytes}, BootClock::now());
  if (!read.ok()) {
    lost(read.error().message);
    return;
  }
  if (tracker_.up()) {
    backoff_ = Nanos(0);
    problem_.clear();
  }
  flush();
}

void TrackerLink::tick() {
  if (!connected_) return;
  const Status ticked = tracker_.tick(BootClock::now());
  if (!ticked.ok()) {
    lost(ticked.error().message);
    return;
  }
  flush();
}

void TrackerLink::flush() {
  if (!connected_) return;
  ByteBuffer& output = tracker_.output();
  while (!output.empty()) {
    const net::IoResult result = socket_.write(output.data(), output.size());
    if (result.status == net::IoStatus::kAgain) break;
    if (result.status == net::IoStatus::kClosed) {
      lost("tracking: " + socket_.loss());
      return;
    }
    output.consume(result.bytes);
  }
  loop_.change(socket_.fd(), output.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
}

}  // namespace heatsink::proxy
