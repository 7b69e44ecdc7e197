// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScheduleStatus: what a schedule remembers of what it has submitted, in the column `status` of its row. So everything
// that runs can be submitted again as it was, also after its Deployment has changed, or has released it and gone.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_schedule.h"

namespace yk::mcs {

/// What a schedule remembers of its attempts; it is to be written together with the placements.
struct Attempts {
    std::int64_t next = 0;    // above those of all replicas that were given up: new ones begin here
    std::int64_t current = 0; // lower ones were asked for before the Deployment changed

    friend bool operator==(const Attempts&, const Attempts&) = default;
};

/// What the application is made of; another one of these is another application for the core.
struct ApplicationSpec {
    std::string partition;
    std::string queue;
    std::string user;
    std::vector<std::string> groups;
    Texts tags; // the user's, but for those of ReplicaSpec

    friend bool operator==(const ApplicationSpec&, const ApplicationSpec&) = default;
};
[[nodiscard]] ApplicationSpec application_spec_of(const Deployment& deployment);

/// What each replica asks for, and runs.
struct ReplicaSpec {
    Amounts resource;
    std::int32_t priority = 0;
    Texts work{}; // the tags that say so (work_tags.h); the core does not see them

    friend bool operator==(const ReplicaSpec&, const ReplicaSpec&) = default;
};
[[nodiscard]] ReplicaSpec replica_spec_of(const Deployment& deployment);

struct ScheduleStatus {
    struct Version { // what attempts from this one on, up to the next version, have asked for
        std::int64_t from_attempt = 0;
        ReplicaSpec spec;
        friend bool operator==(const Version&, const Version&) = default;
    };

    ApplicationSpec application;
    std::vector<Version> versions; // by ascending attempt, at least one: the last is the one that is wanted
    std::int64_t next_attempt = 0; // of a new replica
    std::string message;           // why it is not as it should be, for people; empty: nothing is wrong

    [[nodiscard]] Attempts attempts() const { return {next_attempt, versions.back().from_attempt}; }
    [[nodiscard]] const ReplicaSpec& spec_of(std::int64_t attempt) const;
    /// Whether replicas may run that have asked for what is not wanted any more.
    [[nodiscard]] bool has_outdated() const { return versions.size() > 1; }

    friend bool operator==(const ScheduleStatus&, const ScheduleStatus&) = default;
};

/// Of a schedule that has submitted nothing yet.
[[nodiscard]] ScheduleStatus first_status(const Deployment& deployment);
/// Without versions that none of the placements is of.
[[nodiscard]] ScheduleStatus pruned(ScheduleStatus status, const std::vector<Placement>& placements);

/// The port to the text in the column, so that libcore needs no library for it.
///
/// Owner: the program. Thread: that of the Scheduler; no call waits.
class ScheduleTexts {
public:
    virtual ~ScheduleTexts() = default;
    [[nodiscard]] virtual std::string text_of(const ScheduleStatus& status) const = 0;
    [[nodiscard]] virtual Result<ScheduleStatus> status_of(std::string_view text) const = 0;
};

} // namespace yk::mcs
