// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/mcs_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "libcore/mcs/work_tags.h"
#include "ykd/mcs/requests/application_access.h"
#include "ykd/mcs/requests/dead_letter_values.h"
#include "ykd/mcs/requests/deployment_logs.h"
#include "ykd/mcs/requests/deployment_request.h"
#include "ykd/mcs/requests/deployment_values.h"
#include "ykd/mcs/requests/mcs_status.h"
#include "ykd/mcs/requests/node_values.h"
#include "ykd/process/random_bytes.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kMostRows = 1000; // of a page
constexpr std::size_t kOther = 4096;      // bytes of an answer beside its rows: the envelope, and a cursor
constexpr std::uint32_t kComeAgain = 500; // ms, when MCS is not ready
constexpr std::uint32_t kAtOnce = 20;     // ms, when somebody else changed the row
constexpr std::uint32_t kDiskPause = 1000;
constexpr std::size_t kMostNodes = 100'000;           // as an RM may have (rmMaxNodes)
constexpr std::uint64_t kMostReplica = 1'000'000'000; // more than any bound allows

void fail(const CallPtr& call, const Error& error) {
    call->fail(static_cast<ErrorCode>(error.code), error.message, error.where);
}

void not_found(const CallPtr& call, const std::string& id, const char* kind = "deployment") {
    call->fail(ErrorCode::NotFound, fmt::format("there is no {} \"{}\"", kind, id), "id");
}

/// A node as the core has it.
struct ListedNode {
    rs::Ptr<mcs::Node> row;
    bool is_registered = false;
    std::string refusal;
};
Value value_of(const ListedNode& node) {
    return service::value_of(*node.row, node.is_registered, node.refusal);
}
/// What the next page goes on from after a row.
const std::string& cursor_of(const ListedNode& node) {
    return node.row->meta.id;
}
const std::string& cursor_of(const DeploymentRows& rows) {
    return rows.deployment->name;
}

using service::cursor_of;
using service::value_of;

bool is_operation(std::string_view verb) {
    return verb == "resync" || verb == "reconcile" || verb == "retry";
}
std::vector<std::string_view> names_of_kinds() {
    std::vector<std::string_view> names;
    names.reserve(mcs::kKinds.size());
    for (const rs::Kind kind : mcs::kKinds) names.push_back(mcs::name_of(kind));
    return names;
}

/// Answers with the first `limit` of the rows, or as many as a reply holds, but at least one.
template <class Row>
void answer_page(const CallPtr& call, const std::vector<Row>& rows, std::size_t limit) {
    std::string items;
    std::size_t count = 0;
    for (; count < rows.size() && count < limit; ++count) {
        const std::string item = wire::encoded_value(value_of(rows[count]));
        if (count > 0 && items.size() + item.size() + kOther > call->reply_limit()) break;
        items += item;
    }
    const bool has_more = count < rows.size();
    wire::Buffer body;
    wire::Packer packer(body);
    packer.map(has_more ? 2 : 1);
    packer.key("items");
    packer.list(count);
    packer.raw(items);
    if (has_more) packer.field("cursor", cursor_of(rows[count - 1]));
    call->ok_encoded(body.view());
}

// --- what came of a write --------------------------------------------------------------------------------------------

/// What a write was meant for.
struct Meant {
    CallPtr call;
    std::string id, name;
    bool names_version = false;
    const char* kind = "deployment";
};

void answer_written(const Meant& meant, const mcs::Written& written) {
    meant.call->ok({{"id", meant.id},
                    {"name", meant.name},
                    {"uid", written.uid},
                    {"version", written.version},
                    {"position", written.position.text()}});
}

/// A change that names no version is computed anew from the newest row by whoever sends it again (rs R-012).
void answer_conflict(const Meant& meant, const mcs::Conflict& conflict) {
    using What = mcs::Conflict::What;
    if (conflict.what == What::RowGone) return not_found(meant.call, meant.name, meant.kind);
    if (conflict.what == What::RowChanged && !meant.names_version)
        return meant.call->busy(meant.name + " was changed at the same moment", kAtOnce);
    wire::ErrorReply error{ErrorCode::BadState, conflict.message, {}, {}, {}};
    error.details["conflict"] = mcs::name_of(conflict.what);
    if (conflict.current_version > 0) error.details["version"] = conflict.current_version;
    if (conflict.what == What::NameTaken) error.path = "body.name";
    meant.call->fail(error);
}

