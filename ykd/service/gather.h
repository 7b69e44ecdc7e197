#pragma once
// gather(): asks the owner threads of several RMs something, between their commands and cycles, and goes on with all
// answers on a worker. No thread waits.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "ykd/runtime/workers.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

template <class T>
struct Gathered {
    RmPtr rm;
    T answer{};
};

/// In which lane the question travels: before the work that waits, or in its order (I-100).
enum class Lane { Control, InOrder };

/// `ask` runs on each owner thread, `done` once on a worker with the answers in the order of `rms`.
template <class T>
void gather(Workers& workers, std::vector<RmPtr> rms, Lane lane, std::function<T(RmOwner&)> ask,
            std::function<void(std::vector<Gathered<T>>)> done) {
    struct State {
        std::vector<Gathered<T>> answers;
        std::atomic<std::size_t> missing{0};
        std::function<void(std::vector<Gathered<T>>)> done;
    };
    auto state = std::make_shared<State>();
    state->done = std::move(done);
    state->missing = rms.size();
    for (const RmPtr& rm : rms) state->answers.push_back({rm, T{}});
    if (rms.empty()) return workers.post([state] { state->done(std::move(state->answers)); });
    for (std::size_t i = 0; i < rms.size(); ++i) {
        auto call = [state, i, ask, &workers](RmOwner& owner) {
            state->answers[i].answer = ask(owner);
            if (--state->missing == 0) workers.post([state] { state->done(std::move(state->answers)); });
        };
        if (lane == Lane::Control) {
            rms[i]->owner.control(std::move(call));
        } else {
            rms[i]->owner.in_order(std::move(call));
        }
    }
}

/// Objects of one piece: a few milliseconds of the owner thread (adr 0008).
inline constexpr std::size_t kPiece = 4096;

/// As gather() on the control lane, for answers that take long: `ask` adds a piece to the answer and is called again,
/// in another turn of the owner, until it returns true.
template <class T>
void gather_in_pieces(Workers& workers, const std::vector<RmPtr>& rms, std::function<bool(RmOwner&, T&)> ask,
                      std::function<void(std::vector<Gathered<T>>)> done) {
    struct State : std::enable_shared_from_this<State> {
        explicit State(Workers& pool) : workers(pool) {}
        void ask_for(std::size_t i) {
            answers[i].rm->owner.control([self = this->shared_from_this(), i](RmOwner& owner) {
                if (!self->ask(owner, self->answers[i].answer)) return self->ask_for(i);
                if (--self->missing == 0) self->finish();
            });
        }
        void finish() {
            workers.post([self = this->shared_from_this()] { self->done(std::move(self->answers)); });
        }
        Workers& workers;
        std::vector<Gathered<T>> answers;
        std::atomic<std::size_t> missing{0};
        std::function<bool(RmOwner&, T&)> ask;
        std::function<void(std::vector<Gathered<T>>)> done;
    };
    const auto state = std::make_shared<State>(workers);
    state->missing = rms.size();
    state->ask = std::move(ask);
    state->done = std::move(done);
    for (const RmPtr& rm : rms) state->answers.push_back({rm, T{}});
    if (rms.empty()) return state->finish();
    for (std::size_t i = 0; i < rms.size(); ++i) state->ask_for(i);
}

} // namespace yk::service
