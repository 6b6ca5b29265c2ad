// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/admission.h"

#include <algorithm>
#include <utility>

namespace heatsink::proxy {
namespace {

// Of the limiters that a request has come to last: keys of one rule stand together as a rule, and a
// command may name ten thousand.
constexpr std::size_t kLookBack = 4;

}  // namespace

// A limit of `all` counts at the first door that the request comes to.
bool Admission::counts(const policy::LimitTerms& terms, const AskedKey& key, Door door) const {
  switch (terms.of) {
    case policy::LimitTerms::Of::kAll:
      return door == Door::kLocal || !has_passed(Door::kLocal);
    case policy::LimitTerms::Of::kWrites:
      return door == Door::kUpstream && key.write;
    case policy::LimitTerms::Of::kUpstream:
      break;
  }
  return door == Door::kUpstream;
}

void Admission::want(policy::RuleLimit& limit, const AskedKey& key, std::uint32_t client, Door door,
                     TimePoint now) {
  limit::Limiter* const limiter = &limit.of(key.hash, client, now);
  const auto first = taken_.end() - static_cast<std::ptrdiff_t>(std::min(taken_.size(), kLookBack));
  const auto same = std::find_if(first, taken_.end(), [&](const Taken& taken) {
    return taken.limiter == limiter && taken.door == door;
  });
  if (same != taken_.end()) {
    ++same->count;
  } else {
    taken_.push_back({&limit, limiter, &key, 1, door, now});
  }
}

void Admission::collect(Door door, std::span<const AskedKey> keys, std::uint32_t client,
                        TimePoint now) {
  for (const AskedKey& key : keys) {
    policy::RuleLimit* const limit = limits_.of(key.name, key.hash);
    if (limit != nullptr && counts(limit->terms(), key, door)) want(*limit, key, client, door, now);
  }
}

Admission::Answer Admission::take(std::size_t from, TimePoint now) {
  Answer answer;
  for (std::size_t i = from; i < taken_.size(); ++i) {
    const Taken& wanted = taken_[i];
    const limit::Decision decision = wanted.limiter->try_acquire(wanted.count, now);
    if (!decision.allowed) {
      answer = {Answer::Word::kRefused, Nanos(0), wanted.limit, wanted.key, decision.retry_after};
      taken_.resize(i);
      return answer;
    }
    if (decision.wait <= answer.wait) continue;
    answer = {Answer::Word::kWait, decision.wait, wanted.limit, wanted.key, decision.wait};
  }
  return answer;
}

Admission::Answer Admission::ask(Door door, std::span<const AskedKey> keys, std::uint32_t client,
                                 TimePoint now) {
  const std::size_t from = taken_.size();
  collect(door, keys, client, now);
  Answer answer;
  if (taken_.size() > from) answer = take(from, now);  // of most keys no limit counts
  if (answer.word == Answer::Word::kWait && !limits_.start_waiting())
    answer.word = Answer::Word::kRefused;
  if (answer.word == Answer::Word::kRefused) {
    give_back(0);
    return answer;
  }
  waits_ = answer.word == Answer::Word::kWait;
  passed_[static_cast<std::size_t>(door)] = true;
  return answer;
}

void Admission::turn_came() {
  if (std::exchange(waits_, false)) limits_.stop_waiting();
}

void Admission::give_back(std::size_t from) {
  for (std::size_t i = from; i < taken_.size(); ++i)
    taken_[i].limiter->give_back(taken_[i].count, taken_[i].at);
  taken_.resize(from);
}

void Admission::end(bool server_was_asked) {
  if (std::exchange(waits_, false)) {
    limits_.stop_waiting();
    give_back(0);
  }
  if (!std::exchange(spent_, false) && !server_was_asked) {
    // What a limit of `all` has counted was an access, whoever answered it.
    std::erase_if(taken_, [](const Taken& taken) {
      return taken.limit->terms().of == policy::LimitTerms::Of::kAll;
    });
    give_back(0);
  }
  taken_.clear();
  passed_ = {};
}

}  // namespace heatsink::proxy
