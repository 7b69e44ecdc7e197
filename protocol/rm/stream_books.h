// SPDX-License-Identifier: Apache-2.0
#pragma once
// StreamBooks: the books of an RM that a process serves, in a file of its own. They are fed by the RM's callback stream
// and by nothing else: with the capability echoRequests it brings each update of the RM, whoever sent it, before what
// the core answered (I-269). So they see the same in the same order as the books that the daemon keeps of detached RMs.
//
// How far the stream was taken is written with what it brought, in one transaction; only then may it be acknowledged.
// Owner: RmClient's. Thread: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/books/book_keeper.h"
#include "protocol/rm/correction.h"
#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "protocol/wire/encoded_request.h"

namespace yk::rm {

/// How far a stream was taken: item `number` of the stream `epoch` of the daemon `boot_id`.
struct Position {
    std::string boot_id;
    std::uint64_t epoch = 0;
    std::uint64_t number = 0;
};

/// What a recovery reports: the requests, and the claim that ends it.
struct Replay {
    std::vector<wire::EncodedRequest> requests;
    si::RecoveryDoneRequest claim;
    RecoveryDigests digests; // of the claim, by buckets
};

class StreamBooks {
public:
    /// Opens the file, made if there is none. The error says why it cannot be used: another process does, it is
    /// damaged, it has the books of another RM or something else.
    [[nodiscard]] static Result<std::unique_ptr<StreamBooks>> open(const std::string& path, const std::string& rm_id);

    [[nodiscard]] const Position& position() const { return position_; }
    /// The RM begins with another stream.
    void begin(Position position);
    /// The RM took these items: one, or a Request and what the core answered. Without a Request before them, answers
    /// are those to the RM's own replay, and change nothing while `recovers`.
    void take(std::span<const si::StreamItem> items, bool recovers);

    /// Whether everything that was taken is in the file. Waits a moment for that; when it cannot be written, fault()
    /// says why, and it is tried again.
    [[nodiscard]] bool is_kept();
    /// Why the file cannot be written; empty: it can.
    [[nodiscard]] std::string fault() const;

    /// Calls `use` with each allocation in the books, placeholders too. REQUIRES: is_kept(). An error: the file cannot
    /// be read.
    [[nodiscard]] Result<void> each_allocation(const std::function<void(si::Allocation)>& use);
    /// Everything in the books. REQUIRES: is_kept().
    [[nodiscard]] Result<Replay> replay();
    /// What the core needs so as to have everything in the books, and nothing else. REQUIRES: is_kept(), and
    /// `correction` has the lists of the core.
    [[nodiscard]] Result<Replay> replay(Correction& correction);

private:
    explicit StreamBooks(std::string rm_id) : rm_id_(std::move(rm_id)) {}

    [[nodiscard]] Result<Replay> replay(books::ReplaySink sink, const books::ReplaySink::Wants& wants);
    void take_request(const si::StreamItem& item);
    void take_answer(const si::StreamItem& item);
    void take(const std::optional<si::NodeResponse>& answer);
    void take(const std::optional<si::ApplicationResponse>& answer);
    void take(const std::optional<si::AllocationResponse>& answer);
    void take_notice(const si::StreamItem& item);
    void note_position();

    const std::string rm_id_;
    Position position_;
    mutable std::mutex mutex_;
    std::string fault_; // guarded by mutex_; set by the keeper's thread
    std::unique_ptr<books::BookKeeper> keeper_;
};

/// How many items of the beginning belong together: a Request with what the core answered, else one. 0: not all of them
/// are there.
[[nodiscard]] std::size_t group_at_front(std::span<const si::StreamItem> items);

} // namespace yk::rm
