// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/replicas_report.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/json_values.h"

namespace heatsink::report {

std::string replicas_json(std::span<const ReplicaReport> replicas) {
  boost::json::array out;
  out.reserve(replicas.size());
  for (const ReplicaReport& each : replicas) {
    boost::json::object replica;
    replica["address"] = printable(each.address);
    replica["zone"] = each.zone.empty() ? nullptr : boost::json::value(printable(each.zone));
    replica["near"] = each.is_near;
    replica["age_seconds"] = each.age ? seconds(*each.age) : nullptr;
    replica["fresh"] = each.is_fresh;
    replica["fault"] = each.fault.empty() ? nullptr : boost::json::value(each.fault);
    replica["sent"] = each.sent;
    out.push_back(std::move(replica));
  }
  boost::json::object all;
  all["replicas"] = std::move(out);
  return boost::json::serialize(all) + "\n";
}

}  // namespace heatsink::report
