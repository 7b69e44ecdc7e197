// SPDX-License-Identifier: Apache-2.0
// A whole resource manager: minimal_rm [ADDRESS]. It adds two nodes and an application, prints where ten asks are
// placed, releases them and leaves.
#include <iostream>
#include <string>
#include <vector>

#include "protocol/rm/answers.h"
#include "protocol/rm/rm_client.h"

using namespace yk;

namespace {

constexpr std::size_t kAsks = 10;
constexpr std::int64_t kGib = std::int64_t{1} << 30;
const std::string kPartition = "[minimal]default";

class Printing final : public rm::RmProgram {
public:
    rm::Handled handle(const si::StreamItem& item) override {
        if (item.kind != si::item::kUpdateAllocation) return rm::Handled::Done;
        const auto answer = rm::message_in<si::AllocationResponse>(item.body.bytes);
        if (!answer) return rm::Handled::Done;
        for (const si::Allocation& made : answer->made) {
            std::cout << made.allocation_key << " placed on " << made.node_id << '\n';
            placed.push_back(made.allocation_key);
        }
        for (const si::RejectedAllocation& rejected : answer->rejected)
            std::cerr << rejected.allocation_key << " rejected: " << rejected.reason << '\n';
        return rm::Handled::Done;
    }
    void daemon_is_gone(const std::string& why) override { std::cerr << why << '\n'; }

    std::vector<std::string> placed;
};

int fail(const wire::CallError& error) {
    std::cerr << "minimal_rm: " << error.message << '\n';
    return 1;
}

si::NodeRequest two_nodes() {
    si::NodeRequest request{.rm_id = "minimal"};
    for (const char* name : {"node-0", "node-1"}) {
        si::NodeInfo node{.node_id = name, .action = si::NodeAction::Create};
        node.attributes = si::StringMap{{"si/node-partition", kPartition}};
        node.schedulable_resource = si::Resources{{"memory", 16 * kGib}, {"vcore", 8000}};
        request.nodes.push_back(std::move(node));
    }
    return request;
}

si::ApplicationRequest application() {
    si::AddApplicationRequest app{.application_id = "app", .queue_name = "root.default", .partition_name = kPartition};
    app.ugi.user = "me";
    app.tags = {{"namespace", "default"}};
    return {.add = {app}, .rm_id = "minimal"};
}

si::AllocationRequest asks() {
    si::AllocationRequest request{.rm_id = "minimal"};
    for (std::size_t i = 0; i < kAsks; ++i) {
        si::AllocationAsk ask{.allocation_key = "ask-" + std::to_string(i), .application_id = "app"};
        ask.partition_name = kPartition;
        ask.resource_ask = si::Resources{{"memory", kGib}, {"vcore", 1000}};
        request.asks.push_back(std::move(ask));
    }
    return request;
}

si::AllocationRequest releases(const std::vector<std::string>& keys) {
    si::AllocationRequest request{.rm_id = "minimal"};
    for (const std::string& key : keys)
        request.releases.allocations_to_release.push_back({.partition_name = kPartition,
                                                           .application_id = "app",
                                                           .allocation_key = key,
                                                           .termination_type = si::TerminationType::StoppedByRm});
    return request;
}

} // namespace

int main(int argc, char** argv) {
    wire::ClientOptions options;
    options.url = argc > 1 ? argv[1] : "ipc:///run/ykd/ykd.sock";
    options.client = "minimal_rm";
    options.role = "rm";
    auto client = wire::Client::connect(options);
    if (!client.ok()) return fail(client.error());

    rm::ClientLink link{**client};
    Printing program;
    rm::RmClient manager{link, program, nullptr, {.registration = {.rm_id = "minimal", .version = "1"}}};
    if (const auto registered = manager.begin(); !registered.ok()) return fail(registered.error());
    for (const wire::EncodedRequest& request : {wire::EncodedRequest{two_nodes()}, {application()}, {asks()}})
        if (const auto sent = manager.send(request); !sent.ok()) return fail(sent.error());
    while (program.placed.size() < kAsks) // it comes back by itself when ykd was gone meanwhile
        if (const auto went = manager.step(std::chrono::seconds{10}); !went.ok()) return fail(went.error());
    if (const auto sent = manager.send(releases(program.placed)); !sent.ok()) return fail(sent.error());
    if (const auto ended = manager.end(); !ended.ok()) return fail(ended.error());
    (*client)->bye();
    std::cout << "left\n";
}