void answer(const Meant& meant, const mcs::WriteOutcome& outcome) {
    if (const auto* const written = std::get_if<mcs::Written>(&outcome)) return answer_written(meant, *written);
    if (const auto* const conflict = std::get_if<mcs::Conflict>(&outcome)) return answer_conflict(meant, *conflict);
    const std::string& why = mcs::message_of(outcome);
    if (const auto* transient = std::get_if<mcs::Transient>(&outcome); transient != nullptr && transient->is_in_doubt)
        return meant.call->fail(ErrorCode::InDoubt,
                                "the database was lost while it committed, so " + meant.name +
                                    " may be written or not: look before you send it again: " + why);
    if (std::holds_alternative<mcs::Transient>(outcome) && meant.call->is_stopping())
        return meant.call->fail(ErrorCode::ShuttingDown, why);
    if (std::holds_alternative<mcs::Transient>(outcome))
        return meant.call->busy("the database cannot be written: " + why, kDiskPause);
    if (std::holds_alternative<mcs::Fatal>(outcome))
        return meant.call->fail(ErrorCode::BadState, "the database refuses it: " + why);
    meant.call->fail_internal(why);
}

void carry_out(McsApplication& application, mcs::WriteCommand command, Meant meant) {
    if (const std::string why = application.refuses_writes(); !why.empty()) return meant.call->busy(why, kDiskPause);
    application.write(std::move(command),
                      [meant = std::move(meant)](const mcs::WriteOutcome& outcome) { answer(meant, outcome); });
}

/// A row that was edited into what nobody understands is known here as it was before, and a change of that would never
/// meet the row of the database. False: the call was answered.
bool is_understood(McsApplication& application, const Meant& meant, rs::Kind kind) {
    const std::string why = application.operations().fault_of(kind, meant.id);
    if (why.empty()) return true;
    meant.call->fail(ErrorCode::BadState, "the row of " + meant.name + " in the database cannot be understood (" + why +
                                              "), so nothing can be changed of it: mend it there, or delete " +
                                              meant.name);
    return false;
}

/// The row that a change is about; nullptr: the call was answered.
rs::Ptr<mcs::Deployment> find_row(const McsApplication& application, const CallPtr& call,
                                  const si::McsWriteRequest& request) {
    auto row = application.find(request.id);
    if (!row) not_found(call, request.id);
    return row;
}

CommandStates commands_of(McsApplication& application, const DeploymentRows& rows) {
    auto& scheduling = application.scheduling();
    LocalWork* const work = scheduling.work();
    return work == nullptr || !rows.schedule ? CommandStates{} : work->states_of(*rows.schedule, scheduling.leads());
}

void add_commands(McsApplication& application, std::vector<DeploymentRows>& page) {
    LocalWork* const work = application.scheduling().work();
    if (work == nullptr) return;
    std::vector<std::string> schedules;
    for (const DeploymentRows& each : page)
        if (each.schedule) schedules.push_back(each.schedule->meta.id);
    const auto sums = work->sums_of(schedules);
    for (DeploymentRows& each : page)
        if (const auto found = each.schedule ? sums.find(each.schedule->meta.id) : sums.end(); found != sums.end())
            each.commands = found->second;
}

/// False: the call was answered.
bool is_page(const CallPtr& call, const si::McsReadRequest& request) {
    if (request.limit > 0 && request.limit <= kMostRows) return true;
    call->fail(ErrorCode::Invalid, fmt::format("a page has 1 to {} rows", kMostRows), "limit");
    return false;
}

/// Whether the state of the row that is known here is the one that the change names. A change is made of the state that
/// is known, and written in place of that one only: else it would take back what was written since. False: the call was
/// answered.
bool is_state_known(const Meant& meant, std::int64_t known, std::uint64_t named) {
    const auto version = static_cast<std::int64_t>(named);
    if (named == 0 || version == known) return true;
    if (version > known)
        meant.call->busy(fmt::format("version {} of {} has not come here yet", version, meant.name), kAtOnce);
    else
        answer_conflict(meant, {mcs::Conflict::What::RowChanged,
                                fmt::format("{} has version {} by now", meant.name, known), known});
    return false;
}

