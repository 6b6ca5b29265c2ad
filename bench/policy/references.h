// SPDX-License-Identifier: Apache-2.0
// Published cache policies, and a simple one, for comparison with heatsink's own.
#pragma once

#include <cstddef>
#include <memory>

#include "bench/policy/copy_policy.h"

namespace heatsink::bench {

// `keys` and `copies` as PolicyRow::make has them. Memory: some 10 to 20 bytes per key.

// Copies every key that is read; evicts the copy that was not read for the longest time.
std::unique_ptr<CopyPolicy> make_lru(std::size_t keys, std::size_t copies);

// Copies a key at its 4th read while it is among the 8192 keys without a copy that were read last;
// evicts like LRU.
std::unique_ptr<CopyPolicy> make_fourth_read(std::size_t keys, std::size_t copies);

// Y. Zhang et al., "SIEVE is simpler than LRU", NSDI 2024.
std::unique_ptr<CopyPolicy> make_sieve(std::size_t keys, std::size_t copies);

// J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
std::unique_ptr<CopyPolicy> make_s3_fifo(std::size_t keys, std::size_t copies);

// G. Einziger et al., "Adaptive software cache management", Middleware 2018: a window whose size is
// found by hill climbing, a segmented LRU behind it, and admission by a frequency sketch, with the
// constants of Caffeine 3. Deterministic: no random admission of warm candidates.
std::unique_ptr<CopyPolicy> make_w_tinylfu(std::size_t keys, std::size_t copies);

}  // namespace heatsink::bench
