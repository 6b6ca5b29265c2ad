// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/packet_file.h"

#include <fmt/format.h>

#include "heatsink/capture/file_window.h"

namespace heatsink::capture {

bool PacketFile::recognises(std::string_view first_bytes) {
  return first_bytes.size() >= kMagicBytes && (is_pcap(first_bytes) || is_pcapng(first_bytes));
}

Result<std::unique_ptr<PacketFile>> PacketFile::open(ReadBytes read) {
  FileWindow window(std::move(read));
  Result<std::size_t> there = window.have(kMagicBytes);
  if (!there) return there.error();
  const std::string_view magic = window.view(*there);
  if (!recognises(magic)) {
    return invalid_argument("not a capture file: use pcap or pcapng, as written by tcpdump -w");
  }
  if (is_pcap(magic)) return open_pcap(std::move(window));
  return open_pcapng(std::move(window));
}

Error cut_off(std::uint64_t packets) {
  return invalid_argument(fmt::format("the file is cut off after packet {}", packets));
}

}  // namespace heatsink::capture
