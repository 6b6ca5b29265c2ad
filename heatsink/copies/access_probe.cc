// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/access_probe.h"

#include <array>
#include <string_view>
#include <utility>

namespace heatsink::copies {
namespace {

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

}  // namespace

AccessProbe::~AccessProbe() {
  loop_.cancel(timer_);
  if (socket_) loop_.remove(socket_.fd());
}

void AccessProbe::check(std::function<void()> done) {
  if (done) (running_ ? waiting_ : asked_).push_back(std::move(done));
  if (running_) {
    again_ = true;
    return;
  }
  start();
}

void AccessProbe::start() {
  running_ = true;
  asked_it_ = false;
  const net::TlsContext tls = shared_.upstream_address.tls();
  for (const net::ResolvedAddress& address : shared_.upstream_address.addresses()) {
    Result<net::Stream> started = loop_.connect(address, tls);
    if (!started.ok()) continue;
    socket_ = std::move(started).value();
    if (!loop_.add(socket_.fd(), net::Interest::kReadWrite, *this).ok()) {
      socket_.close();
      continue;
    }
    timer_ = loop_.call_after(shared_.options().connect_timeout, [this] { finish(); });
    return;
  }
  // No attempt could be started. The next turn ends the probe, so that check() never calls `done`.
  timer_ = loop_.call_after(Nanos(0), [this] { finish(); });
}

void AccessProbe::on_writable() {
  const Result<net::Interest> step = socket_.open();
  if (step.ok() && *step != net::Interest::kNone) {
    loop_.change(socket_.fd(), *step);
    return;
  }
  asked_it_ = step.ok() && socket_.write(kPing.data(), kPing.size()).bytes == kPing.size();
  if (!asked_it_) {
    finish();
    return;
  }
  shared_.own_commands.fetch_add(1, std::memory_order_relaxed);
  loop_.change(socket_.fd(), net::Interest::kRead);
}

// The first bytes decide. Only NOAUTH and NOPERM mean that a login is required: a server that loads
// its data or has too many clients also answers with an error.
void AccessProbe::on_readable() {
  if (!asked_it_) {
    on_writable();
    return;
  }
  std::array<char, 256> bytes;
  const net::IoResult read = socket_.read(bytes.data(), bytes.size());
  if (read.status == net::IoStatus::kAgain) return;
  if (read.status != net::IoStatus::kClosed) {
    const std::string_view answer(bytes.data(), read.bytes);
    const bool refused = answer.starts_with("-NOAUTH") || answer.starts_with("-NOPERM");
    if (refused || answer.starts_with('+'))
      shared_.upstream_open.store(!refused, std::memory_order_relaxed);
  }
  finish();
}

void AccessProbe::finish() {
  loop_.cancel(std::exchange(timer_, 0));
  if (socket_) {
    loop_.remove(socket_.fd());
    socket_.close();
  }
  running_ = false;
  // Callers that came during this probe wait for the next one: this answer may be older than the
  // change that they ask about.
  for (const auto& done : std::exchange(asked_, std::exchange(waiting_, {}))) done();
  if (std::exchange(again_, false)) start();
}

}  // namespace heatsink::copies
