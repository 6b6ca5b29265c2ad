// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string_view>

#include "heatsink/base/printable.h"

namespace heatsink::net {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

WallTime time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string text_of(const X509_NAME* name) {
  const Bio out(BIO_new(BIO_s_mem()));
  if (!out || name == nullptr) return "";
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "";
}

}  // namespace

Certificate certificate_facts(const x509_st* certificate) {
  return {text_of(X509_get_subject_name(certificate)), text_of(X509_get_issuer_name(certificate)),
          time_of(X509_get0_notBefore(certificate)), time_of(X509_get0_notAfter(certificate))};
}

Result<Certificate> read_certificate(const std::string& pem_file) {
  ERR_clear_error();
  const Bio file(BIO_new_file(pem_file.c_str(), "r"));
  const std::string what = "the certificate '" + printable(pem_file) + "'";
  if (!file) {
    ERR_clear_error();
    return Error{ErrorCode::kUnavailable,
                 what + " cannot be read: check that it exists and its permissions"};
  }
  // A callback, because without one OpenSSL would ask for a passphrase on the terminal.
  const auto no_passphrase = [](char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
    return -1;
  };
  const std::unique_ptr<X509, FreeCertificate> read(
      PEM_read_bio_X509(file.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!read) return invalid_argument(what + " has no PEM certificate");
  return certificate_facts(read.get());
}

}  // namespace heatsink::net
