// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/event.h"

namespace heatsink::report {

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
