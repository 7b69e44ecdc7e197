// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreAnswers: what the items of the callback stream mean for the Scheduler, and which releases of the core are to be
// confirmed: at once, unless a command has to end first.
//
// Owner: CoreLink. Thread: that of MCS.

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "ykd/mcs/core_link/command_gate.h"
#include "ykd/mcs/core_link/core_batches.h"

namespace yk::service {

class CoreAnswers {
public:
    /// `gate`: nullptr, or it outlives this.
    explicit CoreAnswers(CommandGate* gate = nullptr) : gate_(gate) {}

    /// These were sent: the answer to a release may be that it found nothing.
    void expect(const CoreBatch& sent);
    /// In the order in which they happened. Items of other kinds mean nothing here.
    [[nodiscard]] std::vector<mcs::CoreNotice> read(const si::StreamItem& item);
    /// The next confirmations that the items ask for, as many as one message is to hold.
    [[nodiscard]] std::vector<si::AllocationRelease> take_confirmations();
    /// One more.
    void add(si::AllocationRelease confirmation);
    [[nodiscard]] bool has_confirmations() const { return !confirmations_.empty(); }
    /// The registration that they belong to has gone.
    void clear();

private:
    using Key = std::pair<std::string, std::string>; // of an application and an allocation
    using Notices = std::vector<mcs::CoreNotice>;

    void read(const si::NodeResponse& answer, Notices& notices);
    void read(const si::ApplicationResponse& answer, Notices& notices);
    void read(const si::AllocationResponse& answer, Notices& notices);
    void read(const si::RecoveryReport& report, Notices& notices);
    template <class Message>
    void read_as(const si::StreamItem& item, Notices& notices);

    CommandGate* gate_;
    std::set<Key> released_; // by the Scheduler, and not answered
    std::deque<si::AllocationRelease> confirmations_;
};

} // namespace yk::service
