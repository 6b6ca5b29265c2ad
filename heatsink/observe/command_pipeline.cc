// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/command_pipeline.h"

#include <cassert>
#include <utility>

#include "heatsink/base/units.h"

namespace heatsink::observe {

void CommandPipeline::ask(std::span<const std::string_view> args, TimePoint now, Answer done) {
  assert(in_flight() < options_.in_flight_max);
  begun_ = true;
  ByteBuffer request;
  resp::append_request(request, args);
  questions_.push_back({std::string(request.view()), TimePoint{}, std::move(done)});
  if (up_) send(questions_.back(), now);
}

void CommandPipeline::send(Question& question, TimePoint now) {
  output_.append(question.request);
  question.request.clear();
  question.sent_at = now;
}

Nanos CommandPipeline::waiting(TimePoint now) const {
  if (greeted_at_) return now - *greeted_at_;
  return up_ && !questions_.empty() ? now - questions_.front().sent_at : Nanos(0);
}

void CommandPipeline::connected(TimePoint now) {
  greeted_at_ = now;
  scanner_ = {};
  input_.clear();
  output_.clear();
  greetings_left_ = append_greeting(output_, options_.login);
}

Status CommandPipeline::received(std::string_view bytes, TimePoint now) {
  while (!bytes.empty() && wanted()) {
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError)
      return Error{
          ErrorCode::kProtocol,
          "the peer does not speak RESP: is this the address of a Redis or Valkey server?"};
    if (input_.size() + step.consumed > options_.reply_bytes_max)
      return Error{ErrorCode::kOutOfRange,
                   "a reply is larger than " + format_bytes(Bytes{options_.reply_bytes_max})};
    input_.append(bytes.substr(0, step.consumed));
    bytes.remove_prefix(step.consumed);
    if (step.status != resp::ScanStatus::kReply) continue;
    if (Status done = on_reply(now); !done) return done;
  }
  return Unit{};
}

Status CommandPipeline::on_reply(TimePoint now) {
  resp::Value value;
  std::size_t consumed = 0;
  const bool parsed =
      resp::parse_value(input_.view(), value, consumed) == resp::ValueStatus::kValue;
  input_.clear();
  if (!parsed) return Error{ErrorCode::kProtocol, "a reply is not valid RESP, or is too large"};
  if (greetings_left_ > 0) {
    if (Status ok = judge_greeting(value.is_error() ? value.text : "", greetings_left_); !ok)
      return ok;
    if (--greetings_left_ > 0) return Unit{};
    up_ = true;
    greeted_at_.reset();
    trouble_.clear();
    // Commands wait for the greeting: before AUTH the server would refuse them.
    for (Question& question : questions_) send(question, now);
    return Unit{};
  }
  if (questions_.empty())
    return Error{ErrorCode::kProtocol, "the server sent a reply without a request"};
  const Answer done = std::move(questions_.front().done);
  questions_.pop_front();
  done(std::move(value), now);
  return Unit{};
}

void CommandPipeline::tick(TimePoint now) {
  begun_ = true;
  hung_ = false;
  if (waiting(now) <= options_.response_timeout) return;
  hung_ = true;
  lost({ErrorCode::kTimedOut,
        "the server did not answer for " + format_duration(options_.response_timeout)},
       now);
}

void CommandPipeline::lost(const Error& why, TimePoint now) {
  up_ = false;
  greeted_at_.reset();
  trouble_ = why.message;
  hopeless_ = is_final(why);
  fail_all(why, now);
}

void CommandPipeline::fail_all(const Error& why, TimePoint now) {
  for (Question& question : std::exchange(questions_, {})) question.done(why, now);
}

}  // namespace heatsink::observe
