// SPDX-License-Identifier: Apache-2.0
// Defines the messages between a running proxy (the predecessor) and the one that takes over (the
// successor).
//
//   successor     Hello            kOldestVersion, which every predecessor knows
//   predecessor   Offer            the listening sockets
//   predecessor   Keys             empty, and not the last: it knows version 2
//   predecessor   Rule*, Keys*     rules that were changed live; names of keys to load
//   successor     Hello            its own version, to a predecessor that knows version 2
//   successor     Ready            it runs, has its copies, and accepts no client yet
//   predecessor   Learned          to a successor that knows version 3
//   predecessor   Go               it accepts no client any more: the successor does
//   predecessor   Client*          one client each, with its connections (ClientWithNodes*)
//   successor     Taken*           the client's former owner may forget it
//   successor     Refused*         the client's former owner goes on serving it
//   predecessor   Done             the clients that remain are drained
//
// Version 1 has neither the empty Keys, nor the second Hello, ClientWithNodes and Refused. Version
// 2 has no Learned. Versions 4 and 5 have no message of their own, but read layouts 3 and 4 of a
// session. The layout of a session (heatsink/session/carried_session.h) has a number of its own;
// version 1 can read only layout 1.
//
// A predecessor whose successor is gone before Done goes on serving. A successor whose predecessor
// is gone after Offer serves what it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::handover {

inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::uint32_t kVersion = 5;
// One message is one packet, and the kernel's default buffer (208 KiB) has to hold it.
inline constexpr std::size_t kMessageBytesMax = 128 * 1024;
inline constexpr std::size_t kListenersMax = 128;
inline constexpr std::size_t kDescriptorsMax = kListenersMax + 1;
inline constexpr std::size_t kNodesMax = 100;   // of one client
inline constexpr std::size_t kRulesMax = 2000;  // of all Rules together
inline constexpr std::size_t kRuleBytesMax = 64 * 1024;
inline constexpr std::size_t kKeysMax = 1000;  // of all Keys together
inline constexpr std::size_t kKeyBytesMax = 4096;

struct Hello {
  std::uint32_t version = kOldestVersion;
};
// With the descriptors of the listening sockets, and of the admin API's if `has_admin`.
struct Offer {
  std::string listen;    // proxy.listen, as the predecessor understands it
  std::string upstream;  // the server and the user there, without the password
  std::uint32_t listeners = 0;
  bool has_admin = false;
  // The file of a Unix socket, which its last owner removes; 0: TCP.
  std::uint64_t file_device = 0, file_inode = 0;
};
// One that an operator has added to the running proxy, or removed from it.
struct Rule {
  bool is_added = false;
  std::string text;  // in the form of --rule; "" if removed
  std::string match;
  std::string origin;  // who has added it, and when
};
struct Keys {
  struct Key {
    std::string name;
    std::uint32_t db = 0;
    std::uint64_t lasts_ms = 0;
  };
  std::vector<Key> keys;
  bool is_last = false;
};
struct Ready {};
struct Go {
  std::uint64_t next_client_id = 1;
};
// With the descriptor of the client's connection, and of its private one to the server.
struct Client {
  std::uint64_t token = 0;
  bool has_private = false;
  std::string state;  // of its session (heatsink/session/carried_session.h)
};
struct Taken {
  std::uint64_t token = 0;
};
struct Done {};
// Nothing was read from the client's connections, and nothing was sent there.
struct Refused {
  std::uint64_t token = 0;
};
// A client that listens at nodes of a cluster: their connections follow the two of `client`.
struct ClientWithNodes {
  Client client;
  std::uint32_t nodes = 1;
};

// What the predecessor has learned for the choice of what gets a copy (heatsink/copies/learned.h).
// Fractions are in millionths.
struct Learned {
  static constexpr std::uint64_t kOne = 1'000'000;
  std::uint64_t server_scale = 0, keeper_scale = 0, worker_scale = 0;  // 0: not measured
  std::uint64_t at_once = kOne, awaited = kOne;
  // Of admit::Choice; reads 0: there is none yet.
  std::uint32_t reads = 0, reads_with_room = 0, history = 0, pace = 0;
  bool is_sieve = false;
};

using Message = std::variant<Hello, Offer, Rule, Keys, Ready, Go, Client, Taken, Done, Refused,
                             ClientWithNodes, Learned>;

// The name of the kind, for errors: "offer".
const char* name_of(const Message& message);
// How many descriptors belong to it.
std::size_t descriptors_of(const Message& message);

// The result may be longer than kMessageBytesMax: then it cannot be sent.
std::string encode(const Message& message);
// Reads any bytes. The error says what is wrong.
Result<Message> decode(std::string_view bytes);

}  // namespace heatsink::handover
