// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/belady.h"

#include <algorithm>
#include <utility>

namespace heatsink::bench {
namespace {

constexpr std::uint32_t kNever = UINT32_MAX;

// For each request, the next one of its key if that is a read.
std::vector<std::uint32_t> next_reads(const Workload& workload, const std::vector<bool>& writes) {
  std::vector<std::uint32_t> next(workload.requests.size(), kNever);
  std::vector<std::uint32_t> later(workload.keys, kNever);
  for (std::size_t i = next.size(); i-- > 0;) {
    std::uint32_t& of_key = later[workload.requests[i]];
    next[i] = of_key;
    of_key = writes[i] ? kNever : static_cast<std::uint32_t>(i);
  }
  return next;
}

// The copies, with the one that is read last on top. Entries of reads that have happened stay below
// those of all copies until they are swept out.
class Farthest {
 public:
  Farthest(const std::vector<std::uint32_t>& held, std::size_t copies)
      : held_(held), size_max_(4 * copies) {}

  std::uint32_t next_read() const { return heap_.front().first; }

  std::uint32_t pop() {
    const std::uint32_t key = heap_.front().second;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    return key;
  }

  void push(std::uint32_t next_read, std::uint32_t key) {
    heap_.emplace_back(next_read, key);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() < size_max_) return;
    std::erase_if(heap_, [this](const Entry& entry) { return held_[entry.second] != entry.first; });
    std::make_heap(heap_.begin(), heap_.end());
  }

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // next read, key

  const std::vector<std::uint32_t>& held_;
  std::vector<Entry> heap_;
  std::size_t size_max_;
};

}  // namespace

OptimalCounts optimal(const Workload& workload, const std::vector<bool>& writes,
                      std::size_t copies) {
  const std::vector<std::uint32_t> next = next_reads(workload, writes);
  OptimalCounts out;
  std::vector<std::uint32_t> held(workload.keys, kNever);  // the key's next read
  std::size_t held_count = 0;
  Farthest farthest(held, copies);
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (writes[i]) continue;
    const std::uint32_t key = workload.requests[i];
    const bool hit = held[key] == i;
    if (hit) {
      ++out.hits;
      --held_count;
      held[key] = kNever;
    }
    if (next[i] == kNever) continue;
    if (held_count == copies) {
      if (farthest.next_read() <= next[i]) continue;
      held[farthest.pop()] = kNever;
      --held_count;
    }
    held[key] = next[i];
    ++held_count;
    farthest.push(next[i], key);
    if (!hit) ++out.fills;
  }
  return out;
}

}  // namespace heatsink::bench
