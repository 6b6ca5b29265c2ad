// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/cluster_refusals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/command/fan_out.h"
#include "heatsink/upstream/requester.h"
#include "heatsink/upstream/single_server.h"

namespace heatsink::proxy {
namespace {

constexpr std::uint8_t kRedirectsMax = 40;  // of one request; TRYAGAIN does not count
constexpr std::uint8_t kRedirectsAtOnce = 4;
constexpr Nanos kRedirectPauseMax = Millis(250);
// A fail-over takes its time, however soon a silent server is given up.
constexpr Nanos kRedirectTimeMin = std::chrono::seconds(5);
constexpr Nanos kAgainAfter = Millis(5);  // the pause after TRYAGAIN
constexpr Nanos kLookAgain = Millis(1);   // at requests that wait for a connection

constexpr std::string_view kMovesTooLong =
    "the slot is being moved, and some keys of the command are still on the old node: "
    "TRYAGAIN for longer than upstream.response-timeout; try again later, "
    "or look at CLUSTER NODES for a move that does not go on";

Nanos redirect_time(const policy::ProxyOptions& options) {
  return std::max<Nanos>(options.response_timeout, kRedirectTimeMin);
}

// While a replica becomes master, both nodes may name each other for a while.
Nanos pause_before_redirect(std::uint8_t redirects) {
  if (redirects <= kRedirectsAtOnce) return Nanos(0);
  const int doublings = std::min(redirects - kRedirectsAtOnce - 1, 8);
  return std::min<Nanos>(Millis(1) * (1 << doublings), kRedirectPauseMax);
}

std::string no_agreement(std::string_view last) {
  return "the nodes of the cluster do not agree which of them owns the key (the last one said: " +
         std::string(last) + "); look at CLUSTER NODES of each";
}

}  // namespace

redis::UpstreamAddress* ClusterRefusals::node_named_by(const topology::Redirect& redirect,
                                                       const Upstream& from) {
  const std::optional<topology::NodeIndex> index =
      shared_.cluster.node_at(redirect.to, from.server().url().address);
  return index ? &shared_.cluster.node(*index) : nullptr;
}

bool ClusterRefusals::reroute(Upstream& from, Pending& pending, std::string_view request,
                              std::string_view error) {
  const std::string_view line = topology::error_line(error);
  const std::optional<topology::Redirect> redirect = topology::parse_redirect(line);
  if (line.starts_with("NOSCRIPT")) return teach(from, pending, request);
  if (!redirect) {
    if (line.starts_with("CLUSTERDOWN")) shared_.cluster.is_stale(std::nullopt);
    return false;
  }
  counters_.add(copies::Count::kRedirects);
  const TimePoint now = loop_.now();
  if (redirect->kind != topology::Redirect::Kind::kMoved) shared_.cluster.note_move(now);
  if (pending.rerouted == nullptr) pending.rerouted = std::make_unique<Rerouted>();
  Rerouted& rerouted = *pending.rerouted;
  if (rerouted.request.empty()) rerouted.request = request;
  if (rerouted.since == TimePoint{}) rerouted.since = now;
  rerouted.protocol = from.protocol();
  const bool is_late = now - rerouted.since > redirect_time(shared_.options());
  Refused refused;
  refused.asking = redirect->kind == topology::Redirect::Kind::kAsk;
  if (redirect->kind == topology::Redirect::Kind::kTryAgain) {
    if (splits(pending) && split(from, pending)) return true;
    refused.to = &from.server();
    refused.asking = rerouted.asked;
    refused.not_before = now + kAgainAfter;
    if (now - rerouted.since > shared_.options().response_timeout) {
      refuse(std::move(pending), std::string(kMovesTooLong));
      return true;
    }
  } else {
    refused.not_before = now + pause_before_redirect(++rerouted.redirects);
    // Scripts can make any error: they lead only to nodes that the cluster itself has named. A node
    // may be newer than the map.
    const bool may_be_made_up = pending.unknown_keys;
    if (may_be_made_up && !shared_.cluster.knows(redirect->to, from.server().url().address))
      refused.awaited = Awaited{redirect->to, &from.server()};
    else
      refused.to = node_named_by(*redirect, from);
  }
  rerouted.asked = refused.asking;
  if (redirect->kind == topology::Redirect::Kind::kMoved && refused.to != nullptr)
    shared_.cluster.is_stale(shared_.cluster.index_of(*refused.to));
  refused.pending = std::move(pending);
  if ((refused.to == nullptr && !refused.awaited) || rerouted.redirects > kRedirectsMax ||
      is_late) {
    refuse(std::move(refused.pending), no_agreement(line));
    return true;
  }
  refused_.push_back(std::move(refused));
  send_refused();
  return true;
}

// A node that is new, or was restarted, does not know a script that one server would know.
bool ClusterRefusals::teach(Upstream& from, Pending& pending, std::string_view request) {
  if (pending.rerouted != nullptr && pending.rerouted->taught) return false;
  const std::string wire(request.empty() && pending.rerouted ? pending.rerouted->request : request);
  resp::RequestParser parser(resp::limits_for(wire.size()));
  if (parser.parse(std::string_view(wire)) != resp::ParseStatus::kRequest) return false;
  if (parser.args().size() < 2 || !lower_case(parser.args()[0]).starts_with("evalsha"))
    return false;
  const std::shared_ptr<const std::string> text = shared_.scripts.text_of(parser.args()[1]);
  if (text == nullptr) return false;
  if (pending.rerouted == nullptr) pending.rerouted = std::make_unique<Rerouted>();
  pending.rerouted->taught = true;
  pending.rerouted->request.clear();
  from.send_own({"SCRIPT", "LOAD", *text});
  from.use_db(pending.db);
  if (pending.rerouted->asked) from.send_own({"ASKING"});
  from.send(wire, std::move(pending));
  return true;
}

// Whether the refused request may go on in parts, one for each key. An earlier request of the
// client may write the same keys, so if that waits, this one waits, too.
bool ClusterRefusals::splits(const Pending& pending) const {
  if (!pending.read_only || pending.session == nullptr || pending.session->closed()) return false;
  return std::none_of(refused_.begin(), refused_.end(), [&](const Refused& each) {
    return each.pending.session != nullptr && each.pending.session->id() == pending.session->id();
  });
}

// False: only one node can execute it, as a whole.
bool ClusterRefusals::split(Upstream& from, Pending& pending) {
  const std::string request = pending.rerouted->request;
  resp::RequestParser parser(resp::limits_for(request.size()));
  if (parser.parse(std::string_view(request)) != resp::ParseStatus::kRequest) return false;
  const std::vector<std::string_view>& args = parser.args();
  const FanOutRow* const row = fan_out_of(lower_case(args[0]));
  if (row == nullptr || row->fan_out != FanOut::kByKey || args.size() < 3) return false;
  std::vector<ScatterPart> parts;
  parts.reserve(args.size() - 1);
  for (std::size_t i = 1; i < args.size(); ++i) {
    ByteBuffer wire;
    resp::append_request(wire, {args[0], args[i]});
    parts.push_back({std::string(wire.view()), {static_cast<std::uint32_t>(i - 1)}, {}});
  }
  const Rerouted before = *pending.rerouted;
  Split& made = splits_.emplace_back();
  made.parts = std::make_unique<Scatter>(
      *pending.session, static_cast<Scatter::Owner&>(*this), *row, pending.ticket, std::move(parts),
      static_cast<std::size_t>(shared_.options().client_output_max.count));
  made.whole = std::move(pending);
  Scatter& scatter = *made.parts;
  for (std::size_t i = 0; i < scatter.parts().size(); ++i) {
    Refused refused;
    refused.to = &from.server();
    refused.asking = before.asked;
    refused.pending.session = &scatter;
    refused.pending.ticket = Scatter::ticket_of(i);
    refused.pending.read_only = true;
    refused.pending.db = made.whole.db;
    refused.pending.rerouted = std::make_unique<Rerouted>(before);
    refused.pending.rerouted->request = scatter.parts()[i].request;
    refused.pending.rerouted->redirects = 0;
    refused_.push_back(std::move(refused));
  }
  send_refused();
  return true;
}

void ClusterRefusals::scatter_ended(Scatter& scatter) {
  const auto found = std::find_if(splits_.begin(), splits_.end(),
                                  [&](const Split& each) { return each.parts.get() == &scatter; });
  Pending whole = std::move(found->whole);
  ended_.push_back(std::move(found->parts));  // it is on the call stack
  splits_.erase(found);
  if (scatter.is_lost()) return lose(std::move(whole), scatter.loss());
  answer(std::move(whole), scatter.reply(shared_.next_random()));
}

// The client gets an error as from a server. Nothing was executed.
void ClusterRefusals::refuse(Pending&& pending, const std::string& why) {
  ByteBuffer wire;
  resp::append_error(wire, "CLUSTERDOWN heatsink: " + why);
  answer(std::move(pending), wire.view());
}

// The node that should execute it is not reachable. Nothing was executed.
void ClusterRefusals::lose(Pending&& pending, const std::string& why) {
  replies_.settle(pending, loop_.clock(), copies::Shown::kNothing);
  pending.is_unexecuted = true;
  if (pending.session != nullptr) pending.session->reply_lost(pending, false, why);
  if (pending.kind == PendingKind::kGathered) replies_.gathered_lost(pending.number, why);
}

// Requests that another node has refused, on their way to this one.
void ClusterRefusals::refuse_those_for(const redis::UpstreamAddress& replaced) {
  std::deque<Refused> all = std::exchange(refused_, {});
  for (Refused& each : all) {
    if (each.to == &replaced)
      lose(std::move(each.pending), replaced.unreachable(Upstreams::kReplaced));
    else
      refused_.push_back(std::move(each));
  }
}

void ClusterRefusals::answer(Pending&& pending, std::string_view wire) {
  const bool is_error = wire.starts_with('-');
  replies_.settle(pending, loop_.clock(),
                  is_error ? copies::Shown::kNothing : copies::Shown::kPerhaps);
  resp::ReplyScanner scanner;
  static_cast<void>(scanner.feed(wire));
  replies_.answered(
      pending, {.ok = !is_error, .bytes = wire.size(), .read_at = loop_.clock(), .captured = wire});
  if (pending.session == nullptr) return;
  if (!pending.silent && !pending.session->closed())
    pending.session->take_reply(pending.ticket, wire);
  pending.session->reply_done(pending, !is_error, scanner, wire);
}

// Sets `to` if the map names the node now; otherwise asks the node that has named it for its map.
void ClusterRefusals::find_awaited(Refused& refused) {
  const auto& [node, named_by] = *refused.awaited;
  const net::HostPort& asked = named_by->url().address;
  if (shared_.cluster.knows(node, asked)) {
    if (const auto index = shared_.cluster.node_at(node, asked))
      refused.to = &shared_.cluster.node(*index);
    return;
  }
  if (loop_.now() < refused.not_before) return;
  shared_.cluster.is_stale(shared_.cluster.index_of(*named_by));
  refused.not_before = loop_.now() + topology::ClusterWatch::kPause;
}

// True: it is on its way, or was refused.
bool ClusterRefusals::send_one(Refused& refused) {
  const TimePoint now = loop_.now();
  if (refused.to == nullptr) find_awaited(refused);
  if (refused.to != nullptr && now < refused.not_before) return false;
  if (refused.to == nullptr) {
    if (now - refused.pending.rerouted->since <= redirect_time(shared_.options())) return false;
    refuse(std::move(refused.pending), no_agreement(refused.awaited->node.text()));
    return true;
  }
  const resp::Protocol protocol = refused.pending.rerouted->protocol;
  const Upstreams::Shared shared =
      owner_.server_at(*refused.to).shared(protocol, Destination::any());
  const bool is_late = now - refused.pending.rerouted->since > redirect_time(shared_.options());
  if (shared.connection == nullptr && (shared.down != nullptr || is_late)) {
    lose(std::move(refused.pending),
         shared.down != nullptr ? *shared.down : refused.to->unreachable("no connection in time"));
    return true;
  }
  if (shared.connection == nullptr || !shared.connection->try_db(refused.pending.db)) return false;
  if (refused.asking) shared.connection->send_own({"ASKING"});
  if (Requester* const client = refused.pending.session; client && !refused.pending.read_only)
    client->note_written(*refused.to);
  // Kept there while it is on its way, in case that node refuses it, too.
  const std::string request = std::move(refused.pending.rerouted->request);
  refused.pending.rerouted->request.clear();
  shared.connection->send(request, std::move(refused.pending));
  return true;
}

// In order for each node. A request that waits holds back those behind it for the same node.
void ClusterRefusals::send_refused() {
  std::vector<const redis::UpstreamAddress*> waits;
  std::vector<net::HostPort> awaited;
  std::deque<Refused> left;
  std::deque<Refused> all = std::exchange(refused_, {});
  for (Refused& each : all) {
    const bool is_behind =
        each.to != nullptr
            ? std::find(waits.begin(), waits.end(), each.to) != waits.end()
            : std::find(awaited.begin(), awaited.end(), each.awaited->node) != awaited.end();
    if (!is_behind && send_one(each)) continue;
    if (each.to != nullptr)
      waits.push_back(each.to);
    else
      awaited.push_back(each.awaited->node);
    left.push_back(std::move(each));
  }
  // refuse() may have added some.
  std::move(refused_.begin(), refused_.end(), std::back_inserter(left));
  refused_ = std::move(left);
  wake_later();
}

void ClusterRefusals::wake_later() {
  if (refused_.empty() || timer_ != 0) return;
  timer_ = loop_.call_after(kLookAgain, [this] {
    timer_ = 0;
    send_refused();
  });
}

std::uint64_t ClusterRefusals::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Refused& each : refused_)
    bytes += sizeof each + (each.pending.rerouted ? each.pending.rerouted->request.size() : 0);
  return bytes;
}

}  // namespace heatsink::proxy
