// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/connection_table.h"

#include <algorithm>

namespace heatsink::capture {

ConnectionKey ConnectionKey::of(const Segment& segment) {
  if (segment.from < segment.to) return {segment.from, segment.to};
  return {segment.to, segment.from};
}

ConnectionTable::ConnectionTable(const ConnectionLimits& limits, std::uint64_t seed,
                                 CaptureCounters& counters)
    : limits_(limits), counters_(counters), index_(0, Hash{seed}) {}

Connection* ConnectionTable::find(const ConnectionKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  rows_.splice(rows_.end(), rows_, found->second);
  return &found->second->connection;
}

Connection& ConnectionTable::add(const ConnectionKey& key, MatcherContext& context,
                                 const Patience& patience, Endpoint client, Endpoint server,
                                 bool strict) {
  if (rows_.size() >= limits_.connections_max) forget_oldest();
  rows_.push_back({key, Connection(context, patience, client, server, strict)});
  index_.emplace(key, std::prev(rows_.end()));
  ++counters_.connections;
  ++counters_.connections_now;
  return rows_.back().connection;
}

void ConnectionTable::erase(const ConnectionKey& key) {
  const auto found = index_.find(key);
  if (found != index_.end()) forget(found->second);
}

void ConnectionTable::enforce_limits() {
  account(rows_.back());
  while (bytes_ > limits_.memory_max.count && rows_.size() > 1) forget_oldest();
}

void ConnectionTable::advance(std::int64_t now_ns) {
  // A copy, because account() changes the list.
  const std::vector<Row*> waiting = waiting_;
  for (Row* const row : waiting) {
    row->connection.advance(now_ns);
    account(*row);
  }
  while (!rows_.empty() && Nanos(now_ns - rows_.front().connection.last_ns()) > limits_.idle_max)
    forget_oldest();
}

void ConnectionTable::finish() {
  while (!rows_.empty()) forget(rows_.begin());
}

void ConnectionTable::watch(ReplyWatch watch) {
  for (Row& row : rows_) {
    row.connection.watch(watch);
    account(row);
  }
}

void ConnectionTable::account(Row& row) {
  const std::size_t bytes = row.connection.bytes();
  bytes_ = bytes_ - row.bytes + bytes;
  row.bytes = bytes;
  if (row.connection.waits() != row.waits) {
    row.waits = !row.waits;
    if (row.waits) waiting_.push_back(&row);
    if (!row.waits) waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &row));
  }
  if (row.is_open && row.connection.is_closed()) {
    row.is_open = false;
    --counters_.connections_now;
  }
}

void ConnectionTable::forget_oldest() {
  if (rows_.front().is_open) ++counters_.connections_evicted;
  forget(rows_.begin());
}

void ConnectionTable::forget(Rows::iterator row) {
  row->connection.finish();
  account(*row);
  bytes_ -= row->bytes;
  if (row->is_open) --counters_.connections_now;
  index_.erase(row->key);
  rows_.erase(row);
}

}  // namespace heatsink::capture
