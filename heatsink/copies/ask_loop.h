// SPDX-License-Identifier: Apache-2.0
// Asks the thread of an event loop for a value, and waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "heatsink/net/net.h"

namespace heatsink::copies {

// Any thread but the loop's. Runs `work` in a later turn of the loop with a function that takes the
// value, which `work` calls once, now or later. Nothing: there was no answer in time, or, unless
// `urgency` says otherwise, too much work waits already; a late answer is dropped.
enum class Urgency : std::uint8_t { kIfThereIsRoom, kInAnyCase };
template <typename Value>
std::optional<Value> ask_loop(net::EventLoop& loop, Nanos within,
                              std::function<void(std::function<void(Value)> answer)> work,
                              Urgency urgency = Urgency::kIfThereIsRoom) {
  const auto promise = std::make_shared<std::promise<Value>>();
  std::future<Value> future = promise->get_future();
  const auto task = [promise, work = std::move(work)] {
    work([promise](Value value) { promise->set_value(std::move(value)); });
  };
  bool is_posted = true;
  if (urgency == Urgency::kInAnyCase)
    loop.post(task);
  else
    is_posted = loop.try_post(task);
  if (!is_posted || future.wait_for(within) != std::future_status::ready) return std::nullopt;
  return future.get();
}

}  // namespace heatsink::copies
