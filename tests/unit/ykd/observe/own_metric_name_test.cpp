// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/own_metric_name.h"

#include <catch2/catch.hpp>

#include <string>

#include "ykd/observe/metric_writer.h"

using namespace yk::service;

TEST_CASE("our own names keep to the rules of Prometheus, and each family is there in one form") {
    const auto is = [](const char* original, const char* own) {
        CAPTURE(original);
        return own_metric_name(original) == std::string(own);
    };
    CHECK(is("yunikorn_queue_container", "ykd_queue_containers_total"));
    CHECK(is("yunikorn_queue_app", "ykd_queue_applications"));
    CHECK(is("yunikorn_queue_app_total", "ykd_queue_app_total"));
    CHECK(is("yunikorn_scheduler_application_total", "ykd_scheduler_applications"));
    CHECK(is("yunikorn_scheduler_cycle_seconds", "ykd_scheduler_cycle_seconds"));
    CHECK(is("yunikorn_event_total_stored", "ykd_event_stored_total"));
    CHECK(is("process_open_fds", "process_open_fds"));
    CHECK(is("mcs_writer_batch_size_sum", "mcs_writes_total"));
    for (const char* elsewhere : {"yunikorn_root_a_queue_container", "yunikorn_scheduler_memory_node_usage_total",
                                  "yunikorn_scheduler_cycle_milliseconds"}) {
        CAPTURE(elsewhere);
        CHECK_FALSE(own_metric_name(elsewhere));
    }
}

TEST_CASE("a writer of our own names leaves out what another family has, and counts no positions of it") {
    const auto write = [](MetricWindow window, std::string prefix = {}) {
        MetricText text(std::move(prefix), window, MetricNames::Own);
        for (const char* name : {"yunikorn_root_a_queue_container", "yunikorn_queue_container", "process_open_fds"}) {
            text.family(name, MetricType::Counter, "c.");
            text.count({{"state", "allocated"}}, 1);
        }
        return std::pair{text.next(), text.take()};
    };
    const std::string containers = "# HELP ykd_queue_containers_total c.\n# TYPE ykd_queue_containers_total counter\n"
                                   "ykd_queue_containers_total{state=\"allocated\"} 1\n";
    const std::string files = "# HELP process_open_fds c.\n# TYPE process_open_fds counter\n"
                              "process_open_fds{state=\"allocated\"} 1\n";
    CHECK(write({}).second == containers + files);
    const auto [next, first] = write({0, containers.size()});
    CHECK(first == containers);
    REQUIRE(next == 2);
    CHECK(write({*next}).second == files);
    CHECK(write({}, "ykd_").second == containers);
    CHECK(write({}, "yunikorn_").second.empty());
}
