// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/text.h"
#include "libcore/mcs/work_tags.h"
#include "protocol/mcs/policy_text.h"
#include "protocol/work/allocation_command.h"
#include "ykd/mcs/metrics/fetched_pages.h"
#include "ykd/mcs/requests/row_checks.h"
#include "ykd/process/random_bytes.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using si::ErrorCode;

/// A ULID: 48 bits of the time in milliseconds and 80 random ones, so that ids sort by when they were made (rs R-019).
std::string new_id() {
    constexpr char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const Bytes16 random = random_bytes();
    const auto ms = static_cast<std::uint64_t>(real_now().ns / 1'000'000);
    std::string id(26, '0');
    for (std::size_t at = 0; at < 10; ++at) id[9 - at] = kDigits[ms >> (5 * at) & 31U];
    for (std::size_t at = 10; at < id.size(); ++at) id[at] = kDigits[random[at - 10] & 31U];
    return id;
}

// --- how many replicas -----------------------------------------------------------------------------------------------

/// What the request names replaces what the row has.
Result<void> take_bounds(const si::McsBody& body, const McsSettings& settings, mcs::Deployment& row) {
    const std::uint64_t least = body.min_replicas.value_or(static_cast<std::uint64_t>(row.min_replicas));
    const std::uint64_t most = body.max_replicas.value_or(static_cast<std::uint64_t>(row.max_replicas));
    if (body.max_replicas && most > settings.max_replicas)
        return fault(ErrorCode::Invalid,
                     fmt::format("{} replicas, of at most {} (mcs.maxReplicas)", most, settings.max_replicas),
                     "body.maxReplicas");
    if (least > most)
        return fault(ErrorCode::Invalid, fmt::format("the least of {} is above the most of {}", least, most),
                     body.min_replicas ? "body.minReplicas" : "body.maxReplicas");
    row.min_replicas = static_cast<std::int64_t>(least);
    row.max_replicas = static_cast<std::int64_t>(most);
    return {};
}

/// What a page may be fetched from is said by the settings, not by whoever may change a Deployment.
Result<void> check_pages(const mcs::ScalingPolicy& policy, const McsSettings& settings) {
    for (std::size_t at = 0; at < policy.metrics.size(); ++at) {
        const mcs::MetricTarget& metric = policy.metrics[at];
        if (metric.source != mcs::MetricSource::Prometheus) continue;
        if (const auto why = refusal_of_page(metric.url, settings.metrics_allowed_hosts); !why.empty())
            return fault(ErrorCode::Invalid, why, fmt::format("body.policy.metrics[{}].url", at));
    }
    return {};
}

Result<void> take_policy(const std::string& text, const McsSettings& settings, mcs::Deployment& row) {
    const auto policy = mcs::parse_policy(text);
    if (!policy.ok()) {
        const std::string& where = policy.error().where;
        return fault(ErrorCode::Invalid, policy.error().message, "body.policy" + (where.empty() ? "" : "." + where));
    }
    if (policy->metrics.empty() && policy->schedule.empty())
        return fault(ErrorCode::Invalid, "it has neither a metric nor a schedule", "body.policy");
    YK_CHECKED(check_pages(*policy, settings));
    row.policy = mcs::policy_text(*policy);
    return {};
}

/// 0 is always allowed: it switches a Deployment off (rs R-116).
Result<void> take_replicas(std::uint64_t replicas, mcs::Deployment& row) {
    const auto least = static_cast<std::uint64_t>(row.min_replicas),
               most = static_cast<std::uint64_t>(row.max_replicas);
    if (replicas > most || (replicas != 0 && replicas < least))
        return fault(ErrorCode::Invalid, fmt::format("{} replicas: {} to {} are allowed", replicas, least, most),
                     "body.replicas");
    row.replicas = static_cast<std::int64_t>(replicas);
    return {};
}

