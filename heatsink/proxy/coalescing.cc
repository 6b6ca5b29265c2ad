// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/coalescing.h"

#include <algorithm>

namespace heatsink::proxy {
namespace {

void fail(const CoalescedWrite& write, const std::string& reason) {
  write.for_each([&](CoalescedWrite::Writer writer, std::string_view) {
    writer.client.lost(writer.ticket, writer.silent, reason);
  });
}

}  // namespace

Nanos Coalescing::window_of(std::string_view key) const {
  if (key.size() > detect::kPatternBytesMax) return Nanos(0);
  return windows_[rules_.index_of(rules_.of(key))];
}

bool Coalescing::join(Coalescer::Line line, CoalesceKind kind, std::string_view key,
                      const CoalescedWrite::Target& target, const CoalescedWrite::Part& part) {
  std::optional<Coalescer::Offer> offer = gatherer_.offer(line, kind, key, target, part);
  if (!offer) {
    send(line);  // it is full: the next one begins
    offer = gatherer_.offer(line, kind, key, target, part);
  }
  if (!offer) return false;
  if (offer->opened) {
    const Nanos rest = std::max(Nanos(0), offer->due - loop_.clock());
    loop_.call_after(rest, [this, line] { send(line); });
  }
  return true;
}

void Coalescing::send(Coalescer::Line line) {
  std::optional<CoalescedWrite> write = gatherer_.take(line, loop_.clock());
  if (!write) return;  // it was full, and went before its time
  const CoalescedWrite::Target target = write->target();
  const std::string key(write->key());
  if (const std::optional<std::string> refusal = carrier_->refusal(key, target))
    return fail(*write, *refusal);
  ByteBuffer request;
  write->append_request(request);
  Pending pending;
  pending.kind = PendingKind::kCoalesced;
  pending.number = ++last_number_;
  pending.keys.add({target.name, target.key, true});
  on_their_way_.emplace(last_number_, std::move(*write));
  carrier_->send(key, target, request.view(), std::move(pending));
}

void Coalescing::answered(std::uint32_t number, std::string_view reply, TimePoint read_at) {
  const auto found = on_their_way_.extract(number);
  if (found.empty()) return;
  const CoalescedWrite& write = found.mapped();
  if (reply.starts_with('-') && write.separate_after_error()) {
    send_each(write);
    return;
  }
  counters_.add(copies::Count::kCoalescedAway, write.size() - 1);
  write.for_each_reply(reply, [&](CoalescedWrite::Writer writer, std::string_view wire) {
    writer.client.answered(writer.ticket, writer.silent ? std::string_view() : wire, read_at);
  });
}

// Each by itself, as if they had never met.
void Coalescing::send_each(const CoalescedWrite& write) {
  const CoalescedWrite::Target& target = write.target();
  if (const std::optional<std::string> refusal = carrier_->refusal(write.key(), target))
    return fail(write, *refusal);
  write.for_each([&](CoalescedWrite::Writer writer, std::string_view request) {
    Pending pending;
    pending.session = &writer.client.leaves();
    pending.ticket = writer.ticket;
    pending.silent = writer.silent;
    pending.keys.add({target.name, target.key, true});
    carrier_->send(write.key(), target, request, std::move(pending));
  });
}

void Coalescing::lost(std::uint32_t number, const std::string& reason) {
  const auto found = on_their_way_.extract(number);
  if (!found.empty()) fail(found.mapped(), reason);
}

}  // namespace heatsink::proxy
