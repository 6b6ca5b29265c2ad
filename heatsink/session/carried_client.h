// SPDX-License-Identifier: Apache-2.0
// A client as one process gives it to another: its connections, and its session's state.
#pragma once

#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/session/carried_session.h"

namespace heatsink::proxy {

struct CarriedClient {
  CarriedSession session;
  net::Stream client;              // registered in no loop
  net::Stream private_connection;  // if session.private_connection
  std::vector<net::Stream> nodes;  // as many as session.nodes
};

}  // namespace heatsink::proxy
