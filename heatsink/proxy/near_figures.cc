// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_figures.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace heatsink::proxy {

// A table that has become empty is not walked any more.
void NearFigures::note(const NearTable& table) {
  clients_.store(table.clients(), std::memory_order_relaxed);
  kept_.store(table.kept(), std::memory_order_relaxed);
  names_.store(table.names(), std::memory_order_relaxed);
  if (!table.empty() || (!has_listed_ && !is_on_)) return;
  is_on_ = false;
  keeping_.store(0, std::memory_order_relaxed);
  set_listed({});
}

// A name that comes or goes meanwhile may be missed until the next walk.
void NearFigures::walk(const NearTable& table, TimePoint now) {
  if (!is_on_) {
    if (now - begun_at_ < kPause) return;
    is_on_ = true;
    begun_at_ = now;
    next_name_ = next_client_ = 0;
    keeping_so_far_ = 0;
    most_.clear();
  }
  std::size_t left = kSlice;
  for (; left > 0 && next_name_ < table.name_numbers(); --left, ++next_name_)
    if (const auto name = table.name_at(next_name_)) add(next_name_, name->clients);
  for (; left > 0 && next_client_ < table.client_numbers(); --left, ++next_client_)
    if (table.keeps_any(static_cast<NearTable::Number>(next_client_))) ++keeping_so_far_;
  if (left == 0) return;
  is_on_ = false;
  publish(table);
}

void NearFigures::add(std::size_t number, std::size_t clients) {
  if (most_.size() == kListed) {
    if (clients <= most_.front().first) return;
    std::pop_heap(most_.begin(), most_.end(), std::greater<>());
    most_.pop_back();
  }
  most_.emplace_back(clients, number);
  std::push_heap(most_.begin(), most_.end(), std::greater<>());
}

// By now a number may be another name's, or none's.
void NearFigures::publish(const NearTable& table) {
  std::vector<Listed> listed;
  listed.reserve(most_.size());
  for (const auto& [clients, number] : most_)
    if (const auto name = table.name_at(number))
      listed.push_back({std::string(name->key), name->hash, name->clients});
  std::sort(listed.begin(), listed.end(), is_before);
  keeping_.store(keeping_so_far_, std::memory_order_relaxed);
  set_listed(std::move(listed));
}

void NearFigures::set_listed(std::vector<Listed> listed) {
  has_listed_ = !listed.empty();
  const std::lock_guard lock(mutex_);
  listed_ = std::move(listed);
}

std::vector<NearFigures::Listed> NearFigures::listed() const {
  const std::lock_guard lock(mutex_);
  return listed_;
}

}  // namespace heatsink::proxy
