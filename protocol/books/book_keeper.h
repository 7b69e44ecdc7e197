// SPDX-License-Identifier: Apache-2.0
#pragma once
// BookKeeper: keeps the books of one RM in its file, on a thread of its own, so that whoever sends requests never waits
// for the disk. What is noted between two end_turn() is written together or not at all. What comes within a
// moment is written in one transaction, sooner if somebody waits for it: an ask that is placed at once costs one row,
// and one that comes and goes none.
//
// A file that cannot be written is tried again each second; nothing is lost meanwhile but the time, and when too much
// waits, is_full() says so. Owner: RmOwner, or a client. Thread: note() and end_turn() one, which it may be any; the
// rest any.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "protocol/books/book_file.h"
#include "protocol/books/books.h"
#include "protocol/books/outcome_log.h"
#include "protocol/books/replay.h"
#include "protocol/si/messages.h"
#include "protocol/simulation/loop_thread.h"

namespace yk::books {

class BookKeeper {
public:
    /// What is reported of the file: empty when it can be written, else why not. Called by the keeper's thread.
    using OnFault = std::function<void(const std::string& fault)>;

    /// Reads the rows of the file and starts. An error: a row cannot be understood. `most_waiting`: how many entries
    /// may wait before it is_full().
    [[nodiscard]] static Result<std::unique_ptr<BookKeeper>> start(std::unique_ptr<BookFile> file, OnFault on_fault,
                                                                   std::uint64_t most_waiting = kMostWaiting);
    /// Writes what waits, if that is possible.
    ~BookKeeper();
    BookKeeper(const BookKeeper&) = delete;
    BookKeeper& operator=(const BookKeeper&) = delete;

    // --- what happens, in order -----------------------------------------------------------------
    /// A request that is being sent. `at`: in seconds since 1970.
    template <class Request>
    void note(std::shared_ptr<const Request> request, std::int64_t at) {
        last_request_ = turn_.entries.size();
        add(Sent<Request>{std::move(request), at, {}});
    }
    /// A part of an earlier request that is carried out only now, in the middle of the request that was noted last.
    template <class Request>
    void note_late(Request request) {
        add(Sent<Request>{std::make_shared<const Request>(std::move(request)), 0, {}});
    }
    /// This element of the request that was noted last was refused. To be called in the turn of that request; in one
    /// without requests it does nothing.
    void note_refused(ElementList list, std::uint32_t element);
    void note(const Outcome& outcome) {
        auto& entries = turn_.entries;
        if (entries.empty() || !std::holds_alternative<OutcomeLog>(entries.back())) entries.emplace_back(OutcomeLog{});
        std::get<OutcomeLog>(entries.back()).add(outcome);
        ++turn_.size;
    }
    /// The RM has a new configuration, and these partitions.
    void note(KeptConfiguration configuration, std::set<std::string> partitions);
    /// What was in other partitions than these, by short name, is gone.
    void note_partitions(std::set<std::string> names) { add(Partitions{std::move(names)}); }
    /// A named text of the RM itself, such as its registration.
    void note_setting(std::string name, std::string value);
    /// Hands over what was noted.
    void end_turn();

    /// Has `call` called when everything that was handed over before is in the file (true), or cannot be written now
    /// (false). On the keeper's thread, or at once on the caller's if nothing waits.
    void when_kept(std::function<void(bool kept)> call);
    /// Whether so much waits that nothing more should be sent (I-267).
    [[nodiscard]] bool is_full() const { return waiting_.load(std::memory_order_relaxed) >= most_waiting_; }

    /// As books::replay() of what was noted before, for which it ends the turn. Waits until that is written. REQUIRES:
    /// `sink` notes nothing; it may end turns.
    [[nodiscard]] Result<si::RecoveryDoneRequest> replay(const std::string& rm_id, const ReplaySink& sink);

    static constexpr std::size_t kMostConfigurations = 16;   // that are kept of an RM
    static constexpr std::uint64_t kMuch = 100'000;          // entries: so many are written without gathering more
    static constexpr std::uint64_t kMostWaiting = 1'000'000; // entries

private:
    template <class Request>
    struct Sent {
        std::shared_ptr<const Request> request;
        std::int64_t at = 0;
        RefusedElements refused;
    };
    struct NewConfiguration {
        KeptConfiguration configuration;
        std::set<std::string> partitions;
    };
    struct Partitions {
        std::set<std::string> names;
    };
    struct Setting {
        std::string name, value;
    };
    using Entry = std::variant<Sent<si::NodeRequest>, Sent<si::ApplicationRequest>, Sent<si::AllocationRequest>,
                               OutcomeLog, NewConfiguration, Partitions, Setting>;
    struct Turn {
        std::vector<Entry> entries;
        std::uint64_t size = 0; // an outcome counts like any other entry
    };

    BookKeeper(std::unique_ptr<BookFile> file, OnFault on_fault, std::uint64_t most_waiting)
        : most_waiting_(most_waiting), file_(std::move(file)), on_fault_(std::move(on_fault)) {}

    template <class One>
    void add(One entry) {
        turn_.entries.emplace_back(std::move(entry));
        ++turn_.size;
    }

    void run();
    void gather(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool may_gather() const { return !stopping_ && waiters_.empty() && handed_over_ < kMuch; }
    std::optional<Simulator::Clock::time_point> step();
    [[nodiscard]] bool has_work() const { return !turns_.empty() || !waiters_.empty() || unwritten_ != 0; }
    [[nodiscard]] bool wait_until_idle(std::unique_lock<std::mutex>& lock);
    bool write_what_waits(std::unique_lock<std::mutex>& lock);
    void apply(std::vector<Turn>& turns);
    void apply(Entry& entry);
    [[nodiscard]] Result<void> write();
    [[nodiscard]] Result<void> write_all(const RowChanges& rows);
    [[nodiscard]] Result<void> write_row(std::int64_t seq, const RowChange& change);
    void report(const std::string& fault);

    // Of the thread that notes.
    Turn turn_;
    std::optional<std::size_t> last_request_; // where in the turn

    std::mutex mutex_; // guards what follows, up to the next comment
    std::condition_variable changed_;
    std::vector<Turn> turns_;       // handed over, not taken
    std::uint64_t handed_over_ = 0; // entries in them
    std::vector<std::function<void(bool)>> waiters_;
    bool idle_ = true; // everything that was handed over is written
    bool stopping_ = false;

    const std::uint64_t most_waiting_;
    std::atomic<std::uint64_t> waiting_{0}; // entries that were handed over and are not written

    // Of the keeper's thread. While everything is written, whoever has the mutex may use the file.
    const std::unique_ptr<BookFile> file_;
    const OnFault on_fault_;
    Books books_;
    std::uint64_t unwritten_ = 0;                   // entries that were taken
    std::vector<KeptConfiguration> configurations_; // not written: the last ones, as many as are kept
    std::map<std::string, std::string> settings_;   // not written, by name
    std::string fault_;
    Simulator::Clock::time_point retry_{}; // in a simulation: when a file that could not be written is tried again
    LoopThread thread_;
};

} // namespace yk::books
