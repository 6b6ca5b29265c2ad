// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/hot_subscription.h"

#include <algorithm>
#include <string>

namespace heatsink::proxy {
namespace {

using copies::kHotChannel;
using policy::HotChannelFor;

constexpr std::string_view kNotAllowed =
    "NOPERM heatsink: __heatsink__:hot names the hot keys of all users, so only clients with the "
    "proxy's own login may subscribe to it: use that login, or set proxy.hot-channel: all";

}  // namespace

void HotSubscription::join() {
  if (parts_.hot_channel == nullptr) return;
  if (is_on()) return parts_.hot_channel->renew(number_);
  number_ = parts_.hot_channel->join(reader_);
}

void HotSubscription::leave() {
  if (is_on()) parts_.hot_channel->leave(std::exchange(number_, 0));
}

bool HotSubscription::is_named_in(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  return std::find(args.begin() + 1, args.end(), kHotChannel) != args.end();
}

// While the client hears it, the server's numbers of subscriptions are one too small. Shard
// channels have numbers of their own.
bool HotSubscription::concerns(const Request& request) const {
  if (parts_.hot_channel == nullptr) return false;
  const std::string& name = request.command->name;
  const bool is_plain = name == "subscribe" || name == "unsubscribe";
  if (is_on()) return is_plain || name.starts_with('p');
  const bool is_off = parts_.shared.options().hot_channel == HotChannelFor::kOff;
  return is_plain && !is_off && is_named_in(request);
}

std::string_view HotSubscription::refusal(const ClientState& client) const {
  const HotChannelFor allowed = parts_.shared.options().hot_channel;
  const bool may = allowed == HotChannelFor::kAll || (allowed == HotChannelFor::kProxysUser &&
                                                      client.user_ == ClientState::User::kShared);
  return may ? std::string_view() : kNotAllowed;
}

std::vector<std::string_view> HotSubscription::others(const Request& request) {
  std::vector<std::string_view> out = request.args();
  std::erase(out, kHotChannel);
  return out;
}

}  // namespace heatsink::proxy
