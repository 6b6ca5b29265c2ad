// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/coalescing.h"

#include <algorithm>
#include <utility>

#include "heatsink/proxy/session.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

void fail(const CoalescedWrite& write, const std::string& reason) {
  write.for_each([&](CoalescedWrite::Writer writer, std::string_view) {
    Pending pending;
    pending.silent = writer.silent;
    pending.ticket = writer.ticket;
    writer.session.coalesced_lost(pending, reason);
  });
}

}  // namespace

Nanos Coalescing::window_of(std::string_view key) const {
  if (key.size() > detect::kPatternBytesMax) return Nanos(0);
  const detect::RuleSet& rules = worker_.shared().rules;
  return windows_[rules.place_of(rules.of(key))];
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
    const Nanos rest = std::max(Nanos(0), offer->due - worker_.loop().clock());
    worker_.loop().call_after(rest, [this, line] { send(line); });
  }
  return true;
}

void Coalescing::send(Coalescer::Line line) {
  std::optional<CoalescedWrite> write = gatherer_.take(line, worker_.loop().clock());
  if (!write) return;  // it was full, and went before its time
  const Upstreams::Shared lane = worker_.upstreams().shared(write->target().protocol);
  if (lane.connection == nullptr) {
    fail(*write, lane.down != nullptr ? *lane.down : "the connection to it was lost");
  } else if (!select(*lane.connection, write->target().db)) {
    fail(*write, "this connection has not used the client's database yet: try again");
  } else {
    send_on(*lane.connection, std::move(*write));
  }
}

// A database that this connection has been in is there.
bool Coalescing::select(Upstream& lane, std::uint32_t db) {
  if (lane.db() == db) return true;
  if (!lane.knows_db(db)) return false;
  lane.set_db(db);
  lane.send_select(db, nullptr);
  return true;
}

void Coalescing::send_on(Upstream& lane, CoalescedWrite write) {
  ByteBuffer request;
  write.append_request(request);
  Pending pending;
  pending.kind = PendingKind::kCoalesced;
  pending.number = ++last_number_;
  pending.keys.add({write.target().name, write.target().key, true});
  worker_.copies().begin_writes(pending);
  worker_.count().add(Count::kForwardedShared);
  on_their_way_.emplace(last_number_, std::move(write));
  lane.send(request.view(), std::move(pending));
}

void Coalescing::answered(std::uint32_t number, std::string_view reply, TimePoint read_at) {
  const auto found = on_their_way_.extract(number);
  if (found.empty()) return;
  const CoalescedWrite& write = found.mapped();
  if (reply.starts_with('-') && write.separate_after_error()) {
    send_each(write);
    return;
  }
  worker_.count().add(Count::kCoalescedAway, write.size() - 1);
  write.for_each_reply(reply, [&](CoalescedWrite::Writer writer, std::string_view wire) {
    writer.session.coalesced(writer.ticket, writer.silent ? std::string_view() : wire, read_at);
  });
}

// Each by itself, as if they had never met.
void Coalescing::send_each(const CoalescedWrite& write) {
  const Upstreams::Shared lane = worker_.upstreams().shared(write.target().protocol);
  if (lane.connection == nullptr || !select(*lane.connection, write.target().db)) {
    fail(write, lane.down != nullptr ? *lane.down : "the connection to it was lost");
    return;
  }
  write.for_each([&](CoalescedWrite::Writer writer, std::string_view request) {
    Pending pending;
    pending.session = &writer.session;
    pending.ticket = writer.ticket;
    pending.silent = writer.silent;
    pending.keys.add({write.target().name, write.target().key, true});
    worker_.copies().begin_writes(pending);
    worker_.count().add(Count::kForwardedShared);
    writer.session.leaves_coalescing();
    lane.connection->send(request, std::move(pending));
  });
}

void Coalescing::lost(std::uint32_t number, const std::string& reason) {
  const auto found = on_their_way_.extract(number);
  if (!found.empty()) fail(found.mapped(), reason);
}

}  // namespace heatsink::proxy
