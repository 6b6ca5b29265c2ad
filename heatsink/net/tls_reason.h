// SPDX-License-Identifier: Apache-2.0
// Explains an error of OpenSSL in a sentence that says what to do.
#pragma once

#include <string>

namespace heatsink::net {

// `verify_error`: an X509_V_ERR_ code. `server_name`: the expected name; "" on the server side.
std::string certificate_reason(int verify_error, const std::string& server_name);

// `error`: from OpenSSL's queue, after a handshake, a read or a write.
std::string tls_reason(unsigned long error, bool we_are_server);

}  // namespace heatsink::net