/// Of a Deployment, and of what it owns, the name will do; but what an orphan has left may have that as its id.
std::string id_meant(McsApplication& application, rs::Kind kind, const std::string& id_or_name) {
    if (kind == mcs::kNodeKind || application.operations().knows(kind, id_or_name)) return id_or_name;
    const auto row = application.find(id_or_name);
    return row ? row->meta.id : id_or_name;
}

/// Whether there is certainly no such row, neither here nor in the database, which is read only for a row that nobody
/// here knows.
bool is_nowhere(McsApplication& application, rs::Kind kind, const std::string& id) {
    if (application.operations().knows(kind, id) || !application.manager().is_store_up()) return false;
    const auto found = application.operations().inspect(kind, id);
    return found.ok() && !found->is_anywhere();
}

void not_seen(const CallPtr& call, SeenWrites::Seen seen) {
    if (call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    if (seen == SeenWrites::Seen::Late)
        return call->busy("what was written up to that position has not come here yet, or cannot be read; ykctl mcs "
                          "status says how far it is",
                          kAtOnce);
    call->fail(ErrorCode::BadState, "it is the position of another database, or of this one before it was restored",
               "minPosition");
}

/// As with_application(), but not before the caches show what was written up to the position that the request names, if
/// it names one.
void with_seen(McsThread& mcs, const CallPtr& call, const si::McsReadRequest& request,
               std::function<void(McsApplication& application)> use) {
    constexpr std::uint64_t kLongest = 60'000; // ms
    if (request.min_position.empty())
        return with_application(mcs, call,
                                [use = std::move(use)](McsApplication& application, Instant) { use(application); });
    const auto position = rs::Cursor::parse(request.min_position);
    if (!position)
        return call->fail(ErrorCode::Invalid, "it is no position that a write was answered with", "minPosition");
    const std::chrono::milliseconds patience{std::min(request.wait_ms, kLongest)};
    with_application(mcs, call, [=, use = std::move(use)](McsApplication& application, Instant now) {
        if (!application.seen().has_positions())
            return call->fail(ErrorCode::BadState,
                              "events of a broker name no position of the database: ask the ykd that has written, "
                              "without a position",
                              "minPosition");
        const bool waits = application.seen().wait_for_position(
            *position, now + patience,
            {[call, use, &application](SeenWrites::Seen seen) {
                 seen == SeenWrites::Seen::Yes ? use(application) : not_seen(call, seen);
             },
             [call] { return call->peer().is_gone(); }, call->session->grant.name},
            now);
        if (waits && call->at_end) call->at_end(*call); // others need no turn of its while it waits
        if (!waits) call->busy("as many wait for what others have written as may", kComeAgain);
    });
}

} // namespace

// --- McsRead ---------------------------------------------------------------------------------------------------------

void McsService::read(const CallPtr& call) {
    const auto request = call->decode<si::McsReadRequest>();
    if (!request || !is_hosted(parts_.mcs, call)) return;
    if (request->what == "status") return status(call);
    if (request->what == "dead-letters") return list_dead_letters(call, *request);
    if (request->what == "inspect") return inspect(call, *request);
    if (request->what == "logs") return read_logs(parts_.mcs, parts_.workers, call, *request);
    if (request->what != "list" && request->what != "describe")
        return call->fail(ErrorCode::Invalid, "it is list, describe, inspect, logs, status or dead-letters", "what");
    if (request->kind == "node" && request->what == "list") return list_nodes(call, *request);
    if (request->kind != "deployment")
        return call->fail(ErrorCode::Invalid, "it is deployment, or node to list", "kind");
    request->what == "list" ? list(call, *request) : describe(call, *request);
}

// The rows are picked on the thread of MCS and encoded on a worker.

