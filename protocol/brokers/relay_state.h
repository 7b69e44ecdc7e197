// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a relay has come, as it is kept in the database, so that the next one goes on from there.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "libcore/base/time.h"
#include "protocol/brokers/topics.h"
#include "protocol/databases/sql_connection.h"

namespace yk::rs {

struct RelayState {
    Cursor cursor;                     // everything up to here is safe at the broker
    std::map<LaneName, Position> last; // the last one of each lane, which the next one names as the one before it

    friend bool operator==(const RelayState&, const RelayState&) = default;
};

/// Owner: the program. Thread: that of the relay.
class RelayStateStore {
public:
    virtual ~RelayStateStore() = default;
    /// nullopt: nothing was ever sent to this broker. Fenced: another process is the relay.
    [[nodiscard]] virtual Result<std::optional<RelayState>, StoreError> load(const std::string& broker) = 0;
    /// All of it, or nothing.
    [[nodiscard]] virtual Result<void, StoreError> save(const std::string& broker, const RelayState& state) = 0;
};

/// The lease by which one process at a time is the relay; nullopt as a parameter: leases are not in use.
inline constexpr const char* kRelayLease = "relay";
struct RelayLease {
    std::string holder;
    std::uint64_t epoch = 0;
};

/// Up to where a relay has sent the change log of this database, whichever process it was: what may be purged. The
/// beginning where none has sent anything of this log.
[[nodiscard]] Result<Position, StoreError> relayed_up_to(SqlConnection& connection);

/// What a relay has sent of the change log of this database, and what there is to send.
struct RelayProgress {
    Position sent;                // as relayed_up_to()
    std::optional<Position> last; // event that a relay could have read; nullopt: the log is empty
};
[[nodiscard]] Result<RelayProgress, StoreError> relay_progress(SqlConnection& connection);

/// Whether a relay sends what is written, by what the database says now and then: events that were last in the log once
/// have to be sent some time later. Values; any thread.
class RelayLag {
public:
    /// nullopt: the database did not say, and so nothing is known.
    void note(const std::optional<RelayProgress>& progress, Instant now) {
        if (!progress || (mark_ && progress->sent >= *mark_)) mark_.reset();
        if (!progress || mark_ || !progress->last || progress->sent >= *progress->last) return;
        mark_ = progress->last;
        since_ = now;
    }
    /// How long ago an event was seen in the log that is still not sent.
    [[nodiscard]] Duration lag(Instant now) const { return mark_ ? now - since_ : Duration{}; }

private:
    std::optional<Position> mark_; // that was the last one at `since_`
    Instant since_;
};

/// The table relay_state. Both calls look at the lease in their transaction, so that a process that has lost it neither
/// begins nor moves what its successor has written (rs R-046, rs R-141).
class RelayTable final : public RelayStateStore {
public:
    RelayTable(SqlConnection& connection, std::optional<RelayLease> lease)
        : connection_(connection), lease_(std::move(lease)) {}

    [[nodiscard]] Result<std::optional<RelayState>, StoreError> load(const std::string& broker) override;
    [[nodiscard]] Result<void, StoreError> save(const std::string& broker, const RelayState& state) override;

private:
    [[nodiscard]] Result<void, StoreError> check_lease();
    [[nodiscard]] Result<void, StoreError> save_row(const LaneName& lane, int part, const std::string& cursor,
                                                    const std::string& epoch);

    SqlConnection& connection_;
    const std::optional<RelayLease> lease_;
    std::string broker_;              // as it is in the table, as far as this object has written it
    std::optional<RelayState> saved_; //
};

} // namespace yk::rs
