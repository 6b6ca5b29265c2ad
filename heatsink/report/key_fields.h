// SPDX-License-Identifier: Apache-2.0
// Names the members of a key, a template and a node in JSON (docs/reference/http-api.md): one row
// per member, for writing and for reading.
#pragma once

#include <span>

#include "heatsink/report/fields.h"
#include "heatsink/report/key_view.h"
#include "heatsink/report/node_view.h"

namespace heatsink::report {

// The names of a key, which stand in two forms, are not among the rows: add_name() writes them,
// and read_name() reads them.
std::span<const Field<KeyView>> key_fields();
std::span<const Field<KeyView>> template_fields();
std::span<const Field<NodeView>> node_fields();

void read_name(Members& members, KeyView& key);

}  // namespace heatsink::report
