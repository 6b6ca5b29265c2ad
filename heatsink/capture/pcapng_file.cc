// SPDX-License-Identifier: Apache-2.0
// Reads pcapng: sections of blocks, in which packets refer to the interfaces described before them
// (draft-ietf-opsawg-pcapng).
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "heatsink/capture/file_window.h"

namespace heatsink::capture {
namespace {

constexpr std::uint32_t kSection = 0x0A0D0D0A;
constexpr std::uint32_t kByteOrder = 0x1A2B3C4D;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kOldPacket = 2;
constexpr std::uint32_t kSimplePacket = 3;
constexpr std::uint32_t kPacket = 6;

constexpr std::size_t kHeaderBytes = 8;    // of a block: type, total length
constexpr std::size_t kTrailerBytes = 4;   // the total length again
constexpr std::size_t kOptionsMax = 1024;  // option bytes that are parsed
constexpr std::size_t kPacketFieldsBytes = 20;
constexpr std::size_t kInterfacesMax = 4096;
constexpr std::int64_t kTimeMax = std::int64_t{1} << 62;

// Converts ticks since the epoch to nanoseconds. A tick is 10^-n s, or 2^-n s if the top bit is
// set.
struct Resolution {
  std::uint8_t code = 6;
  std::int64_t offset_s = 0;

  std::int64_t ns(std::uint64_t ticks) const {
    const double base = (code & 0x80) != 0 ? 2.0 : 10.0;
    const int digits = code & 0x7F;
    if (base == 10.0 && digits <= 9) {  // exact; nearly all files use this form
      std::uint64_t factor = 1;
      for (int i = digits; i < 9; ++i) factor *= 10;
      return ticks > static_cast<std::uint64_t>(kTimeMax) / factor
                 ? kTimeMax
                 : with_offset(static_cast<std::int64_t>(ticks * factor));
    }
    const double ns = static_cast<double>(ticks) * std::pow(base, -digits) * 1e9;
    return ns > 4e18 ? kTimeMax : with_offset(static_cast<std::int64_t>(ns));
  }

 private:
  std::int64_t with_offset(std::int64_t ns) const {
    constexpr std::int64_t kSecondsMax = 4'000'000'000;
    if (offset_s < -kSecondsMax || offset_s > kSecondsMax) return ns;
    return std::clamp<std::int64_t>(ns + offset_s * 1'000'000'000, 0, kTimeMax);
  }
};

struct Interface {
  LinkType link = LinkType::kEthernet;
  std::uint32_t snap_bytes = 0;
  Resolution resolution;
};

Interface read_interface(std::string_view body, const FileNumbers& numbers) {
  constexpr std::uint16_t kEndOfOptions = 0;
  constexpr std::uint16_t kTimeResolution = 9;
  constexpr std::uint16_t kTimeOffset = 14;
  Interface interface;
  interface.link = static_cast<LinkType>(numbers.u16(body, 0));
  interface.snap_bytes = numbers.u32(body, 4);
  for (body.remove_prefix(8); body.size() >= 4;) {
    const std::uint16_t code = numbers.u16(body, 0);
    const std::size_t size = numbers.u16(body, 2);
    const std::size_t padded = 4 + (size + 3) / 4 * 4;
    if (code == kEndOfOptions || padded > body.size()) break;
    if (code == kTimeResolution && size == 1)
      interface.resolution.code = static_cast<std::uint8_t>(body[4]);
    if (code == kTimeOffset && size == 8) {
      const std::uint64_t low = numbers.u32(body, 4);
      const std::uint64_t high = numbers.u32(body, 8);
      // The offset is one 8-byte number in the file's byte order.
      interface.resolution.offset_s =
          static_cast<std::int64_t>(numbers.is_big_endian() ? low << 32 | high : high << 32 | low);
    }
    body.remove_prefix(padded);
  }
  return interface;
}

class PcapngFile final : public PacketFile {
 public:
  explicit PcapngFile(FileWindow window) : window_(std::move(window)) {}

  Result<bool> next(Packet& packet) override {
    for (;;) {
      window_.consume(std::exchange(taken_, 0));
      Result<std::size_t> there = window_.have(kHeaderBytes + kTrailerBytes);
      if (!there) return there.error();
      if (*there == 0) return false;
      if (*there < kHeaderBytes + kTrailerBytes) return cut_off(packets_);
      Result<bool> found = read_block(packet);
      if (!found || *found) return found;
    }
  }

