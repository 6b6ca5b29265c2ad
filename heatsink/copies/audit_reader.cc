// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/audit_reader.h"

#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {

AuditReader::AuditReader(NodeState& shared, net::EventLoop& loop, Auditor& auditor)
    : shared_(shared),
      loop_(loop),
      auditor_(auditor),
      one_(reader_options(shared), auditor),
      connection_(loop, shared.upstream_address, one_, shared.connection_options(),
                  "audit of local copies"),
      nodes_(loop, shared.cluster, *this, node_options()) {
  auditor_.use(one_);
}

AuditReader::~AuditReader() {
  loop_.cancel(timer_);
  loop_.cancel(suspects_timer_);
}

// Without copies of its own it has no slots to prove, except those that it has just asked about.
topology::ClusterTrackerOptions AuditReader::node_options() const {
  return {.tracker = reader_options(shared_),
          .connection = shared_.connection_options(),
          .name = "audit of local copies",
          .copy_life = Nanos(0)};
}

// The connections stay when audits end: each costs a command in ten seconds.
void AuditReader::begin() {
  if (timer_ != 0 || !audits(shared_.options())) return;
  timer_ = loop_.call_every(kReaderHeartbeat, [this] { tick(); });
  if (in_cluster_) {
    follow_map();
  } else {
    connection_.connect();
  }
}

void AuditReader::begin_cluster() {
  in_cluster_ = true;
  auditor_.use(nodes_);
  connection_.close("the server is a node of a cluster");
  follow_map();
}

void AuditReader::tick() {
  if (in_cluster_) {
    nodes_.tick();
  } else {
    connection_.tick();
  }
}

void AuditReader::follow_map() {
  if (in_cluster_ && timer_ != 0) nodes_.follow_map();
}

void AuditReader::flush() {
  connection_.flush();
  nodes_.flush();
}

void AuditReader::follow_server() {
  if (timer_ != 0 && !in_cluster_) connection_.follow();
}

void AuditReader::renew(TimePoint lost_at) { connection_.renew(lost_at); }

void AuditReader::set_resting(bool resting) {
  one_.set_resting(resting);
  nodes_.set_resting(resting);
}

void AuditReader::options_changed() {
  one_.set_options(reader_options(shared_));
  connection_.set_options(shared_.connection_options());
  nodes_.set_options(node_options());
  begin();
}

void AuditReader::watch_suspects() {
  if (!auditor_.watches() || suspects_timer_ != 0) return;
  suspects_timer_ = loop_.call_after(Auditor::kLookInterval, [this] {
    suspects_timer_ = 0;  // the turn of this timer ends in watch_suspects() again
    auditor_.look(loop_.clock());
  });
}

}  // namespace heatsink::copies
