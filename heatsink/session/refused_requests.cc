// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/refused_requests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heatsink/topology/topology.h"

namespace heatsink::proxy {
namespace {

using topology::Redirect;

constexpr std::uint8_t kRefusalsMax = 200;
constexpr std::uint8_t kRepeatedAtOnce = 4;  // refusals before the first pause
constexpr Nanos kPause = Millis(5);          // also after an error that names no node
constexpr Nanos kPauseMax = Millis(50);

// The server has ended the wait because its slot or its role has changed: "UNBLOCKED force unblock
// from blocking operation, instance state changed (master -> replica?)". After CLIENT UNBLOCK, of
// an administrator or of the proxy (wait.h), the command is over.
bool is_unblocked(std::string_view line) {
  return line.starts_with("UNBLOCKED ") && line.find("CLIENT UNBLOCK") == std::string_view::npos;
}

}  // namespace

bool RefusedRequests::takes_back(Pending& pending, std::string_view line) {
  if (client_.is_closing()) return false;
  std::optional<Redirect> redirect = topology::parse_redirect(client_.decisive(pending, line));
  if (is_blocking(pending) && is_unblocked(line))
    redirect = Redirect{.kind = Redirect::Kind::kTryAgain};
  if (!redirect) return answer(pending, client_.answer_to_refused(pending, line));
  std::string wire = client_.wire_to_repeat(pending);
  if (wire.empty()) return false;
  parts_.count(copies::Count::kRedirects);
  topology::ClusterDirectory& cluster = parts_.shared.cluster;
  if (redirect->kind != Redirect::Kind::kMoved) cluster.note_move(parts_.loop.now());
  redis::UpstreamAddress* const to =
      redirect->kind == Redirect::Kind::kTryAgain ? nullptr : client_.node_named_by(*redirect);
  if (redirect->kind == Redirect::Kind::kMoved)
    cluster.is_stale(to == nullptr ? std::nullopt : cluster.index_of(*to));
  if (++refusals_ > kRefusalsMax) return false;
  if (answer(pending, client_.answer_to_moved(pending))) return true;
  client_.undo_sending(pending);
  repeat(std::move(wire), to, redirect->kind == Redirect::Kind::kAsk);
  return true;
}

void RefusedRequests::repeat(std::string&& wire, redis::UpstreamAddress* to, bool asking) {
  resp::RequestParser parser(resp::limits_for(wire.size()));
  static_cast<void>(parser.parse(std::string_view(wire)));
  auto request = std::make_unique<Request>(parser.args(), wire);
  request->keep();
  request->waited().redirected_to = to;
  request->waited().asking = asking;
  client_.wait_with(std::move(request));
  // While a replica becomes master, both nodes may name each other for a while.
  if (to != nullptr && refusals_ <= kRepeatedAtOnce) return client_.look_at_end_of_turn();
  client_.look_after(std::min<Nanos>(kPause * std::max<int>(refusals_, 1), kPauseMax));
}

// False: `wire` is empty, and nothing was done.
bool RefusedRequests::answer(Pending& pending, std::string_view wire) {
  if (!wire.empty()) client_.answer_instead(pending, wire);
  return !wire.empty();
}

}  // namespace heatsink::proxy
