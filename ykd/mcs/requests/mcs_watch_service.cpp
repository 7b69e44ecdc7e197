// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/mcs_watch_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "ykd/mcs/requests/application_access.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kMostChanges = 100; // in an answer
constexpr std::size_t kOther = 4096;        // bytes of an answer beside its changes
constexpr std::uint32_t kComeAgain = 1000;  // ms, when as many wait as may

/// A change with what is there now; no rows: the Deployment is deleted.
struct ShownChange {
    DeploymentChange change;
    DeploymentRows rows;
};

/// One McsWatch on its way: it waits until there is something to answer. Thread: that of MCS.
class WatchCall : public std::enable_shared_from_this<WatchCall> {
public:
    WatchCall(CallPtr call, si::McsWatchRequest request, Instant until, McsThread& mcs, Workers& workers)
        : call_(std::move(call)), request_(std::move(request)), until_(until), mcs_(mcs), workers_(workers) {}

    /// Answers with what is behind the cursor, or waits for it.
    void go_on(McsApplication& application, Instant now);

private:
    [[nodiscard]] std::vector<ShownChange> shown(const McsApplication& application,
                                                 const DeploymentWatch::Page& page) const;
    void look_on(const std::string& cursor);
    void wait(McsApplication& application, const std::string& cursor);
    /// On a worker, since it takes long for many.
    void answer(const DeploymentWatch::Page& page, const std::vector<ShownChange>& changes);

    const CallPtr call_;
    si::McsWatchRequest request_; // its cursor and limit change on the way
    const Instant until_;
    McsThread& mcs_;
    Workers& workers_;
};

void WatchCall::go_on(McsApplication& application, Instant now) {
    if (call_->peer().is_gone()) return call_->drop();
    if (call_->is_stopping()) return call_->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    const bool begins = request_.cursor.empty();
    auto page = application.watch().read(request_.cursor, request_.limit, request_.id);
    auto changes = shown(application, page);
    if (changes.empty() && page.has_more) return look_on(page.cursor); // others get their turn in between
    if (changes.empty() && !page.is_resync && !begins && now < until_) return wait(application, page.cursor);
    workers_.post(source_of(*call_), [self = shared_from_this(), page = std::move(page), changes = std::move(changes)] {
        self->answer(page, changes);
    });
}

/// What was deleted since, and made anew, is shown by the changes that follow.
std::vector<ShownChange> WatchCall::shown(const McsApplication& application, const DeploymentWatch::Page& page) const {
    std::vector<ShownChange> changes;
    for (const DeploymentChange& each : page.changes) {
        auto row = application.deployments().get(each.id);
        const bool is_there = row && row->meta.uid == each.uid;
        if (each.what == ChangeWhat::Deleted)
            changes.push_back({each, {}});
        else if (is_there)
            changes.push_back({each, rows_of(application, std::move(row), *call_)});
    }
    return changes;
}

void WatchCall::look_on(const std::string& cursor) {
    request_.cursor = cursor;
    mcs_.post([self = shared_from_this()](McsApplication* application, Instant now) {
        if (application != nullptr) self->go_on(*application, now);
    });
}

void WatchCall::wait(McsApplication& application, const std::string& cursor) {
    request_.cursor = cursor;
    const auto self = shared_from_this();
    const bool waits = application.watch().wait(cursor, until_,
                                                {[self, &application](Instant now) { self->go_on(application, now); },
                                                 [self] { return self->call_->peer().is_gone(); }});
    if (!waits) call_->busy("as many wait for changes of deployments as may", kComeAgain);
}

void WatchCall::answer(const DeploymentWatch::Page& page, const std::vector<ShownChange>& changes) {
    wire::Value items = wire::Value::array();
    for (const ShownChange& each : changes) {
        wire::Value item = each.rows.deployment ? value_of(each.rows)
                                                : wire::Value{{"id", each.change.id},
                                                              {"name", each.change.name},
                                                              {"uid", each.change.uid},
                                                              {"partition", *each.change.partition}};
        items.push_back({{"change", name_of(each.change.what)}, {"item", std::move(item)}});
    }
    const std::string body = wire::encoded_value(
        {{"resync", page.is_resync}, {"items", std::move(items)}, {"cursor", page.cursor}, {"more", page.has_more}});
    if (body.size() + kOther <= call_->reply_limit() || request_.limit == 1) return call_->ok_encoded(body);
    request_.limit /= 2;
    look_on(request_.cursor);
}

} // namespace

void McsWatchService::watch(const CallPtr& call) {
    const auto request = call->decode<si::McsWatchRequest>();
    if (!request || !is_hosted(mcs_, call)) return;
    if (request->limit == 0 || request->limit > kMostChanges)
        return call->fail(ErrorCode::Invalid, fmt::format("an answer has 1 to {} changes", kMostChanges), "limit");
    const auto wait =
        std::min<Duration>(std::chrono::milliseconds{std::min<std::uint64_t>(request->wait_ms, 3'600'000)}, max_wait_);
    with_application(
        mcs_, call,
        [call, request = *request, wait, &mcs = mcs_, &workers = workers_](McsApplication& application, Instant now) {
            std::make_shared<WatchCall>(call, request, now + wait, mcs, workers)->go_on(application, now);
        });
}

} // namespace yk::service
