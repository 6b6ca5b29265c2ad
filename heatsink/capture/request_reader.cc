// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/request_reader.h"

namespace heatsink::capture {
namespace {

constexpr std::size_t kBufferBytesKept = 4096;  // buffer that a waiting connection keeps

resp::RequestLimits limits() {
  resp::RequestLimits limits;
  limits.buffered_bytes_max = RequestReader::kRequestBytesMax;
  return limits;
}

resp::RequestLimits probe_limits() {
  resp::RequestLimits probing = limits();
  probing.args_max = RequestReader::kProbeArgsMax;
  return probing;
}

}  // namespace

RequestReader::RequestReader(const resp::CommandTable& table, bool at_boundary)
    : table_(table), parser_(limits()), state_(at_boundary ? State::kReading : State::kSearching) {}

void RequestReader::push(std::string_view bytes) {
  old_ = kept_.size();
  if (old_ > 0) kept_.append(bytes);
  input_ = old_ > 0 ? kept_.view() : bytes;
  at_ = 0;
}

void RequestReader::keep_rest() {
  if (old_ > 0) {
    kept_.consume(at_);
  } else {
    kept_.append(left());
  }
  if (kept_.empty() && kept_.capacity() > kBufferBytesKept) kept_.release();
  if (state_ != State::kStreaming && big_text_.capacity() > kBufferBytesKept) {
    std::string().swap(big_text_);
    std::vector<std::string_view>().swap(big_args_);
  }
  input_ = {};
  at_ = old_ = 0;
}

// The parser keeps the positions of arguments next to the arguments; both have the same size.
std::size_t RequestReader::kept_bytes() const {
  return kept_.capacity() + big_text_.capacity() +
         (parser_.args().capacity() * 2 + big_args_.capacity()) * sizeof(std::string_view);
}

void RequestReader::lose() {
  skipped_ += kept_.size();
  kept_.clear();
  parser_.reset();
  state_ = State::kSearching;
}

RequestReader::Event RequestReader::next() {
  while (at_ < input_.size()) {
    if (state_ == State::kSearching && !search()) return Event::kNone;
    const Event event = state_ == State::kStreaming ? read_on() : read();
    if (event != Event::kRequest || !args().empty()) return event;
  }
  return Event::kNone;
}

RequestReader::Event RequestReader::read() {
  switch (parser_.parse(left())) {
    case resp::ParseStatus::kNeedMore:
      return Event::kNone;
    case resp::ParseStatus::kError:
      return refuse();
    case resp::ParseStatus::kOversized:
      begin_big();
      return read_on();
    case resp::ParseStatus::kRequest:
      break;
  }
  is_whole_ = true;
  at_start_ = at_ == old_;
  command_ = args().empty() ? nullptr : table_.find(args());
  // Nearly any text parses as an inline request. Without a known command it is not one.
  if (parser_.is_inline() && command_ == nullptr && !args().empty()) return refuse();
  size_ = parser_.size();
  at_ += parser_.size();
  return Event::kRequest;
}

// The request's end comes when its first bytes are gone, so the arguments read so far are copied.
void RequestReader::begin_big() {
  state_ = State::kStreaming;
  is_whole_ = false;
  at_start_ = at_ == old_;
  size_ = 0;
  big_text_.clear();
  big_args_.clear();
  for (const std::string_view arg : parser_.args()) big_text_ += arg;
  std::string_view text = big_text_;
  for (const std::string_view arg : parser_.args()) {
    big_args_.push_back(text.substr(0, arg.size()));
    text.remove_prefix(arg.size());
  }
  command_ = big_args_.empty() ? nullptr : table_.find(big_args_);
}

RequestReader::Event RequestReader::read_on() {
  std::size_t consumed = 0;
  const resp::ParseStatus status = parser_.stream(left(), consumed);
  at_ += consumed;
  size_ += consumed;
  if (status == resp::ParseStatus::kError) return refuse();
  if (status == resp::ParseStatus::kNeedMore) return Event::kNone;
  state_ = State::kReading;
  return Event::kRequest;
}

RequestReader::Event RequestReader::refuse() {
  parser_.reset();
  state_ = State::kSearching;
  skip(at_ < input_.size() ? 1 : 0);
  return Event::kBadBytes;
}

void RequestReader::skip(std::size_t bytes) {
  at_ += bytes;
  skipped_ += bytes;
}

// Moves to the next certain beginning of a request. False: the bytes contain none; a possible
// beginning at their end is kept.
bool RequestReader::search() {
  while (at_ < input_.size()) {
    const std::size_t star = left().find('*');
    skip(star == std::string_view::npos ? left().size() : star);
    if (at_ == input_.size()) return false;
    const Head found = probe();
    if (found == Head::kMaybe) return false;
    if (found == Head::kYes) {
      state_ = State::kReading;
      return true;
    }
    skip(1);
  }
  return false;
}

Head RequestReader::probe() const {
  const Head head = request_head(left(), table_);
  if (head != Head::kYes) return head;
  resp::RequestParser parser(probe_limits());
  const resp::ParseStatus status = parser.parse(left());
  if (status == resp::ParseStatus::kNeedMore) return Head::kMaybe;
  if (status != resp::ParseStatus::kRequest) return Head::kNo;
  const resp::Command* command = table_.find(parser.args());
  if (command == nullptr || !takes(*command, parser.args().size())) return Head::kNo;
  const std::string_view behind = left().substr(parser.size());
  return behind.empty() || behind[0] == '*' ? Head::kYes : Head::kNo;
}

}  // namespace heatsink::capture
