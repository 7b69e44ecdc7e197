// SPDX-License-Identifier: Apache-2.0
#pragma once
// GroupCommit: which writes go together into one transaction of a database, and when. A commit waits for the disk, so
// many writes share one (rs R-025). Writes are carried out in the order in which they came, also when they had to be
// tried again.
//
// A database that is away is asked again with growing pauses, and nothing is answered meanwhile (rs R-034): a service
// that waits for a write is no worse off than with an error, and has nothing to repeat. Only a write that does not wait
// (WriteRequest::waits) is answered, since a user wants to know. A group that was undone as a whole is carried out one
// write at a time, so that only the one that cannot be written fails. One whose commit is in doubt is answered so, each
// of it, and not tried again here: whoever wrote would take his own row for somebody else's.
//
// It makes no call and knows no clock: whoever has a WritePort takes groups and brings back what came of them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/write_call.h"
#include "libcore/mcs/write_port.h"
#include "libcore/resource_state/backoff.h"

namespace yk::mcs {

struct GroupCommitSettings {
    std::size_t most_rows = 512;                           // of a transaction; a write of more goes alone
    Duration gather = std::chrono::milliseconds{2};        // that a write waits for others to come
    std::size_t most_waiting = 10'000;                     // writes
    rs::BackoffRange probe{std::chrono::milliseconds{100}, // pauses, while the database is away
                           std::chrono::seconds{1}};
};

/// Owner: whoever has the WritePort. Thread: one at a time. Cost: O(1) for each write.
class GroupCommit {
public:
    using Calls = std::vector<std::unique_ptr<WriteCall>>;

    GroupCommit(const GroupCommitSettings& settings, std::uint64_t seed)
        : settings_(settings), breaker_(settings.probe, seed) {}

    /// REQUIRES: !is_full().
    void add(std::unique_ptr<WriteCall> call, Instant now);
    [[nodiscard]] bool is_full() const { return size() >= settings_.most_waiting; }
    /// Writes that are not answered, those under way included.
    [[nodiscard]] std::size_t size() const { return waiting_.size() + under_way_; }
    /// When the next group is complete; nullopt: nothing waits.
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// The next group, whether it is due or not; empty: nothing waits. REQUIRES: none is under way.
    [[nodiscard]] Calls take();
    /// Ends the group that is under way. Returns those of it that are answered now; the others wait again.
    [[nodiscard]] Calls finish(Calls group, GroupOutcome outcome, Instant now);
    /// Answers all that wait with Transient, since nobody will carry them out.
    [[nodiscard]] Calls give_up(std::string_view why);

    /// Why the database cannot be asked; empty: it can, or nothing waits for it.
    [[nodiscard]] const std::string& fault() const { return fault_; }

private:
    struct Waiting {
        std::unique_ptr<WriteCall> call;
        Instant since;
        bool is_alone = false; // it goes into a transaction of its own
    };

    void put_back(Calls group, bool alone);

    const GroupCommitSettings settings_;
    rs::Breaker breaker_;
    std::deque<Waiting> waiting_;
    std::size_t rows_ = 0; // of all that wait
    std::size_t under_way_ = 0;
    bool is_alone_ = false; // the one under way
    std::string fault_;
};

} // namespace yk::mcs
