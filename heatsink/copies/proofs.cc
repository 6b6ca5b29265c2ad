// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/proofs.h"

namespace heatsink::copies {

// Asked again at half of its life, so that a key in use is never without; and once more after a
// quarter, should that answer not come.
Proofs::Word Proofs::ask(const Right& right, TimePoint now, TimePoint changed_at) {
  Proof* proof = proofs_ ? proofs_->find(right) : nullptr;
  if (proof == nullptr) return Word::kUnproven;
  const Nanos age = now - proof->asked_at;
  if (age > life_ || proof->asked_at <= changed_at) return Word::kUnproven;
  if (age <= life_ / 2 || now - proof->renewed_at <= life_ / 4) return Word::kProven;
  proof->renewed_at = now;
  return Word::kAgeing;
}

void Proofs::heard(const AskedRight& asked, bool allowed) {
  if (!allowed) {
    if (proofs_) proofs_->erase(asked.right);
    return;
  }
  if (!proofs_) proofs_ = std::make_unique<Table>();
  const Proof* known = proofs_->find(asked.right);
  if (known == nullptr || known->asked_at < asked.asked_at)
    proofs_->put(asked.right, {asked.asked_at, asked.asked_at});
}

}  // namespace heatsink::copies