/// A policy that may go down to no replica has to be wished for, since a metric of replicas does not lead up from
/// there.
Result<void> begin_policy(const si::McsBody& body, const McsSettings& settings, mcs::Deployment& row) {
    if (!body.min_replicas && row.policy == mcs::no_policy())
        row.min_replicas = std::min<std::int64_t>(1, row.max_replicas);
    if (body.policy) YK_CHECKED(take_policy(*body.policy, settings, row));
    return take_bounds(body, settings, row);
}

Result<void> take_scaling(const si::McsBody& body, const McsSettings& settings, mcs::Deployment& row) {
    row.max_replicas = static_cast<std::int64_t>(settings.max_replicas);
    if (!body.policy) {
        YK_CHECKED(take_bounds(body, settings, row));
        return take_replicas(body.replicas.value_or(std::max<std::int64_t>(1, row.min_replicas)), row);
    }
    YK_CHECKED(begin_policy(body, settings, row));
    if (body.replicas) return take_replicas(*body.replicas, row);
    return {};
}

// --- what runs -------------------------------------------------------------------------------------------------------

/// What a replica needs.
Result<void> take_resource(const si::Resources& resource, mcs::Deployment& row) {
    YK_TRY(amounts, amounts_of(resource));
    std::erase_if(amounts, [](const auto& each) { return each.second == 0; });
    if (amounts.empty()) return fault(ErrorCode::MissingField, "a replica needs something", "body.resource");
    row.resource = std::move(amounts);
    return {};
}

/// What no node could begin is refused now, since each of its replicas would only be placed again and again. Without a
/// command the tags say nothing of what runs.
Result<void> check_work(const mcs::Texts& tags) {
    constexpr std::size_t kLongestShown = 60; // of a tag in a path
    for (const auto& [tag, value] : mcs::work_tags_of(tags))
        if (const auto checked = work::check_tag(tag, value); !checked.ok())
            return fault(ErrorCode::Invalid, checked.error().message, "body.tags." + shortened(tag, kLongestShown));
    return {};
}

/// All tags are replaced. Whoever gives back what is there gives nothing: the command stays that of whoever gave it.
Result<void> take_tags(const si::StringMap& given, const Submitter& submitter, mcs::Deployment& row) {
    mcs::Texts tags;
    for (const auto& [key, value] : given) {
        if (key == mcs::kSubmitterTag)
            return fault(ErrorCode::Invalid, "ykd itself notes who gives the tags", "body.tags." + key);
        tags.insert_or_assign(key, value);
    }
    if (mcs::work_tags_of(tags) != mcs::work_tags_of(*row.tags)) YK_CHECKED(check_work(tags));
    if (tags.find(mcs::kCommandTag) != tags.end()) {
        const auto giver = row.tags->find(mcs::kSubmitterTag);
        const bool is_known = giver != row.tags->end();
        std::string given_by = is_known ? giver->second : submitter.text;
        tags.insert_or_assign(std::string{mcs::kSubmitterTag}, given_by);
        if (is_known && mcs::work_tags_of(tags) != mcs::work_tags_of(*row.tags))
            tags.insert_or_assign(std::string{mcs::kSubmitterTag}, submitter.text);
    }
    row.tags = std::move(tags);
    return {};
}

/// What the request names replaces what the row has.
Result<void> take_spec(const si::McsBody& body, const Submitter& submitter, mcs::Deployment& row) {
    if (body.queue) row.queue = *body.queue;
    if (body.user) row.user = *body.user;
    if (body.groups) row.groups = *body.groups;
    row.priority = body.priority.value_or(row.priority);
    if (row.user->empty()) return fault(ErrorCode::MissingField, "it is missing", "body.user");
    if (body.resource) YK_CHECKED(take_resource(*body.resource, row));
    if (body.tags) YK_CHECKED(take_tags(*body.tags, submitter, row));
    YK_TRY(mode, delete_mode_of(body));
    row.delete_mode = mode.value_or(row.delete_mode);
    return {};
}

