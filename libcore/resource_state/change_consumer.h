// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceChangeConsumer: turns change events into keys in the queue of their kind, and what may have been missed into
// relists. It reads no row and believes nothing of an event but its kind and its id.
//
// Owner: StateManager. Thread: its owner's.

#include <map>
#include <optional>
#include <vector>

#include "libcore/resource_state/informer.h"
#include "libcore/resource_state/settings.h"

namespace yk::rs {

struct ConsumerCounters {
    std::uint64_t events = 0;
    std::uint64_t foreign = 0;                     // of kinds that nobody here has
    std::uint64_t repeated = 0;                    // known to be repetitions, by their chain
    std::uint64_t unchained = 0;                   // that do not say what came before them
    std::uint64_t unreadable = 0;                  //
    std::map<RelistReason, std::uint64_t> relists; // by reason
};

class ResourceChangeConsumer {
public:
    ResourceChangeConsumer(const Settings& settings, NoticeSink& notices) : settings_(settings), notices_(notices) {}

    void add(Informer& informer) { informers_.emplace(informer.kind(), &informer); }

    /// The log was opened: what comes next has no event before it.
    void begin_chain() { chain_.clear(); }
    void on_events(const EventBatch& batch, Instant now);
    /// Reads a kind anew (nullopt: every kind).
    void relist(std::optional<Kind> kind, RelistReason reason, Instant now);

    /// Relists that were put off; false: none is due.
    bool turn(Instant now);
    [[nodiscard]] std::optional<Instant> next_due() const;
    [[nodiscard]] const ConsumerCounters& counters() const { return counters_; }

private:
    enum class Link : std::uint8_t {
        Fits,
        Older, // it came before
        Same,  // it stands where the last one does: a repetition, or a relist of another kind, of which a relay
               // announces several at one place
        Broken // another one should have come between
    };

    [[nodiscard]] Link check_chain(const ChangeEvent& event);
    void on_event(const ChangeEvent& event, Instant now);
    void on_unreadable(Kind kind, Instant now);

    const Settings& settings_;
    NoticeSink& notices_;
    std::map<Kind, Informer*> informers_;
    std::map<std::size_t, Position> chain_;   // the last event, by lane
    std::map<Kind, Instant> last_unreadable_; // relist for one
    std::map<Kind, Instant> put_off_;         // when a relist for one is due
    ConsumerCounters counters_;
};

} // namespace yk::rs
