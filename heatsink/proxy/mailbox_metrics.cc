// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/mailbox_metrics.h"

#include <cstddef>
#include <string>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr MetricRow kWaiting{
    "heatsink_mailbox_waiting", MetricKind::kGauge,
    "Pieces of work that other threads have posted to a thread, and that it has not finished. "
    "From 16384 on, fills and audits do without the thread: those reads go to the server.",
    "thread"};
constexpr MetricRow kPostsRefused{
    "heatsink_mailbox_refused_total", MetricKind::kCounter,
    "Pieces of work that were not posted to a thread because too many were waiting. Where one "
    "would have dropped copies, the thread drops all copies.",
    "thread"};
constexpr MetricRow kReplaced{
    "heatsink_summaries_replaced_total", MetricKind::kCounter,
    "Counts of a worker that newer ones replaced: the keeper judges less often than "
    "detection.tick."};

void append(MetricSamples& samples, const std::string& thread, const net::Mailbox::Counts& counts) {
  samples.push_back({&kWaiting, static_cast<double>(counts.waiting), {{"thread", thread}}});
  samples.push_back({&kPostsRefused, static_cast<double>(counts.refused), {{"thread", thread}}});
}

}  // namespace

void append_mailbox_samples(MetricSamples& samples, const copies::CopyKeeper& keeper,
                            std::span<const Worker* const> workers) {
  append(samples, "keeper", keeper.mailbox());
  for (const Worker* const worker : workers)
    append(samples, "worker-" + std::to_string(worker->index()), worker->mailbox());
  samples.push_back({&kReplaced, static_cast<double>(keeper.summaries_replaced())});
}

MetricRows mailbox_rows() { return {&kWaiting, &kPostsRefused, &kReplaced}; }

}  // namespace heatsink::proxy
