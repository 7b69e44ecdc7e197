// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_sums.h"

#include <string>

#include "libcore/digest/recovery_digest.h"
#include "libcore/mcs/replicas/node_changes.h"
#include "libcore/ports/view.h"

namespace yk::service {
namespace {

[[nodiscard]] std::string text_of(const mcs::Amounts& amounts) {
    ResourceMapView view;
    for (const auto& [type, amount] : amounts) view.emplace(type, amount);
    return recovery::resources_text(view);
}

[[nodiscard]] mcs::EndRecovery::Claim claim_of(const recovery::Digest& digest) {
    return {digest.count(), digest.sum()};
}

class CoreSums final : public mcs::RecoverySums {
public:
    void add(const mcs::Node& node) override {
        const std::string partition = mcs::partition_of(node);
        add(nodes_, recovery::bucket_of(partition, node.meta.id),
            recovery::node_line(partition, node.meta.id, text_of(node.capacity), node.is_schedulable));
    }
    void add_application(std::string_view partition, std::string_view application_id) override {
        add(applications_, recovery::bucket_of(partition, application_id),
            recovery::application_line(partition, application_id));
    }
    void add(const mcs::AskReplica& placed, std::string_view node_id) override {
        add(allocations_, recovery::bucket_of(placed.partition, placed.application_id, placed.allocation_key),
            recovery::allocation_line(placed.partition, placed.application_id, placed.allocation_key, node_id,
                                      text_of(placed.resource), false));
    }
    [[nodiscard]] mcs::EndRecovery result(std::uint32_t attempt) const override {
        return {attempt, claim_of(nodes_), claim_of(applications_), claim_of(allocations_)};
    }

private:
    static void add(recovery::Digest& digest, std::uint8_t bucket, const std::string& line) {
        digest.add(bucket, recovery::line_hash(line));
    }

    recovery::Digest nodes_, applications_, allocations_;
};

} // namespace

std::unique_ptr<mcs::RecoverySums> make_core_sums() {
    return std::make_unique<CoreSums>();
}

} // namespace yk::service
