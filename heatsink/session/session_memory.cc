// SPDX-License-Identifier: Apache-2.0
// Measures the memory of a client's requests and replies, as a part of proxy.maximum-memory.
#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kBusyBytes = 4096;  // of each buffer of a client that works

}  // namespace

void Session::note_memory() {
  if (closed_) return;
  if (memory_.note(buffer_bytes()) && parts_.shared.memory.is_exhausted()) host_.shed_later();
}

// After a reply has come or gone, which changes no other buffer.
void Session::note_reply_memory() {
  const std::size_t bytes = client_.output().capacity() + replies_.kept_bytes();
  if (std::exchange(noted_reply_bytes_, bytes) != bytes) note_memory();
}

// A client that is idle keeps only its state. One that works keeps its small buffers; it gets new
// large ones once a second at most, which is nothing beside the work that fills them.
void Session::shrink() {
  if (closed_) return;
  const bool idle = !std::exchange(used_, false);
  const std::size_t kept = idle ? 0 : kBusyBytes;
  for (ByteBuffer* const buffer : {&input_, &client_.output()})
    if (buffer->empty() && buffer->capacity() > kept) buffer->release();
  if (idle && waiting_ == nullptr && !in_stream()) {
    parser_.shrink();
    std::vector<std::string_view>().swap(get_args_);
    replies_.shrink();
    reliefs_.shrink();
  }
  if (idle && private_) private_->shrink();
  note_memory();
}

void Session::out_of_memory() {
  parts_.count(copies::Count::kClientsOutOfMemory);
  log_limited(LogLevel::kWarning, "out-of-memory",
              "out of memory for the replies of a client, so the client was closed; lower "
              "proxy.maximum-memory",
              parts_.loop.now());
  close();
}

}  // namespace heatsink::proxy
