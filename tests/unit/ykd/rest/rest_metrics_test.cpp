// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_metrics.h"

#include <catch2/catch.hpp>

using namespace yk::service;

TEST_CASE("metrics of one partition have no label for it, as in the original") {
    CHECK(rest_metrics("a{partition=\"[r]p\",queue=\"root\"} 1\nb{partition=\"[r]p\"} 2\nc 3\n") ==
          "a{queue=\"root\"} 1\nb{} 2\nc 3\n");
    const std::string two = "a{partition=\"[r]p\",q=\"x\"} 1\na{partition=\"[r]q\",q=\"x\"} 1\n";
    CHECK(rest_metrics(two) == two);
    const std::string none = "a{queue=\"partition=\"} 1\n";
    CHECK(rest_metrics(none) == none);
}

TEST_CASE("our own names keep to the rules of Prometheus, and each family is there in one form") {
    const std::string text = "# HELP yunikorn_queue_container c.\n"
                             "# TYPE yunikorn_queue_container counter\n"
                             "yunikorn_queue_container{partition=\"[r]p\",queue=\"root.a\"} 1\n"
                             "# HELP yunikorn_root_a_queue_container c.\n"
                             "# TYPE yunikorn_root_a_queue_container counter\n"
                             "yunikorn_root_a_queue_container{state=\"allocated\"} 1\n"
                             "# HELP yunikorn_scheduler_memory_node_usage_total n.\n"
                             "# TYPE yunikorn_scheduler_memory_node_usage_total gauge\n"
                             "yunikorn_scheduler_memory_node_usage_total{range=\"[0,10%]\"} 1\n"
                             "# HELP yunikorn_scheduler_cycle_milliseconds t.\n"
                             "# TYPE yunikorn_scheduler_cycle_milliseconds histogram\n"
                             "yunikorn_scheduler_cycle_milliseconds_sum 1\n"
                             "# HELP yunikorn_scheduler_cycle_seconds t.\n"
                             "# TYPE yunikorn_scheduler_cycle_seconds histogram\n"
                             "yunikorn_scheduler_cycle_seconds_sum 1\n"
                             "# HELP yunikorn_event_total_stored e.\n"
                             "# TYPE yunikorn_event_total_stored counter\n"
                             "yunikorn_event_total_stored 3\n"
                             "# HELP process_open_fds f.\n"
                             "process_open_fds 4\n";
    CHECK(own_metrics(text) == "# HELP ykd_queue_containers_total c.\n"
                               "# TYPE ykd_queue_containers_total counter\n"
                               "ykd_queue_containers_total{partition=\"[r]p\",queue=\"root.a\"} 1\n"
                               "# HELP ykd_scheduler_cycle_seconds t.\n"
                               "# TYPE ykd_scheduler_cycle_seconds histogram\n"
                               "ykd_scheduler_cycle_seconds_sum 1\n"
                               "# HELP ykd_event_stored_total e.\n"
                               "# TYPE ykd_event_stored_total counter\n"
                               "ykd_event_stored_total 3\n"
                               "# HELP process_open_fds f.\n"
                               "process_open_fds 4\n");
    CHECK(own_metrics("").empty());
}
