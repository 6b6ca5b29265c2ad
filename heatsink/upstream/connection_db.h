// SPDX-License-Identifier: Apache-2.0
// Knows which database the requests of one connection run in, and which ones its server allows.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>

namespace heatsink::proxy {

// One per connection; the worker's thread. It sends nothing: where it returns true, the caller
// sends SELECT. O(1); memory: one entry for each database that was used.
class ConnectionDb {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  // ---- requests

  // The database of the next request, as far as is known.
  std::uint32_t now() const { return now_; }
  void set(std::uint32_t db) { now_ = db; }
  // The server has let the connection use it.
  bool knows(std::uint32_t db) const { return (db == 0 && is_zero_known_) || known_.contains(db); }
  // The server will not refuse SELECT, or none is needed.
  bool may_use(std::uint32_t db) const { return now_ == db || knows(db); }
  // The next request runs in `db`. True: SELECT goes before it.
  bool use(std::uint32_t db) { return std::exchange(now_, db) != db; }
  // The server may refuse `db`, so no request follows until it has answered. True: SELECT is not on
  // its way yet.
  bool ask_for_another() { return std::exchange(now_, kUnknown) != kUnknown; }

  // ---- replies

  // A SELECT of the client or of the proxy has succeeded.
  void selected(std::uint32_t db) { known_.insert(db); }
  // A SELECT of the proxy has ended. `is_refused`: it should have succeeded, and the server has
  // refused it (BUSY, NOPERM). The server will most likely refuse the requests behind it, too. If
  // it does not, they ran in the wrong database, and the connection must fail.
  void select_ended(bool is_refused) {
    is_refused_ = is_refused;
    if (!is_refused) return;
    now_ = kUnknown;
    known_.clear();
    is_zero_known_ = false;
  }
  bool is_refused() const { return is_refused_; }  // the last SELECT of the proxy was

 private:
  std::uint32_t now_ = 0;
  std::unordered_set<std::uint32_t> known_;
  bool is_zero_known_ = true;  // database 0 exists: every connection begins in it
  bool is_refused_ = false;
};

}  // namespace heatsink::proxy
