// SPDX-License-Identifier: Apache-2.0
// rs-13 and rs-14: whole daemons, as somebody sees them who looks at their database.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "tests/bench/resource_state/change_writer.h"
#include "tests/bench/resource_state/mcs_daemon.h"
#include "tests/bench/resource_state/workloads.h"

namespace yk::bench {
namespace {

Result<std::int64_t> number(rs::SqlConnection& connection, const std::string& sql) {
    const auto value = connection.number(sql, -1);
    if (!value.ok()) return to_error(value.error());
    return *value;
}

Result<void> until_number(rs::SqlConnection& connection, const std::string& sql, std::int64_t wanted,
                          std::chrono::milliseconds pause) {
    return until(fmt::format("`{}` is {}", sql, wanted), pause, [&]() -> Result<bool> {
        YK_TRY(value, number(connection, sql));
        return value == wanted;
    });
}

/// It places, and `nodes` are in its core.
Result<void> until_placing(McsDaemon& daemon, std::size_t nodes) {
    return until("mcs places", std::chrono::milliseconds{20}, [&]() -> Result<bool> {
        YK_TRY(status, daemon.status());
        if (status.value("state", "") != "running" || !status.contains("scheduler")) return false;
        const auto& scheduler = status.at("scheduler");
        return scheduler.value("state", "") == "running" && scheduler.value("nodes", std::size_t{0}) == nodes;
    });
}

/// In a process of its own; what the daemons logged comes with an error.
Result<Figures> with_log(McsDaemon& daemon, const Result<Figures>& measured) {
    if (!measured.ok()) std::fprintf(stderr, "%s", daemon.process().log().c_str());
    return measured;
}

Result<Figures> measure_replicas(McsDaemon& daemon, const BenchDatabase& database, std::size_t replicas,
                                 std::size_t nodes) {
    YK_CHECKED(until_placing(daemon, nodes));
    YK_TRY(connection, database.open());
    const std::int64_t began = steady_ns();
    YK_TRY(made, daemon.create("bench", replicas));
    static_cast<void>(made);
    const auto wanted = static_cast<std::int64_t>(replicas);
    YK_CHECKED(
        until_number(*connection, "SELECT placed FROM deployment_schedule", wanted, std::chrono::milliseconds{2}));
    const double took = static_cast<double>(steady_ns() - began) * 1e-9;
    YK_TRY(version, number(*connection, "SELECT version FROM deployment_schedule"));
    YK_TRY(placed, number(*connection, "SELECT count(*) FROM placement WHERE state = 'Placed'"));
    if (placed != wanted) return Error::of(fmt::format("{} placements of {} are placed", placed, wanted));
    YK_CHECKED(until("the daemon shows all of them", std::chrono::milliseconds{20}, [&]() -> Result<bool> {
        YK_TRY(status, daemon.status());
        return status.at("scheduler").value("unwritten", 1) == 0;
    }));
    YK_CHECKED(daemon.check(*connection, {"bench"}));
    return Figures{
        {"seconds from create to all placed and written", took},
        {"placements per change of the schedule", static_cast<double>(replicas) / static_cast<double>(version)}};
}

// --- takeover --------------------------------------------------------------------------------------------------------

Result<std::string> leader(rs::SqlConnection& connection) {
    const auto holder = connection.text("SELECT coalesce(holder, '') FROM lease WHERE name = 'autoscaler'");
    if (!holder.ok()) return to_error(holder.error());
    return *holder;
}

/// A Deployment that needs a scale, by somebody with a shell.
Result<void> add_deployment(rs::SqlConnection& connection) {
    const auto done = connection.run(
        "INSERT INTO deployment(id, uid, version, generation, name, queue, usr, resource, min_replicas, max_replicas,"
        " replicas, created_ms, updated_ms)"
        " VALUES('late', 'ulate', 1, 1, 'late', 'root.default', 'bench', '{\"vcore\":1}', 0, 1, 0, 1, 1)");
    if (!done.ok()) return to_error(done.error());
    return {};
}

/// The first daemon has written all that it has to, and the second one has read it.
Result<void> until_settled(McsDaemon& first, McsDaemon& second, rs::SqlConnection& connection, std::size_t count) {
    const auto all = static_cast<std::int64_t>(count);
    YK_CHECKED(until_placing(first, 0));
    for (const char* table : {"deployment_scale", "deployment_schedule"})
        YK_CHECKED(until_number(connection, std::string{"SELECT count(*) FROM "} + table, all,
                                std::chrono::milliseconds{200}));
    std::int64_t last = -1;
    YK_CHECKED(until("nothing is written any more", std::chrono::seconds{3}, [&]() -> Result<bool> {
        YK_TRY(now, number(connection, "SELECT max(seq) FROM change_log"));
        return now == std::exchange(last, now);
    }));
    return until("the second daemon has it, too", std::chrono::milliseconds{100}, [&]() -> Result<bool> {
        YK_TRY(status, second.status());
        if (status.value("state", "") != "running") return false;
        for (const auto& kind : status.at("kinds"))
            if (kind.value("kind", "") == "deploymentschedule") return kind.value("size", std::size_t{0}) >= count;
        return false;
    });
}

struct Takeover {
    double taken = 0;   // seconds until another one has the lease
    double written = 0; // and from then until it has written something
};

Result<Takeover> measure_takeover(const RunPlace& place, const BenchDatabase& database, std::size_t count, int signal) {
    YK_TRY(connection, database.open());
    YK_TRY(first, McsDaemon::start(place, database, count));
    YK_CHECKED(until("the first daemon leads", std::chrono::milliseconds{50}, [&]() -> Result<bool> {
        YK_TRY(who, leader(*connection));
        return !who.empty();
    }));
    YK_TRY(second, McsDaemon::start(place, database, count));
    const auto settled = until_settled(*first, *second, *connection, count);
    if (!settled.ok()) std::fprintf(stderr, "%s%s", first->process().log().c_str(), second->process().log().c_str());
    YK_CHECKED(settled);
    YK_TRY(before, leader(*connection));
    const std::int64_t began = steady_ns();
    first->process().signal(signal);
    YK_CHECKED(until("another daemon leads", std::chrono::milliseconds{2}, [&]() -> Result<bool> {
        YK_TRY(who, leader(*connection));
        return !who.empty() && who != before;
    }));
    const std::int64_t taken = steady_ns();
    YK_CHECKED(add_deployment(*connection));
    YK_CHECKED(until_number(*connection, "SELECT count(*) FROM deployment_scale WHERE id = 'late'", 1,
                            std::chrono::milliseconds{2}));
    const std::int64_t written = steady_ns();
    const auto all = static_cast<std::int64_t>(count) + 1;
    for (const char* table : {"deployment_scale", "deployment_schedule"})
        YK_CHECKED(until_number(*connection, std::string{"SELECT count(*) FROM "} + table, all,
                                std::chrono::milliseconds{100}));
    const auto checked = second->check(*connection, {"late"});
    if (!checked.ok()) std::fprintf(stderr, "%s", second->process().log().c_str());
    YK_CHECKED(checked);
    return Takeover{static_cast<double>(taken - began) * 1e-9, static_cast<double>(written - taken) * 1e-9};
}

} // namespace

Result<Figures> run_replicas(const RunPlace& place) {
    const std::size_t replicas = place.scaled(10'000, 100), nodes = place.scaled(1000, 10);
    Rows rows;
    rows.nodes = nodes;
    YK_TRY(database, place.databases.make(place.engine, rows));
    return figures_apart([&]() -> Result<Figures> {
        YK_TRY(daemon, McsDaemon::start(place, *database, 10));
        return with_log(*daemon, measure_replicas(*daemon, *database, replicas, nodes));
    });
}

Result<Figures> run_takeover(const RunPlace& place) {
    const std::size_t count = place.scaled(100'000);
    Figures figures;
    for (const auto& [what, signal] : {std::pair{"clean", SIGTERM}, std::pair{"crash", SIGKILL}}) {
        YK_TRY(database, place.databases.make(place.engine, Rows{count}));
        YK_TRY(measured, figures_apart([&, number = signal]() -> Result<Figures> {
                   YK_TRY(takeover, measure_takeover(place, *database, count, number));
                   return Figures{{"taken", takeover.taken}, {"written", takeover.written}};
               }));
        figures.emplace_back(std::string{what} + ", seconds until the lease is taken", measured[0].second);
        figures.emplace_back(std::string{what} + ", seconds from then to the first write", measured[1].second);
    }
    return figures;
}

} // namespace yk::bench
