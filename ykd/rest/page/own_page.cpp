// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/own_page.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/exchange/rest_lists.h"
#include "ykd/rest/page/page_text.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using http::HttpAnswer;
using wire::Value;

constexpr std::size_t kMostApplications = 1000; // that are shown
constexpr std::size_t kMostPreemptions = 200;
constexpr std::uint32_t kPageRows = 1000;                               // that are asked for at once
constexpr std::uint64_t kOfApplication = 2, kAllocationPreempted = 501; // type and detail of an event (interface.md 7)

using Digest = std::array<unsigned char, 32>;
Digest digest_of(std::string_view text) {
    Digest digest{};
    EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
    return digest;
}

/// As a policy names what may run.
std::string policy_source(std::string_view text) {
    const Digest digest = digest_of(text);
    std::array<unsigned char, 64> coded{};
    const int size = EVP_EncodeBlock(coded.data(), digest.data(), static_cast<int>(digest.size()));
    return fmt::format("'sha256-{}'",
                       std::string_view{reinterpret_cast<const char*>(coded.data()), static_cast<std::size_t>(size)});
}

struct Document {
    std::string text, tag, policy;
};

Document make_document() {
    std::string script;
    for (const std::string_view part : kPageScripts) script += part;
    Document made;
    made.text.append(kPageStart).append(kPageStyle).append(kPageMiddle).append(script).append(kPageEnd);
    std::string hex;
    for (const unsigned char byte : digest_of(made.text)) hex += fmt::format("{:02x}", byte);
    made.tag = "\"" + hex.substr(0, 32) + "\"";
    made.policy =
        fmt::format("default-src 'none'; connect-src 'self'; img-src data:; style-src {}; script-src {}; base-uri "
                    "'none'; form-action 'none'; frame-ancestors 'none'",
                    policy_source(kPageStyle), policy_source(script));
    return made;
}

/// Calls `take` for each object of a dump, all its pages. The refusal, if there is one.
std::optional<HttpAnswer> for_each_of(RestCaller& caller, si::DumpRequest request,
                                      const std::function<void(Value&)>& take) {
    request.limit = kPageRows;
    for (;;) {
        RestReply reply = caller.ask(request);
        if (!reply.ok) return refused(reply);
        for (Value& one : elements_of(reply.body)) take(one);
        if (is_last(reply.body)) return std::nullopt;
        request.cursor = reply.body["cursor"].get<std::string>();
    }
}

si::DumpRequest dump_of(const char* what, const PagePlace& place) {
    si::DumpRequest request;
    request.what = what;
    request.partition = place.partition;
    request.rm_id = place.rm_id;
    request.brief = true;
    return request;
}

std::int64_t amount_in(const Value& object, const char* list, const std::string& resource) {
    const auto found = object.find(list);
    return found == object.end() || !found->is_object() ? 0 : found->value(resource, std::int64_t{0});
}

/// The nodes as they come, and the resources that any of them has.
class NodeCells {
public:
    void add(const Value& node) {
        Cell cell{node["nodeID"].get<std::string>(),
                  node.value("schedulable", true),
                  node.value("allocationCount", std::uint64_t{0}),
                  {}};
        cell.shares.assign(resources_.size(), -1);
        if (const auto capacity = node.find("capacity"); capacity != node.end() && capacity->is_object())
            for (const auto& [name, amount] : capacity->items()) {
                const std::size_t at = place_of(name);
                cell.shares.resize(resources_.size(), -1);
                const auto all = amount.get<std::int64_t>();
                const double used = static_cast<double>(amount_in(node, "allocated", name)) +
                                    static_cast<double>(amount_in(node, "occupied", name));
                if (all > 0)
                    cell.shares[at] = static_cast<int>(std::min(used * 1000 / static_cast<double>(all), 9999.0));
            }
        cells_.push_back(std::move(cell));
    }
    [[nodiscard]] Value value() {
        Value nodes = Value::array();
        for (Cell& cell : cells_) {
            cell.shares.resize(resources_.size(), -1);
            nodes.push_back(
                Value::array({std::move(cell.name), cell.is_schedulable ? 1 : 0, cell.allocations, cell.shares}));
        }
        return {{"resources", resources_}, {"nodes", std::move(nodes)}};
    }

private:
    struct Cell {
        std::string name;
        bool is_schedulable;
        std::uint64_t allocations;
        std::vector<int> shares;
    };
    std::size_t place_of(const std::string& resource) {
        const auto found = std::find(resources_.begin(), resources_.end(), resource);
        if (found != resources_.end()) return static_cast<std::size_t>(found - resources_.begin());
        resources_.push_back(resource);
        return resources_.size() - 1;
    }

    std::vector<std::string> resources_;
    std::vector<Cell> cells_;
};

Value application_row(const Value& application) {
    static constexpr std::array kShown{"applicationID",  "queueName",      "user",        "applicationState",
                                       "submissionTime", "usedResource",   "pendingAsks", "pendingResource",
                                       "oldestPending",  "allocationCount"};
    Value row = Value::object();
    for (const char* name : kShown)
        if (const auto found = application.find(name); found != application.end()) row[name] = *found;
    return row;
}

} // namespace

