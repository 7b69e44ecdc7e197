// SPDX-License-Identifier: Apache-2.0
#pragma once
// IoCall: one call of a port, cut into what may wait and what may not. The framework itself never waits: it hands out
// calls, and whoever drives it runs them, on the same thread or on others, several at once if the ports allow that.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/time.h"

namespace yk::rs {

class IoCall {
public:
    virtual ~IoCall() = default;
    /// Asks the port and keeps the answer. Any thread; once.
    virtual void run() = 0;
    /// Takes the answer over. On the thread that owns the StateManager, after run(), once. REQUIRES: the StateManager
    /// that gave the call is still there, with all that was added to it.
    virtual void finish(Instant now) = 0;
};

/// A call made of two functions: `ask` is run, `take` gets its answer.
template <class Ask, class Take>
[[nodiscard]] std::unique_ptr<IoCall> make_io_call(Ask ask, Take take) {
    class Call final : public IoCall {
    public:
        Call(Ask asking, Take taking) : ask_(std::move(asking)), take_(std::move(taking)) {}
        void run() override { answer_.emplace(ask_()); }
        void finish(Instant now) override {
            YK_CHECK(answer_.has_value(), "a call is run before it is finished");
            take_(*std::move(answer_), now);
        }

    private:
        Ask ask_;
        Take take_;
        std::optional<std::invoke_result_t<Ask&>> answer_;
    };
    return std::make_unique<Call>(std::move(ask), std::move(take));
}

} // namespace yk::rs
