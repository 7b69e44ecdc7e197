// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_listing.h"

#include <utility>

#include "protocol/rm/answers.h"
#include "protocol/si/tool_requests.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kPage = 10'000; // the most that one answer may have

} // namespace

void CoreListing::end() {
    session_.end();
    is_wanted_ = false;
    cursor_.clear();
    list_ = {};
}

bool CoreListing::turn(Instant now) {
    const bool did = session_.turn(now);
    if (!is_wanted_ || session_.is_asking()) return did;
    ask();
    session_.turn(now);
    return true;
}

std::optional<Instant> CoreListing::next_due() const {
    if (is_wanted_ && !session_.is_asking()) return Instant{};
    return session_.next_due();
}

void CoreListing::ask() {
    is_wanted_ = false;
    si::RecoveryListRequest request;
    request.rm_id = rm_id_;
    request.kind = "applications";
    request.cursor = cursor_;
    request.limit = kPage;
    session_.ask(request, [this](const CoreSession::Answer& answer, Instant now) { take(answer, now); });
}

/// A list that breaks off says nothing: the next one begins anew.
void CoreListing::take(const CoreSession::Answer& answer, Instant now) {
    auto reply = rm::decoded<si::RecoveryListReply>("RecoveryList", answer);
    if (!reply.ok()) {
        const std::string why = text_of(reply.error());
        if (std::exchange(refusal_, why) != why)
            log("mcs").warn("the core does not list the applications of RM {}: {}", rm_id_, why);
        return end();
    }
    refusal_.clear();
    for (si::RecoveryListItem& each : reply->items)
        list_.held.push_back({std::move(each.partition_name), std::move(each.application_id)});
    cursor_ = std::move(reply->cursor);
    is_wanted_ = !cursor_.empty();
    if (is_wanted_) return;
    const mcs::ApplicationsListed list = std::exchange(list_, {});
    end();
    take_(list, now);
}

} // namespace yk::service
