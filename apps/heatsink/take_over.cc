// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/take_over.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "apps/heatsink/carried_learning.h"
#include "apps/heatsink/hand_over.h"
#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/log.h"

namespace heatsink::app {
namespace {

using handover::Channel;

constexpr Nanos kOfferWithin = std::chrono::seconds(10);
constexpr Nanos kGoWithin = std::chrono::seconds(30);
constexpr Nanos kConfirmOneWithin = std::chrono::seconds(1);
constexpr Nanos kServerWithin = std::chrono::seconds(2);  // as the first contact of any proxy
constexpr Nanos kWarmWithin = std::chrono::seconds(1);
constexpr Nanos kTakeLook = Millis(20);
// Long enough for the detector to find the keys that are still hot.
constexpr Nanos kWarmFor = std::chrono::seconds(30);

Error cannot_take_over(const std::string& what) {
  return invalid_argument("taking over from the running proxy: " + what);
}

int descriptor_in(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

bool is_loading(const report::WarmedKey& key) {
  return key.outcome == report::WarmOutcome::kLoading;
}

}  // namespace

Result<std::unique_ptr<TakeOver>> TakeOver::from_environment(const policy::ProxyOptions& options) {
  const char* const text = std::getenv(kTakeOverVariable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::unique_ptr<TakeOver>();
  const int descriptor = descriptor_in(text);
  ::unsetenv(kTakeOverVariable);  // NOLINT(concurrency-mt-unsafe): there is one thread
  Result<Channel> channel = Channel::adopt(descriptor);
  if (!channel.ok())
    return cannot_take_over(std::string(kTakeOverVariable) + ": " + channel.error().message);
  std::unique_ptr<TakeOver> taken(new TakeOver(std::move(channel).value()));
  if (const Status offered = taken->take_offer(options); !offered.ok()) return offered.error();
  if (const Status named = taken->take_names(); !named.ok()) return named.error();
  return taken;
}

TakeOver::~TakeOver() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<Channel::Received> TakeOver::next() const {
  Result<Channel::Received> received = answers_->channel.receive(kOfferWithin);
  if (!received.ok()) return cannot_take_over(received.error().message);
  if (!received->message) return cannot_take_over("it does not answer");
  return received;
}

Status TakeOver::take_offer(const policy::ProxyOptions& options) {
  if (answers_->channel.send_within(kOfferWithin, handover::Hello{}) != Channel::Sent::kSent)
    return cannot_take_over("it does not answer");
  Result<Channel::Received> received = next();
  if (!received.ok()) return received.error();
  const auto* const offer = std::get_if<handover::Offer>(&*received->message);
  if (offer == nullptr) return cannot_take_over("it offers no listening sockets");
  const std::string upstream = net::parse_upstream_url(options.upstream)->display();
  if (offer->listen != options.listen)
    return cannot_take_over("proxy.listen was " + offer->listen + " and is " + options.listen +
                            " now; a new address needs a restart");
  if (offer->upstream != upstream)
    return cannot_take_over("upstream.url was " + offer->upstream + " and is " + upstream +
                            " now; another server needs a restart");
  listeners_ = std::move(received->descriptors);
  if (offer->has_admin) {
    admin_ = std::move(listeners_.back());
    listeners_.pop_back();
  }
  const Result<net::Endpoint> endpoint = net::parse_endpoint(options.listen);
  if (endpoint.ok() && endpoint->is_unix())
    file_ = net::SocketFile(endpoint->unix_path, static_cast<dev_t>(offer->file_device),
                            static_cast<ino_t>(offer->file_inode));
  return Unit{};
}

Status TakeOver::take_names() {
  while (true) {
    Result<Channel::Received> received = next();
    if (!received.ok()) return received.error();
    if (auto* const rule = std::get_if<handover::Rule>(&*received->message)) {
      if (!take_rule(*rule)) return cannot_take_over("it sends too many rules");
      continue;
    }
    auto* const keys = std::get_if<handover::Keys>(&*received->message);
    if (keys == nullptr || !take_keys(*keys))
      return cannot_take_over("it sends no names of hot keys, or too many");
    if (keys->is_last) return Unit{};
  }
}

bool TakeOver::take_rule(handover::Rule& rule) {
  if (rules_.added.size() + rules_.removed.size() >= handover::kRulesMax) return false;
  if (rule.is_added) {
    rules_.added.push_back({std::move(rule.text), std::move(rule.match), std::move(rule.origin)});
  } else {
    rules_.removed.insert(std::move(rule.match));
  }
  return true;
}

bool TakeOver::take_keys(handover::Keys& keys) {
  if (keys.keys.empty() && !keys.is_last) answers_->version = handover::kVersion;
  if (keys_.size() + keys.keys.size() > handover::kKeysMax) return false;
  constexpr std::uint64_t kLastsMax =
      std::chrono::floor<Millis>(report::WarmOrder::kLastsMax).count();
  for (handover::Keys::Key& key : keys.keys)
    keys_.push_back({{std::move(key.name), key.db},
                     Millis(static_cast<std::int64_t>(std::min(key.lasts_ms, kLastsMax)))});
  return true;
}

LiveRules TakeOver::add_live_rules(const ProxyFlags& flags, const ConfigText& file,
                                   BuiltConfiguration& built) {
  if (rules_.added.empty() && rules_.removed.empty()) return {};
  BuiltConfiguration with = build_configuration(flags, file, rules_);
  for (const Error& each : with.faults)
    log(LogLevel::kWarning,
        "taking over: the rules that were added or removed live do not hold any more, because " +
            each.message + ": mend that, and use 'heatsink rule add' again");
  if (!with.faults.empty()) return {};
  built = std::move(with);
  return std::move(rules_);
}

Status TakeOver::begin(proxy::Proxy& proxy) {
  warm(proxy);
  Channel& channel = answers_->channel;
  const auto says = [&](const handover::Message& message) {
    return channel.send_within(kConfirmOneWithin, message) == Channel::Sent::kSent;
  };
  const bool is_old = answers_->version < 2;
  if ((!is_old && !says(handover::Hello{handover::kVersion})) || !says(handover::Ready{}))
    return cannot_take_over("it is gone, or does not read");
  Result<Channel::Received> received = receive_go(proxy);
  if (!received.ok()) return cannot_take_over(received.error().message);
  const auto* const go =
      received->message ? std::get_if<handover::Go>(&*received->message) : nullptr;
  if (go != nullptr) proxy.begin_client_ids_at(go->next_client_id);
  // If the predecessor has just died, no other process accepts at its sockets.
  if (go == nullptr && !received->ended)
    return cannot_take_over("it does not stop accepting clients");
  proxy.socket_file() = std::move(file_);
  proxy.set_accepting(true);
  log(LogLevel::kInfo, "taking over: accepting clients with the sockets of the running proxy");
  const BlockedSignals blocked;
  thread_ = std::thread([this, &proxy] { take_clients(proxy); });
  return Unit{};
}

// A predecessor of version 3 says first what it has learned.
Result<Channel::Received> TakeOver::receive_go(proxy::Proxy& proxy) {
  Result<Channel::Received> received = answers_->channel.receive(kGoWithin);
  if (!received.ok() || !received->message) return received;
  const auto* const message = std::get_if<handover::Learned>(&*received->message);
  if (message == nullptr) return received;
  const copies::Learned learned = from_message(*message);
  proxy.begin_with(learned);
  log(LogLevel::kInfo, "taking over: begins with what was learned: " + learned_text(learned));
  return answers_->channel.receive(kGoWithin);
}

// The first clients should find copies. Without the server there are none to wait for.
void TakeOver::warm(proxy::Proxy& proxy) {
  const TimePoint begin = BootClock::now();
  while (!proxy.ready().ok() && BootClock::now() < begin + kServerWithin)
    std::this_thread::sleep_for(Millis(10));
  if (keys_.empty() || !proxy.ready().ok()) return;
  const std::size_t count = keys_.size();
  proxy.warm_all(std::move(keys_), kWarmFor);
  const TimePoint loading = BootClock::now();
  report::WarmReport report = proxy.warmed();
  while (std::any_of(report.keys.begin(), report.keys.end(), is_loading) &&
         BootClock::now() < loading + kWarmWithin) {
    std::this_thread::sleep_for(Millis(10));
    report = proxy.warmed();
  }
  log(LogLevel::kInfo, "taking over: loaded the copies of " + std::to_string(count) + " keys");
}

void TakeOver::take_clients(proxy::Proxy& proxy) {
  while (!ends_) {
    Result<Channel::Received> received = answers_->channel.receive(kTakeLook);
    if (!received.ok()) {
      log(LogLevel::kError, "taking over: " + received.error().message);
      break;
    }
    const bool is_done =
        received->message && std::holds_alternative<handover::Done>(*received->message);
    if (is_done || received->ended) {
      await_answers();
      log(is_done ? LogLevel::kInfo : LogLevel::kWarning,
          (is_done ? "took over " : "the process before this one ended early; took over ") +
              std::to_string(answers_->taken) + " connected clients");
      break;
    }
    if (received->message && !take_client(proxy, *received)) break;
  }
  answers_.reset();
}

// The worker decides whether it can go on, and answers before it serves the client.
bool TakeOver::take_client(proxy::Proxy& proxy, Channel::Received& received) {
  const auto* client = std::get_if<handover::Client>(&*received.message);
  const auto* const listener = std::get_if<handover::ClientWithNodes>(&*received.message);
  if (listener != nullptr) client = &listener->client;
  if (client == nullptr) return true;
  ++answers_->open;
  const Status adopted = proxy.adopt(
      *client, std::move(received.descriptors),
      [answers = answers_, token = client->token](bool taken) { answers->send(token, taken); });
  if (adopted.ok()) return true;
  --answers_->open;
  log(LogLevel::kError, "taking over: a client cannot be taken: " + adopted.error().message);
  return false;
}

// The predecessor forgets the client before it is served here, so that it is never served twice.
void TakeOver::Answers::send(std::uint64_t token, bool taken_here) {
  taken += taken_here ? 1 : 0;
  const bool is_refusal = !taken_here && version >= 2;
  if (!taken_here)
    log_limited(LogLevel::kWarning, "not taken",
                is_refusal
                    ? "taking over: a client goes on in the process before this one, "
                      "because its server is not known here yet"
                    : "taking over: a client was closed, because its server is not known here yet",
                BootClock::now());
  const handover::Message answer =
      is_refusal ? handover::Message(handover::Refused{token}) : handover::Taken{token};
  // A worker waits once for a predecessor that is stopped, and not for each client.
  const Nanos patience = is_stuck ? Nanos(0) : kConfirmOneWithin;
  if (channel.send_within(patience, answer) == Channel::Sent::kFull) is_stuck = true;
  --open;
}

// Clients of a predecessor that has ended may still be on their way to the workers.
void TakeOver::await_answers() const {
  const TimePoint end = BootClock::now() + kConfirmOneWithin;
  while (answers_->open > 0 && !ends_ && BootClock::now() < end)
    std::this_thread::sleep_for(Millis(1));
}

}  // namespace heatsink::app
