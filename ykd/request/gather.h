// SPDX-License-Identifier: Apache-2.0
#pragma once
// gather(): asks the owner threads of several RMs something, between their commands and cycles, and continues with all
// answers on a worker. No thread waits. An RM that is closed before it has answered is missing among the answers.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "ykd/rm/rm_table.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

/// The answer of one RM.
template <class T>
struct Gathered {
    RmPtr rm;
    T answer{};
};

/// The lane of the mailbox for the question: before the work that waits, or in the order of the RM's inputs (I-100).
enum class Lane { Control, InOrder };

/// A gather() under way. Each slot is written by one owner thread, or by the thread that closed that owner.
template <class T>
class Gathering : public std::enable_shared_from_this<Gathering<T>> {
public:
    using Done = std::function<void(std::vector<Gathered<T>>)>;

    Gathering(Workers& workers, const std::vector<RmPtr>& rms, Done done)
        : workers_(workers), source_(Workers::source_at_work()), missing_(rms.size()), done_(std::move(done)) {
        for (const RmPtr& rm : rms) answers_.push_back({rm, T{}});
    }
    [[nodiscard]] RmThread& owner(std::size_t slot) { return answers_[slot].rm->owner; }
    [[nodiscard]] T& answer(std::size_t slot) { return answers_[slot].answer; }
    /// A slot has its answer; the last one to have it calls `done`.
    void settle() {
        if (--missing_ == 0) finish();
    }
    /// The slot's RM was closed: it gets no answer.
    void give_up(std::size_t slot) {
        answers_[slot].rm = nullptr;
        settle();
    }
    /// Calls `done` on a worker, as work of whoever asked.
    void finish() {
        workers_.post(source_, [self = this->shared_from_this()] {
            std::erase_if(self->answers_, [](const Gathered<T>& one) { return one.rm == nullptr; });
            self->done_(std::move(self->answers_));
        });
    }

private:
    Workers& workers_;
    const ItemSource source_; // whose question it is
    std::vector<Gathered<T>> answers_;
    std::atomic<std::size_t> missing_;
    const Done done_;
};

/// `ask` runs on each owner thread, `done` once on a worker with the answers in the order of `rms`.
template <class T>
void gather(Workers& workers, const std::vector<RmPtr>& rms, Lane lane, std::function<T(RmOwner&)> ask,
            std::function<void(std::vector<Gathered<T>>)> done) {
    const auto all = std::make_shared<Gathering<T>>(workers, rms, std::move(done));
    if (rms.empty()) return all->finish();
    for (std::size_t i = 0; i < rms.size(); ++i) {
        auto call = [all, i, ask](RmOwner& owner) {
            all->answer(i) = ask(owner);
            all->settle();
        };
        auto on_closed = [all, i] { all->give_up(i); };
        if (lane == Lane::Control) {
            rms[i]->owner.control(std::move(call), std::move(on_closed));
        } else {
            rms[i]->owner.in_order(std::move(call), std::move(on_closed));
        }
    }
}

/// Objects in one chunk, which takes a few milliseconds of the owner thread (docs/adr/0008).
inline constexpr std::size_t kChunk = 4096;

/// As gather() on the control lane, for answers that take long: `ask` adds a chunk to the answer and is called again,
/// in another turn of the owner thread, until it returns true.
template <class T>
void gather_in_chunks(Workers& workers, const std::vector<RmPtr>& rms, std::function<bool(RmOwner&, T&)> ask,
                      std::function<void(std::vector<Gathered<T>>)> done) {
    using Ask = std::function<bool(RmOwner&, T&)>;
    struct Asking {
        static void next(const std::shared_ptr<Gathering<T>>& all, const std::shared_ptr<const Ask>& ask,
                         std::size_t slot) {
            all->owner(slot).control(
                [all, ask, slot](RmOwner& owner) {
                    (*ask)(owner, all->answer(slot)) ? all->settle() : next(all, ask, slot);
                },
                [all, slot] { all->give_up(slot); });
        }
    };
    const auto all = std::make_shared<Gathering<T>>(workers, rms, std::move(done));
    if (rms.empty()) return all->finish();
    const auto shared = std::make_shared<const Ask>(std::move(ask));
    for (std::size_t i = 0; i < rms.size(); ++i) Asking::next(all, shared, i);
}

} // namespace yk::service
