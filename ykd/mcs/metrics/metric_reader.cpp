// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/metrics/metric_reader.h"

#include <algorithm>
#include <utility>

namespace yk::service {
namespace {

constexpr std::int64_t kThousandths = 1000;

/// A Deployment is looked at about once in a period: what is a bit younger than that is asked for anew.
Duration between_questions(Duration period) {
    return period / 10 * 9;
}

} // namespace

MetricReader::MetricReader(Parts parts)
    : parts_(std::move(parts)),
      period_(between_questions(parts_.settings.autoscaler_period)),
      usage_({parts_.give, parts_.post, parts_.settings.rm_id, period_, parts_.seed}),
      pages_({parts_.settings.metrics_allowed_hosts, parts_.post, period_, nullptr}) {}

Result<mcs::MetricReading> MetricReader::read(const mcs::MetricQuestion& question, Instant now) {
    const bool is_page = question.metric.source == mcs::MetricSource::Prometheus;
    return is_page ? pages_.read(question.metric, now) : read_core(question, now);
}

/// policy_text.cpp has the names, too.
Result<mcs::MetricReading> MetricReader::read_core(const mcs::MetricQuestion& question, Instant now) {
    const std::string& partition = question.deployment.partition;
    const mcs::MetricTarget& metric = question.metric;
    if (metric.name == "pendingReplicas") return pending_beside(question.deployment, now);
    if (metric.name == "allocatedPercent") {
        YK_TRY(used, usage_.allocated(partition, metric.max_age, now));
        return mcs::MetricReading{used.percent * kThousandths, {}, used.at};
    }
    if (metric.name != "queueUsagePercent") return Error::of("the core has no such metric");
    if (question.schedule == nullptr)
        return Error::of("it has no application in the core yet; ykctl mcs status says who places replicas");
    YK_TRY(used, usage_.of_queue(partition, question.schedule->application_id, metric.max_age, now));
    return mcs::MetricReading{used.percent * kThousandths, {}, used.at};
}

mcs::MetricReading MetricReader::pending_beside(const mcs::Deployment& deployment, Instant now) {
    if (!pending_at_ || now - *pending_at_ >= period_ / 3) {
        pending_at_ = now;
        count_pending();
    }
    const auto all = pending_.find(*deployment.partition);
    const auto own = pending_of_.find(deployment.meta.id);
    const std::int64_t count = (all == pending_.end() ? 0 : all->second) - (own == pending_of_.end() ? 0 : own->second);
    return {count * kThousandths, {}, *pending_at_};
}

void MetricReader::count_pending() {
    pending_.clear();
    pending_of_.clear();
    parts_.schedules.for_each([this](const rs::Ptr<mcs::DeploymentSchedule>& row) {
        if (row->pending <= 0) return;
        const auto deployment = parts_.deployments.get(row->meta.id);
        if (!deployment) return;
        pending_[*deployment->partition] += row->pending;
        pending_of_[row->meta.id] = row->pending;
    });
}

} // namespace yk::service
