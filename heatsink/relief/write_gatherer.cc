// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/write_gatherer.h"

#include <algorithm>

namespace heatsink::proxy {
namespace {

void fail(const GatheredWrite& write, const std::string& reason) {
  write.for_each([&](GatheredWrite::Writer writer, std::string_view) {
    writer.client.lost(writer.ticket, writer.silent, reason);
  });
}

}  // namespace

Nanos WriteGatherer::window_of(std::string_view key) const {
  const copies::PolicySnapshot& policy = shared_.current();
  if (policy.gathering_windows.empty()) return Nanos(0);
  // Rules see only this much of a name: a longer one might match the wrong rule.
  if (key.size() > detect::kPatternBytesMax) return Nanos(0);
  return policy.gathering_windows[policy.rule_of(key)];
}

bool WriteGatherer::join(GatherWindows::Group group, GatherKind kind, std::string_view key,
                         const GatheredWrite::Target& target, const GatheredWrite::Part& part) {
  std::optional<GatherWindows::Offer> offer = windows_.offer(group, kind, key, target, part);
  if (!offer) {
    send(group);  // the batch is full: send it and begin the next
    offer = windows_.offer(group, kind, key, target, part);
  }
  if (!offer) return false;
  if (offer->opened) {
    const Nanos rest = std::max(Nanos(0), offer->due - loop_.clock());
    loop_.call_after(rest, [this, group] { send(group); });
  }
  return true;
}

void WriteGatherer::send(GatherWindows::Group group) {
  std::optional<GatheredWrite> write = windows_.take(group, loop_.clock());
  if (!write) return;  // the full batch has already been sent
  const GatheredWrite::Target target = write->target();
  const std::string key(write->key());
  if (const std::optional<std::string> refusal = carrier_->refusal(key, target))
    return fail(*write, *refusal);
  ByteBuffer request;
  write->append_request(request);
  Pending pending;
  pending.kind = PendingKind::kGathered;
  pending.number = ++last_number_;
  pending.keys.add({target.name, target.key, true});
  on_their_way_.emplace(last_number_, std::move(*write));
  carrier_->send(key, target, request.view(), std::move(pending));
}

void WriteGatherer::answered(std::uint32_t number, std::string_view reply, TimePoint read_at) {
  const auto found = on_their_way_.extract(number);
  if (found.empty()) return;
  const GatheredWrite& write = found.mapped();
  if (reply.starts_with('-') && write.separate_after_error()) {
    send_each(write);
    return;
  }
  counters_.add(copies::Count::kGatheredAway, write.size() - 1);
  shared_.key_loads.add(write.target().key, static_cast<std::int64_t>(write.size()) - 1);
  write.for_each_reply(reply, [&](GatheredWrite::Writer writer, std::string_view wire) {
    writer.client.answered(writer.ticket, writer.silent ? std::string_view() : wire, read_at);
  });
}

// Sends each write by itself, as without gathering.
void WriteGatherer::send_each(const GatheredWrite& write) {
  const GatheredWrite::Target& target = write.target();
  if (const std::optional<std::string> refusal = carrier_->refusal(write.key(), target))
    return fail(write, *refusal);
  write.for_each([&](GatheredWrite::Writer writer, std::string_view request) {
    Pending pending;
    pending.session = &writer.client.stop_gathering();
    pending.ticket = writer.ticket;
    pending.silent = writer.silent;
    pending.keys.add({target.name, target.key, true});
    carrier_->send(write.key(), target, request, std::move(pending));
  });
}

void WriteGatherer::lost(std::uint32_t number, const std::string& reason) {
  const auto found = on_their_way_.extract(number);
  if (!found.empty()) fail(found.mapped(), reason);
}

}  // namespace heatsink::proxy
