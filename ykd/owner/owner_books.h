// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerBooks: what happens to a detached RM, on its way into the RM's books (protocol/books): each request before the
// core gets it, each callback as the core makes it, in this order.
//
// Owner: RmOwner. Thread: the owner thread of the RM; nothing here waits.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ports/callbacks.h"
#include "protocol/books/book_keeper.h"

namespace yk {

class OwnerBooks final : public Callbacks {
public:
    /// All callbacks go on to `next`.
    explicit OwnerBooks(Callbacks& next) : next_(next) {}

    /// From now on everything is noted; nullptr: nothing.
    void set_keeper(std::shared_ptr<books::BookKeeper> keeper) { keeper_ = std::move(keeper); }
    [[nodiscard]] const std::shared_ptr<books::BookKeeper>& keeper() const { return keeper_; }
    /// Whether so much waits to be written that nothing more should happen.
    [[nodiscard]] bool is_full() const { return keeper_ && keeper_->is_full(); }
    /// As BookKeeper::when_kept(); at once when nothing is kept, and false after close().
    void when_kept(std::function<void(bool kept)> call) {
        keeper_ ? keeper_->when_kept(std::move(call)) : call(!closed_);
    }
    /// Writes what waits, and closes the file, as the daemon stops. What happens from now on is not kept.
    void close() {
        closed_ = closed_ || keeper_ != nullptr;
        keeper_.reset();
    }
    /// Ends the turn: what was noted in it is written together.
    void end_turn() {
        if (keeper_) keeper_->end_turn();
    }
    /// While this is set the RM itself does not take part in what happens: its core is dropped or made anew.
    void set_silent(bool silent) { silent_ = silent; }

    // Names of texts in the books.
    static constexpr std::string_view kRegistration = "registration"; // the message, without configuration
    static constexpr std::string_view kFromFile = "fromFile";         // not empty: the RM follows its group's file

    static constexpr std::string_view kPartitions = "partitions"; // names, a line each: as they run

    void note_registration(const si::RegisterResourceManagerRequest& request);
    /// `partitions`: the short names of all that run. What was in others went with them.
    void note_configuration(books::KeptConfiguration configuration, bool from_file,
                            const std::vector<std::string>& partitions);
    /// The RM has another policy group or other extraConfig; what is empty stays as it was.
    void note_change(const std::string& policy_group, const std::optional<si::StringMap>& extra_config);

    template <class Request>
    void note_sent(const std::shared_ptr<const Request>& request, Instant now) {
        if (notes()) keeper_->note(request, now.ns / kSecond);
    }

    void allocation_made(const NewAllocation& allocation) noexcept override;
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override;
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept override;
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) noexcept override;
    void application_updated(const UpdatedApplication& updated) noexcept override;
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) noexcept override;
    void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept override {
        next_.releases_ignored(ignored);
    }
    void ask_outstanding(std::string_view application, std::string_view key,
                         std::string_view reason) noexcept override {
        next_.ask_outstanding(application, key, reason);
    }
    void predicates_wanted(const PredicatesCall& call) noexcept override { next_.predicates_wanted(call); }
    void preemption_wanted(const PreemptionCall& call) noexcept override { next_.preemption_wanted(call); }
    void carried_out(const LateCommand& command) noexcept override;

private:
    static constexpr std::int64_t kSecond = 1'000'000'000; // ns

    [[nodiscard]] bool notes() const { return keeper_ && !silent_; }
    void note_late(const LateCommand& command);
    void note(books::Outcome::What what, std::string_view partition, std::string_view id, std::string_view key = {});

    Callbacks& next_;
    std::shared_ptr<books::BookKeeper> keeper_;
    bool silent_ = false, closed_ = false;
    si::RegisterResourceManagerRequest registration_; // as it was noted
};

} // namespace yk
