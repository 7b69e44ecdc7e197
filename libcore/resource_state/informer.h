// SPDX-License-Identifier: Apache-2.0
#pragma once
// Informer: what StateManager and ResourceChangeConsumer need of a kind, whatever its type is; ResourceInformer<T> is
// the one implementation.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/resource_state/event_handler.h"
#include "libcore/resource_state/io_call.h"
#include "libcore/resource_state/ports/change_log.h"
#include "libcore/resource_state/resource_resync.h"

namespace yk::rs {

/// One handler in a status.
struct HandlerStatus {
    std::string name;
    bool is_active = false;
    std::size_t backlog = 0; // keys that it has to be called for
    std::size_t dead_letters = 0;
    HandlerCounters counters;
};

/// A row that could not be understood when it was read last.
struct BrokenStatus {
    std::string id;
    std::string why;
};

/// A kind as an operator wants to see it. A copy.
struct KindStatus {
    std::string name;
    bool is_synced = false;
    std::size_t size = 0;          // objects in the cache
    std::size_t queued = 0;        // keys to be read now
    std::size_t waiting = 0;       // keys to be read later, or being read
    std::optional<Instant> oldest; // when the oldest of `queued` was added
    std::size_t broken_rows = 0;
    std::vector<BrokenStatus> broken; // the first of them by id, at most kMostBroken
    ReconcileCounters counters;
    std::vector<HandlerStatus> handlers;
    std::optional<ScanReport> last_scan;
    std::optional<Instant> read_whole; // the last full read that was not aborted ended then
    static constexpr std::size_t kMostBroken = 10;
};

/// By what an object of the cache and a row of the database are compared.
struct RowImage {
    std::string uid;
    std::int64_t version = 0;
    std::uint64_t content = 0; // hash
    friend bool operator==(const RowImage&, const RowImage&) = default;
};
template <Resource T>
[[nodiscard]] RowImage image_of(const T& object) {
    return {meta_of(object).uid, meta_of(object).version, ResourceTraits<T>::content_hash(object)};
}

/// One key as an operator wants to see it, beside its row in the database. A copy.
struct KeyStatus {
    std::optional<RowImage> cached; // nullopt: the cache has no such object
    bool is_queued = false;         // its row is going to be read
    std::string broken;             // why its row could not be understood when it was read last; empty: it could
    std::vector<HandlerKeyStatus> handlers;
};

/// Owner: StateManager. Thread: its owner's.
class Informer {
public:
    enum class Load : std::uint8_t { None, Reading, Done, Failed };

    virtual ~Informer() = default;
    [[nodiscard]] virtual Kind kind() const = 0;
    [[nodiscard]] virtual std::string_view name() const = 0;

    // --- work -----------------------------------------------------------------------------------
    /// The next call of the database; nullptr: none now.
    [[nodiscard]] virtual std::unique_ptr<IoCall> next_call(Instant now) = 0;
    /// Does a bit of what needs no port, such as one call of a handler; false: there is nothing.
    virtual bool turn(Instant now) = 0;
    [[nodiscard]] virtual std::optional<Instant> next_due() const = 0;
    /// Whether a call is under way.
    [[nodiscard]] virtual bool is_calling() const = 0;

    // --- the first full read --------------------------------------------------------------------
    /// Forgets what it read and reads everything. What is newer than the cursor comes as events afterwards. REQUIRES:
    /// !is_calling(), and that no handler has begun.
    virtual void begin_load(const CapturedCursor& captured) = 0;
    [[nodiscard]] virtual Load load() const = 0;
    /// Why it has failed.
    [[nodiscard]] virtual const std::string& load_fault() const = 0;
    /// From now on is_settled() says whether every key that is to be read now was read once.
    virtual void mark() = 0;
    [[nodiscard]] virtual bool is_settled() const = 0;
    /// Every kind has what the database has: the handlers begin (start, S7).
    virtual void begin_handlers(Instant now) = 0;
    virtual void set_page_factor(std::size_t factor) = 0;

    // --- what comes in --------------------------------------------------------------------------
    virtual void enqueue(std::string_view id, const Reason& reason, Instant now) = 0;
    virtual void on_event(const ChangeEvent& event, Instant now) = 0;
    virtual void on_consumed(const Cursor& position, Instant now) = 0;
    virtual void request_scan(ScanKind kind, Instant now) = 0;
    [[nodiscard]] virtual bool is_scanning() const = 0;
    virtual void begin_era() = 0;
    /// Whether rows were older than they had been; asked once.
    [[nodiscard]] virtual bool take_older_found() = 0;
    /// nullopt: it has gone.
    virtual void set_lease(std::string_view service, const std::optional<Lease>& lease, Instant now) = 0;
    virtual void announce_stalled(Instant now) = 0;
    /// See HandlerQueue; of all handlers.
    virtual std::size_t retry_dead_letters(std::string_view id, Instant now) = 0;
    [[nodiscard]] virtual KindStatus status() const = 0;
    [[nodiscard]] virtual KeyStatus inspect(std::string_view id) const = 0;
};

} // namespace yk::rs
