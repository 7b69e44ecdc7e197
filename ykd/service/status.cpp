// Status: the daemon at a glance.

#include <fmt/format.h>

#include "ykd/service/daemon.h"
#include "ykd/service/gather.h"
#include "ykd/service/reload.h"
#include "ykd/service/rm_checks.h"
#include "ykd/service/rm_contents.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

Value note_value(const ReloadNote& note) {
    Value value{{"at", note.at.ns}, {"ok", note.refusal.empty()}};
    if (!note.refusal.empty()) value["reason"] = note.refusal;
    return value;
}

Value rm_value(Daemon& daemon, const Rm& rm, const RmFacts& facts) {
    Value value{{"rmID", rm.id},
                {"state", static_cast<int>(rm.owner.state())},
                {"detached", facts.detached.has_value()},
                {"served", is_served(daemon, facts)},
                {"partitions", facts.partitions},
                {"inboundItems", rm.owner.inbound_elements()},
                {"backlog", rm.owner.stream().status().backlog},
                {"policyGroup", facts.policy_group},
                {"version", facts.version},
                {"configOrigin", facts.config_origin},
                {"configFromFile", facts.config_from_file}};
    if (differs_from_file(daemon, facts)) {
        value["notFollowed"] = file_of(daemon, facts);
        value["wayBack"] = way_back(rm.id);
    }
    if (facts.last_reload) value["lastReload"] = note_value(*facts.last_reload);
    return value;
}

/// What counts against the RM's budget, and the budget; a limit that is none is left out.
void add_budget(Value& rm, const Holdings& held, const Budget& budget) {
    Value used = Value::object(), most = Value::object();
    for (const Held what : kAllHeld) {
        used[std::string{name_of(what)}] = held.of(what);
        if (const std::uint64_t limit = limit_of(budget, what); limit > 0) most[std::string{name_of(what)}] = limit;
    }
    rm["held"] = std::move(used);
    rm["max"] = std::move(most);
}

/// `RM a has 95 % of its nodes (rmMaxNodes 100000)`, for what soon will be refused.
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

void status(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    gather<RmContents>(daemon.workers(), daemon.rms().all(), Lane::Control, contents_of,
                       [call](const std::vector<Gathered<RmContents>>& all) {
                           Daemon& of = call->daemon();
                           RmContents counts;
                           Value rms = Value::array(), checksums = Value::object(), degraded = Value::array();
                           for (const auto& [rm, answer] : all) {
                               const RmFacts facts = rm->facts();
                               if (!facts.configuration || rm->owner.state() == si::CoreState::New) continue;
                               counts.add(answer);
                               rms.push_back(rm_value(of, *rm, facts));
                               add_budget(rms.back(), answer.held, of.settings().rm_max);
                               add_shortages(degraded, rm->id, answer.held, of.settings().rm_max);
                               checksums[facts.policy_group] = facts.configuration->checksum;
                               if (rm->owner.state() != si::CoreState::Running)
                                   degraded.push_back(fmt::format("RM {} is {}", rm->id, si::text(rm->owner.state())));
                           }
                           for (const std::string& line : of.degraded().list()) degraded.push_back(line);
                           for (const std::string& line : of.health().failures()) degraded.push_back(line);
                           const SessionTable::Count sessions = of.sessions().count();
                           Value value{
                               {"state", static_cast<int>(of.state())},
                               {"bootID", Value::binary({of.boot_id().begin(), of.boot_id().end()})},
                               {"version", of.version()},
                               {"uptimeMs", std::chrono::duration_cast<std::chrono::milliseconds>(of.uptime()).count()},
                               {"checksums", std::move(checksums)},
                               {"rms", std::move(rms)},
                               {"counts", counts.value()},
                               {"sessions", sessions.connected},
                               {"sessionsKept", sessions.kept},
                               {"maxSessions", of.sessions().limit()},
                               {"degraded", std::move(degraded)},
                               {"schedule", of.settings().manual_schedule ? "manual" : "auto"},
                               {"clock", of.settings().virtual_clock ? "virtual" : "real"}};
                           if (!of.settings().record_directory.empty())
                               value["recordDirectory"] = of.settings().record_directory;
                           if (const auto note = of.last_settings_reload()) value["settingsReload"] = note_value(*note);
                           call->ok(value);
                       });
}

} // namespace yk::service