 private:
  // False for a block that is not a packet.
  Result<bool> read_block(Packet& packet) {
    std::string_view bytes = window_.view(kHeaderBytes + kTrailerBytes);
    // reads the same in both byte orders
    const bool is_section = numbers_.u32(bytes, 0) == kSection;
    if (is_section && !begin_section(bytes)) return damaged("the byte order");
    const std::uint32_t type = numbers_.u32(bytes, 0);
    const std::uint32_t length = numbers_.u32(bytes, 4);
    if (length < kHeaderBytes + kTrailerBytes || length % 4 != 0)
      return damaged("a block's length");
    const bool is_packet = type == kPacket || type == kOldPacket || type == kSimplePacket;
    if (!is_packet && type != kInterface) return skip(length);
    if (is_packet && length > kPacketBytesMax) return damaged("a packet's length");
    const std::size_t wanted = is_packet ? length : std::min<std::size_t>(length, kOptionsMax);
    Result<std::size_t> there = window_.have(wanted);
    if (!there) return there.error();
    if (*there < wanted) return cut_off(packets_);
    bytes = window_.view(wanted);
    if (is_packet) {
      taken_ = length;
      return read_packet(type, bytes.substr(kHeaderBytes, length - kHeaderBytes - kTrailerBytes),
                         packet);
    }
    if (wanted < kHeaderBytes + 8) return damaged("an interface");
    if (interfaces_.size() == kInterfacesMax) return damaged("the number of interfaces");
    interfaces_.push_back(read_interface(bytes.substr(kHeaderBytes), numbers_));
    return skip(length);
  }

  bool begin_section(std::string_view bytes) {
    numbers_ = FileNumbers(FileNumbers().u32(bytes, 8) != kByteOrder);
    interfaces_.clear();
    return numbers_.u32(bytes, 8) == kByteOrder;
  }

  Result<bool> skip(std::size_t bytes) {
    Result<bool> skipped = window_.skip(bytes);
    if (!skipped) return skipped.error();
    if (!*skipped) return cut_off(packets_);
    return false;
  }

  Result<bool> read_packet(std::uint32_t type, std::string_view body, Packet& packet) {
    const bool simple = type == kSimplePacket;
    const std::size_t fields = simple ? 4 : kPacketFieldsBytes;
    if (body.size() < fields) return damaged("a packet");
    const std::size_t number = simple               ? 0
                               : type == kOldPacket ? numbers_.u16(body, 0)
                                                    : numbers_.u32(body, 0);
    if (number >= interfaces_.size()) return damaged("a packet's interface");
    const Interface& interface = interfaces_[number];
    const std::uint32_t full = numbers_.u32(body, simple ? 0 : 16);
    std::uint32_t size = simple ? full : numbers_.u32(body, 12);
    if (simple && interface.snap_bytes > 0) size = std::min(size, interface.snap_bytes);
    if (size > body.size() - fields) return damaged("a packet");
    packet.link = interface.link;
    packet.full_bytes = std::max(full, size);
    packet.bytes = body.substr(fields, size);
    // A simple packet has no timestamp; it gets that of the packet before it.
    if (!simple) {
      const std::uint64_t ticks =
          std::uint64_t{numbers_.u32(body, 4)} << 32 | numbers_.u32(body, 8);
      last_ns_ = interface.resolution.ns(ticks);
    }
    packet.at_ns = last_ns_;
    ++packets_;
    return true;
  }

  Error damaged(std::string_view what) const {
    return invalid_argument(
        fmt::format("the file is damaged after packet {}: {} cannot be right", packets_, what));
  }

  FileWindow window_;
  FileNumbers numbers_;
  std::vector<Interface> interfaces_;  // of the current section
  std::size_t taken_ = 0;              // size of the last packet
  std::int64_t last_ns_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace

bool is_pcapng(std::string_view first_bytes) {
  return FileNumbers().u32(first_bytes, 0) == kSection;
}

std::unique_ptr<PacketFile> open_pcapng(FileWindow window) {
  return std::make_unique<PcapngFile>(std::move(window));
}

}  // namespace heatsink::capture
