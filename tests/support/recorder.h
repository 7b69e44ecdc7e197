#pragma once
// What the core says, as lines of text: every callback and every event one line, in order. A line is a head, which the
// specification fixes, and behind ` # ` the wording for people, which it leaves free.

#include <string>
#include <string_view>
#include <vector>

#include "libcore/scheduler/callbacks.h"
#include "libcore/scheduler/event.h"

namespace yk::testing {

/// The line without its wording.
[[nodiscard]] std::string_view head_of(std::string_view line);

class RecordingCallbacks final : public Callbacks {
public:
    std::vector<std::string> lines;

    void allocation_made(const NewAllocation& allocation) override;
    void allocations_released(std::span<const ReleasedAllocation> released) override;
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) override;
    void releases_ignored(std::span<const IgnoredRelease> ignored) override;
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) override;
    void application_updated(const UpdatedApplication& updated) override;
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) override;
    void ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) override;
    void predicates_wanted(const PredicatesCall& call) override;
    void preemption_wanted(const PreemptionCall& call) override;
};

class RecordingEvents final : public EventSink {
public:
    std::vector<std::string> lines;    // all but those of type REQUEST
    std::vector<std::string> requests; // type REQUEST

    void record(const EventRecord& event) override;
};

/// Both, and a way to take what came since the last time.
struct Recorder {
    RecordingCallbacks callbacks;
    RecordingEvents events;

    struct Lines {
        std::vector<std::string> callbacks, events, requests;
    };
    [[nodiscard]] Lines take();
};

[[nodiscard]] std::string_view name_of(EventType type);
[[nodiscard]] std::string_view name_of(EventChange change);
[[nodiscard]] std::string name_of(EventDetail detail);

} // namespace yk::testing
