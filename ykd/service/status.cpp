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
