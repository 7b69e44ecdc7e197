// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transcript: the callbacks and events of the core as lines of text, one line each, in order. A line begins with a
// head, which the specification fixes; behind kWording follows the wording for people, which it leaves free. So two
// runs of the core can be compared, with the wording or without.
//
//   N  an allocation    L  released    A  an answer (apps, nodes, rejected...)    U  an application's new state
//   O  an ask that fits no node    P, V  the RM is asked for nodes, for victims    [rm]partition TYPE ...  an event

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/ports/callbacks.h"
#include "libcore/ports/event.h"

namespace yk {

/// Thread: the one that drives the core.
class Transcript : public Callbacks, public EventSink {
public:
    static constexpr std::string_view kWording = " # ";

    enum class Kind : std::uint8_t { Callback, Event, Request }; // Request: an event whose object is an ask

    void allocation_made(const NewAllocation& allocation) noexcept override;
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override;
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept override;
    void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept override;
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) noexcept override;
    void application_updated(const UpdatedApplication& updated) noexcept override;
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) noexcept override;
    void ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) noexcept override;
    void predicates_wanted(const PredicatesCall& call) noexcept override;
    void preemption_wanted(const PreemptionCall& call) noexcept override;
    void record(const EventRecord& event) noexcept override;

private:
    /// Takes one line.
    virtual void say(Kind kind, std::string line) = 0;
};

} // namespace yk
