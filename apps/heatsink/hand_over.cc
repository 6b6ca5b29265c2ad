// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/hand_over.h"

#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "apps/heatsink/carried_learning.h"
#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/log.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

using handover::Channel;
using handover::Message;

constexpr Nanos kStartWithin = std::chrono::seconds(30);  // until the new process is ready
constexpr Nanos kSendWithin = std::chrono::seconds(5);
// After it, clients that are in the middle of something stay here, and are drained.
constexpr Nanos kGiveWithin = std::chrono::seconds(10);
constexpr Nanos kAllConfirmWithin = std::chrono::seconds(5);
constexpr Nanos kEndsWithin = Millis(500);  // a process that has closed its end
constexpr Nanos kGiveLook = Millis(20);
constexpr std::size_t kKeysPerMessage = 25;  // of the longest names: below kMessageBytesMax

Error broken(const std::string& what) { return Error{ErrorCode::kUnavailable, what}; }

}  // namespace

HandOver::HandOver(proxy::Proxy& proxy, const LiveConfiguration& live, httpd::HttpServer* admin,
                   ProgramStart program, std::function<void(pid_t)> on_takeover)
    : proxy_(proxy),
      live_(live),
      admin_(admin),
      program_(std::move(program)),
      on_takeover_(std::move(on_takeover)) {}

void HandOver::end() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void HandOver::begin() {
  if (state_ != State::kIdle) {
    log(LogLevel::kWarning, "SIGUSR2: a hand-over is already under way");
    return;
  }
  if (thread_.joinable()) thread_.join();
  state_ = State::kUnderWay;
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
}

void HandOver::run() {
  Result<std::pair<Channel, Channel>> ends = Channel::make_pair();
  Result<pid_t> successor = ends.ok() ? start_again(program_, kTakeOverVariable, ends->second.fd())
                                      : Result<pid_t>(ends.error());
  if (!successor.ok()) {
    log(LogLevel::kError, "hand-over: " + successor.error().message + "; this process goes on");
    state_ = State::kIdle;
    return;
  }
  ends->second.close();
  log(LogLevel::kInfo, "hand-over: started process " + std::to_string(*successor));
  const Status given = converse(ends->first, *successor);
  if (given.ok()) {
    state_ = State::kDone;
    return;
  }
  ::kill(*successor, SIGKILL);
  ::waitpid(*successor, nullptr, 0);
  if (!std::exchange(accepts_, true)) {
    proxy_.end_hand_over(true);
    set_accepting(true);
  }
  log(LogLevel::kError, "hand-over failed, and this process goes on serving: process " +
                            std::to_string(*successor) + " " + given.error().message);
  state_ = State::kIdle;
}

Status HandOver::converse(Channel& channel, pid_t successor) {
  if (Status introduced = introduce(channel, successor); !introduced.ok()) return introduced;
  if (version_ >= 3 &&
      channel.send_within(kSendWithin, to_message(proxy_.learned())) != Channel::Sent::kSent)
    return broken("ended before it accepted clients");
  accepts_ = false;
  set_accepting(false);
  const Message go = handover::Go{proxy_.next_client_id()};
  if (channel.send_within(kSendWithin, go) != Channel::Sent::kSent)
    return broken("ended before it accepted clients");
  if (Status given = give_clients(channel, successor); !given.ok()) return given;
  if (channel.send_within(kSendWithin, handover::Done{}) != Channel::Sent::kSent)
    return broken("ended during the hand-over");
  proxy_.socket_file().give_up();
  on_takeover_(successor);
  log(LogLevel::kInfo, "hand-over: process " + std::to_string(successor) + " serves the clients");
  return Unit{};
}

void HandOver::set_accepting(bool wanted) {
  proxy_.set_accepting(wanted);
  if (admin_ != nullptr) admin_->set_accepting(wanted);
}

Status HandOver::introduce(Channel& channel, pid_t successor) {
  const Result<Message> hello = await(channel, successor, kStartWithin);
  if (!hello.ok()) return hello.error();
  const auto* const version = std::get_if<handover::Hello>(&*hello);
  if (version == nullptr || version->version != handover::kOldestVersion)
    return broken("speaks another version of the hand-over; restart the proxy instead");
  std::vector<int> descriptors = proxy_.listeners();
  if (admin_ != nullptr) descriptors.push_back(admin_->listener());
  if (channel.send_within(kSendWithin, offer(), descriptors) != Channel::Sent::kSent)
    return broken("did not take the listening sockets");
  // A process that knows what this means says Hello again: await_ready().
  if (channel.send_within(kSendWithin, handover::Keys{}) != Channel::Sent::kSent)
    return broken("did not take the version of the hand-over");
  for (const Message& message : rules())
    if (channel.send_within(kSendWithin, message) != Channel::Sent::kSent)
      return broken("did not take the rules that were changed live");
  for (const Message& message : keys())
    if (channel.send_within(kSendWithin, message) != Channel::Sent::kSent)
      return broken("did not take the names of the hot keys");
  return await_ready(channel, successor);
}