void McsService::list_nodes(const CallPtr& call, const si::McsReadRequest& request) const {
    if (!is_page(call, request)) return;
    with_seen(parts_.mcs, call, request, [call, request, &workers = parts_.workers](McsApplication& application) {
        const mcs::NodeKeeper& registered = application.scheduling().scheduler().nodes();
        std::vector<ListedNode> rows;
        for (auto& each : application.nodes_after(request.cursor, request.limit + 1)) {
            const std::string& id = each->meta.id;
            rows.push_back({each, registered.has(id), registered.refusal_of(id)});
        }
        workers.post(source_of(*call),
                     [call, rows = std::move(rows), limit = request.limit] { answer_page(call, rows, limit); });
    });
}

void McsService::list(const CallPtr& call, const si::McsReadRequest& request) const {
    if (!is_page(call, request)) return;
    with_seen(parts_.mcs, call, request, [call, request, &workers = parts_.workers](McsApplication& application) {
        std::vector<DeploymentRows> rows;
        for (auto& each : application.list_after(request.cursor, request.limit + 1))
            rows.push_back(rows_of(application, std::move(each), *call));
        add_commands(application, rows);
        workers.post(source_of(*call),
                     [call, rows = std::move(rows), limit = request.limit] { answer_page(call, rows, limit); });
    });
}

void McsService::describe(const CallPtr& call, const si::McsReadRequest& request) const {
    with_seen(parts_.mcs, call, request,
              [call, id = request.id, &rm_id = parts_.mcs.settings().rm_id](McsApplication& application) {
                  auto row = application.find(id);
                  if (!row) return not_found(call, id);
                  const DeploymentRows rows = rows_of(application, std::move(row), *call);
                  Value item = described(rows, real_now(), commands_of(application, rows));
                  if (item.contains("schedule")) item["schedule"]["rmID"] = rm_id;
                  call->ok({{"item", std::move(item)}});
              });
}

void McsService::status(const CallPtr& call) const {
    parts_.mcs.post([call, &mcs = parts_.mcs](McsApplication* application, Instant now) {
        call->ok(status_value(mcs, application, now));
    });
}

void McsService::inspect(const CallPtr& call, const si::McsReadRequest& request) const {
    const auto kind = mcs::find_kind(request.kind);
    if (!kind)
        return call->fail(ErrorCode::Invalid, fmt::format("it is {}", fmt::join(names_of_kinds(), ", ")), "kind");
    if (request.id.empty()) return call->fail(ErrorCode::MissingField, "which one?", "id");
    with_application(parts_.mcs, call, [call, kind = *kind, request](McsApplication& application, Instant) {
        const std::string id = id_meant(application, kind, request.id);
        if (!application.manager().is_store_up()) return call->busy("the database cannot be read", kDiskPause);
        const auto found = application.operations().inspect(kind, id);
        if (!found.ok()) return call->busy("the database cannot be read: " + found.error().message, kDiskPause);
        if (!found->is_anywhere()) return not_found(call, request.id, request.kind.c_str());
        Value item = value_of(*found);
        item["kind"] = request.kind;
        item["id"] = id;
        call->ok({{"item", std::move(item)}});
    });
}

/// From the database: those of another instance, too, which may be the one that leads.
void McsService::list_dead_letters(const CallPtr& call, const si::McsReadRequest& request) const {
    if (!is_page(call, request)) return;
    const auto after = dead_letter_after(request.cursor);
    if (!after) return call->fail(ErrorCode::Invalid, "it is none of an earlier page", "cursor");
    with_application(parts_.mcs, call,
                     [call, after = *after, limit = request.limit](McsApplication& application, Instant) {
                         if (!application.manager().is_store_up())
                             return call->busy("the database cannot be read", kDiskPause);
                         const auto letters = application.operations().dead_letters(after, limit + 1);
                         if (!letters.ok())
                             return call->busy("the database cannot be read: " + letters.error().message, kDiskPause);
                         answer_page(call, *letters, limit);
                     });
}

// --- McsWrite --------------------------------------------------------------------------------------------------------

void McsService::write(const CallPtr& call) {
    const auto request = call->decode<si::McsWriteRequest>();
    if (!request || !is_hosted(parts_.mcs, call)) return;
    if (is_operation(request->verb)) return operate(call, *request);
    if (request->verb == "bump-epoch") return bump_epoch(call, *request);
    if (request->kind == "node") return write_node(call, *request);
    if (request->kind != "deployment") return call->fail(ErrorCode::Invalid, "it is deployment or node", "kind");
    if (request->verb == "create") return create(call, *request);
    if (request->verb == "delete") return erase(call, *request);
    if (request->verb == "metric") return push_metric(call, *request);
    if (is_change(request->verb)) return change(call, *request);
    call->fail(ErrorCode::Invalid, "it is create, scale, autoscale, set, apply, pause, resume, delete or metric",
               "verb");
}

