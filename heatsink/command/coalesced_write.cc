// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/coalesced_write.h"

#include <limits>

#include "heatsink/command/ascii.h"

namespace heatsink::proxy {
namespace {

// Ten years. Redis accepts any time to live that does not overflow; longer ones are not gathered.
constexpr std::int64_t kTtlMax = std::int64_t{10} * 366 * 24 * 3600 * 1000;

std::optional<Coalescible> addition(std::int64_t amount) {
  return Coalescible{amount < 0 ? CoalesceKind::kDown : CoalesceKind::kUp, amount};
}

std::optional<Coalescible> addition_of(std::span<const std::string_view> args, bool negative) {
  if (args.size() != 3) return std::nullopt;
  const std::optional<std::int64_t> amount = resp::parse_decimal(args[2]);
  // The least number has no negative; Redis refuses it for DECRBY.
  if (!amount || *amount == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return addition(negative ? -*amount : *amount);
}

std::optional<Coalescible> set_of(std::span<const std::string_view> args) {
  const Coalescible set{CoalesceKind::kSet};
  if (args.size() == 3) return set;
  if (args.size() != 5) return std::nullopt;
  if (!equals_ignoring_case(args[3], "ex") && !equals_ignoring_case(args[3], "px"))
    return std::nullopt;
  const std::optional<std::int64_t> ttl = resp::parse_decimal(args[4]);
  if (!ttl || *ttl <= 0 || *ttl > kTtlMax) return std::nullopt;
  return set;
}

}  // namespace

CoalesceVerb coalesce_verb(std::string_view command) {
  if (command == "set") return CoalesceVerb::kSet;
  if (command == "incr") return CoalesceVerb::kIncr;
  if (command == "decr") return CoalesceVerb::kDecr;
  if (command == "incrby") return CoalesceVerb::kIncrBy;
  if (command == "decrby") return CoalesceVerb::kDecrBy;
  return CoalesceVerb::kNone;
}

std::optional<Coalescible> coalescible(CoalesceVerb verb, std::span<const std::string_view> args) {
  switch (verb) {
    case CoalesceVerb::kNone:
      break;
    case CoalesceVerb::kSet:
      return set_of(args);
    case CoalesceVerb::kIncr:
    case CoalesceVerb::kDecr:
      if (args.size() == 2) return addition(verb == CoalesceVerb::kIncr ? 1 : -1);
      break;
    case CoalesceVerb::kIncrBy:
      return addition_of(args, false);
    case CoalesceVerb::kDecrBy:
      return addition_of(args, true);
  }
  return std::nullopt;
}

bool CoalescedWrite::add(const Part& part) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(sum_, part.amount, &sum)) return false;
  // Only the last SET is sent, so only its bytes are kept.
  const std::size_t kept = kind_ == CoalesceKind::kSet ? 0 : requests_.size();
  if (parts_.size() >= kPartsMax || kept + part.request.size() > kBytesMax) return false;
  if (kind_ == CoalesceKind::kSet) requests_.clear();
  requests_.append(part.request);
  sum_ = sum;
  parts_.push_back({part.client, part.ticket, part.amount,
                    static_cast<std::uint32_t>(part.request.size()), part.silent});
  return true;
}

// A single write is sent unchanged: its user may have the right to INCR and not to INCRBY.
void CoalescedWrite::append_request(ByteBuffer& out) const {
  if (kind_ == CoalesceKind::kSet || size() == 1) {
    out.append(requests_);
    return;
  }
  const std::string amount = std::to_string(sum_);
  resp::append_request(out, {"INCRBY", key_, amount});
}

std::optional<std::int64_t> number_of(std::string_view reply) {
  if (!reply.starts_with(':') || !reply.ends_with("\r\n")) return std::nullopt;
  return resp::parse_decimal(reply.substr(1, reply.size() - 3));
}

}  // namespace heatsink::proxy
