// SPDX-License-Identifier: Apache-2.0
// Limits: which requests have to ask, and what becomes of those that are refused.
#include <algorithm>
#include <utility>

#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

using Word = Admission::Answer::Word;

Session::Step Session::dispatch_limited(Request& request) {
  const std::uint64_t sent_before = traffic_.sent;
  const std::uint32_t refused_before = refusals_.in_row();
  Step step = Step::kDone;
  const bool counts_hits =
      worker_.shared().limits->has_hits() && mode_ != Mode::kRaw && copy_reads_.applies(request);
  if (!counts_hits || admit(request, Door::kLocal, step)) step = carry_out(request);
  if (step == Step::kDone && admission_) {
    admission_->end(traffic_.sent != sent_before);
    if (refusals_.in_row() == refused_before) refusals_.passed();
  }
  return step;
}

// True: it may go on. False: `step` is what has become of it. What the server will refuse asks for
// nothing.
bool Session::admit(Request& request, Door door, Step& step) {
  if (request.command == nullptr || !request.has_right_arity() || worker_.shared().limits->idle())
    return true;
  if (admission_->has_passed(door)) return true;
  return admit_keys(request, keys_to_ask(request), door, step);
}

// Its arguments have not all come.
bool Session::admit_oversized(Request& request, Step& step) {
  return admission_->has_passed(Door::kUpstream) ||
         admit_keys(request, keys_to_ask(request), Door::kUpstream, step);
}

bool Session::admit_keys(Request& request, std::span<const AskedKey> keys, Door door, Step& step) {
  if (keys.empty()) return true;
  const Admission::Answer answer = admission_->ask(door, keys, address_, request.now);
  if (answer.word == Word::kGo) return true;
  step = answer.word == Word::kWait ? await_turn(*answer.limit, *answer.key, answer.wait)
                                    : refuse(request, keys, answer);
  return false;
}

// Scripts and functions by the keys that they declare.
std::span<const AskedKey> Session::keys_to_ask(const Request& request) {
  std::vector<resp::KeyRef>& refs = worker_.key_refs();
  std::vector<AskedKey>& keys = worker_.asked_keys();
  keys.clear();
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = request.args()[ref.arg];
    keys.push_back({key, in_db(name_hash(request, ref.arg), db_), ref.write});
  }
  return keys;
}

// ---- the reads that ask the tracker for copies: once for all who wait for the same

Outcome Session::admit_fill(Request& request, std::span<const AskedKey> keys) {
  if (admission_->has_passed(Door::kUpstream)) return Outcome::kPass;
  Step step = Step::kDone;
  if (!admit_keys(request, keys, Door::kUpstream, step))
    return step == Step::kStall ? Outcome::kWaits : Outcome::kAnswered;
  if (!keys.empty()) admission_->spend();
  return Outcome::kPass;
}

// ---- waiting

// One at a time of each client, in the order in which they asked: so nobody is served before others
// who came earlier, however many commands he has sent.
Session::Step Session::await_turn(RuleLimit& limit, const AskedKey& key, Nanos wait) {
  worker_.shared().limits->count(limit, LimitOutcome::kDelayed, key.hash, worker_.loop().now());
  return stall_for(wait);
}

// What it asks for is asked again when it goes on.
Session::Step Session::hold_refusal() {
  admission_->end();
  worker_.count().add(Count::kRefusalsHeld);
  return stall_for(worker_.shared().options.refusal_delay);
}

Session::Step Session::stall_for(Nanos wait) {
  turn_timer_ = worker_.loop().call_after(wait, [worker = &worker_, id = id_] {
    if (Session* waiting = worker->session(id)) waiting->turn_came();
  });
  return stall(Awaited::kTurn);
}

void Session::turn_came() {
  turn_timer_ = 0;
  if (closed_ || !admission_) return;
  if (refusals_.waits()) {
    refusals_.waited();
  } else {
    admission_->turn_came();
  }
  if (stall_ == Awaited::kTurn) worker_.resume_later(*this);
}

// ---- refused

Session::Step Session::refuse(Request& request, std::span<const AskedKey> keys,
                              const Admission::Answer& answer) {
  Limits& limits = *worker_.shared().limits;
  RuleLimit& limit = *answer.limit;
  const AskedKey refused = *answer.key;
  if (limit.terms().over == LimitTerms::Over::kStale && copy_reads_.serve_stale(request)) {
    limits.count(limit, LimitOutcome::kStale, refused.hash, request.now);
    return Step::kDone;
  }
  const bool may_hold = worker_.shared().options.refusal_delay > Nanos(0);
  if (may_hold && refusals_.must_wait(request.is_last)) return hold_refusal();
  refusals_.refused();
  limits.count(limit, LimitOutcome::kRejected, refused.hash, request.now);
  record_refused(request, keys);
  if (in_multi_ && !transaction_failed()) spoil_transaction();
  const std::string shown = keys.size() > 1 ? worker_.shared().shown.show(refused.name) : "";
  ByteBuffer error;
  resp::append_error(error, busy_text(limit, shown, answer.retry_after));
  serve(error.view());
  return Step::kDone;
}

// A limit does not hide how much is asked for: what is refused is an access, too.
void Session::record_refused(const Request& request, std::span<const AskedKey> keys) {
  for (const AskedKey& key : keys) {
    worker_.record({.hash = key.hash,
                    .key = key.name,
                    .db = db_,
                    .kind = key.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead,
                    .local_hit = false,
                    .bytes = 0,
                    .command = request.facts->number,
                    .client = address_});
  }
}

// The server must not run a transaction of which a command is missing. It is told one that it does
// not know, and then answers EXEC as it does whenever it has refused to queue a command.
void Session::spoil_transaction() { private_->send_own({"HEATSINK", "LIMITED"}); }

}  // namespace heatsink::proxy
