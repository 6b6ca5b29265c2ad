// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/answers.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <optional>
#include <utility>

namespace heatsink::httpd {
namespace {

const Answer kTooManyAsk{503, "too many requests for this page at once: try again later\n"};

Now moment() { return {BootClock::now(), std::chrono::system_clock::now()}; }

}  // namespace

Answers::Answers(boost::asio::io_context& io, RouteTable routes, Tokens tokens,
                 std::size_t clients_max)
    : io_(io),
      routes_(std::move(routes)),
      tokens_(std::move(tokens)),
      health_([this] { make(Pace::kHealth, health_); }, clients_max),
      metrics_([this] { make(Pace::kMetrics, metrics_); }, kWaitingMax),
      status_thread_(2),  // health and metrics
      question_thread_(kWaitingMax) {}

Asker Answers::asker(const Request& request, const std::string& peer) const {
  Asker out{.who = peer, .name = "", .has_token = !tokens_.empty()};
  const Bearer* const bearer = tokens_.find(request.authorization);
  if (bearer == nullptr) return out;
  out.name = bearer->name;
  out.role = bearer->role;
  if (!bearer->name.empty()) out.who = bearer->name + ", " + peer;
  return out;
}

void Answers::start() {
  status_thread_.start();
  question_thread_.start();
}

void Answers::stop() {
  status_thread_.stop();
  question_thread_.stop();
}

void Answers::ask(const Request& request, const Deliver& deliver) {
  if (const std::optional<Answer> refused = routes_.refusal(request, tokens_))
    return deliver(*refused);
  switch (routes_.pace(request)) {
    case Pace::kAtOnce:
      return deliver(routes_.run(request, moment()));
    case Pace::kHealth:
      if (!health_.ask(deliver)) deliver(kTooManyAsk);
      return;
    case Pace::kMetrics:
      if (!metrics_.ask(deliver)) deliver(kTooManyAsk);
      return;
    case Pace::kSlow:
      break;
  }
  // `deliver` must be destroyed on this thread, so the work moves it back.
  auto work = [this, request, told = deliver]() mutable {
    boost::asio::post(
        io_, [answer = routes_.run(request, moment()), told = std::move(told)] { told(answer); });
  };
  if (!question_thread_.post(std::move(work))) deliver(kTooManyAsk);
}

void Answers::make(Pace of, SharedAnswer& shared) {
  const auto work = [this, of, &shared] {
    boost::asio::post(
        io_, [answer = routes_.run_shared(of, moment()), &shared] { shared.made(answer); });
  };
  // Never refused: at most one answer of each kind is in progress.
  if (!status_thread_.post(work)) shared.made(kTooManyAsk);
}

}  // namespace heatsink::httpd
