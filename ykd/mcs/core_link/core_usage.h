// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreUsage: how much of its nodes and queues the core has given away, for metrics of the source `core` (rs R-112). It
// asks the daemon as any tool does, one question at a time, and keeps the answers: nobody waits for one. What is wanted
// is asked for once in a period, whoever wants it, and forgotten when nobody wants it any more.
//
// Owner: MetricReader. Thread: that of MCS. Cost: an entry for each partition, queue and application that is wanted.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "protocol/wire/value.h"
#include "ykd/mcs/core_link/core_session.h"

namespace yk::service {

class CoreUsage {
public:
    struct Parts {
        std::function<void(wire::Request)> give;         // to the daemon, as a server does
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
        std::string rm_id;                               // whose core it is
        Duration period{};                               // between two questions for the same
        std::uint64_t seed = 0;                          // of pauses
    };
    explicit CoreUsage(Parts parts);
    CoreUsage(const CoreUsage&) = delete;
    CoreUsage& operator=(const CoreUsage&) = delete;

    struct Used {
        std::int64_t percent = 0;
        Instant at; // of the answer
    };
    // Of the type of resource that has most: percent of what there is that is allocated, not older than `max_age`.
    // Whoever asks has it asked for. An error says why there is none, and the way out.

    /// Of all nodes of a partition.
    [[nodiscard]] Result<Used> allocated(const std::string& partition, Duration max_age, Instant now);
    /// Of the max of the queue that an application is in.
    [[nodiscard]] Result<Used> of_queue(const std::string& partition, const std::string& application_id,
                                        Duration max_age, Instant now);

    /// Takes answers and asks what is due. Returns whether there was any.
    bool turn(Instant now);
    /// When turn() has something to do, unless an answer comes or something is wanted; nullopt: nothing.
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// How much is kept.
    [[nodiscard]] std::size_t size() const { return known_.size(); }

private:
    enum class What : std::uint8_t { Partition, Application, Queue };
    struct Key {
        What what = What::Partition;
        std::string partition, of;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Known {
        std::optional<Instant> at; // of the answer; nullopt: there was none
        std::string fault;         // instead of what follows
        std::string queue;         // of an application
        std::int64_t percent = 0;  // of the others
        Instant wanted;            // last
        bool is_waiting = false;   // for its turn, or for its answer
    };

    [[nodiscard]] const Known& want(const Key& key, Instant now);
    [[nodiscard]] Result<Used> percent_of(const Known& known, Duration max_age, Instant now) const;
    [[nodiscard]] std::string missing(const Known& known, Duration max_age, Instant now) const;
    void ask(const Key& key);
    void take(const Key& key, const CoreSession::Answer& answer, Instant now);
    void forget(Instant now);

    const std::string rm_id_;
    const Duration period_;
    CoreSession session_;
    std::map<Key, Known> known_;
    std::deque<Key> waiting_; // for their turn
    Instant next_forget_;
};

} // namespace yk::service
