// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeLog: the port to whatever says which rows have changed: a table that the database writes itself, or a broker.
//
// What an implementation promises (rs R-036): every commit after a capture gives an event after the captured cursor;
// events of one key keep the order of their commits; each event comes at least once; and it answers Gap when it cannot
// exclude that one was lost. Not promised: order between keys, events without repetition, or that what an event says
// of its row is still true. An event says "look at this key again" and nothing else is believed of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/resource_state/ports/cursor.h"
#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

/// What happened to a row. The numbers are those in change logs.
enum class Op : std::uint8_t {
    Insert = 1,
    Update = 2,
    Delete = 3,
    Relist = 9 // anything may have happened to any row of the kind
};

struct ChangeEvent {
    Kind kind{};
    std::string id;
    Op op = Op::Update;
    std::string uid;                  // of the row as it was when the event was written, like the version; for a
    std::int64_t version = 0;         // shortcut only (ResourceChangeConsumer). 0: not known
    std::size_t lane = 0;             // where the event stands
    Position at;                      //
    std::optional<Position> previous; // of the event before it in its lane, where a transport knows it (rs R-048)
};

/// Why the events since some moment cannot be relied on, so that a kind has to be read anew.
enum class RelistReason : std::uint8_t {
    Purged,       // the log does not go back to the cursor any more
    Epoch,        // it is another log, or an older state of the database
    Chain,        // an event is missing between two that came
    Announced,    // Op::Relist
    Unreadable,   // an event could not be understood
    OlderVersions // the database has rows older than ones it gave before
};
[[nodiscard]] std::string_view name_of(RelistReason reason);

/// What a log answers when it has no events to give.
struct LogFault {
    enum class What : std::uint8_t {
        Down, // it cannot be reached now; nothing is lost by that
        Gap   // events may be missing, and it cannot go on from where it is: capture and open it again
    };
    What what = What::Down;
    RelistReason reason = RelistReason::Purged; // of a Gap
    std::string message;
    bool is_damage = false; // what it is kept in is damaged: only a copy helps
};

struct EventBatch {
    std::vector<ChangeEvent> events;
    Cursor position;              // everything up to here was read, also where there was no event of these kinds
    std::vector<Kind> unreadable; // an event of this kind came that cannot be understood
    bool may_have_more = false;   // another poll now would not wait
};

/// A cursor that was the latest one at a moment. Only ChangeLog::capture() makes one. Full reads and ChangeLog::open()
/// take it, so that reading first and capturing afterwards, which loses what happens between, does not compile
/// (rs R-067).
class CapturedCursor {
public:
    [[nodiscard]] const Cursor& cursor() const { return cursor_; }
    /// For a relay, which goes on where it ended before, and reads no rows that could be older than its cursor.
    [[nodiscard]] static CapturedCursor resumed(Cursor cursor) { return CapturedCursor{std::move(cursor)}; }

private:
    friend class ChangeLog;
    explicit CapturedCursor(Cursor cursor) : cursor_(std::move(cursor)) {}
    Cursor cursor_;
};

/// Owner: the program. Thread: one call at a time, on any thread. A call may wait for the database or broker, but has a
/// limit of its own for that, after which it answers Down.
class ChangeLog {
public:
    virtual ~ChangeLog() = default;

    /// The latest cursor of all kinds.
    [[nodiscard]] Result<CapturedCursor, LogFault> capture() {
        YK_TRY(latest, read_latest());
        return CapturedCursor{std::move(latest)};
    }
    /// From now on poll() gives what comes after the cursor. Gap: that is not there any more.
    [[nodiscard]] virtual Result<void, LogFault> open(const CapturedCursor& from) = 0;
    /// At most `most` events in the order of the log; none when there are none now.
    [[nodiscard]] virtual Result<EventBatch, LogFault> poll(std::size_t most) = 0;

    /// It is open, and not polled now: takes what came unasked, so that whoever sends it need not keep it. No waiting.
    virtual void hear() {}
    /// It is not polled any more before it is opened again.
    virtual void close() {}

private:
    /// Every commit that it includes is visible to any read that begins later.
    [[nodiscard]] virtual Result<Cursor, LogFault> read_latest() = 0;
};

} // namespace yk::rs