/// Nothing is written; what comes of it is in the status.
void McsService::operate(const CallPtr& call, const si::McsWriteRequest& request) const {
    const auto kind = mcs::find_kind(request.kind);
    if (!kind && (request.kind != "all" || request.verb == "reconcile"))
        return call->fail(
            ErrorCode::Invalid,
            fmt::format("it is {}{}", fmt::join(names_of_kinds(), ", "), request.verb == "reconcile" ? "" : ", or all"),
            "kind");
    if (request.verb == "reconcile" && request.id.empty())
        return call->fail(ErrorCode::MissingField, "which one?", "id");
    with_application(parts_.mcs, call, [call, request, kind](McsApplication& application, Instant now) {
        const std::string id = kind ? id_meant(application, *kind, request.id) : request.id;
        if (request.verb == "reconcile" && is_nowhere(application, *kind, id))
            return not_found(call, request.id, request.kind.c_str());
        if (request.verb == "resync") application.operations().resync(kind, now);
        if (request.verb == "reconcile") application.operations().reconcile(*kind, id, now);
        const std::size_t count = request.verb == "retry" ? application.operations().retry(kind, id, now) : 1;
        call->ok({{"id", id}, {"count", count}});
    });
}

void McsService::bump_epoch(const CallPtr& call, const si::McsWriteRequest& request) const {
    if (request.kind != "all") return call->fail(ErrorCode::Invalid, "it is all: the log is of every kind", "kind");
    with_application(parts_.mcs, call, [call](McsApplication& application, Instant) {
        const auto done = application.operations().bump_epoch(uuid_text(random_bytes()));
        if (done.ok()) return call->ok({{"id", ""}, {"count", 1}});
        if (done.error().fault == rs::StoreFault::Fatal)
            return call->fail(ErrorCode::BadState, "the database refuses it: " + done.error().message);
        call->busy("the database cannot be written: " + done.error().message, kDiskPause);
    });
}

void McsService::create(const CallPtr& call, const si::McsWriteRequest& request) const {
    auto row = deployment_of(request, parts_.mcs.settings(), {submitter_of(*call)});
    if (!row.ok()) return fail(call, row.error());
    if (parts_.memory.is_short()) return call->busy(parts_.memory.sentence(), kDiskPause);
    const bool adopts = request.body && request.body->adopt;
    const std::uint64_t most = parts_.mcs.settings().max_deployments;
    with_application(
        parts_.mcs, call, [call, row = std::move(row).value(), adopts, most](McsApplication& application, Instant) {
            if (application.count_with_new() >= most)
                return call->fail(
                    ErrorCode::Limit,
                    fmt::format("there are {} deployments, and no more are kept (mcs.maxDeployments)", most));
            carry_out(application, mcs::InsertDeployment{row, adopts}, {call, row.meta.id, row.name, false});
        });
}

void McsService::change(const CallPtr& call, const si::McsWriteRequest& request) const {
    with_application(parts_.mcs, call, [call, request, &mcs = parts_.mcs](McsApplication& application, Instant) {
        const auto row = find_row(application, call, request);
        if (!row) return;
        Meant meant{call, row->meta.id, row->name, request.version != 0};
        if (!is_understood(application, meant, mcs::kDeploymentKind)) return;
        if (!is_state_known(meant, row->meta.version, request.version)) return;
        auto changed = changed_deployment(*row, request, mcs.settings(), {submitter_of(*call)});
        if (!changed.ok()) return fail(call, changed.error());
        carry_out(application, mcs::UpdateDeployment{std::move(changed).value(), {row->meta.uid, row->meta.version}},
                  std::move(meant));
    });
}

