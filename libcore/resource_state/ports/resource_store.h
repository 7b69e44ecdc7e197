// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceStore<T>: the port to the rows of one kind in a database: reads for the framework, writes for the one service
// that owns the kind. It neither caches nor tries again.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/resource_state/ports/cursor.h"
#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

/// Why a database did not do what it was asked (rs R-033). What an implementation does not know is Transient.
enum class StoreFault : std::uint8_t {
    Down,      // it cannot be reached; whoever asks next gets the same answer
    Transient, // not now: busy, a deadlock, a full disk
    Conflict,  // the row is not what the writer expected, or the id is in use
    Fenced,    // another instance has the right to write
    NotOwner,  // another service owns the kind
    Fatal      // never: wrong schema, no permission, damage
};
[[nodiscard]] std::string_view name_of(StoreFault fault);

/// What of a database is damaged, where that is why it did not do what it was asked.
enum class Damage : std::uint8_t {
    None,
    Pages, // some of it cannot be read
    File   // it is no database, or none any more
};

struct StoreError {
    StoreFault fault = StoreFault::Transient;
    std::string message;
    Damage damage = Damage::None;
};

/// The row is there but cannot be understood: of a newer program, or damaged.
struct BrokenRow {
    std::string id;
    std::string message;
};
struct AbsentRow {};

/// What is known of an id after looking: its row, that there is none, or that it cannot be understood.
template <class T>
using Found = std::variant<AbsentRow, Ptr<T>, BrokenRow>;

/// Rows that were read in one transaction, and how far the change log was then; nullopt: that cannot be said.
template <class T>
struct Rows {
    std::vector<Found<T>> found; // as many as were asked for, in that order
    std::optional<Cursor> head;
};
template <class T>
struct Page {
    std::vector<Found<T>> found; // by ascending id, none absent
    std::string last_id;         // the next page begins after it
    bool is_last = false;
    std::optional<Cursor> head;
};

/// Who writes: a service by its name, with the number of the lease that gives it the right to (0: without leases).
struct WriterIdentity {
    std::string service;
    std::uint64_t lease_epoch = 0;
};

/// Which row a writer means. Another one in its place is a Conflict, to be answered by looking again (rs R-012).
struct Expect {
    std::string uid;
    std::int64_t version = 0; // 0: any
};

/// Owner: the program. Thread: any number of calls at once if the implementation allows it; the framework makes no more
/// at once than its driver takes from StateManager::next_call().
template <Resource T>
class ResourceStore {
public:
    virtual ~ResourceStore() = default;

    /// The rows of these ids, read after the call began. Absent is an answer.
    [[nodiscard]] virtual Result<Rows<T>, StoreError> read_many(std::span<const std::string> ids) = 0;
    /// The next rows after the id `after`, at most `limit`.
    [[nodiscard]] virtual Result<Page<T>, StoreError> read_page(std::string_view after, std::size_t limit) = 0;

    // Writes. A writer that does not own the kind is refused before the database is asked (rs R-002).
    [[nodiscard]] Result<void, StoreError> insert(const WriterIdentity& writer, const T& object) {
        YK_CHECKED(check_owner(writer));
        return do_insert(writer, object);
    }
    /// `object` has the version after the expected one.
    [[nodiscard]] Result<void, StoreError> update(const WriterIdentity& writer, const T& object, const Expect& expect) {
        YK_CHECKED(check_owner(writer));
        return do_update(writer, object, expect);
    }
    [[nodiscard]] Result<void, StoreError> erase(const WriterIdentity& writer, std::string_view id,
                                                 const Expect& expect) {
        YK_CHECKED(check_owner(writer));
        return do_erase(writer, id, expect);
    }

private:
    [[nodiscard]] virtual Result<void, StoreError> do_insert(const WriterIdentity& writer, const T& object) = 0;
    [[nodiscard]] virtual Result<void, StoreError> do_update(const WriterIdentity& writer, const T& object,
                                                             const Expect& expect) = 0;
    [[nodiscard]] virtual Result<void, StoreError> do_erase(const WriterIdentity& writer, std::string_view id,
                                                            const Expect& expect) = 0;

    [[nodiscard]] static Result<void, StoreError> check_owner(const WriterIdentity& writer) {
        constexpr std::string_view kOwner = ResourceTraits<T>::kOwner;
        if (writer.service == kOwner) return {};
        return StoreError{StoreFault::NotOwner, "only " + std::string{kOwner} + " writes rows of kind " +
                                                    std::string{ResourceTraits<T>::kName} + ", not " + writer.service};
    }
};

} // namespace yk::rs
