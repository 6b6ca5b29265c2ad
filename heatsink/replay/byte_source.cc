// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink::replay {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kWindowLogMax = 27;
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kGzipMagic = "\x1F\x8B";

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ~FileSource() override {
    if (owned_) close(fd_);
  }
  FileSource(const FileSource&) = delete;

  Result<std::size_t> read(std::span<char> out) override {
    for (;;) {
      const ssize_t got = ::read(fd_, out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return Error{ErrorCode::kUnavailable, std::strerror(errno)};
    }
  }

 private:
  int fd_;
  bool owned_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : rest_(bytes) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t size = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), size, out.begin());
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  std::span<const char> rest_;
};

// First returns the bytes that were read to recognise the format, then the rest.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::string head, ByteSource& rest) : head_(std::move(head)), rest_(rest) {}
  PeekedSource(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), owned_(std::move(rest)), rest_(*owned_) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (head_.empty()) return rest_.read(out);
    const std::size_t size = std::min(out.size(), head_.size());
    std::copy_n(head_.begin(), size, out.begin());
    head_.erase(0, size);
    return size;
  }

 private:
  std::string head_;
  std::unique_ptr<ByteSource> owned_;
  ByteSource& rest_;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), stream_(ZSTD_createDStream()), buffer_(kBufferBytes) {
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  }

  Result<std::size_t> read(std::span<char> out) override {
    ZSTD_outBuffer unpacked{out.data(), out.size(), 0};
    while (unpacked.pos == 0) {
      if (input_.pos == input_.size && !ended_) {
        if (const Status filled = fill(); !filled) return filled.error();
      }
      if (ended_ && !in_frame_) return std::size_t{0};
      const std::size_t hint = ZSTD_decompressStream(stream_.get(), &unpacked, &input_);
      if (ZSTD_isError(hint) != 0) {
        return damaged(ZSTD_getErrorName(hint));
      }
      in_frame_ = hint != 0;
      if (ended_ && in_frame_ && unpacked.pos == 0) return damaged("it is cut off");
    }
    return unpacked.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  static Error damaged(std::string_view why) {
    return invalid_argument("the zstd data is damaged: " + std::string(why));
  }

  Status fill() {
    Result<std::size_t> got = packed_->read(buffer_);
    if (!got) return got.error();
    ended_ = *got == 0;
    input_ = {buffer_.data(), *got, 0};
    return Unit{};
  }

  std::unique_ptr<ByteSource> packed_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::vector<char> buffer_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool in_frame_ = false;
  bool ended_ = false;
};

Result<std::unique_ptr<ByteSource>> unpack(std::unique_ptr<ByteSource> source) {
  Result<std::string> head = source->take(kZstdMagic.size());
  if (!head) return head.error();
  if (head->starts_with(kGzipMagic)) {
    return Error{ErrorCode::kUnsupported,
                 "gzip is not supported: use 'zcat FILE | heatsink replay -'"};
  }
  const bool packed = *head == kZstdMagic;
  std::unique_ptr<ByteSource> whole =
      std::make_unique<PeekedSource>(std::move(*head), std::move(source));
  if (packed) whole = std::make_unique<ZstdSource>(std::move(whole));
  return whole;
}

}  // namespace

// Reads repeatedly, because a pipe may return one byte at a time.
Result<std::string> ByteSource::take(std::size_t size) {
  std::string head(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    Result<std::size_t> got = read(std::span(head).subspan(have));
    if (!got) return got.error();
    if (*got == 0) break;
    have += *got;
  }
  head.resize(have);
  return head;
}

std::unique_ptr<ByteSource> ByteSource::behind(std::string head, ByteSource& rest) {
  return std::make_unique<PeekedSource>(std::move(head), rest);
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
  if (path == "-") return unpack(std::make_unique<FileSource>(STDIN_FILENO, false));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::kNotFound, std::strerror(errno)};
  auto source = std::make_unique<FileSource>(fd, true);
  struct stat about {};
  if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode))
    return invalid_argument("it is a directory: give a file");
  return unpack(std::move(source));
}

Result<std::unique_ptr<ByteSource>> ByteSource::of(std::span<const char> bytes) {
  return unpack(std::make_unique<MemorySource>(bytes));
}

}  // namespace heatsink::replay
