// SPDX-License-Identifier: Apache-2.0
#pragma once
// Instance: one daemon's share of MCS, driven by the test; the threads that write, look after the database and relay
// are its own.

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/comes_true.h"
#include "ykd/mcs/mcs_application.h"

namespace yk::testing {

struct Folder {
    Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string database() const { return path + "/mcs.db"; }
    std::string path = "/tmp/yk.mcs.XXXXXX";
};

/// One daemon's share of it, without a core: what is asked of that is never answered.
struct Instance {
    Instance(const Folder& folder, const std::string& name, const service::McsSettings& settings = {})
        : settings_(settings) {
        auto broker = service::open_broker(settings_.events, 1);
        REQUIRE(broker.ok());
        const service::DatabasePlace place{service::DatabasePlace::Kind::Sqlite, folder.database(), folder.database()};
        auto connections = service::McsConnections::open(place, broker->has_value());
        REQUIRE(connections.ok());
        made = std::make_unique<service::McsApplication>(
            service::McsApplication::Parts{settings_, degraded, name, 1, [] {}, [](const wire::Request&) {},
                                           [](const auto&) {},
                                           [this](std::string_view text) { events.emplace_back(text); }},
            std::move(connections).value(), std::move(broker).value(), service::steady_instant());
    }
    bool works_until(const std::function<bool()>& condition) {
        return comes_true([&] {
            for (int steps = 0; steps < 1000 && made->work(service::steady_instant()); ++steps) continue;
            return condition();
        });
    }
    [[nodiscard]] bool starts() {
        return works_until([&] { return made->manager().is_running(); });
    }
    mcs::WriteOutcome write(mcs::WriteCommand command) {
        std::optional<mcs::WriteOutcome> outcome;
        made->write(std::move(command), [&](const mcs::WriteOutcome& came) { outcome = came; });
        REQUIRE(works_until([&] { return outcome.has_value(); }));
        return *outcome;
    }
    mcs::WriteOutcome create(const std::string& name, std::int64_t replicas) {
        mcs::Deployment row;
        row.meta.id = "id-" + name;
        row.name = name;
        row.queue = "root.a";
        row.max_replicas = 100;
        row.replicas = replicas;
        return write(mcs::InsertDeployment{row, false});
    }
    [[nodiscard]] std::int64_t desired(const std::string& name) const {
        const auto scale = made->scales().get("id-" + name);
        return scale ? scale->desired : -1;
    }
    [[nodiscard]] bool leads() const {
        return made->lease(mcs::kAutoscalerService, service::steady_instant()).has_value();
    }

    service::McsSettings settings_;
    service::Degraded degraded;
    std::vector<std::string> events;
    std::unique_ptr<service::McsApplication> made;
};

} // namespace yk::testing
