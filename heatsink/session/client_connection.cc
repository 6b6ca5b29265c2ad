// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/client_connection.h"

#include <utility>

namespace heatsink::proxy {

Status ClientConnection::start(Listener& listener) {
  Status added = loop_.add(stream_.fd(), net::Interest::kRead, *this);
  if (added.ok()) {
    listener_ = &listener;
  } else {
    stream_.close();
  }
  return added;
}

void ClientConnection::on_readable() {
  const std::span<char> buffer = host_.read_buffer();
  const net::IoResult result = stream_.read(buffer.data(), buffer.size());
  switch (result.status) {
    case net::IoStatus::kAgain:
      return;
    case net::IoStatus::kClosed:
      // Without an error the client has only ended its output (FIN).
      listener_->input_ended(result.error_number != 0);
      return;
    case net::IoStatus::kOk:
      active_ = true;
      // The clock is read here, after the bytes were: a check of a proof against this time is as
      // strict as if each request were checked when it was sent.
      listener_->received({buffer.data(), result.bytes}, loop_.clock());
      return;
  }
}

void ClientConnection::on_writable() { listener_->writable(); }

ClientTransport::Written ClientConnection::write() {
  if (!stream_) output_.clear();
  while (!output_.empty()) {
    const net::IoResult result = stream_.write(output_.data(), output_.size());
    if (result.status == net::IoStatus::kClosed) return Written::kLost;
    if (result.status == net::IoStatus::kAgain) {
      if (!std::exchange(blocked_, true)) {
        progress_at_ = loop_.now();
        host_.output_blocked(id_);
        watch();
      }
      return Written::kBlocked;
    }
    progress_at_ = loop_.now();
    output_.consume(result.bytes);
  }
  if (output_.capacity() > kKeptBytes) output_.release();
  if (std::exchange(blocked_, false)) watch();
  return Written::kAll;
}

void ClientConnection::set_reading(bool wanted) {
  if (std::exchange(reading_, wanted) != wanted) watch();
}

void ClientConnection::watch() {
  if (listener_ == nullptr) return;
  const auto read =
      static_cast<std::uint32_t>(reading_ ? net::Interest::kRead : net::Interest::kNone);
  const auto write =
      static_cast<std::uint32_t>(blocked_ ? net::Interest::kWrite : net::Interest::kNone);
  loop_.change(stream_.fd(), static_cast<net::Interest>(read | write));
}

net::Stream ClientConnection::release_stream() {
  loop_.remove(stream_.fd());
  listener_ = nullptr;
  return std::exchange(stream_, {});
}

void ClientConnection::close() {
  if (std::exchange(listener_, nullptr) != nullptr) loop_.remove(stream_.fd());
  stream_.close();
  output_.release();
  blocked_ = false;
}

}  // namespace heatsink::proxy
