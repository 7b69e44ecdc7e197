// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/group_commit.h"

#include <utility>

namespace yk::mcs {
namespace {

std::size_t rows_of(const WriteCall& call) {
    return mcs::rows_of(call.request().command);
}

/// Takes those out of a group that do not wait for the database, each with what is wrong.
GroupCommit::Calls answer_hurried(GroupCommit::Calls& group, std::vector<WriteOutcome> outcomes) {
    GroupCommit::Calls hurried, patient;
    for (std::size_t at = 0; at < group.size(); ++at) {
        const bool waits = group[at]->request().waits;
        if (!waits) group[at]->answer(std::move(outcomes[at]));
        (waits ? patient : hurried).push_back(std::move(group[at]));
    }
    group = std::move(patient);
    return hurried;
}

} // namespace

void GroupCommit::add(std::unique_ptr<WriteCall> call, Instant now) {
    YK_CHECK(!is_full(), "another write may wait");
    rows_ += rows_of(*call);
    waiting_.push_back({std::move(call), now});
}

std::optional<Instant> GroupCommit::next_due() const {
    if (waiting_.empty()) return std::nullopt;
    if (!breaker_.is_up()) return breaker_.next_probe();
    if (waiting_.front().is_alone || rows_ >= settings_.most_rows) return Instant{};
    return waiting_.front().since + settings_.gather;
}

GroupCommit::Calls GroupCommit::take() {
    YK_CHECK(under_way_ == 0, "groups are carried out one after the other");
    Calls group;
    std::size_t rows = 0;
    is_alone_ = !waiting_.empty() && waiting_.front().is_alone;
    while (!waiting_.empty()) {
        const std::size_t more = rows_of(*waiting_.front().call);
        const bool fits = rows + more <= settings_.most_rows && waiting_.front().is_alone == is_alone_;
        if (!group.empty() && (is_alone_ || !fits)) break;
        rows += more;
        group.push_back(std::move(waiting_.front().call));
        waiting_.pop_front();
    }
    rows_ -= rows;
    under_way_ = group.size();
    if (!group.empty()) breaker_.begin();
    return group;
}

GroupCommit::Calls GroupCommit::finish(Calls group, GroupOutcome outcome, Instant now) {
    YK_CHECK(group.size() == under_way_ && outcome.outcomes.size() == under_way_, "each write has an outcome");
    under_way_ = 0;
    if (outcome.what == GroupOutcome::What::Away) {
        const std::string fault = message_of(outcome.outcomes.front());
        breaker_.failed(now);
        Calls answered = answer_hurried(group, std::move(outcome.outcomes));
        put_back(std::move(group), is_alone_);
        fault_ = waiting_.empty() ? "" : fault;
        return answered;
    }
    fault_.clear();
    breaker_.answered();
    if (outcome.what == GroupOutcome::What::Undone && group.size() > 1) {
        put_back(std::move(group), /*alone=*/true);
        return {};
    }
    for (std::size_t at = 0; at < group.size(); ++at) group[at]->answer(std::move(outcome.outcomes[at]));
    return group;
}

void GroupCommit::put_back(Calls group, bool alone) {
    for (; !group.empty(); group.pop_back()) {
        rows_ += rows_of(*group.back());
        waiting_.push_front({std::move(group.back()), Instant{}, alone});
    }
}

GroupCommit::Calls GroupCommit::give_up(std::string_view why) {
    Calls all;
    for (Waiting& each : waiting_) {
        each.call->answer(Transient{std::string{why} + (fault_.empty() ? "" : ": " + fault_)});
        all.push_back(std::move(each.call));
    }
    waiting_.clear();
    rows_ = 0;
    return all;
}

} // namespace yk::mcs