/// Bytes of its texts.
std::size_t size_of(const mcs::Deployment& row) {
    std::size_t size = row.meta.id.size() + row.name.size() + row.partition->size() + row.queue->size() +
                       row.user->size() + row.policy->size();
    for (const std::string& group : *row.groups) size += group.size() + 1;
    for (const auto& [type, amount] : *row.resource) size += type.size() + sizeof amount;
    for (const auto& [key, value] : *row.tags) size += key.size() + value.size();
    return size;
}

Result<mcs::Deployment> if_it_fits(mcs::Deployment row, const McsSettings& settings) {
    const std::size_t size = size_of(row);
    if (size <= settings.max_deployment_size) return row;
    return fault(ErrorCode::Limit,
                 fmt::format("its texts have {} bytes, of at most {} (mcs.maxDeploymentSize)", size,
                             settings.max_deployment_size),
                 "body");
}

// --- changes ---------------------------------------------------------------------------------------------------------

struct Given {
    const McsSettings& settings;
    const Submitter& submitter;
};

Result<void> scale(const si::McsBody& body, const Given& /*given*/, mcs::Deployment& row) {
    if (!body.replicas) return fault(ErrorCode::MissingField, "how many?", "body.replicas");
    return take_replicas(*body.replicas, row);
}

Result<void> autoscale(const si::McsBody& body, const Given& given, mcs::Deployment& row) {
    if (!body.policy && row.policy == mcs::no_policy())
        return fault(ErrorCode::MissingField, "what is to decide?  A metric or a schedule", "body.policy");
    row.replicas.reset();
    return begin_policy(body, given.settings, row);
}

/// What stays as it was created, and what only one other verb takes.
Result<void> check_fixed(const si::McsBody& body, const mcs::Deployment& row) {
    if (body.name && *body.name != row.name)
        return fault(ErrorCode::Invalid, fmt::format("it stays {} as it was created", row.name), "body.name");
    if (body.partition && *body.partition != *row.partition)
        return fault(ErrorCode::Invalid, fmt::format("it stays {} as it was created", *row.partition),
                     "body.partition");
    if (body.adopt || body.metric)
        return fault(ErrorCode::Invalid, "it is for another verb", body.adopt ? "body.adopt" : "body.metric");
    return {};
}

/// A policy without a metric and a schedule is none.
Result<void> take_any_policy(const si::McsBody& body, const McsSettings& settings, mcs::Deployment& row) {
    const auto policy = mcs::parse_policy(*body.policy);
    const bool is_none = policy.ok() && policy->metrics.empty() && policy->schedule.empty();
    if (!is_none && !body.min_replicas && row.policy == mcs::no_policy()) // as begin_policy()
        row.min_replicas = std::max(row.min_replicas, std::min<std::int64_t>(1, row.max_replicas));
    if (!is_none) YK_CHECKED(take_policy(*body.policy, settings, row));
    if (is_none) row.policy = mcs::no_policy();
    if (!is_none && !body.replicas) row.replicas.reset();
    if (is_none && !body.replicas && !row.replicas)
        return fault(ErrorCode::MissingField, "what is to decide?  A number of replicas, a metric or a schedule",
                     "body.replicas");
    return {};
}

/// All of what other verbs change, at once: what is named replaces what is there. A number decides as long as there is
/// one, whatever the policy.
Result<void> apply(const si::McsBody& body, const Given& given, mcs::Deployment& row) {
    if (body == si::McsBody{}) return fault(ErrorCode::MissingField, "what is to change?", "body");
    YK_CHECKED(check_fixed(body, row));
    YK_CHECKED(take_spec(body, given.submitter, row));
    YK_CHECKED(take_bounds(body, given.settings, row));
    if (body.policy) YK_CHECKED(take_any_policy(body, given.settings, row));
    if (body.replicas) YK_CHECKED(take_replicas(*body.replicas, row));
    row.is_paused = body.paused.value_or(row.is_paused);
    return {};
}

