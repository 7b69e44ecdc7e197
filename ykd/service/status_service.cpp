// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/status_service.h"

#include <fmt/format.h>

#include "ykd/configuration/reload.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

Value note_value(const ReloadNote& note) {
    Value value{{"at", note.at.ns}, {"ok", note.refusal.empty()}};
    if (!note.refusal.empty()) value["reason"] = note.refusal;
    return value;
}

/// An RM of the settings that is not registered.
Value new_rm_value(const std::string& id, Instant since) {
    return {{"rmID", id},
            {"state", static_cast<int>(si::CoreState::New)},
            {"since", since.ns},
            {"reason", kNotRegistered},
            {"detached", false},
            {"served", false},
            {"partitions", Value::array()},
            {"inboundItems", 0},
            {"backlog", 0}};
}

/// Adds what counts against the RM's budget, and the budget; of what is unlimited there is no limit.
void add_budget(Value& rm, const Holdings& held, const Budget& budget) {
    Value used = Value::object(), most = Value::object();
    for (const Held what : kAllHeld) {
        used[std::string{name_of(what)}] = held.of(what);
        if (const std::uint64_t limit = limit_of(budget, what); limit > 0) most[std::string{name_of(what)}] = limit;
    }
    rm["held"] = std::move(used);
    rm["max"] = std::move(most);
}

/// How far a recovery is: what there is, beside what the RM expects (I-212).
Value recovery_value(const RecoveryStatus& recovery) {
    Value value{{"id", recovery.wish.id},
                {"attempt", recovery.attempt},
                {"nodes", recovery.has.nodes},
                {"applications", recovery.has.applications},
                {"allocations", recovery.has.allocations},
                {"asks", recovery.has.pending_asks},
                {"quarantined", recovery.has.quarantined},
                {"sinceMs", std::chrono::duration_cast<std::chrono::milliseconds>(recovery.lasts).count()}};
    const auto left = [&value](const char* key, const std::optional<Duration>& time) {
        if (time) value[key] = std::chrono::duration_cast<std::chrono::milliseconds>(*time).count();
    };
    left("leftMs", recovery.total_left);
    left("idleLeftMs", recovery.idle_left);
    if (const auto& expected = recovery.wish.expected) {
        value["expectedNodes"] = expected->nodes;
        value["expectedApplications"] = expected->applications;
        value["expectedAllocations"] = expected->allocations;
        if (expected->asks) value["expectedAsks"] = *expected->asks;
    }
    return value;
}

/// Adds a sentence such as `RM a has 95 % of its nodes (rmMaxNodes 100000)` for each limit that is nearly reached.
void add_shortages(Value& degraded, const std::string& rm, const Holdings& held, const Budget& budget) {
    constexpr std::uint64_t kNearly = 90; // percent
    for (const Held what : kAllHeld) {
        const std::uint64_t limit = limit_of(budget, what);
        if (limit == 0) continue;
        const auto percent =
            static_cast<std::uint64_t>(100.0 * static_cast<double>(held.of(what)) / static_cast<double>(limit));
        if (percent >= kNearly)
            degraded.push_back(
                fmt::format("RM {} has {} % of its {} ({} {})", rm, percent, name_of(what), key_of(what), limit));
    }
}

} // namespace

Value StatusService::rm_value(const Rm& rm, const RmFacts& facts) const {
    const StateRecord::Reading record = rm.owner.state_record();
    Value value{{"rmID", rm.id},
                {"state", static_cast<int>(record.state)},
                {"since", record.since.ns},
                {"reason", record.reason},
                {"detached", facts.detached.has_value()},
                {"served", is_served(parts_.sessions, facts)},
                {"partitions", facts.partitions},
                {"inboundItems", rm.owner.inbound_elements()},
                {"backlog", rm.owner.stream().status().backlog},
                {"policyGroup", facts.policy_group},
                {"version", facts.version},
                {"configOrigin", facts.config_origin},
                {"configFromFile", facts.config_from_file}};
    if (differs_from_file(parts_.config_files, facts)) {
        value["notFollowed"] = file_of(parts_.config_files, facts);
        value["wayBack"] = way_back(rm.id);
    }
    if (facts.last_reload) value["lastReload"] = note_value(*facts.last_reload);
    return value;
}

Value StatusService::status_value(const std::vector<Gathered<RmContents>>& all) const {
    RmContents counts;
    Value rms = Value::array(), checksums = Value::object(), degraded = Value::array();
    for (const auto& [rm, answer] : all) {
        const RmFacts facts = rm->facts();
        if (!facts.configuration || rm->owner.state() == si::CoreState::New) continue;
        counts.add(answer);
        rms.push_back(rm_value(*rm, facts));
        rms.back()["settled"] = answer.is_settled;
        if (answer.recovery) rms.back()["recovery"] = recovery_value(*answer.recovery);
        add_budget(rms.back(), answer.held, parts_.settings.rm_max);
        add_shortages(degraded, rm->id, answer.held, parts_.settings.rm_max);
        checksums[facts.policy_group] = facts.configuration->checksum;
        if (rm->owner.state() != si::CoreState::Running)
            degraded.push_back(fmt::format("RM {} is {}", rm->id, si::text(rm->owner.state())));
    }
    for (const std::string& id : new_rms(parts_.settings.known_rms, parts_.rms))
        rms.push_back(new_rm_value(id, parts_.clock.now() - parts_.identity.uptime()));
    for (const std::string& line : parts_.degraded.list()) degraded.push_back(line);
    for (const std::string& line : parts_.health.failures()) degraded.push_back(line);
    const SessionTable::Count sessions = parts_.sessions.count();
    const Bytes16& boot = parts_.identity.boot_id;
    Value value{{"state", static_cast<int>(core_state(parts_.rms))},
                {"bootID", Value::binary({boot.begin(), boot.end()})},
                {"version", parts_.identity.version},
                {"uptimeMs", std::chrono::duration_cast<std::chrono::milliseconds>(parts_.identity.uptime()).count()},
                {"checksums", std::move(checksums)},
                {"rms", std::move(rms)},
                {"counts", counts.value()},
                {"sessions", sessions.connected},
                {"sessionsKept", sessions.kept},
                {"maxSessions", parts_.sessions.limit()},
                {"degraded", std::move(degraded)},
                {"schedule", parts_.settings.manual_schedule ? "manual" : "auto"},
                {"clock", parts_.settings.virtual_clock ? "virtual" : "real"}};
    if (const std::uint64_t boots = parts_.state.boots(); boots > 0) value["boots"] = boots;
    if (!parts_.settings.record_directory.empty()) value["recordDirectory"] = parts_.settings.record_directory;
    if (const auto note = parts_.access_files.last_reread()) value["settingsReload"] = note_value(*note);
    return value;
}

void StatusService::status(const CallPtr& call) {
    gather<RmContents>(parts_.workers, parts_.rms.all(), Lane::Control, contents_of,
                       [this, call](const std::vector<Gathered<RmContents>>& all) { call->ok(status_value(all)); });
}

} // namespace yk::service
