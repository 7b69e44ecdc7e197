// SPDX-License-Identifier: Apache-2.0
#pragma once
// StateRecord: the state of an RM for everybody to read: which, since when, why, and how often each transition
// happened (docs/spec/interface.md, I-201).
//
// Owner: RmShared. Thread: any; RmOwner alone notes changes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "libcore/base/time.h"
#include "protocol/si/enums.h"

namespace yk {

/// How often an RM went from one state to another one.
class StateTransitions {
public:
    static constexpr std::array kStates{si::CoreState::New,    si::CoreState::Running,   si::CoreState::Recovering,
                                        si::CoreState::Failed, si::CoreState::Suspended, si::CoreState::Lost};

    void count(si::CoreState from, si::CoreState to) { ++at(from, to); }
    [[nodiscard]] std::uint64_t of(si::CoreState from, si::CoreState to) const {
        return counts_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    }
    void add(const StateTransitions& other) {
        for (const si::CoreState from : kStates)
            for (const si::CoreState to : kStates) at(from, to) += other.of(from, to);
    }
    /// Calls `each(from, to, count)` for all that happened.
    template <class Each>
    void for_each(const Each& each) const {
        for (const si::CoreState from : kStates)
            for (const si::CoreState to : kStates)
                if (of(from, to) != 0) each(from, to, of(from, to));
    }

private:
    std::uint64_t& at(si::CoreState from, si::CoreState to) {
        return counts_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    }

    std::array<std::array<std::uint64_t, kStates.size()>, kStates.size()> counts_{};
};

class StateRecord {
public:
    explicit StateRecord(Instant now) : reading_{si::CoreState::New, now, {}, {}} {}

    struct Reading {
        si::CoreState state{};
        Instant since;      // in the scheduler's time
        std::string reason; // of the last transition
        StateTransitions transitions;
    };

    void note(si::CoreState from, si::CoreState to, const std::string& reason, Instant now) {
        const std::lock_guard lock(mutex_);
        reading_.state = to;
        reading_.since = now;
        reading_.reason = reason;
        reading_.transitions.count(from, to);
    }
    [[nodiscard]] Reading read() const {
        const std::lock_guard lock(mutex_);
        return reading_;
    }

private:
    mutable std::mutex mutex_;
    Reading reading_;
};

} // namespace yk
