// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/recovery_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "ykd/process/log.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kMostItems = 10'000; // of one page (I-240)
constexpr std::size_t kLastBucket = 255;
constexpr std::size_t kOther = 4096; // bytes of an answer beside its items: the envelope, and a cursor

enum class Action { Retry, Reset, Accept, Abort };
constexpr std::array<std::pair<std::string_view, Action>, 4> kActions{
    {{"retry", Action::Retry}, {"reset", Action::Reset}, {"accept", Action::Accept}, {"abort", Action::Abort}}};

std::optional<Action> find_action(std::string_view word) {
    for (const auto& [name, action] : kActions)
        if (name == word) return action;
    return std::nullopt;
}

// --- cursors: the ids of the last object, each with its length before it ------------------------------------------

std::string cursor_of(const RecoveryItem& item) {
    std::string cursor;
    for (const std::string* id : {&item.partition, &item.node, &item.application, &item.key})
        cursor += fmt::format("{}:{}", id->size(), *id);
    return cursor;
}

/// nullopt: it is none of cursor_of().
std::optional<RecoveryItem> item_at(std::string_view cursor) {
    RecoveryItem item;
    for (std::string* id : {&item.partition, &item.node, &item.application, &item.key}) {
        std::size_t size = 0;
        const auto [end, fault] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), size);
        cursor.remove_prefix(static_cast<std::size_t>(end - cursor.data()));
        if (fault != std::errc{} || cursor.empty() || cursor.front() != ':' || size > cursor.size() - 1)
            return std::nullopt;
        *id = cursor.substr(1, size);
        cursor.remove_prefix(1 + size);
    }
    if (!cursor.empty()) return std::nullopt;
    return item;
}

/// What a list is of.
struct Page {
    RecoveryKind kind{};
    std::optional<std::uint8_t> bucket;
    std::optional<RecoveryItem> after;
    std::uint32_t limit = 0;
};

/// nullopt: the call was answered.
std::optional<Page> page_of(const CallPtr& call, const si::RecoveryListRequest& request) {
    const auto refuse = [&](const std::string& message, const std::string& path) -> std::optional<Page> {
        call->fail(ErrorCode::Invalid, message, path);
        return std::nullopt;
    };
    const auto kind = find_recovery_kind(request.kind);
    if (!kind) return refuse("'" + request.kind + "' is none of nodes, applications, allocations", "kind");
    if (request.bucket && *request.bucket > kLastBucket) return refuse("buckets have the numbers 0 to 255", "bucket");
    if (request.limit == 0 || request.limit > kMostItems)
        return refuse(fmt::format("a page has 1 to {} objects", kMostItems), "limit");
    Page page{*kind, {}, {}, request.limit};
    if (request.bucket) page.bucket = static_cast<std::uint8_t>(*request.bucket);
    if (request.cursor.empty()) return page;
    page.after = item_at(request.cursor);
    if (!page.after) return refuse("this is no cursor of a RecoveryList", "cursor");
    return page;
}

/// The first `limit` of the items, or as many as an answer of `most` bytes holds, but at least one.
si::RecoveryListReply reply_of(const std::vector<RecoveryItem>& items, std::uint32_t limit, std::size_t most) {
    constexpr std::size_t kPerItem = 128; // bytes beside its names, at most
    si::RecoveryListReply reply;
    std::size_t bytes = 0;
    for (const RecoveryItem& item : items) {
        bytes += kPerItem + item.partition.size() + item.node.size() + item.application.size() + item.key.size();
        if (reply.items.size() == limit || (bytes > most && !reply.items.empty())) break;
        reply.items.push_back({item.partition, item.node, item.application, item.key, item.hash});
    }
    if (reply.items.size() < items.size()) reply.cursor = cursor_of(items[reply.items.size() - 1]);
    return reply;
}

/// Why the action cannot be taken in this state; empty: it can.
std::string not_possible(Action action, const RmOwner& owner) {
    const si::CoreState state = owner.state();
    if (state == si::CoreState::Failed) return {};
    if (state == si::CoreState::Recovering && action != Action::Accept) return {};
    return fmt::format("RM {} is {}: {}", owner.rm_id(), si::text(state),
                       state == si::CoreState::Recovering
                           ? "its recovery has not failed, so there is nothing to accept; RecoveryDone ends it"
                           : "only what recovers or has failed is resolved");
}

/// Whether the session may accept what is not restored: an admin, or the RM as far as it announced (I-254).
bool may_accept(const Call& call, RmOwner& owner) {
    if (call.session->role == si::Role::Admin) return true;
    const auto status = owner.recovery().status();
    return status && status->has.quarantined <= status->wish.auto_accept.max_quarantined;
}