/// Nothing is written: values of metrics are kept in memory, for as long as they count.
void McsService::push_metric(const CallPtr& call, const si::McsWriteRequest& request) const {
    if (!request.body || !request.body->metric)
        return call->fail(ErrorCode::MissingField, "which one, and its value?", "body.metric");
    with_application(parts_.mcs, call, [call, request](McsApplication& application, Instant now) {
        const auto row = find_row(application, call, request);
        if (!row) return;
        const auto lease = application.lease(mcs::kAutoscalerService, now);
        if (!lease)
            return call->fail(ErrorCode::BadState,
                              "another ykd decides how many replicas there are: it wants the metrics");
        if (!lease->is_valid)
            return call->busy("it is in doubt whether this ykd decides; it will be known soon", kComeAgain);
        const si::McsMetric& metric = *request.body->metric;
        std::optional<std::int64_t> replica;
        if (metric.replica) replica = static_cast<std::int64_t>(std::min<std::uint64_t>(*metric.replica, kMostReplica));
        const auto pushed = application.push_metric(*row, {metric.name, replica, metric.value}, now);
        if (!pushed.ok())
            return call->fail(ErrorCode::Invalid, pushed.error().message, "body.metric." + pushed.error().where);
        call->ok({{"id", row->meta.id}, {"name", row->name}, {"uid", row->meta.uid}, {"version", row->meta.version}});
    });
}

void McsService::erase(const CallPtr& call, const si::McsWriteRequest& request) const {
    const auto mode = delete_mode_of(request.body.value_or(si::McsBody{}));
    if (!mode.ok()) return fail(call, mode.error());
    with_application(parts_.mcs, call, [call, request, mode = *mode](McsApplication& application, Instant) {
        const auto row = find_row(application, call, request);
        if (!row) return;
        const mcs::Expect expect{row->meta.uid, static_cast<std::int64_t>(request.version)};
        carry_out(application, mcs::DeleteDeployment{row->meta.id, expect, mode},
                  {call, row->meta.id, row->name, request.version != 0});
    });
}

// --- nodes -----------------------------------------------------------------------------------------------------------

void McsService::write_node(const CallPtr& call, const si::McsWriteRequest& request) const {
    const std::string& verb = request.verb;
    if (verb == "create") return create_node(call, request);
    if (verb != "set" && verb != "drain" && verb != "undrain" && verb != "delete")
        return call->fail(ErrorCode::Invalid, "it is create, set, drain, undrain or delete", "verb");
    with_application(parts_.mcs, call, [call, request](McsApplication& application, Instant) {
        const auto row = application.nodes().get(request.id);
        if (!row) return not_found(call, request.id, "node");
        Meant meant{call, request.id, request.id, request.version != 0, "node"};
        if (request.verb == "delete")
            return carry_out(application,
                             mcs::DeleteNode{request.id, {row->meta.uid, static_cast<std::int64_t>(request.version)}},
                             std::move(meant));
        if (!is_understood(application, meant, mcs::kNodeKind)) return;
        if (!is_state_known(meant, row->meta.version, request.version)) return;
        auto changed = changed_node(*row, request);
        if (!changed.ok()) return fail(call, changed.error());
        if (request.verb != "set") changed->is_schedulable = request.verb == "undrain";
        carry_out(application, mcs::UpdateNode{std::move(changed).value(), {row->meta.uid, row->meta.version}},
                  std::move(meant));
    });
}

void McsService::create_node(const CallPtr& call, const si::McsWriteRequest& request) const {
    auto row = node_of(request);
    if (!row.ok()) return fail(call, row.error());
    if (mcs::is_local(row->attributes) && !parts_.mcs.settings().local.enabled)
        return call->fail(ErrorCode::Invalid,
                          "this ykd runs no commands; the settings switch it on: mcs: {local: {enabled: true}}",
                          "body.tags.kind");
    if (parts_.memory.is_short()) return call->busy(parts_.memory.sentence(), kDiskPause);
    with_application(parts_.mcs, call, [call, row = std::move(row).value()](McsApplication& application, Instant) {
        if (application.nodes().size() >= kMostNodes)
            return call->fail(ErrorCode::Limit, fmt::format("there are {} nodes, and no more are kept", kMostNodes));
        carry_out(application, mcs::InsertNode{row}, {call, row.meta.id, row.meta.id, false, "node"});
    });
}

} // namespace yk::service
