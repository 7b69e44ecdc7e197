// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/replay.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "libcore/base/saturate.h"
#include "libcore/digest/recovery_digest.h"
#include "protocol/books/books.h"
#include "protocol/books/place.h"
#include "protocol/wire/codec.h"

namespace yk::books {
namespace {

using recovery::resources_text;

using AmountsByType = std::map<std::string, std::int64_t>;

AmountsByType map_of(const std::optional<si::Resources>& resources) {
    return resources ? AmountsByType{resources->begin(), resources->end()} : AmountsByType{};
}

/// As the core counts it: the amounts of resources that come in devices are the sums of these (F-001).
AmountsByType capacity_of(const si::NodeInfo& node) {
    AmountsByType capacity = map_of(node.schedulable_resource);
    if (node.devices)
        for (const auto& [name, sizes] : *node.devices) capacity[name] = sat_sum(sizes);
    return capacity;
}

/// The message in a row. The file was found whole when it was opened, so there is one.
template <class T>
std::optional<T> message_of(const Row& row) {
    const auto scanned = wire::scan_body(row.body);
    if (!scanned.ok()) return std::nullopt;
    auto message = wire::decode<T>(*scanned);
    if (!message.ok()) return std::nullopt;
    return std::move(message).value();
}

/// Makes requests of rows, one kind after the other, and sums up what was sent.
class Replay {
public:
    Replay(BookFile& file, const std::string& rm_id, const ReplaySink& sink)
        : file_(file), sink_(sink), rm_id_(rm_id) {}

    Result<si::RecoveryDoneRequest> run() {
        claim_.rm_id = rm_id_;
        YK_CHECKED(applications());
        YK_CHECKED(nodes());
        YK_CHECKED(foreign());
        YK_CHECKED(asks(true));
        YK_CHECKED(asks(false));
        if (unreadable_ != 0)
            return Error::of(std::to_string(unreadable_) + " rows of the books of RM " + rm_id_ + " cannot be read");
        claim_.expected.asks = pending_;
        return claim_;
    }

private:
    using Item = RecoveryItem;

    template <class MakeItem>
    [[nodiscard]] bool wants(RecoveryKind kind, MakeItem make) const {
        return !sink_.wants || sink_.wants(kind, make());
    }

    /// Sends the rows of a kind: `add` puts the message into a request, unless it is not wanted.
    template <class Message, class Request, class Add>
    Result<void> send(RowKind kind, std::optional<bool> placed, const std::function<void(const Request&)>& sink,
                      Add add) {
        Request request;
        request.rm_id = rm_id_;
        std::size_t count = 0;
        const auto flush = [&] {
            if (count != 0) sink(request);
            request = {};
            request.rm_id = rm_id_;
            count = 0;
        };
        YK_CHECKED(file_.each(kind, placed, [&](Row row) {
            auto message = message_of<Message>(row);
            if (!message) return static_cast<void>(++unreadable_);
            if (add(request, std::move(*message), std::move(row)) && ++count == kElementsPerRequest) flush();
        }));
        flush();
        return {};
    }

    Result<void> applications() {
        return send<si::AddApplicationRequest>(
            RowKind::Application, std::nullopt, sink_.applications,
            [this](si::ApplicationRequest& request, si::AddApplicationRequest message, Row&&) {
                const std::string partition{short_partition(message.partition_name)};
                const std::uint64_t hash =
                    recovery::line_hash(recovery::application_line(partition, message.application_id));
                ++claim_.expected.applications;
                claim_.digest.applications += hash;
                const bool wanted = wants(RecoveryKind::Applications, [&] {
                    return Item{partition, {}, message.application_id, {}, hash};
                });
                if (wanted) request.add.push_back(std::move(message));
                return wanted;
            });
    }

    Result<void> nodes() {
        return send<si::NodeInfo>(
            RowKind::Node, std::nullopt, sink_.nodes, [this](si::NodeRequest& request, si::NodeInfo message, Row&&) {
                const std::string partition{partition_of(message)};
                const std::uint64_t hash = recovery::line_hash(
                    recovery::node_line(partition, message.node_id, resources_text(capacity_of(message)),
                                        message.action == si::NodeAction::Create));
                ++claim_.expected.nodes;
                claim_.digest.nodes += hash;
                const bool wanted = wants(RecoveryKind::Nodes, [&] {
                    return Item{partition, message.node_id, {}, {}, hash};
                });
                if (wanted) request.nodes.push_back(std::move(message));
                return wanted;
            });
    }

    /// Adds what is placed to the claim. Whether it is to be sent.
    template <class Message>
    bool count(const Message& message, const std::optional<si::Resources>& size) {
        const std::string partition{short_partition(message.partition_name)};
        const std::uint64_t hash = recovery::line_hash(
            recovery::allocation_line(partition, message.application_id, message.allocation_key, message.node_id,
                                      resources_text(map_of(size)), message.placeholder));
        ++claim_.expected.allocations;
        claim_.digest.allocations += hash;
        return wants(RecoveryKind::Allocations, [&] {
            return Item{partition, message.node_id, message.application_id, message.allocation_key, hash};
        });
    }

    Result<void> foreign() {
        return send<si::Allocation>(RowKind::Foreign, std::nullopt, sink_.allocations,
                                    [this](si::AllocationRequest& request, si::Allocation message, Row&& row) {
                                        message.node_id = row.node.value_or("");
                                        const bool wanted = count(message, message.resource_per_alloc);
                                        if (wanted) request.allocations.push_back(std::move(message));
                                        return wanted;
                                    });
    }

    Result<void> asks(bool placed) {
        const bool sends_pending = placed || !sink_.wants_asks || sink_.wants_asks();
        return send<si::AllocationAsk>(RowKind::Ask, placed, sink_.allocations,
                                       [=, this](si::AllocationRequest& request, si::AllocationAsk message, Row&& row) {
                                           put_place(message, place_of(row.node.value_or("")));
                                           const bool wanted =
                                               placed ? count(message, message.resource_ask) : sends_pending;
                                           if (!placed) ++pending_;
                                           if (wanted) request.asks.push_back(std::move(message));
                                           return wanted;
                                       });
    }

    BookFile& file_;
    const ReplaySink& sink_;
    const std::string& rm_id_;
    si::RecoveryDoneRequest claim_;
    std::uint64_t pending_ = 0, unreadable_ = 0;
};

} // namespace

Result<si::RecoveryDoneRequest> replay(BookFile& file, const std::string& rm_id, const ReplaySink& sink) {
    return Replay{file, rm_id, sink}.run();
}

} // namespace yk::books
