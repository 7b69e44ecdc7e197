// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsThread: the thread that has MCS: it opens the database, again and again until it can be opened, and drives what is
// there. While the database cannot be opened the daemon runs without MCS, and says so.
//
// Owner: Daemon. Thread: any.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/databases/database_lock.h"
#include "protocol/simulation/loop_thread.h"
#include "ykd/mcs/bell.h"
#include "ykd/mcs/mcs_application.h"
#include "ykd/observe/mcs_numbers.h"

namespace yk::service {

class McsThread {
public:
    struct Parts {
        const McsSettings& settings;
        const std::string& state_directory;
        Degraded& degraded;
        std::string holder;      // who this process is among several: no other one, nor an earlier life, has it
        McsNotices::Event event; // what has become of MCS itself
        std::function<void(std::function<void()>)> ask_names; // has it called where the name service may be waited for
    };
    explicit McsThread(Parts parts) : parts_(std::move(parts)) {}
    ~McsThread() { end(); }
    McsThread(const McsThread&) = delete;
    McsThread& operator=(const McsThread&) = delete;

    /// Where requests of its own go: to the daemon, as a server's. To be called before start().
    void connect(std::function<void(wire::Request)> give) { give_ = std::move(give); }
    /// Begins, if MCS is switched on. An error: another process has the database for itself, or there is no place for
    /// it.
    [[nodiscard]] Result<void> start();
    [[nodiscard]] bool is_started() const { return place_.has_value(); }
    [[nodiscard]] const McsSettings& settings() const { return parts_.settings; }
    [[nodiscard]] const std::string& state_directory() const { return parts_.state_directory; }

    /// `question` is asked on the thread; nullptr: the database is not open, and state() says why. Dropped without a
    /// call when the thread ends before. REQUIRES: is_started().
    void post(std::function<void(McsApplication* application, Instant now)> question);

    /// The RM has another configuration: if it is that of MCS, what was refused is tried again (rs R-131). Any thread.
    void queues_changed(const std::string& rm_id);

    /// The numbers for Metrics; see AskMcsNumbers. Any thread.
    void ask_numbers(std::function<void(std::optional<McsNumbers>)> take);

    struct State {
        enum class Phase { Opening, Open, Failed };
        Phase phase = Phase::Opening;
        std::string reason; // why it is not open
    };
    [[nodiscard]] State state() const;
    /// What is wrong with MCS now, as the status of the daemon has it, too.
    [[nodiscard]] std::vector<std::string> degraded() const { return parts_.degraded.list_of("mcs"); }

    /// Ends the thread; what was given to be written is written, and another instance may lead at once.
    void stop();
    /// Ends it at once.
    void end();

private:
    using Question = std::function<void(McsApplication*, Instant)>;
    using TimePoint = SteadyClock::time_point;

    void run();
    [[nodiscard]] CommitNews* news() const;
    std::optional<TimePoint> step();
    [[nodiscard]] Question next_question();
    TimePoint open_or_wait(Instant now);
    void free_leases(McsConnections& connections) const;
    void opened(McsConnections connections, Instant now);
    void not_opened(const rs::StoreError& error, Instant now);
    bool end_damaged(Instant now);
    [[nodiscard]] std::shared_ptr<work::Worker> local_worker();
    enum class Stopping { No, AtOnce, Orderly };
    void end_thread(Stopping how);

    const Parts parts_;
    std::function<void(wire::Request)> give_;
    std::optional<DatabasePlace> place_;          // nullopt: it has not begun
    std::optional<BrokerEnds> broker_;            // until the database is open
    std::optional<rs::DatabaseLock> lock_;        // nullopt: another machine may use the database, too
    std::unique_ptr<McsApplication> application_; // of the thread, like the next one
    Instant next_try_;

    Bell bell_;                // rung after each change of what follows
    mutable std::mutex mutex_; // guards what follows, up to the next comment
    std::deque<Question> questions_;
    State state_;
    Stopping stopping_ = Stopping::No;

    LoopThread thread_; // the last one: it begins when everything else is there
};

} // namespace yk::service
