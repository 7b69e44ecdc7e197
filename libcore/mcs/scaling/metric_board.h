// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricBoard: the last values of the metrics of all Deployments, from whoever measures them. Measuring happens
// elsewhere; a decision takes what is here and never waits (rs R-112).
//
// A value counts until it is older than its metric allows. One of the whole takes the place of those of replicas, and
// the other way round. What is kept is bounded: values come in only for metrics of the Deployment's policy, and for
// replicas that it may have; whoever learns that a policy changed or a Deployment went says so by keep_only().
//
// Owner: whoever decides. Thread: its owner's.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/mcs/scaling/metric_proposal.h"

namespace yk::mcs {

struct MetricSample {
    std::string_view name;
    std::optional<std::int64_t> replica; // that it is of; nullopt: of the whole
    std::int64_t value = 0;              // thousandths
};

class MetricBoard {
public:
    /// `uid` is the Deployment's, so that one that is created again does not get old values. An error says which field
    /// of the sample is wrong and what is allowed.
    [[nodiscard]] Result<void> push(std::string_view uid, const ScalingPolicy& policy, const ReplicaBounds& bounds,
                                    const MetricSample& sample, Instant now);
    /// nullopt: there is no value, or only such that are too old.
    [[nodiscard]] std::optional<MetricReading> read(std::string_view uid, const MetricTarget& metric,
                                                    Instant now) const;
    /// Forgets the Deployment's metrics that are not in `policy`; nullptr: all.
    void keep_only(std::string_view uid, const ScalingPolicy* policy);
    /// Deployments with a value.
    [[nodiscard]] std::size_t size() const { return deployments_.size(); }

private:
    struct Value {
        std::int64_t value = 0;
        Instant at;
    };
    struct Values { // of one metric; either of the two
        std::optional<Value> whole;
        std::map<std::int64_t, Value> replicas;
    };
    using Metrics = std::map<std::string, Values, std::less<>>;

    std::map<std::string, Metrics, std::less<>> deployments_; // by uid
};

} // namespace yk::mcs
