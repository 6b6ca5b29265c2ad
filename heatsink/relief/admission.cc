// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/admission.h"

#include <algorithm>
#include <utility>

namespace heatsink::proxy {
namespace {

// How many of the request's latest limiters are compared: keys of one rule usually stand together,
// and a command may name ten thousand keys.
constexpr std::size_t kLookBack = 4;

}  // namespace

// A limit of `all` counts at the first stage that the request reaches.
bool Admission::counts(const policy::LimitPolicy& policy, const AskedKey& key, Stage stage) const {
  switch (policy.of) {
    case policy::LimitPolicy::Of::kAll:
      return stage == Stage::kLocal || !has_passed(Stage::kLocal);
    case policy::LimitPolicy::Of::kWrites:
      return stage == Stage::kUpstream && key.write;
    case policy::LimitPolicy::Of::kUpstream:
      break;
  }
  return stage == Stage::kUpstream;
}

std::shared_ptr<limit::Limiter> Admission::shared_limiter(policy::RuleLimit& limit,
                                                          const AskedKey& key,
                                                          std::uint32_t client) const {
  if (limit.shared() == nullptr) return nullptr;
  switch (limit.policy().per) {
    case policy::LimitPolicy::Per::kKey:
      return limit.shared()->of(key.name);
    case policy::LimitPolicy::Per::kClient:
      return limit.shared()->of(clients_ != nullptr ? clients_->name(client) : "");
    case policy::LimitPolicy::Per::kPrefix:
      break;
  }
  return limit.shared()->of("");
}

void Admission::want(policy::RuleLimit& limit, const AskedKey& key, std::uint32_t client,
                     Stage stage, TimePoint now) {
  if (std::shared_ptr<limit::Limiter> shared = shared_limiter(limit, key, client)) {
    limit::Limiter* const limiter = shared.get();
    taken_.push_back({&limit, std::move(shared), limiter, &key, 1, stage, now});
    return;
  }
  limit::Limiter* const limiter = &limit.of(key.hash, client, now);
  const auto first = taken_.end() - static_cast<std::ptrdiff_t>(std::min(taken_.size(), kLookBack));
  const auto same = std::find_if(first, taken_.end(), [&](const Taken& taken) {
    return taken.limiter == limiter && taken.stage == stage;
  });
  if (same != taken_.end()) {
    ++same->count;
  } else {
    taken_.push_back({&limit, nullptr, limiter, &key, 1, stage, now});
  }
}

void Admission::collect(Stage stage, std::span<const AskedKey> keys, std::uint32_t client,
                        TimePoint now) {
  for (const AskedKey& key : keys) {
    policy::RuleLimit* const limit = limits_->of(key.name, key.hash);
    if (limit != nullptr && counts(limit->policy(), key, stage))
      want(*limit, key, client, stage, now);
  }
}

Admission::Answer Admission::take(std::size_t from, TimePoint now) {
  Answer answer;
  for (std::size_t i = from; i < taken_.size(); ++i) {
    const Taken& wanted = taken_[i];
    const limit::Decision decision = wanted.limiter->try_acquire(wanted.count, now);
    if (!decision.allowed) {
      answer = {decision.undecided ? Answer::Verdict::kUndecided : Answer::Verdict::kRefused,
                decision.undecided ? decision.retry_after : Nanos(0), wanted.limit, wanted.key,
                decision.retry_after};
      // The limiters from here on have not been asked; ask() gives back the tokens of those before.
      taken_.resize(i);
      return answer;
    }
    if (decision.wait <= answer.wait) continue;
    answer = {Answer::Verdict::kWait, decision.wait, wanted.limit, wanted.key, decision.wait};
  }
  return answer;
}

Admission::Answer Admission::ask(Stage stage, std::span<const AskedKey> keys, std::uint32_t client,
                                 TimePoint now) {
  const std::size_t from = taken_.size();
  collect(stage, keys, client, now);
  Answer answer;
  if (taken_.size() > from) answer = take(from, now);  // most keys have no limit
  if (answer.verdict == Answer::Verdict::kWait && !limits_->start_waiting())
    answer.verdict = Answer::Verdict::kRefused;
  // Undecided: nothing of this stage is kept, so that two requests cannot wait for each other.
  if (answer.verdict == Answer::Verdict::kUndecided) {
    give_back(from);
    return answer;
  }
  if (answer.verdict == Answer::Verdict::kRefused) {
    give_back(0);
    return answer;
  }
  waits_ = answer.verdict == Answer::Verdict::kWait;
  passed_[static_cast<std::size_t>(stage)] = true;
  return answer;
}

void Admission::turn_came() {
  if (std::exchange(waits_, false)) limits_->stop_waiting();
}

void Admission::give_back(std::size_t from) {
  for (std::size_t i = from; i < taken_.size(); ++i)
    taken_[i].limiter->give_back(taken_[i].count, taken_[i].at);
  taken_.resize(from);
}

void Admission::end(bool server_was_asked) {
  if (std::exchange(waits_, false)) {
    limits_->stop_waiting();
    give_back(0);
  }
  if (!std::exchange(spent_, false) && !server_was_asked) {
    // A limit of `all` counts accesses, including those that a local copy answered: keep its
    // tokens.
    std::erase_if(taken_, [](const Taken& taken) {
      return taken.limit->policy().of == policy::LimitPolicy::Of::kAll;
    });
    give_back(0);
  }
  taken_.clear();
  passed_ = {};
}

}  // namespace heatsink::proxy
