// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/gathered_write.h"

#include <limits>

#include "heatsink/command/ascii.h"

namespace heatsink::proxy {
namespace {

// Ten years. Redis accepts any time to live that does not overflow; longer ones are not gathered.
constexpr std::int64_t kTtlMax = std::int64_t{10} * 366 * 24 * 3600 * 1000;

std::optional<GatherableWrite> addition(std::int64_t amount) {
  return GatherableWrite{amount < 0 ? GatherKind::kDown : GatherKind::kUp, amount};
}

std::optional<GatherableWrite> addition_of(std::span<const std::string_view> args, bool negative) {
  if (args.size() != 3) return std::nullopt;
  const std::optional<std::int64_t> amount = resp::parse_decimal(args[2]);
  // The least number has no negative; Redis refuses it for DECRBY.
  if (!amount || *amount == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return addition(negative ? -*amount : *amount);
}

std::optional<GatherableWrite> set_of(std::span<const std::string_view> args) {
  const GatherableWrite set{GatherKind::kSet};
  if (args.size() == 3) return set;
  if (args.size() != 5) return std::nullopt;
  if (!equals_ignoring_case(args[3], "ex") && !equals_ignoring_case(args[3], "px"))
    return std::nullopt;
  const std::optional<std::int64_t> ttl = resp::parse_decimal(args[4]);
  if (!ttl || *ttl <= 0 || *ttl > kTtlMax) return std::nullopt;
  return set;
}

}  // namespace

GatherVerb gather_verb(std::string_view command) {
  if (command == "set") return GatherVerb::kSet;
  if (command == "incr") return GatherVerb::kIncr;
  if (command == "decr") return GatherVerb::kDecr;
  if (command == "incrby") return GatherVerb::kIncrBy;
  if (command == "decrby") return GatherVerb::kDecrBy;
  return GatherVerb::kNone;
}

std::optional<GatherableWrite> gatherable_write(GatherVerb verb,
                                                std::span<const std::string_view> args) {
  switch (verb) {
    case GatherVerb::kNone:
      break;
    case GatherVerb::kSet:
      return set_of(args);
    case GatherVerb::kIncr:
    case GatherVerb::kDecr:
      if (args.size() == 2) return addition(verb == GatherVerb::kIncr ? 1 : -1);
      break;
    case GatherVerb::kIncrBy:
      return addition_of(args, false);
    case GatherVerb::kDecrBy:
      return addition_of(args, true);
  }
  return std::nullopt;
}

bool GatheredWrite::add(const Part& part) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(sum_, part.amount, &sum)) return false;
  // Only the last SET is sent, so only its bytes are kept.
  const std::size_t kept = kind_ == GatherKind::kSet ? 0 : requests_.size();
  if (parts_.size() >= kPartsMax || kept + part.request.size() > kBytesMax) return false;
  if (kind_ == GatherKind::kSet) requests_.clear();
  requests_.append(part.request);
  sum_ = sum;
  parts_.push_back({part.client, part.ticket, part.amount,
                    static_cast<std::uint32_t>(part.request.size()), part.silent});
  return true;
}

// A single write is sent unchanged: its user may have the right to INCR and not to INCRBY.
void GatheredWrite::append_request(ByteBuffer& out) const {
  if (kind_ == GatherKind::kSet || size() == 1) {
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
