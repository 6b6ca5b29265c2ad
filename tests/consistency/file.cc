// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace heatsink::consistency {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr std::string_view kMagic = "hshist01";
constexpr std::size_t kOpBytes = 48;
using Record = std::array<char, kOpBytes>;

template <class Number>
void put(Record& record, std::size_t at, Number number) {
  std::memcpy(record.data() + at, &number, sizeof number);
}

template <class Number>
Number get(const Record& record, std::size_t at) {
  Number number;
  std::memcpy(&number, record.data() + at, sizeof number);
  return number;
}

Record to_record(const Op& op) {
  Record record{};
  put(record, 0, op.invoked.time_since_epoch().count());
  put(record, 8, op.responded.time_since_epoch().count());
  put(record, 16, op.value);
  put(record, 24, op.key);
  put(record, 28, op.session);
  put(record, 32, op.order);
  put(record, 36, static_cast<std::uint32_t>(op.ttl.count()));
  put(record, 40, op.via);
  put(record, 41, static_cast<std::uint8_t>(op.kind));
  put(record, 42, static_cast<std::uint8_t>(op.cached));
  return record;
}

Op from_record(const Record& record) {
  Op op;
  op.invoked = TimePoint(Nanos(get<std::int64_t>(record, 0)));
  op.responded = TimePoint(Nanos(get<std::int64_t>(record, 8)));
  op.value = get<std::uint64_t>(record, 16);
  op.key = get<std::uint32_t>(record, 24);
  op.session = get<std::uint32_t>(record, 28);
  op.order = get<std::uint32_t>(record, 32);
  op.ttl = Millis(get<std::uint32_t>(record, 36));
  op.via = get<std::uint8_t>(record, 40);
  op.kind = static_cast<Kind>(
      std::min(get<std::uint8_t>(record, 41), static_cast<std::uint8_t>(Kind::kSum)));
  op.cached = get<std::uint8_t>(record, 42) != 0;
  return op;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error unusable(const std::string& path, const char* why) {
  return {ErrorCode::kUnavailable, path + ": " + why};
}

}  // namespace

Status write_history(const std::string& path, const History& history) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) return unusable(path, "cannot be opened for writing");
  const std::uint64_t count = history.size();
  bool written = std::fwrite(kMagic.data(), kMagic.size(), 1, file.get()) == 1 &&
                 std::fwrite(&count, sizeof count, 1, file.get()) == 1;
  for (const Op& op : history) {
    const Record record = to_record(op);
    written = written && std::fwrite(record.data(), kOpBytes, 1, file.get()) == 1;
  }
  if (!written || std::fflush(file.get()) != 0) return unusable(path, "cannot be written");
  return Unit{};
}

Result<History> read_history(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return unusable(path, "cannot be opened");
  std::array<char, 8> magic{};
  std::uint64_t count = 0;
  if (std::fread(magic.data(), magic.size(), 1, file.get()) != 1 ||
      std::string_view(magic.data(), magic.size()) != kMagic ||
      std::fread(&count, sizeof count, 1, file.get()) != 1) {
    return unusable(path, "is no history");
  }
  History history;
  Record record;
  while (history.size() < count && std::fread(record.data(), kOpBytes, 1, file.get()) == 1)
    history.push_back(from_record(record));
  if (history.size() != count) return unusable(path, "ends too early");
  return history;
}

}  // namespace heatsink::consistency
