// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/pipeline.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/units.h"
#include "heatsink/redis/refusal.h"

namespace heatsink::redis {
namespace {

constexpr resp::ValueLimits kLimits = {.bytes_max = Pipeline::kReplyBytesMax};

Error broken(const char* what) {
  return {ErrorCode::kProtocol, std::string("the server violated the protocol: ") + what};
}

}  // namespace

void Pipeline::ask(std::span<const std::string_view> request, Done done, TimePoint now) {
  if (state_ == State::kDown) {
    done(Error{ErrorCode::kUnavailable, "the server cannot be reached: " + problem_});
    return;
  }
  if (state_ == State::kUp) {
    resp::append_request(output_, request);
    expect({std::move(done), now});
    return;
  }
  ByteBuffer bytes;
  resp::append_request(bytes, request);
  waiting_.push_back({std::string(bytes.view()), {std::move(done), now}});
}

void Pipeline::connected(TimePoint now) {
  state_ = State::kHandshake;
  append_hello(output_, resp::Protocol::kResp3, options_.credentials, options_.name);
  expect({{}, now});
  if (options_.db == 0) return;
  resp::append_request(output_, {"SELECT", std::to_string(options_.db)});
  expect({{}, now});
}

void Pipeline::expect(Expected expected) {
  if (options_.counts_requests || !expected.done) note_command();
  expected_.push_back(std::move(expected));
}

Status Pipeline::received(std::string_view bytes, TimePoint /*now*/) {
  while (!bytes.empty()) {
    const resp::ScanStep step = scanner_.feed(bytes);
    if (step.status == resp::ScanStatus::kError) return broken("invalid RESP");
    input_.append(bytes.substr(0, step.consumed));
    if (input_.size() > kReplyBytesMax) return broken("a reply that is too large");
    bytes.remove_prefix(step.consumed);
    if (step.status != resp::ScanStatus::kReply) continue;
    resp::Value reply;
    std::size_t consumed = 0;
    if (resp::parse_value(input_.view(), reply, consumed, kLimits) != resp::ValueStatus::kValue)
      return broken("invalid RESP");
    input_.clear();
    if (Status done = on_reply(std::move(reply)); !done.ok()) return done;
  }
  return Unit{};
}

Status Pipeline::on_reply(resp::Value reply) {
  // A push answers no request.
  if (reply.type == resp::Value::Type::kPush) return Unit{};
  if (expected_.empty()) return broken("a reply without a request");
  const Expected expected = std::move(expected_.front());
  expected_.pop_front();
  if (state_ == State::kUp) {
    expected.done(std::move(reply));
    return Unit{};
  }
  if (reply.is_error()) return Error{ErrorCode::kUnavailable, quoted_reply(reply)};
  if (expected_.empty()) go_up();
  return Unit{};
}

void Pipeline::go_up() {
  state_ = State::kUp;
  for (Waiting& each : std::exchange(waiting_, {})) {
    output_.append(each.request);
    expect(std::move(each.expected));
  }
}

Status Pipeline::tick(TimePoint now) {
  const auto is_late = [&](const Expected& expected) {
    return now - expected.asked_at > options_.response_timeout;
  };
  if (!expected_.empty() && is_late(expected_.front())) {
    return Error{ErrorCode::kTimedOut,
                 "the server did not answer for " + format_duration(options_.response_timeout)};
  }
  return Unit{};
}

void Pipeline::disconnected(const std::string& reason) {
  state_ = State::kDown;
  problem_ = reason;
  scanner_ = {};
  input_.release();
  output_.release();
  // Both lists are moved out first: a callback may ask again.
  const std::deque<Expected> sent = std::exchange(expected_, {});
  const std::deque<Waiting> unsent = std::exchange(waiting_, {});
  for (const Expected& each : sent) {
    if (!each.done) continue;
    each.done(Error{ErrorCode::kUnavailable,
                    reason + "; it is unknown whether the server executed the request"});
  }
  for (const Waiting& each : unsent)
    each.expected.done(Error{ErrorCode::kUnavailable, "the server cannot be reached: " + reason});
}

}  // namespace heatsink::redis
