// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/decoder.h"

#include <algorithm>
#include <bitset>
#include <deque>
#include <utility>

#include "heatsink/capture/connection_table.h"
#include "heatsink/capture/request_head.h"
#include "heatsink/capture/segment.h"

namespace heatsink::capture {
namespace {

constexpr Nanos kBetweenAdvances = Millis(20);
// Without new packets, all packets older than this have been read: the kernel hands packets over at
// least this often (pcap_handle.cc).
constexpr Nanos kInKernel = Millis(100);
constexpr std::size_t kWatchesMax = 8;  // planned changes of the watch
// backwards: the clock was set, or two files were joined
constexpr Nanos kClockJump = std::chrono::seconds(1);

}  // namespace

class Decoder::Impl {
 public:
  Impl(const DecoderOptions& options, OnCommand on_command, const resp::CommandTable& table)
      : context_{.table = table, .on_command = std::move(on_command)},
        patience_{options.patience, options.patience_acknowledged},
        any_port_(options.ports.empty()),
        connections_({options.connections_max, options.memory_max, options.idle_max}, options.seed,
                     context_.counters) {
    for (const std::uint16_t port : options.ports) ports_.set(port);
  }

  void packet(const Packet& packet) {
    CaptureCounters& counters = context_.counters;
    ++counters.packets;
    counters.packet_bytes += packet.full_bytes;
    change_watch(packet.at_ns);
    Segment segment;
    switch (dissect(packet, segment)) {
      case Dissection::kOther:
        ++counters.packets_other;
        break;
      case Dissection::kFragment:
        ++counters.fragments;
        break;
      case Dissection::kMalformed:
        ++counters.packets_malformed;
        break;
      case Dissection::kSegment:
        counters.packets_cut += segment.cut_bytes > 0 ? 1 : 0;
        take(segment, packet.at_ns);
        break;
    }
    advance(packet.at_ns);
  }

  void advance(std::int64_t now_ns) {
    const Nanos since(now_ns - advanced_ns_);
    if (since < kBetweenAdvances && since > -kClockJump) return;
    advanced_ns_ = now_ns;
    change_watch(now_ns - kInKernel.count());
    connections_.advance(now_ns);
  }

  void watch(ReplyWatch watch, std::int64_t from_ns) {
    if (watches_.size() == kWatchesMax) take_watch();  // reached only if the clock was set back
    watches_.push_back({from_ns, watch});
  }

  void finish() { connections_.finish(); }
  const CaptureCounters& counters() const { return context_.counters; }

 private:
  struct Watch {
    std::int64_t from_ns;
    ReplyWatch watch;
  };

  void change_watch(std::int64_t now_ns) {
    while (!watches_.empty() && watches_.front().from_ns <= now_ns) take_watch();
  }

  void take_watch() {
    context_.watch = watches_.front().watch;
    watches_.pop_front();
    connections_.watch(context_.watch);
  }

  void take(const Segment& segment, std::int64_t at_ns) {
    if (!any_port_ && !is_server(segment.from) && !is_server(segment.to)) {
      ++context_.counters.packets_other;
      return;
    }
    context_.counters.stream_bytes += segment.payload.size();
    if (!any_port_ && !is_server(segment.to) && !segment.payload.empty()) {
      ++context_.counters.reply_segments;
      context_.counters.reply_bytes += segment.payload.size();
    }
    const ConnectionKey key = ConnectionKey::of(segment);
    if (Connection* const found = connections_.find(key)) {
      if (found->take(segment, at_ns)) return connections_.enforce_limits();
      if (!begins(segment)) return;
      connections_.erase(key);
    } else if (!begins(segment)) {
      return;
    }
    const bool by_client = is_by_client(segment);
    const Endpoint& client = by_client ? segment.from : segment.to;
    const Endpoint& server = by_client ? segment.to : segment.from;
    (void)connections_.add(key, context_, patience_, client, server, any_port_)
        .take(segment, at_ns);
    connections_.enforce_limits();
  }

  bool is_server(const Endpoint& endpoint) const { return ports_[endpoint.port]; }

  // Whether the segment starts a connection worth following. On unknown ports the decoder follows
  // only connections that speak RESP. If it joins one in the middle, the first segment must be a
  // client's request, because replies are hard to tell from other protocols.
  bool begins(const Segment& segment) const {
    if (segment.syn) return true;
    if (segment.payload.empty() || segment.rst) return false;
    return !any_port_ || request_head(segment.payload, context_.table) == Head::kYes;
  }

  bool is_by_client(const Segment& segment) const {
    if (segment.syn) return !segment.has_ack;
    return any_port_ || is_server(segment.to);
  }

  MatcherContext context_;
  Patience patience_;
  bool any_port_;
  std::bitset<65536> ports_;
  std::deque<Watch> watches_;  // not yet applied
  ConnectionTable connections_;
  std::int64_t advanced_ns_ = 0;
};

Decoder::Decoder(const DecoderOptions& options, OnCommand on_command,
                 const resp::CommandTable* table)
    : impl_(std::make_unique<Impl>(options, std::move(on_command),
                                   table != nullptr ? *table : resp::CommandTable::built_in())) {}

Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::packet(const Packet& packet) { impl_->packet(packet); }
void Decoder::watch(ReplyWatch watch, std::int64_t from_ns) { impl_->watch(watch, from_ns); }
void Decoder::advance(std::int64_t now_ns) { impl_->advance(now_ns); }
void Decoder::finish() { impl_->finish(); }
const CaptureCounters& Decoder::counters() const { return impl_->counters(); }

}  // namespace heatsink::capture
