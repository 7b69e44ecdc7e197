// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/book_keeper.h"

#include <chrono>
#include <type_traits>
#include <utility>

namespace yk::books {
namespace {

constexpr auto kRetry = std::chrono::seconds{1};
constexpr auto kMoment = std::chrono::milliseconds{50}; // for which more is gathered before it is written
constexpr auto kPatience = std::chrono::seconds{10};    // of replay(), with a file that cannot be written

} // namespace

Result<std::unique_ptr<BookKeeper>> BookKeeper::start(std::unique_ptr<BookFile> file, OnFault on_fault,
                                                      std::uint64_t most_waiting) {
    std::unique_ptr<BookKeeper> keeper{new BookKeeper(std::move(file), std::move(on_fault), most_waiting)};
    std::uint64_t unreadable = 0;
    for (const RowKind kind : {RowKind::Node, RowKind::Application, RowKind::Ask, RowKind::Foreign})
        YK_CHECKED(keeper->file_->each(kind, std::nullopt, [&](const Row& row) {
            if (!keeper->books_.load(row)) ++unreadable;
        }));
    if (unreadable != 0) return Error::of(std::to_string(unreadable) + " rows of the books cannot be understood");
    keeper->thread_.start(
        "books", [k = keeper.get()] { k->run(); }, [k = keeper.get()] { return k->step(); }, LoopThread::Priority::Low);
    return keeper;
}

BookKeeper::~BookKeeper() {
    if (!thread_.is_started()) return;
    end_turn();
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.end();
    if (simulator() == nullptr) return;
    std::unique_lock lock(mutex_);
    if (has_work()) write_what_waits(lock);
}

void BookKeeper::note_refused(ElementList list, std::uint32_t element) {
    if (!last_request_) return;
    const auto add_to = [&](auto& entry) {
        if constexpr (requires { entry.refused; }) entry.refused.add(list, element);
    };
    std::visit(add_to, turn_.entries[*last_request_]);
    ++turn_.size;
}

void BookKeeper::note(KeptConfiguration configuration, std::set<std::string> partitions) {
    add(NewConfiguration{std::move(configuration), std::move(partitions)});
}

void BookKeeper::note_setting(std::string name, std::string value) {
    add(Setting{std::move(name), std::move(value)});
}

void BookKeeper::end_turn() {
    if (turn_.size == 0) return;
    waiting_.fetch_add(turn_.size, std::memory_order_relaxed);
    bool ring = false;
    {
        const std::lock_guard lock(mutex_);
        const bool gathers = may_gather();
        handed_over_ += turn_.size;
        ring = turns_.empty() || (gathers && !may_gather()); // it has something to do, or has gathered enough
        turns_.push_back(std::exchange(turn_, {}));
        last_request_.reset();
        idle_ = false;
    }
    if (ring) changed_.notify_all();
}

void BookKeeper::when_kept(std::function<void(bool)> call) {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_) {
            waiters_.push_back(std::move(call));
            return changed_.notify_all();
        }
    }
    call(true);
}

Result<si::RecoveryDoneRequest> BookKeeper::replay(const std::string& rm_id, const ReplaySink& sink) {
    end_turn(); // nothing is left that an end_turn() of the sink would hand over, which takes the mutex
    std::unique_lock lock(mutex_);
    if (!wait_until_idle(lock))
        return Error::of("the books of RM " + rm_id + " cannot be written, so they are not complete");
    return books::replay(*file_, rm_id, sink); // with the mutex, so that the thread takes nothing
}

/// Whether everything was written before its patience ended.
bool BookKeeper::wait_until_idle(std::unique_lock<std::mutex>& lock) {
    Simulator* const simulated = simulator();
    if (simulated == nullptr) {
        if (!idle_) waiters_.emplace_back([](bool) {}); // who waits is not to be kept waiting
        changed_.notify_all();
        return changed_.wait_for(lock, kPatience, [this] { return idle_; });
    }
    lock.unlock();
    const bool idle = simulated->run_until([this] { return idle_; }, simulated->now() + kPatience);
    lock.lock();
    return idle;
}

// --- the thread -----------------------------------------------------------------------------------------------------

