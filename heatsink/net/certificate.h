// SPDX-License-Identifier: Apache-2.0
// Reads what people must know of a certificate: whose it is, and until when it is valid.
#pragma once

#include <chrono>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

struct x509_st;

namespace heatsink::net {

// The names are as the certificate has them: escape them before a terminal shows them.
struct Certificate {
  std::string subject;  // "CN = redis.example"
  std::string issuer;
  WallTime not_before, not_after;
};

// REQUIRES a certificate. Dates that OpenSSL cannot read become 1970.
Certificate certificate_facts(const x509_st* certificate);

// The first certificate of a PEM file. Errors name the file: kUnavailable if it cannot be read,
// kInvalidArgument if it has no certificate.
Result<Certificate> read_certificate(const std::string& pem_file);

}  // namespace heatsink::net