OwnPage::OwnPage(const RestPort& port) : shared_(real_now), feed_(port), sampler_(port) {}

HttpAnswer OwnPage::document(const http::HttpRequest& request) {
    static const Document kDocument = make_document();
    HttpAnswer answer;
    answer.headers = {{"ETag", kDocument.tag},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", kDocument.policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"}};
    if (request.header("if-none-match") == kDocument.tag) {
        answer.status = 304;
        return answer;
    }
    answer.content_type = "text/html; charset=utf-8";
    answer.body = kDocument.text;
    return answer;
}

HttpAnswer OwnPage::answer(RestCaller& caller, const http::HttpRequest& request, const PagePlace& place) {
    const std::string_view path = request.path;
    const std::string_view what = path.substr(path.rfind('/') + 1);
    const std::string rm_id{request.parameter("rmID")};
    if (what == "changes") return feed_.stream();
    if (what == "nodes") return nodes(caller, place);
    if (what == "applications") return applications(caller, place, std::string(request.parameter("queue")));
    if (what == "explain") return explain(caller, request);
    if (what == "configurations") return configurations(caller, rm_id);
    if (what == "preemptions") return preemptions(caller);
    return use(place, request.parameter("span"));
}

HttpAnswer OwnPage::nodes(RestCaller& caller, const PagePlace& place) {
    return shared_.get("nodes " + place.rm_id + " " + place.partition, [&] {
        NodeCells cells;
        const auto refusal = for_each_of(caller, dump_of("nodes", place), [&](Value& node) { cells.add(node); });
        if (refusal) return *refusal;
        Value answer = cells.value();
        const auto refused_fragments = for_each_of(caller, dump_of("fragmentation", place),
                                                   [&](Value& fragments) { answer["fragmentation"] = fragments; });
        return refused_fragments ? *refused_fragments : json_answer(answer);
    });
}

HttpAnswer OwnPage::applications(RestCaller& caller, const PagePlace& place, const std::string& queue) {
    return shared_.get("applications " + place.rm_id + " " + place.partition + " " + queue, [&] {
        si::DumpRequest request = dump_of("apps", place);
        request.queue = queue;
        request.subtree = true;
        std::vector<Value> waiting, others;
        std::size_t all = 0;
        const auto refusal = for_each_of(caller, request, [&](Value& application) {
            ++all;
            auto& list = application.value("pendingAsks", std::uint64_t{0}) != 0 ? waiting : others;
            if (list.size() < kMostApplications) list.push_back(application_row(application));
        });
        if (refusal) return *refusal;
        for (Value& one : others) waiting.push_back(std::move(one));
        waiting.resize(std::min(waiting.size(), kMostApplications));
        return json_answer({{"all", all}, {"applications", std::move(waiting)}});
    });
}

HttpAnswer OwnPage::explain(RestCaller& caller, const http::HttpRequest& request) {
    si::ExplainRequest asked;
    asked.what = request.parameter("what");
    asked.partition = request.parameter("partition");
    asked.rm_id = request.parameter("rmID");
    asked.application = request.parameter("application");
    asked.allocation_key = request.parameter("allocationKey");
    asked.queue = request.parameter("queue");
    asked.node = request.parameter("node");
    asked.user = request.parameter("user");
    const RestReply reply = caller.ask(asked);
    return reply.ok ? json_answer(reply.body) : refused(reply);
}

HttpAnswer OwnPage::configurations(RestCaller& caller, const std::string& rm_id) {
    return shared_.get("configurations " + rm_id, [&] {
        si::DumpRequest request;
        request.what = "confighistory";
        request.rm_id = rm_id;
        const RestReply reply = caller.ask(request);
        return reply.ok ? json_answer(reply.body["data"]) : refused(reply);
    });
}

/// The kept events are looked through from the oldest on, as many of them at a time as fit into an answer.
HttpAnswer OwnPage::preemptions(RestCaller& caller) {
    return shared_.get("preemptions", [&] {
        si::EventsRequest request;
        si::EventFilter& wanted = request.filter.emplace();
        wanted.types = {kOfApplication};
        wanted.details = {kAllocationPreempted};
        std::vector<Value> found;
        for (;;) {
            RestReply reply = caller.ask(request);
            if (!reply.ok && reply.code == si::ErrorCode::BadState) break; // no events are kept
            if (!reply.ok) return refused(reply);
            for (const Value& record : reply.body["EventRecords"])
                found.push_back({{"at", record["timestampNano"]},
                                 {"application", record["objectID"]},
                                 {"allocation", record["referenceID"]},
                                 {"text", record["message"]}});
            const auto next = reply.body["ContinueID"].get<std::uint64_t>();
            if (next <= request.start || next >= reply.body["NextID"].get<std::uint64_t>()) break;
            request.start = next;
        }
        std::reverse(found.begin(), found.end());
        found.resize(std::min(found.size(), kMostPreemptions));
        return json_answer(found);
    });
}

HttpAnswer OwnPage::use(const PagePlace& place, std::string_view span) const {
    const auto value = sampler_.value(place.rm_id, place.partition, span.empty() ? "hour" : span);
    return value ? json_answer(*value) : error_answer(400, "span is one of hour, day and month");
}

} // namespace yk::service
