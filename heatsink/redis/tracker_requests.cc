// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracker_requests.h"

#include <algorithm>

#include "heatsink/resp/writer.h"

namespace heatsink::redis {

void TrackerRequests::begin() {
  db_ = 0;
  select_error_.clear();
}

void TrackerRequests::end() {
  output_.release();
  asked_.clear();
}

void TrackerRequests::send(Question question, std::initializer_list<std::string_view> args,
                           TimePoint now, std::uint64_t token) {
  resp::append_request(output_, args);
  expect({question, now, token});
}

void TrackerRequests::send(Question question, std::span<const std::string_view> args, TimePoint now,
                           std::uint64_t token) {
  resp::append_request(output_, args);
  expect({question, now, token});
}

void TrackerRequests::expect(const Asked& asked) {
  protocol_.note_command();
  asked_.push_back(asked);
}

void TrackerRequests::select(std::uint32_t db, TimePoint now) {
  if (db == db_) return;
  send(Question::kSelect, {"SELECT", std::to_string(db)}, now);
  db_ = db;
}

// The refusal concerns the fills up to the next SELECT: they read in the
// previous database. The other requests have the same replies in every
// database.
void TrackerRequests::on_selected(const resp::Value& reply) {
  select_error_ = reply.is_error() ? reply.text : std::string();
  if (!reply.is_error()) return;
  const bool selects_again = std::any_of(asked_.begin(), asked_.end(), [](const Asked& each) {
    return each.question == Question::kSelect;
  });
  if (!selects_again) db_ = kUnknownDb;
}

}  // namespace heatsink::redis
