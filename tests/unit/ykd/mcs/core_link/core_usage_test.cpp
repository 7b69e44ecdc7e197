// SPDX-License-Identifier: Apache-2.0
// What MCS asks the core of a whole daemon for, to have values of metrics.
#include "ykd/mcs/core_link/core_usage.h"

#include <catch2/catch.hpp>

#include "tests/support/mcs/linked_mcs.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* kQueuesWithMax = R"(
partitions:
  - name: default
    placementrules:
      - name: provided
        create: false
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            resources: {max: {vcore: 4m}}
          - name: b
)";

struct Asked {
    explicit Asked(QueuesDaemon& daemon)
        : usage({daemon.made->handlers().request, [calls = calls_](auto call) { calls->post(std::move(call)); }, "mcs",
                 1ms, 3}) {}
    void run() {
        while (calls_->run() || usage.turn(steady_instant())) continue;
    }
    template <class Ask>
    std::string comes(const std::string& wanted, Ask&& ask) {
        std::string last;
        comes_true([&] {
            run();
            const auto value = ask(steady_instant());
            last = value.ok() ? std::to_string(value->percent) : value.error().message;
            return last.find(wanted) != std::string::npos;
        });
        return last;
    }
    std::string allocated(const std::string& wanted) {
        return comes(wanted, [this](Instant now) { return usage.allocated("default", 1h, now); });
    }
    std::string of_queue(const std::string& wanted, const std::string& application = "app") {
        return comes(wanted, [&](Instant now) { return usage.of_queue("default", application, 1h, now); });
    }

private:
    std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();

public:
    CoreUsage usage;
};

} // namespace

TEST_CASE("rs R-112 how much the core has given away is asked for, and never waited for") {
    QueuesDaemon daemon{
        [](DaemonSettings& settings) { std::ofstream{settings.default_config_file} << kQueuesWithMax; }};
    LinkedMcs mcs{daemon};
    Asked asked{daemon};
    CHECK(asked.usage.allocated("default", 1h, steady_instant()).error().message ==
          "the core is being asked; there is a value at the next look");
    CHECK(asked.usage.next_due() == Instant{});
    CHECK(asked.allocated("not registered").find("not registered") != std::string::npos);
    mcs.begin();
    CHECK(asked.allocated("no nodes").find("ykctl mcs node create") != std::string::npos);
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node") == "node n1");
    CHECK(asked.allocated("0") == "0");
    const std::string unknown = asked.of_queue("does not say");
    CAPTURE(unknown);
    CHECK(unknown.find("App not found") != std::string::npos);
    mcs.requests.add(application("app"));
    mcs.requests.add(ask("k1"));
    CHECK(mcs.line("placed") == "placed app k1 on n1");
    CHECK(asked.allocated("10") == "10"); // 1 of 10
    CHECK(asked.of_queue("25") == "25");  // 1 of 4
    mcs.requests.add(ask("k2", 2));
    CHECK(mcs.line("placed") == "placed app k2 on n1");
    CHECK(asked.allocated("30") == "30");
    CHECK(asked.of_queue("75") == "75");
    mcs.requests.add(application("other", "root.b"));
    CHECK(mcs.line("accepted") == "accepted other");
    CHECK(asked.of_queue("no max", "other").find("queue root.b has no max") != std::string::npos);
}

TEST_CASE("rs R-112 what nobody asks for any more is forgotten, and an old answer is none") {
    QueuesDaemon daemon;
    LinkedMcs mcs{daemon};
    mcs.begin();
    mcs.requests.add(new_node("n1"));
    CHECK(mcs.line("node") == "node n1");
    Asked asked{daemon};
    CHECK(asked.allocated("0") == "0");
    CHECK(asked.usage.allocated("default", 1s, steady_instant() + 1h).error().message.find("in the last 1 s") !=
          std::string::npos);
    CHECK(asked.usage.size() == 1);
    CHECK(comes_true([&] {
        asked.run();
        asked.usage.turn(steady_instant() + 2h);
        return asked.usage.size() == 0;
    }));
}
