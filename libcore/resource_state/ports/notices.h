// SPDX-License-Identifier: Apache-2.0
#pragma once
// NoticeSink: the port by which the framework says what an operator wants to see: one notice for each change of its own
// state, none for a single key that goes its normal way. The program logs them, counts them, or keeps dead letters in
// its database.

#include <cstdint>
#include <string>
#include <string_view>

namespace yk::rs {

enum class NoticeKind : std::uint8_t {
    StoreDown,        // the database cannot be reached; `text` says why
    StoreUp,          //
    LogDown,          // the change log cannot be reached: caches stay readable and get stale
    LogUp,            //
    Gap,              // events may be missing; `text` is the reason
    Relist,           // a kind is read anew; `text` is the reason
    StartAgain,       // what the start had read is thrown away
    StartSlow,        // the start takes longer than it should, and goes on
    Synced,           // every cache has what the database has; handlers begin
    ResyncDone,       // `text` is the report
    Repair,           // a resync found what no event had announced (rs R-099)
    SameVersion,      // a row changed without a new version
    StaleRead,        // a row was older than it had been; `text`: trusted after all
    Broken,           // a row cannot be understood; the cache keeps what it had
    Mended,           // it can again
    DeadLetter,       // a handler failed too often with a key; `handler`, and `text` is its error. Tries go on
    DeadLetterGone,   // it succeeded
    Stalled,          // a handler's call takes longer than it may
    ReconcilerFailed, // a periodic reconciler failed; `handler` is its name
};
[[nodiscard]] std::string_view name_of(NoticeKind kind);

/// Views: valid during the call.
struct Notice {
    NoticeKind what{};
    std::string_view kind;    // name of the resource's kind; empty: all
    std::string_view id;      // empty: the whole kind
    std::string_view handler; //
    std::string_view text;
    std::uint64_t attempts = 0; // of a DeadLetter
};

/// Owner: the program. Thread: the owner of the StateManager. REQUIRES: notice() does not call back into the framework.
class NoticeSink {
public:
    virtual ~NoticeSink() = default;
    virtual void notice(const Notice& notice) = 0;
};

} // namespace yk::rs
