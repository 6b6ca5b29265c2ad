// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/packet_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heatsink/capture/testing/traffic.h"

namespace heatsink::capture {
namespace {

using testing::append_big;
using testing::append_little;
using ::testing::HasSubstr;

struct Read {
  std::vector<std::string> packets;  // "<ns> <link> <full bytes> <bytes>"
  std::string error;
};

// In pieces, as a pipe gives them.
ReadBytes in_pieces(std::string_view& file, std::size_t piece) {
  return [&file, piece](std::span<char> out) -> Result<std::size_t> {
    const std::size_t size = std::min({out.size(), file.size(), piece});
    std::memcpy(out.data(), file.data(), size);
    file.remove_prefix(size);
    return size;
  };
}

Read read_all(std::string_view file, std::size_t piece = 7) {
  Read read;
  auto opened = PacketFile::open(in_pieces(file, piece));
  if (!opened) return {{}, opened.error().message};
  Packet packet;
  for (;;) {
    const Result<bool> there = (*opened)->next(packet);
    if (!there) read.error = there.error().message;
    if (!there || !*there) return read;
    read.packets.push_back(std::to_string(packet.at_ns) + " " +
                           std::to_string(static_cast<int>(packet.link)) + " " +
                           std::to_string(packet.full_bytes) + " " + std::string(packet.bytes));
  }
}

std::string old_file(bool big, std::uint32_t magic) {
  std::string out;
  const auto put = [&](std::uint64_t value, int bytes) {
    big ? append_big(out, value, bytes) : append_little(out, value, bytes);
  };
  put(magic, 4);
  put(2, 2);
  put(4, 2);
  for (const std::uint32_t word : {0U, 0U, 65535U, 0x10000001U}) put(word, 4);  // FCS bits, link 1
  for (const std::uint32_t word : {1'700'000'000U, 5U, 3U, 9U}) put(word, 4);
  return out + "abc";
}

TEST(PacketFile, PcapInAllFourForms) {
  for (const bool big : {false, true}) {
    EXPECT_THAT(read_all(old_file(big, 0xA1B2C3D4)).packets,
                ::testing::ElementsAre("1700000000000005000 1 9 abc"));
    EXPECT_THAT(read_all(old_file(big, 0xA1B23C4D)).packets,
                ::testing::ElementsAre("1700000000000000005 1 9 abc"));
  }
}

class Pcapng {
 public:
  explicit Pcapng(bool big = false) : big_(big) {
    block(0x0A0D0D0A, u32(0x1A2B3C4D) + u16(1) + u16(0) + std::string(8, '\xFF'));
  }
  std::string u16(std::uint32_t value) const { return number(value, 2); }
  std::string u32(std::uint32_t value) const { return number(value, 4); }
  Pcapng& block(std::uint32_t type, std::string body) {
    body.resize((body.size() + 3) / 4 * 4);
    const auto length = static_cast<std::uint32_t>(body.size() + 12);
    file += u32(type) + u32(length) + body + u32(length);
    return *this;
  }
  Pcapng& interface(std::uint16_t link, const std::string& options = "", std::uint32_t snap = 0) {
    return block(1, u16(link) + u16(0) + u32(snap) + options);
  }
  Pcapng& packet(std::uint32_t interface, std::uint64_t ticks, const std::string& bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    return block(6, u32(interface) + u32(static_cast<std::uint32_t>(ticks >> 32)) +
                        u32(static_cast<std::uint32_t>(ticks)) + u32(size) + u32(size + 1) + bytes);
  }

  std::string file;

 private:
  std::string number(std::uint32_t value, int bytes) const {
    std::string out;
    big_ ? append_big(out, value, bytes) : append_little(out, value, bytes);
    return out;
  }
  bool big_;
};

TEST(PacketFile, PcapngInBothByteOrders) {
  for (const bool big : {false, true}) {
    Pcapng file(big);
    file.interface(113).block(5, "statistics").packet(0, 1'700'000'000'000'005, "abcde");
    EXPECT_THAT(read_all(file.file).packets,
                ::testing::ElementsAre("1700000000000005000 113 6 abcde"));
  }
}

TEST(PacketFile, PcapngTimesHaveTheirResolution) {
  for (const bool big : {false, true}) {
    Pcapng file(big);
    const auto resolution = [&](char code) {
      return file.u16(9) + file.u16(1) + std::string(1, code) + std::string(3, '\0');
    };
    std::string offset = file.u16(14) + file.u16(8);
    offset += big ? file.u32(0) + file.u32(100) : file.u32(100) + file.u32(0);
    file.interface(1, resolution(9)).interface(1, resolution('\x81'));
    file.interface(1, resolution(0) + offset).interface(1, resolution(12));
    file.packet(0, 1'000'000'007, "a").packet(1, 3, "b").packet(2, 5, "c");
    file.packet(3, 9'000'000, "d");
    EXPECT_THAT(read_all(file.file).packets,
                ::testing::ElementsAre("1000000007 1 2 a", "1500000000 1 2 b", "105000000000 1 2 c",
                                       "9000 1 2 d"));
  }
}

TEST(PacketFile, PcapngSimpleAndOldPacketsAndSections) {
  Pcapng file;
  file.interface(1, "", 3);
  file.block(
      2, file.u16(0) + file.u16(0) + file.u32(0) + file.u32(7) + file.u32(2) + file.u32(2) + "xy");
  file.block(3, file.u32(5) + "abc");
  file.file += Pcapng(true).interface(101).packet(0, 8, "z").file;
  EXPECT_THAT(read_all(file.file).packets,
              ::testing::ElementsAre("7000 1 2 xy", "7000 1 5 abc", "8000 101 2 z"));
}

TEST(PacketFile, BigBlocksThatAreNoPacketsAreSkipped) {
  Pcapng file;
  file.block(4, std::string(3 << 20, 'n')).interface(1).packet(0, 1, "a");
  EXPECT_EQ(read_all(file.file, 1 << 16).packets.size(), 1);
}

// Packets before a missing end are read, and the error reports the missing part.
TEST(PacketFile, CutOffAnywhere) {
  std::string old = old_file(false, 0xA1B2C3D4);
  const std::size_t first = old.size();
  testing::append_pcap(old, 1, "second");
  for (std::size_t size = 0; size < old.size(); ++size) {
    const Read read = read_all(std::string_view(old).substr(0, size));
    EXPECT_EQ(read.packets.size(), size < first ? 0 : 1);
    EXPECT_EQ(read.error.empty(), size == 24 || size == first) << size;
  }
  Pcapng file;
  const std::size_t header = file.file.size();
  const std::size_t described = file.interface(1).file.size();
  file.packet(0, 1, "abcd");
  for (std::size_t size = header; size < file.file.size(); ++size) {
    const Read read = read_all(std::string_view(file.file).substr(0, size));
    EXPECT_EQ(read.error.empty(), size == header || size == described) << size;
  }
}

TEST(PacketFile, DamageIsNamed) {
  std::string huge = testing::pcap_header(LinkType::kEthernet);
  append_little(huge, 0, 8);
  append_little(huge, 0x7FFFFFFF, 4);
  append_little(huge, 0x7FFFFFFF, 4);
  EXPECT_THAT(read_all(huge).error, HasSubstr("damaged after packet 0"));
  EXPECT_THAT(read_all(Pcapng().packet(0, 1, "a").file).error, HasSubstr("interface"));
  EXPECT_THAT(read_all(Pcapng().interface(1).block(6, "short").file).error, HasSubstr("damaged"));
  Pcapng odd;
  odd.file += odd.u32(7) + odd.u32(13) + std::string(9, '\0');
  EXPECT_THAT(read_all(odd.file).error, HasSubstr("length"));
  Pcapng turned;
  turned.file[8] = 'x';
  EXPECT_THAT(read_all(turned.file).error, HasSubstr("byte order"));
}

TEST(PacketFile, OtherFilesAreRefused) {
  EXPECT_THAT(read_all("t_ms,key\n1,a\n").error, HasSubstr("not a capture file"));
  EXPECT_THAT(read_all("").error, HasSubstr("not a capture file"));
  EXPECT_FALSE(PacketFile::recognises("\xD4\xC3"));
}

}  // namespace
}  // namespace heatsink::capture
