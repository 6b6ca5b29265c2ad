// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/streams.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <string_view>
#include <utility>

#include "heatsink/httpd/routes.h"

namespace heatsink::httpd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Small, so that a reader that has stopped is noticed after a few messages.
constexpr int kSendBufferBytes = 8192;

constexpr std::string_view kHeader =
    "HTTP/1.1 200 OK\r\nServer: heatsink\r\nContent-Type: text/event-stream\r\n"
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\n"
    "Connection: close\r\n\r\n";

// The id of the last message in the text; "": none of them has one.
std::string_view last_id_in(std::string_view text) {
  constexpr std::string_view kId = "id: ";
  for (std::size_t at = text.rfind(kId); at != std::string_view::npos;
       at = text.rfind(kId, at - 1)) {
    if (at == 0 || text[at - 1] == '\n') {
      text.remove_prefix(at + kId.size());
      return text.substr(0, text.find('\n'));
    }
  }
  return "";
}

Now now_on_both() { return {BootClock::now(), std::chrono::system_clock::now()}; }

}  // namespace

// Lives while it is in `readers_`, or an operation of its socket is in progress.
class Streams::Reader : public std::enable_shared_from_this<Reader> {
 public:
  Reader(tcp::socket socket, std::string last)
      : last_id(std::move(last)), socket_(std::move(socket)) {
    error_code ignored;  // without it, the reader only gets more before it misses something
    socket_.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes), ignored);
  }

  std::string last_id;
  // It needs first() before anything else: it is new, or has missed a message.
  bool needs_first = true;
  bool is_being_made = false;  // its first()
  bool has_header = false;     // of the answer

  bool is_open() const { return socket_.is_open(); }
  bool is_writing() const { return message_ != nullptr; }
  bool is_stuck(TimePoint now) const { return is_writing() && now - began_ > kStuckMax; }

  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

  // REQUIRES not is_writing().
  void send(Message message) {
    message_ = std::move(message);
    began_ = BootClock::now();
    asio::async_write(socket_, asio::buffer(*message_),
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        if (error) return self->close();
                        const std::string_view id = last_id_in(*self->message_);
                        if (!id.empty()) self->last_id = id;
                        self->message_.reset();
                      });
  }

  // A reader has nothing to say; its end is noticed at once.
  void watch_its_end() {
    socket_.async_read_some(asio::buffer(heard_),
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error) return self->close();
                              self->watch_its_end();
                            });
  }

 private:
  tcp::socket socket_;
  Message message_;  // on its way; null: none
  TimePoint began_{};
  std::array<char, 256> heard_{};
};

Streams::Streams(asio::io_context& io, std::shared_ptr<const EventSource> source, Nanos interval)
    : io_(io),
      source_(std::move(source)),
      interval_(interval),
      timer_(io),
      thread_(kReadersMax + 1) {}
Streams::~Streams() = default;

void Streams::start() {
  if (source_ != nullptr) thread_.start();
}

void Streams::stop() { thread_.stop(); }

bool Streams::is_full() const {
  std::size_t open = 0;
  for (const std::shared_ptr<Reader>& reader : readers_) open += reader->is_open() ? 1U : 0U;
  return open >= kReadersMax;
}

void Streams::take(tcp::socket socket, std::string last_id) {
  std::erase_if(readers_, [](const auto& reader) { return !reader->is_open(); });
  readers_.push_back(std::make_shared<Reader>(std::move(socket), std::move(last_id)));
  readers_.back()->watch_its_end();
  make_first(readers_.back());
  if (!is_ticking_) schedule();
}

void Streams::close_all() {
  for (const std::shared_ptr<Reader>& reader : readers_) reader->close();
  readers_.clear();
}

void Streams::schedule() {
  is_ticking_ = true;
  timer_.expires_after(interval_);
  timer_.async_wait([this](const error_code& error) {
    if (!error) tick();
  });
}

void Streams::tick() {
  const TimePoint now = BootClock::now();
  for (const std::shared_ptr<Reader>& reader : readers_)
    if (reader->is_stuck(now)) reader->close();
  std::erase_if(readers_, [](const auto& reader) { return !reader->is_open(); });
  is_ticking_ = !readers_.empty();
  if (!is_ticking_) return;
  schedule();
  for (const std::shared_ptr<Reader>& reader : readers_)
    if (reader->needs_first && !reader->is_writing()) make_first(reader);
  if (std::exchange(is_making_, true)) return;
  const bool is_taken = thread_.post([this] {
    asio::post(io_,
               [this, text = std::make_shared<const std::string>(source_->next(now_on_both()))] {
                 is_making_ = false;
                 deliver(text);
               });
  });
  if (!is_taken) is_making_ = false;
}

void Streams::make_first(const std::shared_ptr<Reader>& reader) {
  if (std::exchange(reader->is_being_made, true)) return;
  // The reader must be destroyed on this thread, so the work moves it back.
  const bool is_taken = thread_.post([this, reader = reader, last_id = reader->last_id]() mutable {
    std::string text = source_->first(now_on_both(), last_id);
    asio::post(io_, [text = std::move(text), reader = std::move(reader)]() mutable {
      reader->is_being_made = false;
      if (!reader->is_open() || reader->is_writing()) return;
      if (!std::exchange(reader->has_header, true)) text.insert(0, kHeader);
      reader->needs_first = false;
      if (!text.empty()) reader->send(std::make_shared<const std::string>(std::move(text)));
    });
  });
  if (!is_taken) reader->is_being_made = false;
}

void Streams::deliver(const Message& message) {
  if (message->empty()) return;
  for (const std::shared_ptr<Reader>& reader : readers_) {
    if (!reader->is_open() || reader->needs_first) continue;
    if (reader->is_writing()) {
      reader->needs_first = true;
    } else {
      reader->send(message);
    }
  }
}

}  // namespace heatsink::httpd
