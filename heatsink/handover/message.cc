// SPDX-License-Identifier: Apache-2.0
#include "heatsink/handover/message.h"

#include <array>
#include <optional>
#include <utility>

#include "heatsink/handover/encoding.h"

namespace heatsink::handover {
namespace {

constexpr std::uint32_t kMagic = 0x4f485348;  // "HSHO": another program's packet is recognized
constexpr std::size_t kTextMax = 4096;
// Of what is learned: more than any machine, client or choice has.
constexpr std::uint64_t kScaleMax = 1000 * Learned::kOne;
constexpr std::uint64_t kAtOnceMax = 1'000'000 * Learned::kOne;
constexpr std::uint32_t kHistoryMax = 100;

void write(Writer& out, const Hello& hello) { out.u32(hello.version); }

void write(Writer& out, const Offer& offer) {
  out.text(offer.listen);
  out.text(offer.upstream);
  out.u32(offer.listeners);
  out.flag(offer.has_admin);
  out.u64(offer.file_device);
  out.u64(offer.file_inode);
}

void write(Writer& out, const Rule& rule) {
  out.flag(rule.is_added);
  out.text(rule.text);
  out.text(rule.match);
  out.text(rule.origin);
}

void write(Writer& out, const Keys& keys) {
  out.flag(keys.is_last);
  out.u32(static_cast<std::uint32_t>(keys.keys.size()));
  for (const Keys::Key& key : keys.keys) {
    out.text(key.name);
    out.u32(key.db);
    out.u64(key.lasts_ms);
  }
}

void write(Writer& /*out*/, const Ready& /*ready*/) {}
void write(Writer& out, const Go& go) { out.u64(go.next_client_id); }

void write(Writer& out, const Client& client) {
  out.u64(client.token);
  out.flag(client.has_private);
  out.text(client.state);
}

void write(Writer& out, const Taken& taken) { out.u64(taken.token); }
void write(Writer& /*out*/, const Done& /*done*/) {}
void write(Writer& out, const Refused& refused) { out.u64(refused.token); }

void write(Writer& out, const ClientWithNodes& each) {
  write(out, each.client);
  out.u32(each.nodes);
}

void write(Writer& out, const Learned& learned) {
  for (const std::uint64_t scale :
       {learned.server_scale, learned.keeper_scale, learned.worker_scale})
    out.u64(scale);
  out.u64(learned.at_once);
  out.u64(learned.awaited);
  for (const std::uint32_t number :
       {learned.reads, learned.reads_with_room, learned.history, learned.pace})
    out.u32(number);
  out.flag(learned.is_sieve);
}

void read(Reader& in, Hello& hello) { hello.version = in.u32(); }

void read(Reader& in, Offer& offer) {
  offer.listen = in.text(kTextMax);
  offer.upstream = in.text(kTextMax);
  offer.listeners = in.u32();
  offer.has_admin = in.flag();
  offer.file_device = in.u64();
  offer.file_inode = in.u64();
  if (offer.listeners == 0 || offer.listeners > kListenersMax) in.fail();
}

void read(Reader& in, Rule& rule) {
  rule.is_added = in.flag();
  rule.text = in.text(kRuleBytesMax);
  rule.match = in.text(kKeyBytesMax);
  rule.origin = in.text(kTextMax);
}

void read(Reader& in, Keys& keys) {
  keys.is_last = in.flag();
  const std::size_t count = in.count(kKeysMax);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Keys::Key key;
    key.name = in.text(kKeyBytesMax);
    key.db = in.u32();
    key.lasts_ms = in.u64();
    if (key.db > INT32_MAX) in.fail();
    keys.keys.push_back(std::move(key));
  }
}

void read(Reader& /*in*/, Ready& /*ready*/) {}

void read(Reader& in, Go& go) {
  go.next_client_id = in.u64();
  if (go.next_client_id == 0 || go.next_client_id > INT64_MAX) in.fail();
}

void read(Reader& in, Client& client) {
  client.token = in.u64();
  client.has_private = in.flag();
  client.state = in.text(kMessageBytesMax);
}

void read(Reader& in, Taken& taken) { taken.token = in.u64(); }
void read(Reader& /*in*/, Done& /*done*/) {}
void read(Reader& in, Refused& refused) { refused.token = in.u64(); }

void read(Reader& in, ClientWithNodes& each) {
  read(in, each.client);
  each.nodes = in.u32();
  if (each.nodes == 0 || each.nodes > kNodesMax) in.fail();
}

void read(Reader& in, Learned& learned) {
  for (std::uint64_t* const scale :
       {&learned.server_scale, &learned.keeper_scale, &learned.worker_scale}) {
    *scale = in.u64();
    if (*scale > kScaleMax) in.fail();
  }
  learned.at_once = in.u64();
  learned.awaited = in.u64();
  for (std::uint32_t* const number :
       {&learned.reads, &learned.reads_with_room, &learned.history, &learned.pace})
    *number = in.u32();
  learned.is_sieve = in.flag();
  if (learned.at_once < Learned::kOne || learned.at_once > kAtOnceMax ||
      learned.awaited > Learned::kOne || learned.history > kHistoryMax ||
      learned.pace > kHistoryMax || (learned.reads > 0 && learned.reads_with_room == 0))
    in.fail();
}

template <std::size_t kIndex = 0>
std::optional<Message> read_kind(std::size_t kind, Reader& in) {
  if constexpr (kIndex < std::variant_size_v<Message>) {
    if (kind != kIndex) return read_kind<kIndex + 1>(kind, in);
    std::variant_alternative_t<kIndex, Message> message;
    read(in, message);
    return Message(std::move(message));
  } else {
    return std::nullopt;
  }
}

}  // namespace

const char* name_of(const Message& message) {
  constexpr std::array<const char*, std::variant_size_v<Message>> kNames = {"hello",
                                                                            "offer",
                                                                            "rule",
                                                                            "keys",
                                                                            "ready",
                                                                            "go",
                                                                            "client",
                                                                            "taken",
                                                                            "done",
                                                                            "refused",
                                                                            "client with nodes",
                                                                            "learned"};
  return kNames[message.index()];
}

std::size_t descriptors_of(const Message& message) {
  if (const auto* offer = std::get_if<Offer>(&message))
    return offer->listeners + (offer->has_admin ? 1U : 0U);
  if (const auto* client = std::get_if<Client>(&message)) return client->has_private ? 2 : 1;
  if (const auto* each = std::get_if<ClientWithNodes>(&message))
    return (each->client.has_private ? 2U : 1U) + each->nodes;
  return 0;
}

std::string encode(const Message& message) {
  Writer out;
  out.u32(kMagic);
  out.u8(static_cast<std::uint8_t>(message.index()));
  std::visit([&out](const auto& which) { write(out, which); }, message);
  return out.take();
}

Result<Message> decode(std::string_view bytes) {
  Reader in(bytes);
  if (in.u32() != kMagic)
    return Error{ErrorCode::kProtocol, "the packet is not a message of a hand-over"};
  const std::uint8_t kind = in.u8();
  std::optional<Message> message = read_kind(kind, in);
  if (!message)
    return Error{ErrorCode::kProtocol, "the hand-over has no message of kind " +
                                           std::to_string(kind) + " (another version?)"};
  if (!in.ended())
    return Error{ErrorCode::kProtocol,
                 std::string("the fields of the message '") + name_of(*message) + "' are invalid"};
  return *std::move(message);
}

}  // namespace heatsink::handover
