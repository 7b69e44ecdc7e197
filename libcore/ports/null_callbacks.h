// SPDX-License-Identifier: Apache-2.0
#pragma once
// NullCallbacks: both outgoing ports of a core whose callbacks and events nobody reads, as in trial runs and fuzzers.
// Owner: whoever makes it. Stateless.

#include "libcore/ports/callbacks.h"
#include "libcore/ports/event.h"

namespace yk {

class NullCallbacks final : public Callbacks, public EventSink {
public:
    void allocation_made(const NewAllocation&) noexcept override {}
    void allocations_released(std::span<const ReleasedAllocation>) noexcept override {}
    void asks_rejected(std::span<const RejectedAsk>, bool) noexcept override {}
    void releases_ignored(std::span<const IgnoredRelease>) noexcept override {}
    void applications_answered(std::span<const AcceptedApplication>,
                               std::span<const RejectedApplication>) noexcept override {}
    void application_updated(const UpdatedApplication&) noexcept override {}
    void nodes_answered(std::span<const AcceptedNode>, std::span<const RefusedNode>,
                        std::span<const RefusedNode>) noexcept override {}
    void ask_outstanding(std::string_view, std::string_view, std::string_view) noexcept override {}
    void record(const EventRecord&) noexcept override {}
};

} // namespace yk
