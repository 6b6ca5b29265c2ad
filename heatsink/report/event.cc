// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/event.h"

namespace heatsink::report {

const char* word_for(const Event& event) {
  if (event.nothing_hot) return "nothing-hot";
  if (event.stale_read) return "stale-read";
  if (event.outage) return "stale-while-error";
  if (event.order) return "order";
  if (event.config == Event::Config::kChanged) return "config-changed";
  if (event.config == Event::Config::kRefused) return "config-refused";
  if (event.instance == Event::Instance::kSilent) return "instance-silent";
  if (event.instance == Event::Instance::kAnswers) return "instance-answers";
  if (event.limit == Event::Limit::kNone) return detect::to_string(event.temperature);
  return event.limit == Event::Limit::kBegan ? "limited" : "limit-ended";
}

bool has_key(const Event& event) {
  if (event.order) return !event.key.empty();
  return !event.nothing_hot && !event.outage && event.config == Event::Config::kNone &&
         event.instance == Event::Instance::kNone;
}

bool is_verdict(const Event& event) {
  return has_key(event) && !event.stale_read && !event.order && event.limit == Event::Limit::kNone;
}

Event event_of(const detect::Change& change, TimePoint now) {
  const detect::Verdict& verdict = change.verdict;
  Event event;
  event.at = now;
  event.key = verdict.count.key;
  event.key_truncated = verdict.count.key_truncated;
  event.db = verdict.count.db;
  event.temperature = verdict.temperature;
  event.before = change.before;
  event.measure = verdict.measure;
  event.rule = verdict.rule;
  event.rate = verdict.rate;
  event.share = verdict.share;
  event.reason = verdict.reason;
  return event;
}

}  // namespace heatsink::report
