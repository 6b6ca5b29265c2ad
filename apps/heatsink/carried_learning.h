// SPDX-License-Identifier: Apache-2.0
// Turns what a proxy has learned into a message of a hand-over, and back.
#pragma once

#include <string>

#include "heatsink/copies/copies.h"
#include "heatsink/handover/handover.h"

namespace heatsink::app {

handover::Learned to_message(const copies::Learned& learned);
// Within what the message's decoder lets through, any figures.
copies::Learned from_message(const handover::Learned& message);
// For the log: "the server 1.80x, the keeper 0.90x; copies at the 3rd read".
std::string learned_text(const copies::Learned& learned);

}  // namespace heatsink::app
