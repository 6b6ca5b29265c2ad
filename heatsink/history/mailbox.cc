// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/mailbox.h"

#include <iterator>
#include <utility>

namespace heatsink::history {
namespace {

std::size_t bytes_of(const Record& record) {
  std::size_t bytes = sizeof(Record);
  if (const auto* const second = std::get_if<Second>(&record)) {
    for (const heat::Item& item : second->moment.items)
      bytes += sizeof(item) + item.identity.name.size();
  } else {
    const auto& event = std::get<KeptEvent>(record);
    bytes += event.name.size() + event.rule.size() + event.reason.size();
  }
  return bytes;
}

std::uint64_t& count_of(Mailbox::Counts& counts, const Record& record) {
  return std::holds_alternative<Second>(record) ? counts.seconds : counts.events;
}

}  // namespace

bool Mailbox::add(Record record) {
  const std::size_t bytes = bytes_of(record);
  if (bytes_ + bytes > bytes_max_) {
    ++count_of(lost_, record);
    return false;
  }
  bytes_ += bytes;
  waiting_.push_back(std::move(record));
  return true;
}

std::vector<Record> Mailbox::take() { return std::exchange(waiting_, {}); }

void Mailbox::put_back(std::vector<Record> batch) {
  batch.insert(batch.end(), std::make_move_iterator(waiting_.begin()),
               std::make_move_iterator(waiting_.end()));
  waiting_ = std::move(batch);
}

void Mailbox::written(const std::vector<Record>& batch) {
  for (const Record& record : batch) {
    bytes_ -= bytes_of(record);
    ++count_of(done_, record);
  }
}

void Mailbox::give_up() {
  for (const Record& record : waiting_) ++count_of(lost_, record);
  waiting_.clear();
  bytes_ = 0;
}

}  // namespace heatsink::history