void answer_state(const CallPtr& call, const RmOwner& owner) {
    call->ok_encoded(wire::encoded(si::ResolveRecoveryReply{owner.state()}));
}

/// What the daemon keeps for a detached RM is replayed by the daemon itself.
void replay_books(RmOwner& owner) {
    if (!owner.books().keeper()) return;
    if (const auto report = owner.recovery().replay_books(); !report.ok())
        log("recovery").error("RM {}: its books cannot be replayed: {}", owner.rm_id(), report.error().message);
}

/// Thread: the owner thread.
void carry_out(Action action, const CallPtr& call, const RecoveryService::Parts& parts, const RmPtr& rm,
               RmOwner& owner) {
    if (const std::string why = not_possible(action, owner); !why.empty()) return call->fail(ErrorCode::BadState, why);
    switch (action) {
    case Action::Retry:
        owner.recovery().retry();
        replay_books(owner);
        break;
    case Action::Reset:
        if (const auto done = owner.recovery().reset(*rm->facts().configuration); !done.ok()) {
            parts.registry.retire(rm, owner);
            return call->fail(ErrorCode::ConfigInvalid, done.error().text() + " (the RM is not registered any more)");
        }
        replay_books(owner);
        break;
    case Action::Accept:
        if (!may_accept(*call, owner))
            return call->fail(ErrorCode::Forbidden,
                              fmt::format("RM {} has more in quarantine than autoAccept.maxQuarantined of its "
                                          "registration; an admin may accept it",
                                          owner.rm_id()));
        owner.recovery().accept();
        break;
    case Action::Abort:
        owner.uninstall("its recovery was aborted");
        parts.books.remove(rm->id);
        parts.state.forget_configurations(rm->id);
        parts.registry.retire(rm, owner);
        break;
    }
    answer_state(call, owner);
}

} // namespace

void RecoveryService::done(const CallPtr& call) {
    auto claim = call->decode<si::RecoveryDoneRequest>();
    if (!claim) return;
    const RmPtr rm = find_rm(parts_.rms, call, claim->rm_id, claim->impersonate, Ownership::Owner);
    if (!rm) return;
    rm->owner.in_order(
        [call, rm, claim = std::move(*claim), epoch = rm->epoch()](RmOwner& owner) {
            if (owner.context() == nullptr || !is_meant_for(*call, *rm, epoch)) return rm_left(call, claim.rm_id)();
            const auto report = owner.recovery().compare(claim);
            if (!report.ok()) return call->fail(ErrorCode::BadState, report.error().message, report.error().where);
            log("recovery")
                .info("RM {}: recovery '{}', attempt {}: {}", owner.rm_id(), report->id, report->attempt,
                      summary_of(*report));
            call->ok_encoded(wire::encoded(*report));
        },
        rm_left(call, rm->id));
}

void RecoveryService::list(const CallPtr& call) {
    const auto request = call->decode<si::RecoveryListRequest>();
    if (!request) return;
    const auto page = page_of(call, *request);
    if (!page) return;
    const RmPtr rm = find_rm(parts_.rms, call, request->rm_id, request->impersonate, Ownership::Viewer);
    if (!rm) return;
    rm->owner.control(
        [call, page = *page, rm_id = rm->id](RmOwner& owner) {
            if (owner.context() == nullptr) return rm_left(call, rm_id)();
            const auto items = owner.gateway().recovery().items(page.kind, page.bucket, page.after, page.limit + 1);
            const std::size_t most = call->reply_limit() - kOther;
            call->ok_encoded(wire::encoded(reply_of(items, page.limit, most)));
        },
        rm_left(call, rm->id));
}

void RecoveryService::resolve(const CallPtr& call) {
    const auto request = call->decode<si::ResolveRecoveryRequest>();
    if (!request) return;
    const auto action = find_action(request->action);
    if (!action)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("'{}' is none of retry, reset, accept, abort", request->action), "action");
    const RmPtr rm = find_rm(parts_.rms, call, request->rm_id, request->impersonate, Ownership::OwnerOrAdmin);
    if (!rm) return;
    log("recovery").warn("RM {}: {} resolves its recovery: {}", rm->id, call->session->grant.name, request->action);
    rm->owner.in_order(
        [this, call, rm, action = *action, epoch = rm->epoch()](RmOwner& owner) {
            if (owner.context() == nullptr || !is_meant_for(*call, *rm, epoch)) return rm_left(call, rm->id)();
            carry_out(action, call, parts_, rm, owner);
        },
        rm_left(call, rm->id));
}

} // namespace yk::service
