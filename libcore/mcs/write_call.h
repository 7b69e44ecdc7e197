// SPDX-License-Identifier: Apache-2.0
#pragma once
// WriteCall: one write that a service has handed out, cut into what may wait and what may not, as rs::IoCall is for
// reads. Whoever drives the service takes it, has its request carried out, gives it the outcome, and has that taken
// over.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/time.h"
#include "libcore/mcs/writes.h"

namespace yk::mcs {

class WriteCall {
public:
    /// `take` gets the outcome on the thread that owns the service.
    using Take = std::function<void(const WriteOutcome& outcome, Instant now)>;

    WriteCall(WriteRequest request, Take take) : request_(std::move(request)), take_(std::move(take)) {}

    [[nodiscard]] const WriteRequest& request() const { return request_; }
    /// What came of it. Any thread; once.
    void answer(WriteOutcome outcome) { outcome_.emplace(std::move(outcome)); }
    /// After answer().
    [[nodiscard]] const WriteOutcome& outcome() const { return *outcome_; }
    /// Takes the outcome over. On the thread that owns the service, after answer(), once. REQUIRES: the service is
    /// there.
    void finish(Instant now) {
        YK_CHECK(outcome_.has_value(), "a write is answered before it is finished");
        take_(*outcome_, now);
    }

private:
    WriteRequest request_;
    Take take_;
    std::optional<WriteOutcome> outcome_;
};

/// The writes that services have handed out and nobody has taken yet, the oldest first. No bound of its own: a service
/// has one write of a key under way at a time, and whoever adds writes of users looks at size() first.
///
/// Owner: the program, which gives it to its services. Thread: that of the services.
class WriteQueue {
public:
    void add(WriterIdentity writer, WriteCommand command, WriteCall::Take take) {
        add(WriteRequest{std::move(writer), std::move(command)}, std::move(take));
    }
    void add(WriteRequest request, WriteCall::Take take) {
        waiting_.push_back(std::make_unique<WriteCall>(std::move(request), std::move(take)));
    }
    /// The next write to carry out; nullptr: none. Writes of one key are to be carried out in this order.
    [[nodiscard]] std::unique_ptr<WriteCall> next() {
        if (waiting_.empty()) return nullptr;
        auto call = std::move(waiting_.front());
        waiting_.pop_front();
        return call;
    }
    [[nodiscard]] std::size_t size() const { return waiting_.size(); }

private:
    std::deque<std::unique_ptr<WriteCall>> waiting_;
};

} // namespace yk::mcs
