// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeWriter: changes Deployments as the daemon does, by McsWriter and its groups, and notes when each change was
// committed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "protocol/databases/mcs_group.h"
#include "protocol/databases/mcs_writer.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::bench {

/// Nanoseconds of the clock that all processes of a machine have in common.
[[nodiscard]] inline std::int64_t steady_ns() {
    return SteadyClock::now().time_since_epoch().count();
}
[[nodiscard]] inline double seconds_since(std::int64_t ns) {
    return static_cast<double>(steady_ns() - ns) * 1e-9;
}

/// Writes through another port, and notes when. Writes are carried out in the order in which they were given.
class TimedPort final : public mcs::WritePort {
public:
    TimedPort(mcs::WritePort& port, std::int64_t* committed, std::size_t most)
        : port_(port), committed_(committed), most_(most) {}
    [[nodiscard]] mcs::GroupOutcome write(std::span<const mcs::WriteRequest* const> requests) override {
        auto outcome = port_.write(requests);
        const std::int64_t now = steady_ns();
        if (outcome.what != mcs::GroupOutcome::What::Answered) return outcome;
        for (std::size_t at = 0; at < requests.size() && next_ < most_; ++at) committed_[next_++] = now;
        return outcome;
    }

private:
    mcs::WritePort& port_;
    std::int64_t* const committed_;
    const std::size_t most_;
    std::size_t next_ = 0;
};

/// Owner and thread: whoever writes.
class ChangeWriter {
public:
    /// `on_answered` is called on another thread, when take_answered() has something.
    ChangeWriter(rs::SqlConnection& connection, std::function<void()> on_answered)
        : group_(connection, {"bench", false}), on_answered_(std::move(on_answered)) {}

    /// When each of the first `most` writes was committed goes to `committed`. To be called before anything is written.
    void note_times(std::int64_t* committed, std::size_t most) {
        timed_ = std::make_unique<TimedPort>(group_, committed, most);
    }
    [[nodiscard]] mcs::WriteQueue& queue() { return queue_; }
    /// Changes the Deployment, whose version and uid are those that the database has.
    void change(mcs::Deployment row) {
        ++row.priority;
        const mcs::Expect expect{row.meta.uid, row.meta.version};
        ++sent_;
        queue_.add({std::string{mcs::kApiService}, 0}, mcs::UpdateDeployment{std::move(row), expect},
                   [this](const mcs::WriteOutcome& outcome, Instant) {
                       ++answered_;
                       if (!std::holds_alternative<mcs::Written>(outcome)) ++failed_;
                   });
    }
    /// What is in the queue goes to the thread that writes.
    void hand_out() {
        if (queue_.size() == 0) return;
        handed_ += queue_.size();
        writer().take(queue_);
        handed_ -= queue_.size();
    }
    /// Something that was given was not taken back yet.
    [[nodiscard]] bool is_busy() const { return queue_.size() != 0 || handed_ != taken_back_; }
    /// The writes that have an outcome, to be finished.
    [[nodiscard]] mcs::McsWriter::Calls take_answered() {
        auto calls = writer_ ? writer_->answered() : mcs::McsWriter::Calls{};
        taken_back_ += calls.size();
        return calls;
    }

    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t answered() const { return answered_; }
    [[nodiscard]] std::uint64_t failed() const { return failed_; }

private:
    [[nodiscard]] mcs::McsWriter& writer() {
        if (!writer_)
            writer_ = std::make_unique<mcs::McsWriter>(timed_ ? static_cast<mcs::WritePort&>(*timed_) : group_,
                                                       mcs::GroupCommitSettings{}, 1, on_answered_);
        return *writer_;
    }

    mcs::WriteQueue queue_;
    mcs::WriteGroup group_;
    std::unique_ptr<TimedPort> timed_;
    const std::function<void()> on_answered_;
    std::uint64_t sent_ = 0, answered_ = 0, failed_ = 0; // of change()
    std::uint64_t handed_ = 0, taken_back_ = 0;          // of all
    std::unique_ptr<mcs::McsWriter> writer_;             // the last one: its thread ends first
};

} // namespace yk::bench
