// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_orders.h"

#include <optional>
#include <utility>

namespace heatsink::copies {
namespace {

std::string counted(std::size_t copies) {
  if (copies == 0) return "no local copy to drop";
  return copies == 1 ? "dropped its local copy"
                     : "dropped its " + std::to_string(copies) + " local copies";
}

std::string next_copy_of(const cache::Entry& entry) {
  if (entry.retained())
    return "the key is warmed, so a copy is loaded again at once: end its warming to stop that";
  if (entry.stays())
    return "the key is hot, so its next read makes a copy again: a rule with level=off stops that";
  return "a copy is made again when reads of the key pay for one: a rule with level=off stops that";
}

}  // namespace

void CopyOrders::note(std::string reason, const report::WarmKey& key, TimePoint now) {
  const std::string shown = key.name.empty() ? "" : shared_.shown.show(key.name);
  events_.add_order(shown, key.db, std::move(reason), now);
}

// Among the keys that a report lists: by their rate, warmed, or because their copies save most.
std::optional<KeyHash> CopyOrders::key_shown_as(const report::WarmKey& name, TimePoint now) const {
  for (const detect::Verdict& verdict : hot_keys_.verdicts()) {
    detect::KeyCount shown = verdict.count;
    shared_.shown.hide(shown);
    if (shown.db == name.db && shown.key == name.name) return verdict.count.hash;
  }
  std::optional<KeyHash> found;
  const auto look_at = [&](const cache::Entry& entry) {
    const bool is_it = entry.db() == name.db && shared_.shown.show(entry.key()) == name.name;
    if (is_it) found = entry.hash();
  };
  shared_.table.for_each_cached([&](const cache::Entry& entry) {
    if (entry.retained()) look_at(entry);
  });
  for (const KeyHash key : admission_.best_keys({}, report::CopiesReport::kTopMax, now))
    if (const cache::Entry* const entry = shared_.table.entry(key)) look_at(*entry);
  return found;
}

report::DropReport CopyOrders::drop(const report::WarmKey& key, const std::string& who,
                                    TimePoint now) {
  report::DropReport out{.at = now, .key = {shared_.shown.show(key.name), key.db}};
  KeyHash hash = in_db(hash_name(key.name, shared_.seed), key.db);
  if (policy::KeyDisplay::is_redacted(key.name) && shared_.shown.redacts()) {
    out.key.name = key.name;
    const std::optional<KeyHash> shown = key_shown_as(key, now);
    if (!shown) {
      out.problem = "no listed key has this name";
      return out;
    }
    hash = *shown;
  }
  out.next = "a copy is made when reads of the key pay for one";
  if (const cache::Entry* const entry = shared_.table.entry(hash)) {
    entry->for_each_copy([&out](const cache::Copy&) { ++out.copies; });
    out.bytes = Bytes{entry->bytes()};
    out.next = next_copy_of(*entry);
    shared_.table.drop_key(hash, now);
  }
  events_.add_order(out.key.name, out.key.db,
                    counted(out.copies) + " (by " + who + "); " + out.next, now);
  return out;
}

}  // namespace heatsink::copies
