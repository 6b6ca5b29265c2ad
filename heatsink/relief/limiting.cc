// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/limiting.h"

#include <utility>
#include <vector>

#include "heatsink/policy/limits.h"

namespace heatsink::proxy {

using Verdict = Admission::Answer::Verdict;

Limiting::Limiting(const WorkerParts& parts, const ReliefContext& client, const CopyLookup& lookup,
                   StaleReads& stale)
    : parts_(parts), client_(client), lookup_(lookup), stale_(stale) {}

void Limiting::close() {
  parts_.loop.cancel(std::exchange(turn_timer_, 0));
  admission_.reset();
  closed_ = true;
}

// That of the limits which hold now; but a request that has asked goes on with those it has asked.
// Null: no key has a limit.
Admission* Limiting::admission() {
  if (is_busy()) return admission_.get();
  policy::Limits* const now = closed_ ? nullptr : parts_.shared.limits();
  if (now == nullptr) {
    admission_.reset();
  } else if (admission_ == nullptr || &admission_->limits() != now) {
    admission_ =
        std::make_unique<Admission>(parts_.shared.current().limits, &parts_.shared.client_names);
  }
  return admission_.get();
}

bool Limiting::counts_hits() {
  const Admission* const asked = admission();
  return asked != nullptr && asked->limits().has_hits();
}

Outcome Limiting::departs_in_part(Request& request) {
  const Admission* const asked = admission();
  if (asked == nullptr || asked->has_passed(Stage::kUpstream)) return Outcome::kPass;
  return admit(request, keys_of(request), Stage::kUpstream);
}

// Several requests that wait for one fill take its tokens once.
Outcome Limiting::admit_fill(Request& request, std::span<const AskedKey> keys) {
  const Admission* const asked = admission();
  if (asked == nullptr || asked->has_passed(Stage::kUpstream)) return Outcome::kPass;
  const Outcome outcome = admit(request, keys, Stage::kUpstream);
  if (outcome == Outcome::kPass && !keys.empty()) admission_->mark_spent();
  return outcome;
}

void Limiting::ended(bool server_was_asked) {
  if (admission_ == nullptr) return;
  admission_->end(server_was_asked);
  if (refusals_.in_row() == refused_before_) refusals_.passed();
  refused_before_ = refusals_.in_row();
}

Outcome Limiting::ask(Request& request, Stage stage) {
  if (request.command == nullptr || !request.has_right_arity()) return Outcome::kPass;
  const Admission* const asked = admission();
  if (asked == nullptr || asked->limits().idle() || asked->has_passed(stage)) return Outcome::kPass;
  return admit(request, keys_of(request), stage);
}

Outcome Limiting::admit(Request& request, std::span<const AskedKey> keys, Stage stage) {
  if (keys.empty()) return Outcome::kPass;
  const Admission::Answer answer = admission_->ask(stage, keys, client_.address, request.now);
  switch (answer.verdict) {
    case Verdict::kGo:
      return Outcome::kPass;
    // Each client has one waiting request, and clients get their turns in the order in which they
    // asked. So a client with many pipelined commands is not served before clients that came
    // earlier.
    case Verdict::kWait:
      admission_->limits().count(*answer.limit, policy::LimitOutcome::kDelayed, answer.key->hash,
                                 parts_.loop.now());
      return wait_for(request, answer.wait);
    // The worker goes on meanwhile. It ends within ServerLimits::kPatience.
    case Verdict::kUndecided:
      return wait_for(request, answer.wait);
    case Verdict::kRefused:
      break;
  }
  return refuse(request, keys, answer);
}

// Scripts and functions count by the keys that they declare.
std::span<const AskedKey> Limiting::keys_of(const Request& request) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  std::vector<AskedKey>& keys = parts_.asked_keys;
  keys.clear();
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const NameHash name = request.name_hash(ref.arg, parts_.shared.seed);
    keys.push_back({request.args()[ref.arg], in_db(name, client_.state.db_), ref.write});
  }
  return keys;
}

// ---- waiting

Outcome Limiting::wait_for(Request& request, Nanos time) {
  turn_timer_ = parts_.loop.call_after(time, [this] { turn_came(); });
  client_.session.hold(request, *this);
  return Outcome::kWaits;
}

void Limiting::turn_came() {
  turn_timer_ = 0;
  if (refusals_.waits()) {
    refusals_.waited();
  } else {
    admission_->turn_came();
  }
  client_.session.let_go(*this);
}

// ---- refused

// A delayed refusal is checked again after its delay.
Outcome Limiting::refuse(Request& request, std::span<const AskedKey> keys,
                         const Admission::Answer& answer) {
  policy::Limits& limits = admission_->limits();
  policy::RuleLimit& limit = *answer.limit;
  const AskedKey refused = *answer.key;
  if (limit.policy().over == policy::LimitPolicy::Over::kStale &&
      stale_.refused(request) == Outcome::kAnswered) {
    limits.count(limit, policy::LimitOutcome::kStale, refused.hash, request.now);
    return Outcome::kAnswered;
  }
  const bool may_hold = parts_.shared.options().refusal_delay > Nanos(0);
  if (may_hold && refusals_.must_wait(request.is_last)) {
    admission_->end();
    parts_.count(copies::Count::kRefusalsHeld);
    return wait_for(request, parts_.shared.options().refusal_delay);
  }
  refusals_.refused();
  limits.count(limit, policy::LimitOutcome::kRejected, refused.hash, request.now);
  record_refused(request, keys);
  if (client_.state.in_multi_ && !client_.state.transaction_failed())
    client_.session.make_exec_fail();
  const std::string shown = keys.size() > 1 ? parts_.shared.shown.show(refused.name) : "";
  ByteBuffer error;
  resp::append_error(error, policy::busy_text(limit, shown, answer.retry_after));
  client_.session.serve(error.view());
  return Outcome::kAnswered;
}

// A limit must not hide the demand for a key: refused requests count as accesses.
void Limiting::record_refused(const Request& request, std::span<const AskedKey> keys) {
  for (const AskedKey& key : keys) {
    parts_.record({.hash = key.hash,
                   .key = key.name,
                   .db = client_.state.db_,
                   .kind = key.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead,
                   .local_hit = false,
                   .bytes = 0,
                   .command = request.facts->number,
                   .client = client_.address});
    parts_.shared.key_loads.add(key.hash, 1);
  }
}

}  // namespace heatsink::proxy
