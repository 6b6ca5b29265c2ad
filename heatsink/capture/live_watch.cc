// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/live_watch.h"

#include <linux/if_arp.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "heatsink/capture/packet_numbers.h"
#include "heatsink/capture/pcap_handle.h"

namespace heatsink::capture {
namespace {

constexpr std::size_t kHardwareAt = 2;  // in the LINKTYPE_LINUX_SLL header

}  // namespace

LiveWatch::LiveWatch(pcap_t* handle, const FeedOptions& options)
    : handle_(handle),
      ports_(options.ports),
      link_(link_of(handle)),
      may_ignore_outgoing_(options.servers_are_here && link_ == LinkType::kLinuxCooked) {
  if (knows_link(link_)) ports_and_hosts_ = ports_and_hosts(handle, options);
  if (attach(watch_) && std::isfinite(options.replies_max)) pace_.emplace(options.replies_max);
}

unsigned LiveWatch::parts() const { return static_cast<unsigned>(std::popcount(watch_.parts)); }

bool LiveWatch::attach(ReplyWatch watch) {
  if (ports_and_hosts_.empty()) return false;
  FilterProgram program = filter_prologue(link_, ports_, watch);
  program.insert(program.end(), ports_and_hosts_.begin(), ports_and_hosts_.end());
  return attach_filter(pcap_fileno(handle_), program);
}

void LiveWatch::adjust(Decoder& decoder, std::int64_t now_ns) {
  if (!pace_) return;
  if (is_changing_) decoder.watch(watch_, now_ns);
  is_changing_ = false;
  if (!began_ns_) began_ns_ = now_ns;
  const CaptureCounters& seen = decoder.counters();
  const auto to = pace_->next(now_ns, {seen.reply_segments, seen.reply_bytes});
  if (to) change(decoder, *to, now_ns);
  if (may_ignore_outgoing_) look_out(decoder, now_ns);
}

void LiveWatch::change(Decoder& decoder, ReplyWatch to, std::int64_t now_ns) {
  decoder.watch(watch_.common(to), now_ns);
  if (attach(to)) watch_ = to;
  is_changing_ = true;
}

// When outgoing packets are watched again, earlier replies do not count as missing: no reply was
// captured then. So nothing is watched until the next adjust().
void LiveWatch::look_out(Decoder& decoder, std::int64_t now_ns) {
  const std::int64_t latest_ns = std::max(elsewhere_ns_, *began_ns_);
  const bool is_loopback_only = now_ns - latest_ns >= kLoopbackOnly.count();
  const bool ignores = watch_ != ReplyWatch() && is_loopback_only;
  if (ignores == ignores_outgoing_ || !ignore_outgoing(handle_, ignores)) return;
  ignores_outgoing_ = ignores;
  if (ignores) return;
  decoder.watch({0}, now_ns);
  is_changing_ = true;
}

void LiveWatch::see(const Packet& packet) {
  if (!may_ignore_outgoing_ || packet.bytes.size() < kHardwareAt + 2) return;
  if (big16(packet.bytes, kHardwareAt) != ARPHRD_LOOPBACK)
    elsewhere_ns_ = std::max(elsewhere_ns_, packet.at_ns);
}

}  // namespace heatsink::capture