void BookKeeper::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || has_work(); });
        const bool last = stopping_ && turns_.empty();
        if (last && !has_work()) return;
        gather(lock);
        const bool written = write_what_waits(lock);
        if (last) return;
        if (!written) changed_.wait_for(lock, kRetry, [this] { return stopping_; });
    }
}

void BookKeeper::gather(std::unique_lock<std::mutex>& lock) {
    changed_.wait_for(lock, kMoment, [this] { return !may_gather(); });
}

/// Takes what was handed over, and writes it. Returns whether that is possible.
bool BookKeeper::write_what_waits(std::unique_lock<std::mutex>& lock) {
    auto turns = std::exchange(turns_, {});
    handed_over_ = 0;
    const auto waiters = std::exchange(waiters_, {});
    lock.unlock();
    apply(turns);
    const auto written = write();
    report(written.ok() ? std::string{} : written.error().message);
    lock.lock();
    idle_ = written.ok() && turns_.empty();
    lock.unlock();
    changed_.notify_all();
    for (const auto& waiter : waiters) waiter(written.ok());
    lock.lock();
    return written.ok();
}

/// In a simulation: writes what waits.
std::optional<Simulator::Clock::time_point> BookKeeper::step() {
    std::unique_lock lock(mutex_);
    if (!has_work()) return Simulator::Clock::time_point::max();
    if (simulator()->now() < retry_) return retry_;
    const bool written = write_what_waits(lock);
    retry_ = written ? Simulator::Clock::time_point{} : simulator()->now() + kRetry;
    return std::nullopt;
}

void BookKeeper::apply(std::vector<Turn>& turns) {
    for (Turn& turn : turns) {
        for (Entry& entry : turn.entries) apply(entry);
        unwritten_ += turn.size;
    }
}

void BookKeeper::apply(Entry& entry) {
    std::visit(
        [this](auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, OutcomeLog>) {
                one.each([this](const Outcome& outcome) { books_.note(outcome); });
            } else if constexpr (std::is_same_v<One, NewConfiguration>) {
                books_.keep_partitions(one.partitions);
                configurations_.push_back(std::move(one.configuration));
                if (configurations_.size() > kMostConfigurations) configurations_.erase(configurations_.begin());
            } else if constexpr (std::is_same_v<One, Partitions>) {
                books_.keep_partitions(one.names);
            } else if constexpr (std::is_same_v<One, Setting>) {
                settings_[std::move(one.name)] = std::move(one.value);
            } else {
                one.refused.sort();
                books_.sent(*one.request, one.at, one.refused);
            }
        },
        entry);
}

/// Writes what changed since it was written last, all of it or nothing. Between two turns everything that an RM sent
/// was answered.
Result<void> BookKeeper::write() {
    const RowChanges& rows = books_.changes();
    if (!rows.empty() || !configurations_.empty() || !settings_.empty()) {
        auto written = file_->begin();
        if (written.ok()) written = write_all(rows);
        if (written.ok()) written = file_->commit();
        if (!written.ok()) {
            file_->rollback();
            return written;
        }
        books_.forget_changes();
        configurations_.clear();
        settings_.clear();
    }
    waiting_.fetch_sub(std::exchange(unwritten_, 0), std::memory_order_relaxed);
    return {};
}

Result<void> BookKeeper::write_all(const RowChanges& rows) {
    for (const auto& [seq, change] : rows) YK_CHECKED(write_row(seq, change));
    for (const KeptConfiguration& each : configurations_)
        YK_CHECKED(file_->add_configuration(each, kMostConfigurations));
    for (const auto& [name, value] : settings_) YK_CHECKED(file_->set(name, value));
    return {};
}

Result<void> BookKeeper::write_row(std::int64_t seq, const RowChange& change) {
    if (change.erased) return file_->erase(seq);
    if (change.is_new) return file_->put({seq, change.kind, change.body.value_or(""), change.node});
    if (change.body) YK_CHECKED(file_->set_body(seq, change.kind, *change.body));
    if (change.node) YK_CHECKED(file_->set_node(seq, *change.node));
    return {};
}

/// Reports a fault once, and its end.
void BookKeeper::report(const std::string& fault) {
    if (fault == fault_) return;
    fault_ = fault;
    on_fault_(fault_);
}

} // namespace yk::books
