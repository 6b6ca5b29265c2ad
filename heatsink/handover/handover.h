// SPDX-License-Identifier: Apache-2.0
// handover: the messages by which a running proxy gives its sockets and clients to its successor.
// Start with message.h: who sends what, and in which order (docs/design/handover.md).
#pragma once

#include "heatsink/handover/channel.h"   // IWYU pragma: export
#include "heatsink/handover/encoding.h"  // IWYU pragma: export
#include "heatsink/handover/message.h"   // IWYU pragma: export
