// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

Error failed(const std::string& path, std::string_view why) {
  return {ErrorCode::kUnavailable, fmt::format("{}: {}", printable(path), why)};
}

}  // namespace

struct Recording::State {
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  State(std::string file, int descriptor, std::uint64_t size)
      : path(std::move(file)), fd(descriptor), file_bytes(size) {
    if (path.ends_with(".zst")) zstd.reset(ZSTD_createCCtx());
  }
  ~State() {
    if (zstd && whole) (void)pack("", ZSTD_e_end);
    close(fd);
  }
  State(const State&) = delete;

  Status write_all(std::string_view bytes) {
    if (file_bytes + bytes.size() > kFileBytesMax.count)
      return failed(path, "the recording has reached 1 GiB, the limit, and stops");
    while (!bytes.empty()) {
      const ssize_t done = write(fd, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        whole = false;
        return failed(path, std::strerror(errno));
      }
      file_bytes += static_cast<std::uint64_t>(done);
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return Unit{};
  }

  Status pack(std::string_view text, ZSTD_EndDirective mode) {
    std::array<char, 16 * 1024> packed{};
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (std::size_t left = 1; left != 0;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      left = ZSTD_compressStream2(zstd.get(), &out, &in, mode);
      if (ZSTD_isError(left) != 0) return failed(path, ZSTD_getErrorName(left));
      if (Status written = write_all({packed.data(), out.pos}); !written) return written;
    }
    return Unit{};
  }

  Status line(std::string_view text) {
    const std::string whole_line = std::string(text) + "\n";
    return zstd ? pack(whole_line, ZSTD_e_flush) : write_all(whole_line);
  }

  std::string path;
  int fd;
  std::uint64_t file_bytes;
  bool whole = true;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd;
};

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

Result<Recording> Recording::open(const std::string& path, std::string_view source,
                                  Nanos interval) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return failed(path, std::strerror(errno));
  struct stat about {};
  const bool known = fstat(fd, &about) == 0;
  Recording recording(std::make_unique<State>(
      path, fd, known && about.st_size > 0 ? static_cast<std::uint64_t>(about.st_size) : 0));
  const std::string header =
      fmt::format(R"({{"heatsink_recording":1,"source":{},"interval_seconds":{}}})",
                  boost::json::serialize(boost::json::value(printable(source))),
                  std::chrono::duration<double>(interval).count());
  if (const Status written = recording.state_->line(header); !written) return written.error();
  return recording;
}

Status Recording::append(std::string_view answer) { return state_->line(answer); }

}  // namespace heatsink::app
