// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heatsink::net {
namespace {

using ::testing::HasSubstr;

// Self-signed for /O=heatsink/CN=test by `openssl req -x509 -days 36500`.
constexpr const char* kPem =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBmzCCAUGgAwIBAgIUQ9lsU/8rp3mYE+Yv1NzjdFkTv8AwCgYIKoZIzj0EAwIw\n"
    "IjERMA8GA1UECgwIaGVhdHNpbmsxDTALBgNVBAMMBHRlc3QwIBcNMjYxMTI1MTQ1\n"
    "MTUwWhgPMjEyNjExMDExNDUxNTBaMCIxETAPBgNVBAoMCGhlYXRzaW5rMQ0wCwYD\n"
    "VQQDDAR0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcWjll5MylzDrCQcE\n"
    "OEgwGi+Pd1968ogTK3J/ShO/bCgS0pzl3hHFfxXvItVgEkms5aMwiALJaJrWpvIj\n"
    "cMkfKaNTMFEwHQYDVR0OBBYEFAWm4k3RHvdxGORWjVaBsDkdwrQOMB8GA1UdIwQY\n"
    "MBaAFAWm4k3RHvdxGORWjVaBsDkdwrQOMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI\n"
    "zj0EAwIDSAAwRQIgPEICl3Kj4AaBNA2aBtRpN/Gu4vgqSy+3Cspcqo65dr8CIQCk\n"
    "Y3psQQFhG2az7ZO6kK4t+yagk8cR3ZkKWMWKBrz5Zw==\n"
    "-----END CERTIFICATE-----\n";

std::string file_of(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("heatsink_certificate_" + std::to_string(getpid()) + ".pem");
  std::ofstream(path) << text;
  return path;
}

TEST(Certificate, ItsNamesAndDatesAreRead) {
  const std::string path = file_of(kPem);
  const Result<Certificate> read = read_certificate(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->subject, "O = heatsink, CN = test");
  EXPECT_EQ(read->issuer, read->subject);
  EXPECT_EQ(read->not_after - read->not_before, std::chrono::hours(24 * 36500));
}

TEST(Certificate, AFileWithoutOneIsNamed) {
  const std::string path = file_of("-----BEGIN CERTIFICATE-----\nx\n");
  const Result<Certificate> read = read_certificate(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(read.error().message, HasSubstr(path));
  EXPECT_EQ(read_certificate("/none").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace heatsink::net
