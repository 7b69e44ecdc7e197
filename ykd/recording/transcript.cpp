// SPDX-License-Identifier: Apache-2.0
#include "ykd/recording/transcript.h"

#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace yk {

namespace {

std::string text_of(const NamedResource& resource) {
    if (resource.absent()) return "-";
    std::string text;
    resource.for_each([&text](std::string_view name, std::int64_t value) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name, value);
    });
    return "{" + text + "}";
}

std::string text_of(std::span<const Tag> tags) {
    std::string text;
    for (const Tag& tag : tags) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", tag.key, tag.value);
    return "{" + text + "}";
}

unsigned number_of(ElementCode code) {
    return static_cast<unsigned>(code);
}

constexpr std::array<std::pair<EventDetail, std::string_view>, 43> kDetails{
    {{EventDetail::None, "NONE"},
     {EventDetail::RequestCancel, "REQUEST_CANCEL"},
     {EventDetail::RequestAlloc, "REQUEST_ALLOC"},
     {EventDetail::RequestTimeout, "REQUEST_TIMEOUT"},
     {EventDetail::AppAlloc, "APP_ALLOC"},
     {EventDetail::AppRequest, "APP_REQUEST"},
     {EventDetail::AppReject, "APP_REJECT"},
     {EventDetail::AppNew, "APP_NEW"},
     {EventDetail::AppAccepted, "APP_ACCEPTED"},
     {EventDetail::AppRunning, "APP_RUNNING"},
     {EventDetail::AppCompleting, "APP_COMPLETING"},
     {EventDetail::AppCompleted, "APP_COMPLETED"},
     {EventDetail::AppFailing, "APP_FAILING"},
     {EventDetail::AppFailed, "APP_FAILED"},
     {EventDetail::AppResuming, "APP_RESUMING"},
     {EventDetail::AppExpired, "APP_EXPIRED"},
     {EventDetail::AppCannotRunQueue, "APP_CANNOTRUN_QUEUE"},
     {EventDetail::AppRunnableQueue, "APP_RUNNABLE_QUEUE"},
     {EventDetail::AppCannotRunQuota, "APP_CANNOTRUN_QUOTA"},
     {EventDetail::AppRunnableQuota, "APP_RUNNABLE_QUOTA"},
     {EventDetail::NodeDecommission, "NODE_DECOMISSION"},
     {EventDetail::NodeSchedulable, "NODE_SCHEDULABLE"},
     {EventDetail::NodeAlloc, "NODE_ALLOC"},
     {EventDetail::NodeCapacity, "NODE_CAPACITY"},
     {EventDetail::NodeOccupied, "NODE_OCCUPIED"},
     {EventDetail::NodeReservation, "NODE_RESERVATION"},
     {EventDetail::UserLimit, "UG_USER_LIMIT"},
     {EventDetail::GroupLimit, "UG_GROUP_LIMIT"},
     {EventDetail::AppLink, "UG_APP_LINK"},
     {EventDetail::UserResource, "UG_USER_RESOURCE"},
     {EventDetail::GroupResource, "UG_GROUP_RESOURCE"},
     {EventDetail::QueueConfig, "QUEUE_CONFIG"},
     {EventDetail::QueueDynamic, "QUEUE_DYNAMIC"},
     {EventDetail::QueueType, "QUEUE_TYPE"},
     {EventDetail::QueueMax, "QUEUE_MAX"},
     {EventDetail::QueueGuaranteed, "QUEUE_GUARANTEED"},
     {EventDetail::QueueApp, "QUEUE_APP"},
     {EventDetail::AllocCancel, "ALLOC_CANCEL"},
     {EventDetail::AllocPreempt, "ALLOC_PREEMPT"},
     {EventDetail::AllocTimeout, "ALLOC_TIMEOUT"},
     {EventDetail::AllocReplaced, "ALLOC_REPLACED"},
     {EventDetail::AllocNodeRemoved, "ALLOC_NODEREMOVED"},
     {EventDetail::QueuePreemption, "QUEUE_PREEMPTION"}}};

