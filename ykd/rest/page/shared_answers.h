// SPDX-License-Identifier: Apache-2.0
#pragma once
// SharedAnswers: what many open pages ask for at the same moment is made once, and given to all of them. An answer is
// given again for as long as 50 times the time that it took to make, at least a second, so that pages cost the daemon
// two hundredths of its time at most for each kind of answer. One that was made for somebody else says how long ago
// that began (`Answer-Age`, ms) and how long it is given again (`Answer-Kept`, ms): a page that knows of a change
// since then asks again.
//
// Owner: OwnPage. Thread: any.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "libcore/base/time.h"
#include "protocol/http/http_message.h"

namespace yk::service {

class SharedAnswers {
public:
    using Clock = Instant (*)();
    explicit SharedAnswers(Clock clock) : clock_(clock) {}

    /// The answer of this name, made by `make` unless one is there that is young enough. While somebody makes it the
    /// others wait. A refusal is given to who waits, and not kept.
    [[nodiscard]] http::HttpAnswer get(const std::string& name, const std::function<http::HttpAnswer()>& make);

    static constexpr std::size_t kMostKept = 64; // answers; beyond that the oldest goes

private:
    struct Kept {
        std::shared_ptr<const http::HttpAnswer> answer; // null: it is being made for the first time
        Instant began;                                  // its making
        Instant until;                                  // it is given again
        bool is_being_made = false;
    };
    void drop_oldest();

    const Clock clock_;
    std::mutex mutex_; // guards the following
    std::condition_variable made_;
    std::map<std::string, Kept> kept_;
};

} // namespace yk::service