/// What another verb changes, or none does, is an error.
Result<void> set(const si::McsBody& body, const Given& given, mcs::Deployment& row) {
    if (body == si::McsBody{}) return fault(ErrorCode::MissingField, "what is to change?", "body");
    if (body.name || body.partition)
        return fault(ErrorCode::Invalid, "it stays as it was created", body.name ? "body.name" : "body.partition");
    if (body.adopt || body.metric)
        return fault(ErrorCode::Invalid, "it is for another verb", body.adopt ? "body.adopt" : "body.metric");
    if (body.replicas) return fault(ErrorCode::Invalid, "the verb scale changes it", "body.replicas");
    if (body.paused) return fault(ErrorCode::Invalid, "the verbs pause and resume change it", "body.paused");
    if (body.policy || body.min_replicas || body.max_replicas)
        return fault(ErrorCode::Invalid, "the verb autoscale changes it",
                     body.policy         ? "body.policy"
                     : body.min_replicas ? "body.minReplicas"
                                         : "body.maxReplicas");
    return take_spec(body, given.submitter, row);
}

template <bool is_paused>
Result<void> pause(const si::McsBody& /*body*/, const Given& /*given*/, mcs::Deployment& row) {
    row.is_paused = is_paused;
    return {};
}

struct Change {
    std::string_view verb;
    Result<void> (*apply)(const si::McsBody& body, const Given& given, mcs::Deployment& row);
};
constexpr std::array<Change, 6> kChanges{{{"scale", scale},
                                          {"autoscale", autoscale},
                                          {"set", set},
                                          {"apply", apply},
                                          {"pause", pause<true>},
                                          {"resume", pause<false>}}};

const Change* find_change(std::string_view verb) {
    const auto* const found =
        std::find_if(kChanges.begin(), kChanges.end(), [&](const Change& each) { return each.verb == verb; });
    return found == kChanges.end() ? nullptr : found;
}

} // namespace

Result<mcs::Deployment> deployment_of(const si::McsWriteRequest& request, const McsSettings& settings,
                                      const Submitter& submitter) {
    const si::McsBody body = request.body.value_or(si::McsBody{});
    mcs::Deployment row;
    row.meta.id = request.id.empty() ? new_id() : request.id;
    row.name = body.name.value_or("");
    if (body.partition) row.partition = *body.partition;
    row.delete_mode = settings.delete_mode;
    row.is_paused = body.paused.value_or(false);
    YK_CHECKED(check_name(row.meta.id, "id"));
    YK_CHECKED(check_name(row.name, "body.name"));
    YK_CHECKED(take_spec(body, submitter, row));
    YK_CHECKED(take_scaling(body, settings, row));
    if (!body.resource) return fault(ErrorCode::MissingField, "a replica needs something", "body.resource");
    return if_it_fits(std::move(row), settings);
}

bool is_change(std::string_view verb) {
    return find_change(verb) != nullptr;
}

Result<mcs::Deployment> changed_deployment(const mcs::Deployment& row, const si::McsWriteRequest& request,
                                           const McsSettings& settings, const Submitter& submitter) {
    const Change* const change = find_change(request.verb);
    YK_CHECK(change != nullptr, "only asked for verbs that change a Deployment");
    mcs::Deployment changed = row;
    YK_CHECKED(change->apply(request.body.value_or(si::McsBody{}), {settings, submitter}, changed));
    return if_it_fits(std::move(changed), settings);
}

Result<std::optional<mcs::DeleteMode>> delete_mode_of(const si::McsBody& body) {
    if (!body.delete_mode || body.delete_mode->empty()) return std::optional<mcs::DeleteMode>{};
    const auto mode = mcs::find_delete_mode(*body.delete_mode);
    if (!mode) return fault(ErrorCode::Invalid, "it is cascade, owners or orphan", "body.deleteMode");
    return mode;
}

} // namespace yk::service