std::string_view name_of(EventType type) {
    constexpr std::array<std::string_view, 6> kNames{"UNSET", "REQUEST", "APP", "NODE", "QUEUE", "USERGROUP"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(EventChange change) {
    constexpr std::array<std::string_view, 4> kNames{"NONE", "SET", "ADD", "REMOVE"};
    return kNames[static_cast<std::size_t>(change)];
}

std::string name_of(EventDetail detail) {
    for (const auto& [known, name] : kDetails)
        if (known == detail) return std::string(name);
    return fmt::format("DETAIL_{}", static_cast<unsigned>(detail));
}

} // namespace

void Transcript::allocation_made(const NewAllocation& a) noexcept {
    say(Kind::Callback, fmt::format("N {} {}/{} on {} queue={} res={} prio={} tags={}{}{}{}{}{}", a.partition,
                                    a.application, a.key, a.node, a.queue, text_of(a.resource), a.priority,
                                    text_of(a.tags), a.task_group.empty() ? "" : fmt::format(" group={}", a.task_group),
                                    a.placeholder ? " placeholder" : "", a.originator ? " originator" : "",
                                    a.allow_preempt_self ? " self" : "", a.allow_preempt_other ? " other" : ""));
}

void Transcript::allocations_released(std::span<const ReleasedAllocation> released) noexcept {
    std::string head = "L", wording;
    for (const ReleasedAllocation& r : released) {
        head += fmt::format(" [{} {}/{} type={}]", r.partition, r.application, r.key, static_cast<unsigned>(r.type));
        wording += fmt::format("[{}]", r.message);
    }
    say(Kind::Callback, head + std::string(kWording) + wording);
}

void Transcript::asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept {
    std::string head = placements ? "A rejectedAllocations" : "A rejectedAsks", wording;
    for (const RejectedAsk& r : rejected) {
        head += fmt::format(" [{} {}/{} code={}]", r.partition, r.application, r.key, number_of(r.code));
        wording += fmt::format("[{}]", r.reason);
    }
    say(Kind::Callback, head + std::string(kWording) + wording);
}

void Transcript::releases_ignored(std::span<const IgnoredRelease> ignored) noexcept {
    std::string head = "A ignoredReleases", wording;
    for (const IgnoredRelease& r : ignored) {
        head += fmt::format(" [{} {}/{} code={}]", r.partition, r.application, r.key, number_of(r.code));
        wording += fmt::format("[{}]", r.reason);
    }
    say(Kind::Callback, head + std::string(kWording) + wording);
}

void Transcript::applications_answered(std::span<const AcceptedApplication> accepted,
                                       std::span<const RejectedApplication> rejected) noexcept {
    std::string head = "A apps", wording;
    for (const AcceptedApplication& a : accepted) head += fmt::format(" +[{} {} {}]", a.partition, a.id, a.queue);
    for (const RejectedApplication& r : rejected) {
        head += fmt::format(" -[{} {} code={}]", r.partition, r.id, number_of(r.code));
        wording += fmt::format("[{}]", r.reason);
    }
    say(Kind::Callback, head + std::string(kWording) + wording);
}

void Transcript::application_updated(const UpdatedApplication& u) noexcept {
    say(Kind::Callback, fmt::format("U {} {} {} at={} message={}", u.partition, u.id, u.state, u.at.ns, u.message));
}

void Transcript::nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                                std::span<const RefusedNode> failed) noexcept {
    std::string head = "A nodes", wording;
    for (const AcceptedNode& a : accepted) head += fmt::format(" +[{} {}]", a.partition, a.id);
    for (const RefusedNode& r : rejected) {
        head += fmt::format(" -[{} {} code={}]", r.partition, r.id, number_of(r.code));
        wording += fmt::format("[{}]", r.reason);
    }
    for (const RefusedNode& r : failed) {
        head += fmt::format(" failed[{} {} action={} code={}]", r.partition, r.id, static_cast<unsigned>(r.action),
                            number_of(r.code));
        wording += fmt::format("[{}]", r.reason);
    }
    say(Kind::Callback, head + std::string(kWording) + wording);
}

void Transcript::ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) noexcept {
    say(Kind::Callback, fmt::format("O {}/{}{}{}", application, key, kWording, reason));
}

void Transcript::predicates_wanted(const PredicatesCall& c) noexcept {
    say(Kind::Callback, fmt::format("P{} {}/{} on {}{}", c.call, c.application, c.key,
                                    fmt::join(c.nodes.begin(), c.nodes.end(), ","), c.allocate ? "" : " reserve"));
}

void Transcript::preemption_wanted(const PreemptionCall& c) noexcept {
    say(Kind::Callback, fmt::format("V{} {}/{} on {} victims={} start={}", c.call, c.application, c.key, c.node,
                                    fmt::join(c.victims.begin(), c.victims.end(), ","), c.start));
}

void Transcript::record(const EventRecord& e) noexcept {
    say(e.type == EventType::Request ? Kind::Request : Kind::Event,
        fmt::format("{} {} {} {} {} ref={} res={} at={}{}{}", e.partition, name_of(e.type), e.object, name_of(e.change),
                    name_of(e.detail), e.reference, text_of(e.resource), e.at.ns, e.message.empty() ? "" : kWording,
                    e.message));
}

} // namespace yk
