// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventWay: how events of a database get to whoever reads them: by its own change log, or by a relay and a broker. What
// a change log promises is tested on each of them, with each database.
//
//     TEST_CASE("...") {
//         const auto [engine, transport] = YK_EACH_WAY;
//         StateDatabase database{engine};
//         EventWay way{database, transport};

#include <memory>
#include <utility>
#include <vector>

#include "libcore/resource_state/ports/change_log.h"
#include "tests/support/databases/state_database.h"

/// Runs the test case once for each database and transport that are here.
#define YK_EACH_WAY GENERATE(from_range(yk::testing::ways()))

namespace yk::testing {

enum class Transport { Embedded, Kafka, JetStream };

/// Those that can be tested here. Why one cannot is said once.
[[nodiscard]] std::vector<std::pair<Engine, Transport>> ways();

class EventWay {
public:
    EventWay(const StateDatabase& database, Transport transport);
    ~EventWay();
    EventWay(const EventWay&) = delete;
    EventWay& operator=(const EventWay&) = delete;

    /// A poll of it waits until what was passed on has come, so that a test has no need to.
    [[nodiscard]] rs::ChangeLog& log();
    /// Returns when everything that was committed until now is where the log finds it.
    void pass_on();

private:
    struct Parts;
    const std::unique_ptr<Parts> parts_;
};

} // namespace yk::testing
