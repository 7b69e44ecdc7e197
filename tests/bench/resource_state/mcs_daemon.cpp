// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/mcs_daemon.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/body_reader.h"
#include "tests/bench/resource_state/change_writer.h"
#include "tests/bench/wire/decode.h"
#include "tests/bench/wire/stream_reader.h"

namespace yk::bench {
namespace {

using std::chrono::seconds;
using wire::Value;
using Lines = std::vector<std::string>;

constexpr double kLimit = 300; // seconds
constexpr std::chrono::milliseconds kPause{200};

// --- a row as a line, of the protocol and of the database ------------------------------------------------------------

/// 0 and the empty text stand for what is not there, as in a row of a statement.
std::string deployment_line(const Value& item) {
    const Value scale = item.value("scale", Value::object()), schedule = item.value("schedule", Value::object());
    const auto number = [](const Value& of, const char* name) { return of.value(name, std::int64_t{0}); };
    const auto text = [](const Value& of, const char* name) { return of.value(name, std::string{}); };
    return fmt::format("{} {} {} {}; scale {} {} {} {}; schedule {} {} {} {} {} {}", text(item, "id"),
                       text(item, "uid"), number(item, "version"), number(item, "replicas"), number(scale, "version"),
                       number(scale, "desired"), number(scale, "observedGeneration"), text(scale, "reason"),
                       number(schedule, "version"), text(schedule, "applicationID"), number(schedule, "desired"),
                       number(schedule, "placed"), number(schedule, "pending"), text(schedule, "state"));
}
constexpr const char* kDeployments =
    "SELECT d.id, d.uid, d.version, d.replicas, s.version, s.desired, s.observed_generation, s.reason, c.version,"
    " c.application_id, c.desired, c.placed, c.pending, c.state FROM deployment d"
    " LEFT JOIN deployment_scale s ON s.id = d.id AND s.owner_uid = d.uid"
    " LEFT JOIN deployment_schedule c ON c.id = d.id AND c.owner_uid = d.uid";
std::string deployment_row(const rs::SqlRow& row) {
    return fmt::format("{} {} {} {}; scale {} {} {} {}; schedule {} {} {} {} {} {}", row.view(0), row.view(1),
                       row.number(2), row.number(3), row.number(4), row.number(5), row.number(6), row.view(7),
                       row.number(8), row.view(9), row.number(10), row.number(11), row.number(12), row.view(13));
}

std::string node_line(const Value& item) {
    return fmt::format("{} {} {}", item.value("id", ""), item.value("uid", ""), item.value("version", std::int64_t{0}));
}
constexpr const char* kNodes = "SELECT id, uid, version FROM node";
std::string node_row(const rs::SqlRow& row) {
    return fmt::format("{} {} {}", row.view(0), row.view(1), row.number(2));
}

std::string allocation_line(const Value& item) {
    return fmt::format("{} on {}", item.value("allocationKey", ""), item.value("nodeId", ""));
}
constexpr const char* kPlaced = "SELECT allocation_key, node_id FROM placement WHERE node_id IS NOT NULL";
std::string placement_row(const rs::SqlRow& row) {
    return fmt::format("{} on {}", row.view(0), row.view(1));
}

Result<Lines> lines_of(rs::SqlConnection& connection, const char* sql, std::string (*line_of)(const rs::SqlRow& row)) {
    Lines lines;
    rs::SqlStatement rows = connection.statement(sql);
    for (;;) {
        const auto has_row = rows.step();
        if (!has_row.ok()) return to_error(has_row.error());
        if (!*has_row) return lines;
        lines.push_back(line_of(rows));
    }
}

/// What one has and the other has not, as a sentence; empty: they are equal.
std::string difference(Lines daemon, Lines database) {
    std::sort(daemon.begin(), daemon.end());
    std::sort(database.begin(), database.end());
    const auto [in_daemon, in_database] = std::mismatch(daemon.begin(), daemon.end(), database.begin(), database.end());
    if (in_daemon == daemon.end() && in_database == database.end()) return {};
    const auto text = [](const Lines& lines, Lines::const_iterator at) { return at == lines.end() ? "none" : *at; };
    return fmt::format("the daemon has {}, the database {}; the first that differ: `{}` and `{}`", daemon.size(),
                       database.size(), text(daemon, in_daemon), text(database, in_database));
}

/// Until both have the same; else what differs.
Result<void> until_equal(const std::string& what, const std::function<Result<Lines>()>& of_daemon,
                         const std::function<Result<Lines>()>& of_database) {
    std::string differs;
    const auto done = until(what + " are as the rows", kPause, [&]() -> Result<bool> {
        YK_TRY(has, of_daemon());
        YK_TRY(wanted, of_database());
        differs = difference(std::move(has), std::move(wanted));
        return differs.empty();
    });
    if (!done.ok()) return Error::of(done.error().text() + ": " + differs);
    return {};
}

Result<Value> value_of(const std::string& answer) {
    const auto scanned = wire::scan_body(answer);
    if (!scanned.ok()) return Error::of(scanned.error().message);
    return wire::decode_value(*scanned);
}

} // namespace

Result<void> until(const std::string& what, std::chrono::milliseconds pause,
                   const std::function<Result<bool>()>& is_so) {
    const std::int64_t began = steady_ns();
    for (;;) {
        YK_TRY(so, is_so());
        if (so) return {};
        if (seconds_since(began) > kLimit) return Error::of("waited too long until " + what);
        std::this_thread::sleep_for(pause);
    }
}

Result<std::unique_ptr<McsDaemon>> McsDaemon::start(const RunPlace& place, const BenchDatabase& database,
                                                    std::size_t deployments) {
    const std::string settings = fmt::format("mcs: {{enabled: true, db: {{url: \"{}\"}}, maxDeployments: {}}}\n",
                                             database.url(), deployments + 10);
    YK_TRY(process, DaemonProcess::start(place.ykd, {.has_state = true, .settings = settings}));
    wire::ClientOptions options;
    options.url = process->url();
    options.client = "yk_bench";
    options.timeout = seconds{60};
    options.wait_for_socket = true;
    auto client = wire::Client::connect(options);
    if (!client.ok()) return to_error(client.error());
    return std::unique_ptr<McsDaemon>{new McsDaemon{std::move(process), std::move(client).value()}};
}

Result<Value> McsDaemon::status() {
    si::McsReadRequest request;
    request.what = "status";
    return call("McsRead", wire::encoded(request));
}

Result<Value> McsDaemon::create(const std::string& name, std::uint64_t replicas) {
    si::McsWriteRequest request;
    request.verb = "create";
    request.kind = "deployment";
    si::McsBody& body = request.body.emplace();
    body.name = name;
    body.user = "bench";
    body.queue = "root.default";
    body.resource.emplace().emplace_back("vcore", 1000);
    body.replicas = replicas;
    return call("McsWrite", wire::encoded(request));
}

Result<Value> McsDaemon::call(const char* kind, const std::string& body) {
    const auto answer = client_->call_raw(kind, body, seconds{60});
    if (!answer.ok()) return to_error(answer.error());
    return value_of(*answer);
}

Result<Lines> McsDaemon::listed(const std::string& kind, std::string (*line_of)(const Value& item)) {
    si::McsReadRequest request;
    request.what = "list";
    request.kind = kind;
    Lines lines;
    do {
        YK_TRY(page, call("McsRead", wire::encoded(request)));
        for (const Value& item : page.at("items")) lines.push_back(line_of(item));
        request.cursor = page.value("cursor", "");
    } while (!request.cursor.empty());
    return lines;
}

/// A core that has none may not know the partition.
Result<Lines> McsDaemon::in_core() {
    si::DumpRequest request;
    request.what = "allocations";
    request.rm_id = "mcs";
    Lines lines;
    do {
        const auto answer = client_->call_raw("Dump", wire::encoded(request), seconds{60});
        if (!answer.ok() && answer.error().name == "E_NOT_FOUND") return lines;
        if (!answer.ok()) return to_error(answer.error());
        YK_TRY(page, value_of(*answer));
        for (const Value& item : page.at("data")) lines.push_back(allocation_line(item));
        request.cursor = page.value("cursor", "");
    } while (!request.cursor.empty());
    return lines;
}

/// The daemon itself compares: it reads the row anew.
Result<bool> McsDaemon::is_in_sync(const std::string& kind, const std::string& id) {
    si::McsReadRequest request;
    request.what = "inspect";
    request.kind = kind;
    request.id = id;
    YK_TRY(answer, call("McsRead", wire::encoded(request)));
    return answer.at("item").value("verdict", "") == "in sync";
}

Result<void> McsDaemon::check_no_repairs() {
    YK_TRY(has, status());
    for (const Value& kind : has.at("kinds"))
        if (kind.value("repairs", 0) != 0 || kind.value("brokenRows", 0) != 0)
            return Error::of("repairs or broken rows: " + kind.dump());
    return {};
}

Result<void> McsDaemon::check(rs::SqlConnection& rows, const std::vector<std::string>& inspected) {
    YK_CHECKED(until_equal(
        "Deployments, scales and schedules", [this] { return listed("deployment", deployment_line); },
        [&rows] { return lines_of(rows, kDeployments, deployment_row); }));
    YK_CHECKED(until_equal(
        "nodes", [this] { return listed("node", node_line); }, [&rows] { return lines_of(rows, kNodes, node_row); }));
    YK_CHECKED(until_equal(
        "allocations of the core", [this] { return in_core(); },
        [&rows] { return lines_of(rows, kPlaced, placement_row); }));
    for (const std::string& id : inspected)
        for (const char* kind : {"deployment", "deploymentscale", "deploymentschedule"})
            YK_CHECKED(
                until(fmt::format("the {} of {} is in sync", kind, id), kPause, [&] { return is_in_sync(kind, id); }));
    return check_no_repairs();
}

} // namespace yk::bench
