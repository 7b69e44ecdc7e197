// SPDX-License-Identifier: Apache-2.0
// mock_kafka: the cluster that librdkafka has for tests, in a process of its own, with the topics of Deployments, for
// system tests (tests/system/daemon_support/kafka.py). It says on standard output where its brokers are, as HOST:PORT
// with commas in between, then reads one command a line from standard input, and answers `done` when it is carried out:
//
//     down   the brokers close all connections and take none; they keep their ports and what they have
//     up     they take connections again
//
// It ends with its standard input, and so does not outlive a test that is killed. What it has, it has in memory.
#include <cstdlib>
#include <iostream>
#include <string>

#include "protocol/brokers/mcs_topics.h"
#include "tests/support/brokers/mock_kafka.h"

namespace {

constexpr int kPartitions = 2; // of each topic

} // namespace

int main() {
    yk::testing::MockKafka cluster;
    const std::string prefix = yk::rs::KafkaSettings{}.prefix;
    for (const yk::rs::Topic& topic : yk::mcs::topics_of_kinds()) cluster.create(prefix + topic.name, kPartitions);
    std::cout << cluster.brokers() << std::endl; // flushed: somebody waits for the line
    for (std::string command; std::getline(std::cin, command);) {
        if (command == "down") {
            cluster.set_down();
        } else if (command == "up") {
            cluster.set_up();
        } else {
            std::cerr << "mock_kafka: no such command: " << command << '\n';
            return EXIT_FAILURE;
        }
        std::cout << "done" << std::endl;
    }
    return EXIT_SUCCESS;
}
