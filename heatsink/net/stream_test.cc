// SPDX-License-Identifier: Apache-2.0
// Both ends of a connection in one thread, with a certificate made here; whom a stream trusts and
// what an operator reads is tested from outside, in tests/security.
#include "heatsink/net/stream.h"
#include "heatsink/net/tls_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace heatsink::net {
namespace {

struct Identity {
  std::string cert, key;
};

// Self-signed, for localhost.
Identity make_identity(const std::string& folder) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> cert(X509_new(), X509_free);
  X509_set_version(cert.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
  X509_set_pubkey(cert.get(), key.get());
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(cert.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_sign(cert.get(), key.get(), EVP_sha256());
  Identity files{folder + "/cert", folder + "/key"};
  const auto write = [](const std::string& path, auto put) {
    FILE* file = std::fopen(path.c_str(), "w");
    put(file);
    std::fclose(file);
  };
  write(files.cert, [&](FILE* file) { PEM_write_X509(file, cert.get()); });
  write(files.key, [&](FILE* file) {
    PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return files;
}

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "heatsink-XXXXXX";
    folder_ = mkdtemp(name.data());
    identity_ = make_identity(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  TlsContext server() const {
    return TlsContext::server({identity_.cert, identity_.key, "", ClientAuth::kOff}).value();
  }
  TlsContext client(const std::string& name = "localhost") const {
    return TlsContext::client({identity_.cert, "", "", name, true}).value();
  }

  // Both ends; each opens as far as the other lets it.
  void connect(const TlsContext& to, const TlsContext& from) {
    Result<Fd> listener = listen_tcp({"127.0.0.1", 0});
    ASSERT_TRUE(listener.ok());
    const auto address = resolve({"127.0.0.1", local_port(*listener)}).value().front();
    Result<Stream> out = Stream::connect(address, from);
    ASSERT_TRUE(out.ok());
    out_ = std::move(out).value();
    pollfd waiting{listener->get(), POLLIN, 0};
    ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
    bool again = false;
    Result<Accepted> accepted = accept_tcp(*listener, again);
    ASSERT_TRUE(accepted.ok());
    in_ = Stream(std::move(accepted->socket), to);
  }
  // The error of the first end that has one, "" when both are open.
  std::string open_both() {
    bool open = false;
    for (int step = 0; step < 100'000 && !open; ++step) {
      const Result<Interest> out = out_.open();
      if (!out.ok()) return out.error().message;
      const Result<Interest> in = in_.open();
      if (!in.ok()) return in.error().message;
      open = *out == Interest::kNone && *in == Interest::kNone;
    }
    return open ? "" : "it never opened";
  }

  std::string folder_;
  Identity identity_;
  Stream in_;
  Stream out_;
};

// When the reader stops, write() refuses bytes; the writer continues from another buffer.
TEST_F(StreamTest, MuchGoesThroughAndWaitsWhereTheKernelKeepsIt) {
  connect(server(), client());
  ASSERT_EQ(open_both(), "");
  std::string sent(32 << 20, ' ');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7919 >> 8);
  std::string got;
  std::size_t done = 0;
  int refusals = 0;
  char bytes[64 * 1024];
  while (got.size() < sent.size()) {
    IoResult written{IoStatus::kOk};
    while (done < sent.size() && written.status == IoStatus::kOk) {
      const std::string moved = sent.substr(done, 100'000);
      written = out_.write(moved.data(), moved.size());
      ASSERT_NE(written.status, IoStatus::kClosed);
      done += written.bytes;
    }
    if (written.status == IoStatus::kAgain) ++refusals;
    ASSERT_LE(done - got.size(), 16u << 20) << "somebody keeps what nobody reads";
    const IoResult read = in_.read(bytes, sizeof bytes);
    ASSERT_NE(read.status, IoStatus::kClosed);
    got.append(bytes, read.bytes);
  }
  EXPECT_GT(refusals, 0);
  EXPECT_TRUE(got == sent);
}

// Such a server refuses after our handshake, and closes while our bytes are on the way.
TEST_F(StreamTest, TheServersCertificateIsShown) {
  connect(server(), client());
  ASSERT_EQ(open_both(), "");
  const std::optional<Certificate> shown = out_.peer_certificate();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->not_after - shown->not_before, std::chrono::seconds(3660));
  EXPECT_FALSE(in_.peer_certificate()) << "the client sent none";
}

TEST_F(StreamTest, TheReasonIsHeardEvenByAWriteIntoTheReset) {
  const TlsContext strict =
      TlsContext::server({identity_.cert, identity_.key, identity_.cert, ClientAuth::kRequired})
          .value();
  connect(strict, client());
  std::string refusal;
  for (int step = 0; step < 100'000 && refusal.empty(); ++step) {
    ASSERT_TRUE(out_.open().ok());
    const Result<Interest> in = in_.open();
    if (!in.ok()) refusal = in.error().message;
  }
  ASSERT_THAT(refusal, ::testing::HasSubstr("no certificate"));
  ASSERT_EQ(out_.write("x", 1).status, IoStatus::kOk);  // unread when it closes
  pollfd arrived{in_.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&arrived, 1, 10'000), 1);
  in_.close();
  pollfd reset{out_.fd(), 0, 0};
  ASSERT_EQ(poll(&reset, 1, 10'000), 1);
  EXPECT_EQ(out_.write("x", 1).status, IoStatus::kClosed);
  EXPECT_THAT(out_.loss(), ::testing::HasSubstr("the server requires a client certificate"));
}

// Else a level-triggered loop would sleep on decrypted bytes.
TEST_F(StreamTest, AReadLeavesNothingThatTheSocketDoesNotTellOf) {
  connect(server(), client());
  ASSERT_EQ(open_both(), "");
  const std::string record(TlsSession::kRecordBytesMax, 'x');
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(out_.write(record.data(), record.size()).bytes, record.size());
  std::size_t got = 0;
  char bytes[TlsSession::kRecordBytesMax];
  while (got < 5 * record.size()) {
    pollfd readable{in_.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 10'000), 1) << "after " << got << " bytes";
    got += in_.read(bytes, sizeof bytes).bytes;
  }
  EXPECT_EQ(in_.read(bytes, sizeof bytes).status, IoStatus::kAgain);
}

TEST_F(StreamTest, TheEndIsCleanWithAndWithoutAGoodbye) {
  char bytes[TlsSession::kRecordBytesMax];
  for (const bool goodbye : {true, false}) {
    connect(server(), client());
    ASSERT_EQ(open_both(), "");
    if (goodbye) {
      out_.close();
    } else {
      shutdown(out_.fd(), SHUT_WR);
    }
    pollfd readable{in_.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 10'000), 1);
    const IoResult end = in_.read(bytes, sizeof bytes);
    EXPECT_EQ(end.status, IoStatus::kClosed);
    EXPECT_EQ(end.error_number, 0);
    EXPECT_EQ(in_.loss(), "the connection was lost");
  }
}

TEST_F(StreamTest, BytesThatAreNoTlsBreakAnOpenOne) {
  connect(server(), client());
  ASSERT_EQ(open_both(), "");
  ASSERT_EQ(write_some(out_.fd(), "*1\r\n$4\r\nPING\r\n", 14).bytes, 14u);
  char bytes[TlsSession::kRecordBytesMax];
  pollfd readable{in_.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&readable, 1, 10'000), 1);
  EXPECT_EQ(in_.read(bytes, sizeof bytes).status, IoStatus::kClosed);
  EXPECT_EQ(in_.read(bytes, sizeof bytes).status, IoStatus::kClosed) << "for good";
  EXPECT_EQ(in_.write("x", 1).status, IoStatus::kClosed);
  EXPECT_EQ(in_.loss().substr(0, 4), "TLS:");
}

TEST_F(StreamTest, AnotherNameIsRefused) {
  connect(server(), client("redis.example"));
  EXPECT_NE(open_both().find("does not match the name redis.example"), std::string::npos);
}

TEST_F(StreamTest, PlainOnesAreOpenOnceConnected) {
  connect({}, {});
  EXPECT_EQ(open_both(), "");
  EXPECT_EQ(out_.write("abc", 3).bytes, 3u);
  char bytes[8];
  pollfd readable{in_.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&readable, 1, 10'000), 1);
  EXPECT_EQ(in_.read(bytes, sizeof bytes).bytes, 3u);
}

}  // namespace
}  // namespace heatsink::net
