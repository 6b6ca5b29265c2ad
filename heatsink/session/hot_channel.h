// SPDX-License-Identifier: Apache-2.0
// Delivers news on hot keys to the clients of one worker that have subscribed to __heatsink__:hot.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/verdict_inbox.h"

namespace heatsink::proxy {

// One per worker; its thread. A subscriber first gets a list of all hot keys, then each change.
// Costs nothing while there is no news; news for many subscribers is delivered in slices, so that
// other requests do not wait for it. Keeps no message: the inbox has the limit, and each
// subscriber's output has its own.
class HotChannel {
 public:
  // Per turn, at most about so many subscribers, and so many bytes.
  static constexpr std::size_t kPerTurn = 256;
  static constexpr std::size_t kBytesPerTurn = std::size_t{1024} * 1024;

  class Subscriber {
   public:
    // Whole messages in RESP2, valid during the call. It may leave.
    virtual void hear(std::span<const std::string> wires) = 0;

   protected:
    ~Subscriber() = default;
  };

  // Implemented by the worker.
  class Source {
   public:
    virtual void ask_verdicts() = 0;  // then has_news() follows
    virtual void end_verdicts() = 0;  // no subscriber is left
    virtual copies::VerdictInbox::Content take_verdicts() = 0;
    virtual void deliver_verdicts_later() = 0;  // calls deliver() in a later turn

   protected:
    ~Source() = default;
  };

  // All outlive it. `subscribers`: of all workers together.
  HotChannel(Source& source, copies::Counters& counters, std::atomic<std::uint64_t>& subscribers)
      : source_(source), counters_(counters), subscribers_of_all_(subscribers) {}
  HotChannel(const HotChannel&) = delete;

  // Returns its number, which is not 0. It lives until leave().
  std::uint64_t join(Subscriber& subscriber);
  void leave(std::uint64_t number);
  // It has subscribed once more: it gets the list again.
  void renew(std::uint64_t number);

  // Source::take_verdicts() has something. A deliver() that is due takes it.
  void has_news() {
    if (!is_later_) deliver();
  }
  void deliver();

 private:
  struct Entry {
    Subscriber* subscriber;
    bool has_list = false;
  };

  void ask();
  void take_news();
  bool next_news();
  void forget_news();
  void end_if_idle();

  Source& source_;
  copies::Counters& counters_;
  std::atomic<std::uint64_t>& subscribers_of_all_;
  std::map<std::uint64_t, Entry> subscribers_;  // by number
  std::uint64_t numbers_ = 0;
  std::deque<copies::VerdictInbox::News> news_;  // taken and not yet delivered to all
  std::uint64_t delivered_to_ = 0;               // the last one that has got the first of it
  bool is_asked_ = false;                        // a list is on its way
  bool is_heard_ = false;                        // asked since the last Source::end_verdicts()
  bool is_later_ = false;                        // deliver() is due
};

}  // namespace heatsink::proxy
