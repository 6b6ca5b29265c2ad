// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/near_client.h"

#include <algorithm>
#include <array>

#include "heatsink/command/ascii.h"
#include "heatsink/relief/copy_lookup.h"

namespace heatsink::proxy {
namespace {

// ">2 invalidate null" tells a client to forget all.
constexpr std::string_view kForgetAll = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

}  // namespace

NearClient::NearClient(const SessionParts& parts, ClientState& state, ClientTraffic& traffic,
                       ClientOutput& output, Client& client)
    : parts_(parts),
      state_(state),
      traffic_(traffic),
      output_(output),
      client_(client),
      number_(parts.near_table->join(*this)) {
  traffic_.given = &given_;
  state_.stores_in_order_ = state_.stores_in_order_ || stores_in_order(state_.library_name_);
}

NearClient::~NearClient() {
  traffic_.given = nullptr;
  parts_.near_table->leave(number_);
}

std::size_t NearClient::bytes() const {
  return sizeof(*this) + queued_bytes_ + owed_.capacity() + repeated_.bytes() +
         behind_.capacity() * sizeof(Kept) + given_.capacity() * sizeof(GivenCopy);
}

// ---- commands. The order of the checks and the texts are the server's (clientCommand() of Redis,
// networking.c).

bool NearClient::is_able(const Request& request, resp::Protocol protocol) {
  const std::vector<std::string_view>& args = request.args();
  if (protocol != resp::Protocol::kResp3 || args.size() < 3 || !equals_ignoring_case(args[2], "on"))
    return false;
  return std::none_of(args.begin() + 3, args.end(), [](std::string_view word) {
    return equals_ignoring_case(word, "bcast") || equals_ignoring_case(word, "redirect") ||
           equals_ignoring_case(word, "prefix");
  });
}

std::optional<Step> NearClient::run(const Request& request) {
  const std::string_view name = request.command->name;
  if (name == "client|tracking") {
    const bool on = equals_ignoring_case(request.args()[2], "on");
    if (on || equals_ignoring_case(request.args()[2], "off")) return tracking(request, on);
    return client_.reply_error("ERR syntax error");
  }
  if (name == "client|caching") return caching(request);
  if (name == "client|trackinginfo") return tracking_info();
  if (name == "client|getredir") return client_.reply(":0\r\n");
  return std::nullopt;
}

// Returns the error. Without one it sets `asked`, and `is_servers` if only the server can do what
// the client asks for.
std::optional<std::string_view> NearClient::read_modes(const Request& request, NearMode& asked,
                                                       bool& is_servers) const {
  const std::vector<std::string_view>& args = request.args();
  bool is_bcast = false;
  for (std::size_t i = 3; i < args.size(); ++i) {
    const bool has_value = i + 1 < args.size();
    if (equals_ignoring_case(args[i], "optin")) {
      asked.opts_in = true;
    } else if (equals_ignoring_case(args[i], "optout")) {
      asked.opts_out = true;
    } else if (equals_ignoring_case(args[i], "noloop")) {
      asked.skips_own = true;
    } else if (equals_ignoring_case(args[i], "bcast")) {
      is_bcast = is_servers = true;
    } else if (has_value && (equals_ignoring_case(args[i], "redirect") ||
                             equals_ignoring_case(args[i], "prefix"))) {
      is_servers = true;
      ++i;
    } else {
      return "ERR syntax error";
    }
  }
  if (is_bcast && state_.near_mode_.is_on)
    return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, "
           "and then re-enabling it with a different mode.";
  if (asked.opts_in && asked.opts_out)
    return "ERR You can't specify both OPTIN mode and OPTOUT mode";
  const NearMode& now = state_.near_mode_;
  if (now.is_on && ((asked.opts_in && now.opts_out) || (asked.opts_out && now.opts_in)))
    return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, "
           "and then re-enabling it with a different mode.";
  return std::nullopt;
}

Step NearClient::tracking(const Request& request, bool on) {
  NearMode asked{.is_on = true};
  bool is_servers = false;
  if (const auto error = read_modes(request, asked, is_servers)) return client_.reply_error(*error);
  if (!on) {
    stop();
    return client_.reply("+OK\r\n");
  }
  if (is_servers)
    return client_.reply_error(
        "ERR heatsink: BCAST, PREFIX and REDIRECT cannot be turned on while the proxy tracks for "
        "this client: send CLIENT TRACKING OFF before");
  state_.near_mode_ = asked;
  traffic_.given = &given_;
  return client_.reply("+OK\r\n");
}

void NearClient::stop() {
  parts_.near_table->forget_all(number_);
  state_.near_mode_ = {};
  traffic_.given = nullptr;
  behind_.clear();
  repeated_.clear();
  forget_queued();
}

Step NearClient::caching(const Request& request) {
  NearMode& mode = state_.near_mode_;
  const std::string_view what = request.args()[2];
  const bool yes = equals_ignoring_case(what, "yes");
  if (!yes && !equals_ignoring_case(what, "no")) return client_.reply_error("ERR syntax error");
  if (yes && !mode.opts_in)
    return client_.reply_error(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  if (!yes && !mode.opts_out)
    return client_.reply_error(
        "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  mode.says_caching = true;
  return client_.reply("+OK\r\n");
}

Step NearClient::tracking_info() {
  const NearMode& mode = state_.near_mode_;
  std::vector<std::string_view> flags{"on"};
  if (mode.opts_in) flags.emplace_back("optin");
  if (mode.opts_in && mode.says_caching) flags.emplace_back("caching-yes");
  if (mode.opts_out) flags.emplace_back("optout");
  if (mode.opts_out && mode.says_caching) flags.emplace_back("caching-no");
  if (mode.skips_own) flags.emplace_back("noloop");
  ByteBuffer wire;
  resp::append_map_header(wire, 3, state_.protocol_);
  resp::append_bulk(wire, "flags");
  wire.append(state_.protocol_ == resp::Protocol::kResp3 ? '~' : '*');
  wire.append(std::to_string(flags.size()));
  wire.append("\r\n");
  for (const std::string_view flag : flags) resp::append_bulk(wire, flag);
  resp::append_bulk(wire, "redirect");
  resp::append_integer(wire, 0);
  resp::append_bulk(wire, "prefixes");
  resp::append_array_header(wire, 0);
  return client_.reply(wire.view());
}

// ---- requests

// With OPTIN the client keeps only what it has announced, with OPTOUT all but that. In RESP2 it
// cannot be told, so it keeps nothing; a server leaves it untold.
bool NearClient::keeps_reads() const {
  const NearMode& mode = state_.near_mode_;
  if (state_.protocol_ != resp::Protocol::kResp3) return false;
  return mode.opts_in ? mode.says_caching : !(mode.opts_out && mode.says_caching);
}

void NearClient::done(const Request& request, bool is_silent) {
  NearMode& mode = state_.near_mode_;
  const bool is_read = request.command != nullptr && request.command->has(resp::kReadonly);
  if (request.route == Route::kExec) {
    executed();
    mode.says_caching = false;
  } else {
    const bool is_discard = request.route == Route::kDiscard;
    if (has_executed_ || is_discard) forget_queued();
    if (is_discard) mode.says_caching = false;
    if (is_read && keeps_reads() && !is_silent) state_.in_multi_ ? queued(request) : read(request);
  }
  given_.clear();
  // As resetClient() of Redis: not after the CLIENT command itself, and not before EXEC.
  const bool is_client = request.command != nullptr && request.command->name.starts_with("client|");
  if (!is_client && !state_.in_multi_) mode.says_caching = false;
}

// A reply that stands behind owed ones is noted, so that a push does not overtake it.
void NearClient::read(const Request& request) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  if (resp::find_keys(*request.command, request.args(), refs) != resp::Keys::kKnown && refs.empty())
    return;  // KEYS, SCAN, DBSIZE: a server does not track them either
  std::erase_if(behind_, [this](const Kept& each) { return !output_.owes(each.behind); });
  const ReplyQueue::Ticket owed = output_.last_owed();
  std::vector<std::string_view> ended;
  for (const resp::KeyRef& ref : refs) {
    const NameHash name = request.name_hash(ref.arg, parts_.shared.seed);
    const bool keeps = may_keep(request, ref.arg, name);
    if (!state_.near_mode_.is_on) return;  // its session was closed, and the request is gone
    if (keeps) {
      parts_.count(copies::Count::kNearKept);
      if (owed != ReplyQueue::kNone) behind_.push_back({name, owed});
      continue;
    }
    ended.push_back(request.args()[ref.arg]);
    // Otherwise it still has an earlier value, until the reply comes.
    if (owed == ReplyQueue::kNone) parts_.near_table->forget(number_, name);
  }
  if (!ended.empty()) end_at_once(ended);
}

bool NearClient::stores_in_order(std::string_view name) {
  constexpr std::array<std::string_view, 4> kLibraries{"redis-py", "jedis", "node-redis",
                                                       "rueidis"};
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [name](std::string_view known) { return name.starts_with(known); });
}

// REQUIRES that the request with these names is the last one that was sent or answered.
void NearClient::end_at_once(std::span<const std::string_view> names) {
  parts_.counters.add(copies::Count::kNearEndedAtOnce, names.size());
  ByteBuffer wire;
  append_invalidations(wire, names);
  const ReplyQueue::Ticket owed = output_.last_owed();
  output_.add(wire.view());
  if (!state_.near_mode_.is_on || state_.stores_in_order_) return;
  const bool is_first = repeated_.empty();
  if (!repeated_.add(wire.view(), owed)) {
    output_.add(repeated_.take_all());
    static_cast<void>(repeated_.add(wire.view(), owed));
  }
  if (is_first) client_.repeat_pushes_later();
}

void NearClient::repeat_pushes() {
  const std::string due =
      repeated_.tick([this](ReplyQueue::Ticket ticket) { return output_.owes(ticket); });
  if (!due.empty()) client_.give_push(due, ReplyQueue::kNone);
  if (!repeated_.empty()) client_.repeat_pushes_later();
}

void NearClient::end_all_now() {
  end_all();
  if (!repeated_.empty()) output_.add(repeated_.take_all());
}

// A copy has answered the read, its rule lets clients keep the key, and it is valid still. `given_`
// says which one: two copies of the same fill are the same.
bool NearClient::may_keep(const Request& request, std::size_t arg, NameHash name) {
  const auto given = std::find_if(given_.begin(), given_.end(),
                                  [name](const GivenCopy& each) { return each.name == name; });
  // While memory is short, it is for requests and replies.
  if (given == given_.end() || parts_.shared.memory.is_tight()) return false;
  const std::string_view key = request.args()[arg];
  if (!parts_.shared.current().clients_may_keep(key)) return false;
  const cache::Read read =
      CopyLookup::is_of_many(request) ? CopyLookup::read_of_one(request) : request.read();
  return parts_.near_table->keep(number_, name, key, [&]() -> std::optional<NearBasis> {
    const KeyHash hash = in_db(name, state_.db_);
    const cache::Entry* const entry = parts_.copies.find(hash, key, state_.db_);
    if (entry == nullptr) return std::nullopt;
    // A slot of a cluster is proven while a copy of it may live, so the copy must live still.
    const cache::ServeDecision decision =
        parts_.copies.judge(*entry, read, client_.clock(), TimePoint{});
    if (decision.copy == nullptr || decision.copy->fill_sent_at != given->fill_sent_at)
      return std::nullopt;
    return NearBasis(*decision.copy, entry->consistency(), parts_.shared.options());
  });
}

void NearClient::read_unknown() {
  if (keeps_reads()) output_.add(kForgetAll);
}

// The server answers the reads at EXEC, on a connection that is not tracked.
void NearClient::queued(const Request& request) {
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  static_cast<void>(resp::find_keys(*request.command, request.args(), refs));
  for (const resp::KeyRef& ref : refs) {
    const std::string_view key = request.args()[ref.arg];
    if (queued_bytes_ + key.size() <= kQueuedBytesMax) queued_.emplace_back(key);
    queued_bytes_ += key.size();
  }
}

// A node of a cluster may refuse EXEC. It is then sent again, and what stood behind its reply has
// gone. So the names stay until the client's next request.
void NearClient::executed() {
  has_executed_ = true;
  if (queued_bytes_ > kQueuedBytesMax) return output_.add(kForgetAll);
  if (!queued_.empty()) end_at_once(std::vector<std::string_view>(queued_.begin(), queued_.end()));
}

void NearClient::forget_queued() {
  queued_.clear();
  queued_bytes_ = 0;
  has_executed_ = false;
}

// ---- pushes

// A value that the client has by now is ended at once. One whose reply is still kept behind others
// is ended behind it, too: a push in front of it would be of no use.
void NearClient::end_name(NameHash name, std::string_view wire, NearTable::EndedBy by) {
  if (state_.protocol_ != resp::Protocol::kResp3) return;
  if (by != NearTable::EndedBy::kOther && state_.near_mode_.skips_own) return;
  parts_.count(copies::Count::kNearEnded);
  const auto kept = std::find_if(behind_.rbegin(), behind_.rend(), [&](const Kept& each) {
    return each.name == name && output_.owes(each.behind);
  });
  const ReplyQueue::Ticket behind = kept == behind_.rend() ? ReplyQueue::kNone : kept->behind;
  if (by == NearTable::EndedBy::kItself) {
    client_.give_behind_next(wire);
  } else {
    client_.give_push(wire, ReplyQueue::kNone);
  }
  if (behind != ReplyQueue::kNone) client_.give_push(wire, behind);
}

}  // namespace heatsink::proxy
