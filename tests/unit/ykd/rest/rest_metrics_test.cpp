// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_metrics.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>

using namespace yk::service;

namespace {

/// In pages of so many lines.
std::string own_metrics(std::string_view text, std::size_t lines = 1000) {
    OwnMetrics own;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        for (std::size_t i = 0; i < lines && end < text.size(); ++i)
            end = std::min(text.find('\n', end), text.size() - 1) + 1;
        own.add(text.substr(at, end - at));
        at = end;
    }
    return own.take();
}

} // namespace

TEST_CASE("metrics of one partition have no label for it, as in the original") {
    CHECK(rest_metrics("a{partition=\"[r]p\",queue=\"root\"} 1\nb{partition=\"[r]p\"} 2\nc 3\n") ==
          "a{queue=\"root\"} 1\nb{} 2\nc 3\n");
    const std::string two = "a{partition=\"[r]p\",q=\"x\"} 1\na{partition=\"[r]q\",q=\"x\"} 1\n";
    CHECK(rest_metrics(two) == two);
    const std::string none = "a{queue=\"partition=\"} 1\n";
    CHECK(rest_metrics(none) == none);
    const std::string within = "a{partition=\"p\",q=\"{partition=\\\"p\"} 1\na{partition=\"p\"} 2";
    CHECK(rest_metrics(within) == "a{q=\"{partition=\\\"p\"} 1\na{} 2");
    CHECK(rest_metrics("a{partition=\"p") == "a{partition=\"p");
    CHECK(rest_metrics("").empty());
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
    for (const std::size_t lines : {1U, 2U, 5U}) CHECK(own_metrics(text, lines) == own_metrics(text)); // as pages end
    CHECK(own_metrics("").empty());
}
