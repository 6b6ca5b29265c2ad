// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "heatsink/net/resolve.h"
#include "heatsink/net/socket.h"

namespace heatsink::net {
namespace {

class UnixSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "heatsink-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/s";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Fd connect() const {
    Result<Fd> socket = start_connect(unix_address(path_));
    return socket.ok() ? std::move(socket).value() : Fd();
  }
  // The file of a program that was killed.
  void leave_file_behind() const {
    Result<UnixListener> listener = listen_unix(path_, 0600, 1);
    ASSERT_TRUE(listener.ok());
    std::filesystem::rename(path_, path_ + ".kept");
    listener = UnixListener{};  // removes nothing: its file is not there
    std::filesystem::rename(path_ + ".kept", path_);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(UnixSocket, CarriesBytesAndHasItsMode) {
  const Result<UnixListener> listener = listen_unix(path_, 0640, 2);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  ASSERT_EQ(listener->sockets.size(), 2u);
  struct stat made {};
  ASSERT_EQ(::stat(path_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0640u);
  const Fd client = connect();
  ASSERT_TRUE(client);
  bool again = false;
  const Result<Accepted> accepted = accept_tcp(listener->sockets[1], again);
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted->peer, "unix:");
  EXPECT_EQ(write_some(client.get(), "abc", 3).bytes, 3u);
  char bytes[8];
  EXPECT_EQ(read_some(accepted->socket.get(), bytes, sizeof bytes).bytes, 3u);
}

TEST_F(UnixSocket, ItsFileGoesWithIt) {
  { const Result<UnixListener> listener = listen_unix(path_, 0600, 1); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(UnixSocket, AFileLeftBehindIsReplaced) {
  leave_file_behind();
  ASSERT_TRUE(std::filesystem::exists(path_));
  const Result<UnixListener> listener = listen_unix(path_, 0600, 1);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_TRUE(connect());
}

TEST_F(UnixSocket, ALivingOneIsNotReplaced) {
  const Result<UnixListener> first = listen_unix(path_, 0600, 1);
  const Result<UnixListener> second = listen_unix(path_, 0600, 1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("another program uses it"), std::string::npos);
  EXPECT_TRUE(connect());
}

TEST_F(UnixSocket, AFileThatIsNoSocketIsKept) {
  std::ofstream(path_) << "precious";
  const Result<UnixListener> listener = listen_unix(path_, 0600, 1);
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(UnixSocket, AnotherSocketAtItsPathIsNotRemoved) {
  Result<UnixListener> first = listen_unix(path_, 0600, 1);
  std::filesystem::remove(path_);
  const Result<UnixListener> second = listen_unix(path_, 0600, 1);
  ASSERT_TRUE(second.ok());
  first = UnixListener{};
  EXPECT_TRUE(connect()) << "the second one's file has gone with the first one's socket";
}

TEST_F(UnixSocket, AMissingFolderIsNamed) {
  const Result<UnixListener> listener = listen_unix(folder_ + "/none/s", 0600, 1);
  ASSERT_FALSE(listener.ok());
  EXPECT_NE(listener.error().message.find("directory does not exist"), std::string::npos);
}

TEST(FileMode, OctalDigitsOnly) {
  EXPECT_EQ(*parse_file_mode("600"), 0600u);
  EXPECT_EQ(*parse_file_mode("0777"), 0777u);
  for (const char* bad : {"", "8", "1777", "rw", "-1", "600 "})
    EXPECT_FALSE(parse_file_mode(bad).ok()) << bad;
}

}  // namespace
}  // namespace heatsink::net
