// SPDX-License-Identifier: Apache-2.0
// Reads pcap, the older format: a header, then packets (draft-ietf-opsawg-pcap).
#include <fmt/format.h>

#include "heatsink/capture/file_window.h"
#include "heatsink/capture/packet.h"

namespace heatsink::capture {
namespace {

constexpr std::uint32_t kMicrosecondMagic = 0xA1B2C3D4;
constexpr std::uint32_t kNanosecondMagic = 0xA1B23C4D;
constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kPacketHeaderBytes = 16;
constexpr std::uint32_t kLinkMask = 0xFFFF;  // the upper bits describe checksums after each packet

class PcapFile final : public PacketFile {
 public:
  PcapFile(FileWindow window, FileNumbers numbers, std::int64_t fraction_ns, LinkType link)
      : window_(std::move(window)), numbers_(numbers), fraction_ns_(fraction_ns), link_(link) {}

  Result<bool> next(Packet& packet) override {
    window_.consume(std::exchange(taken_, 0));
    Result<std::size_t> there = window_.have(kPacketHeaderBytes);
    if (!there) return there.error();
    if (*there == 0) return false;
    if (*there < kPacketHeaderBytes) return cut_off(packets_);
    const std::uint32_t size = numbers_.u32(window_.view(kPacketHeaderBytes), 8);
    if (size > kPacketBytesMax) return damaged(size);
    there = window_.have(kPacketHeaderBytes + size);
    if (!there) return there.error();
    if (*there < kPacketHeaderBytes + size) return cut_off(packets_);
    const std::string_view bytes = window_.view(kPacketHeaderBytes + size);
    packet.at_ns = std::int64_t{numbers_.u32(bytes, 0)} * kNanosPerSecond +
                   std::int64_t{numbers_.u32(bytes, 4)} * fraction_ns_;
    packet.link = link_;
    packet.full_bytes = std::max(numbers_.u32(bytes, 12), size);
    packet.bytes = bytes.substr(kPacketHeaderBytes);
    taken_ = bytes.size();
    ++packets_;
    return true;
  }

 private:
  Error damaged(std::uint32_t size) const {
    return invalid_argument(
        fmt::format("the file is damaged after packet {}: the next packet claims to have {} bytes",
                    packets_, size));
  }

  FileWindow window_;
  FileNumbers numbers_;
  std::int64_t fraction_ns_;
  LinkType link_;
  std::size_t taken_ = 0;  // size of the last packet
  std::uint64_t packets_ = 0;
};

bool is_magic(std::uint32_t magic) {
  return magic == kMicrosecondMagic || magic == kNanosecondMagic;
}

}  // namespace

bool is_pcap(std::string_view first_bytes) {
  return is_magic(FileNumbers(false).u32(first_bytes, 0)) ||
         is_magic(FileNumbers(true).u32(first_bytes, 0));
}

Result<std::unique_ptr<PacketFile>> open_pcap(FileWindow window) {
  Result<std::size_t> there = window.have(kFileHeaderBytes);
  if (!there) return there.error();
  if (*there < kFileHeaderBytes) return cut_off(0);
  const std::string_view header = window.view(kFileHeaderBytes);
  const FileNumbers numbers(!is_magic(FileNumbers(false).u32(header, 0)));
  const std::int64_t fraction_ns = numbers.u32(header, 0) == kNanosecondMagic ? 1 : 1000;
  const auto link = static_cast<LinkType>(numbers.u32(header, 20) & kLinkMask);
  window.consume(kFileHeaderBytes);
  return std::unique_ptr<PacketFile>(
      std::make_unique<PcapFile>(std::move(window), numbers, fraction_ns, link));
}

}  // namespace heatsink::capture