// A process of version 1 does not say Hello again.
Status HandOver::await_ready(Channel& channel, pid_t successor) {
  version_ = handover::kOldestVersion;
  Result<Message> message = await(channel, successor, kStartWithin);
  if (!message.ok()) return message.error();
  if (const auto* const hello = std::get_if<handover::Hello>(&*message)) {
    version_ = std::clamp(hello->version, handover::kOldestVersion, handover::kVersion);
    message = await(channel, successor, kSendWithin);
    if (!message.ok()) return message.error();
  }
  if (!std::holds_alternative<handover::Ready>(*message))
    return broken(std::string("sent '") + handover::name_of(*message) + "' instead of 'ready'");
  return Unit{};
}

// Any message, or why none comes.
Result<Message> HandOver::await(Channel& channel, pid_t successor, Nanos limit) const {
  const TimePoint end = BootClock::now() + limit;
  while (BootClock::now() < end) {
    if (ends_) return broken("was not needed any more: this proxy is shutting down");
    Result<Channel::Received> received = channel.receive(kGiveLook);
    if (!received.ok()) return broken("broke the protocol: " + received.error().message);
    if (received->message) return *std::move(received->message);
    if (!received->ended) continue;
    const std::string how = how_ended(successor, kEndsWithin);
    return broken((how.empty() ? "closed the hand-over" : how) +
                  "; its own messages say why (log, standard error)");
  }
  return broken("was not ready within " + format_duration(limit));
}

handover::Offer HandOver::offer() const {
  handover::Offer offer;
  const policy::ProxyOptions options = proxy_.options();
  offer.listen = options.listen;
  offer.upstream = net::parse_upstream_url(options.upstream)->display();
  offer.listeners = static_cast<std::uint32_t>(proxy_.listeners().size());
  offer.has_admin = admin_ != nullptr;
  offer.file_device = proxy_.socket_file().device();
  offer.file_inode = proxy_.socket_file().inode();
  return offer;
}

std::vector<Message> HandOver::rules() const {
  std::vector<Message> messages;
  const LiveRules rules = live_.live_rules();
  for (const AddedRule& rule : rules.added) {
    if (rule.text.size() > handover::kRuleBytesMax || rule.match.size() > handover::kKeyBytesMax) {
      log(LogLevel::kWarning, "hand-over: a rule that was " + rule.origin +
                                  " is too long to go along: add it again to the new process");
      continue;
    }
    messages.emplace_back(handover::Rule{true, rule.text, rule.match, rule.origin});
  }
  for (const std::string& match : rules.removed)
    messages.emplace_back(handover::Rule{false, "", match, ""});
  return messages;
}

std::vector<Message> HandOver::keys() const {
  std::vector<Message> messages;
  handover::Keys next;
  for (auto& each : proxy_.hot_names(handover::kKeysMax)) {
    const auto lasts = std::chrono::floor<Millis>(each.lasts).count();
    next.keys.push_back({std::move(each.key.name), each.key.db, static_cast<std::uint64_t>(lasts)});
    if (next.keys.size() == kKeysPerMessage)
      messages.emplace_back(std::exchange(next, handover::Keys()));
  }
  next.is_last = true;
  messages.emplace_back(std::move(next));
  return messages;
}

// Until all clients that can be moved are, or the time is over. Each one that the successor has not
// confirmed can still be taken back.
Status HandOver::give_clients(Channel& channel, pid_t successor) {
  proxy_.hand_over(channel, version_);
  const TimePoint begin = BootClock::now();
  bool was_empty = false, ended = false;
  while (true) {
    Result<Channel::Received> received = channel.receive(kGiveLook);
    if (!received.ok()) return broken("broke the protocol: " + received.error().message);
    if (received->ended) {
      const std::string how = how_ended(successor, kEndsWithin);
      return broken((how.empty() ? "closed the hand-over" : how) + " during the hand-over");
    }
    if (ends_) return broken("was not needed any more: this proxy is shutting down");
    if (received->message) {
      const auto* const taken = std::get_if<handover::Taken>(&*received->message);
      if (taken != nullptr) proxy_.taken(taken->token);
      const auto* const refused = std::get_if<handover::Refused>(&*received->message);
      if (refused != nullptr) proxy_.refused(refused->token);
      continue;
    }
    // Twice: a client may be on its way between two workers.
    const bool is_empty = proxy_.to_hand_over() == 0;
    if (is_empty && was_empty) break;
    was_empty = is_empty;
    const Nanos passed = BootClock::now() - begin;
    if (passed > kGiveWithin && !std::exchange(ended, true)) proxy_.end_hand_over(false);
    if (passed > kGiveWithin + kAllConfirmWithin) return broken("did not confirm all clients");
  }
  if (!ended) proxy_.end_hand_over(false);
  return Unit{};
}

int next_signal(const sigset_t& signals, HandOver& hand_over) {
  while (true) {
    int signal = 0;
    if (hand_over.is_under_way() || hand_over.is_done()) {
      const timespec wait{0, kGiveLook.count()};
      signal = std::max(sigtimedwait(&signals, nullptr, &wait), 0);
      if (hand_over.is_done() && signal != SIGINT && signal != SIGTERM) return 0;
    } else if (sigwait(&signals, &signal) != 0) {
      continue;
    }
    if (signal == SIGUSR2) {
      hand_over.begin();
    } else if (signal > 0) {
      return signal;
    }
  }
}

}  // namespace heatsink::app
