// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/config/names.h"
#include "ykd/rest/exchange/rest_lists.h"
#include "ykd/rest/full_dump_stream.h"
#include "ykd/rest/rest_configuration.h"
#include "ykd/rest/rest_deployments.h"
#include "ykd/rest/rest_documents.h"
#include "ykd/rest/rest_events.h"
#include "ykd/rest/rest_names.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr auto kTurn = std::chrono::seconds{10}; // that a request waits for its turn among others
constexpr std::uint32_t kPage = 1000;            // objects of a list that are made and sent together

HttpAnswer not_allowed(const std::string& methods) {
    HttpAnswer answer = text_answer(405, "Method Not Allowed");
    answer.headers.emplace_back("Allow", methods);
    return answer;
}

/// The state names that a query may ask for, in the original's words.
constexpr std::array<std::string_view, 6> kStatuses{"new", "accepted", "running", "completing", "failing", "resuming"};
bool is_status(const std::string& status) {
    return status.empty() || std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

HttpAnswer refuse_states(std::string_view states) {
    return error_answer(400, fmt::format("Only following application states are allowed: {}", states));
}

HttpAnswer refuse_status() {
    return error_answer(400, fmt::format("Only following active statuses are allowed: {}", fmt::join(kStatuses, ",")));
}

HttpAnswer refuse_queue_name() {
    return error_answer(400, config::kInvalidQueueName);
}

/// Where the original has its routes, and routes of ours keep to its ways.
bool is_originals(const std::string& path) {
    return path.starts_with("/ws/") || path.starts_with("/debug/");
}

/// Elsewhere HEAD is taken as GET; the connection leaves the body out.
std::string method_of(const http::HttpRequest& request) {
    return request.method == "HEAD" && !is_originals(request.path) ? "GET" : request.method;
}

std::string methods_at(const std::string& path, const std::string& methods) {
    return is_originals(path) ? methods : methods + ", HEAD";
}

/// What a name is when it was escaped twice, as it may be when nothing is called what it is now (I-430): so names with
/// slashes and names that are dots get through. nullopt: it was not.
std::optional<std::string> escaped_twice(const std::string& name) {
    auto plain = unescaped(name, false);
    return plain && *plain != name ? plain : std::nullopt;
}

/// The answer about a name, in whichever of the two ways it was escaped.
template <class Ask>
HttpAnswer in_either_way(const std::string& name, Ask&& ask) {
    HttpAnswer answer = ask(name);
    if (answer.status != 404) return answer;
    const auto plain = escaped_twice(name);
    if (!plain) return answer;
    HttpAnswer other = ask(*plain);
    return other.status == 404 ? answer : other;
}

constexpr std::string_view kDefaultPartition = "default";

/// The name of a queue in a path, in lower case; nullopt: it is none.
std::optional<std::string> queue_in(const std::string& part) {
    const auto name = decoded_again(part);
    if (!name || !is_queue_path(*name)) return std::nullopt;
    return config::lower(*name);
}

} // namespace

// --- the table ----------------------------------------------------------------------------------

const std::vector<RestGateway::Route>& RestGateway::routes() {
    using Rest = RestGateway;
    static const std::vector<Route> kRoutes{
        {"GET", "/ws/v1/clusters", &Rest::clusters},
        {"GET", "/ws/v1/partitions", &Rest::partitions},
        {"GET", "/ws/v1/metrics", &Rest::metrics, true},
        {"GET", "/ws/v1/config", &Rest::configuration},
        {"POST", "/ws/v1/validate-conf", &Rest::validate},
        {"GET", "/ws/v1/history/apps", &Rest::history},
        {"GET", "/ws/v1/history/containers", &Rest::history},
        {"GET", "/ws/v1/partition/:partition/placementrules", &Rest::rules},
        {"GET", "/ws/v1/partition/:partition/queues", &Rest::queues},
        {"GET", "/ws/v1/partition/:partition/queue/:queue", &Rest::queue},
        {"GET", "/ws/v1/partition/:partition/nodes", &Rest::nodes},
        {"GET", "/ws/v1/partition/:partition/node/:node", &Rest::node},
        {"GET", "/ws/v1/partition/:partition/fragmentation", &Rest::fragmentation},
        {"GET", "/ws/v1/partition/:partition/fragmentation/nodes", &Rest::fragmentation_of_nodes},
        {"GET", "/ws/v1/partition/:partition/queue/:queue/applications", &Rest::queue_applications},
        {"GET", "/ws/v1/partition/:partition/queue/:queue/applications/:state", &Rest::queue_applications_in_state},
        {"GET", "/ws/v1/partition/:partition/applications/:state", &Rest::applications_in_state},
        {"GET", "/ws/v1/partition/:partition/application/:application", &Rest::application},
        {"GET", "/ws/v1/partition/:partition/queue/:queue/application/:application", &Rest::queue_application},
        {"GET", "/ws/v1/partition/:partition/usage/users", &Rest::users},
        {"GET", "/ws/v1/partition/:partition/usage/user/:user", &Rest::user},
        {"GET", "/ws/v1/partition/:partition/usage/groups", &Rest::groups},
        {"GET", "/ws/v1/partition/:partition/usage/group/:group", &Rest::group},
        {"GET", "/ws/v1/events/batch", &Rest::events},
        {"GET", "/ws/v1/events/stream", &Rest::event_stream},
        {"GET", "/ws/v1/scheduler/healthcheck", &Rest::health},
        {"GET", "/ws/v1/scheduler/node-utilizations", &Rest::utilization},
        {"GET", "/debug/fullstatedump", &Rest::full_dump},
        {"GET", "/ws/v1/fullstatedump", &Rest::moved_to_debug, true},
        {"GET", "/ws/v1/stack", &Rest::moved_to_debug, true},
        {"GET", "/ws/v1/mcs/status", &Rest::mcs_status},
        {"GET", "/ws/v1/mcs/cache/:kind/:id", &Rest::cached_row},
        {"GET", "/ws/v1/mcs/deployments", &Rest::deployments},
        {"POST", "/ws/v1/mcs/deployments", &Rest::new_deployment, true},
        {"GET", "/ws/v1/mcs/deployments/:id", &Rest::deployment},
        {"PUT", "/ws/v1/mcs/deployments/:id", &Rest::changed_deployment, true},
        {"DELETE", "/ws/v1/mcs/deployments/:id", &Rest::deleted_deployment, true},
        {"GET", "/ws/v1/page/changes", &Rest::for_page, true},
        {"GET", "/ws/v1/page/explain", &Rest::for_page, true},
        {"GET", "/ws/v1/page/configurations", &Rest::for_page, true},
        {"GET", "/ws/v1/page/preemptions", &Rest::for_page, true},
        {"GET", "/ws/v1/page/use", &Rest::use_for_page, true},
        {"GET", "/ws/v1/page/partition/:partition/nodes", &Rest::for_page, true},
        {"GET", "/ws/v1/page/partition/:partition/applications", &Rest::for_page, true},
        {"GET", "/ykd", &Rest::own_page, true},
        {"GET", "/livez", nullptr, true},
        {"GET", "/readyz", &Rest::ready, true},
        {"GET", "/metrics", &Rest::own_metrics, true},
    };
    return kRoutes;
}

RestGateway::RestGateway(RestPort port, MetricPages& metric_pages, std::vector<std::string> origins)
    : port_(std::move(port)),
      origins_(std::move(origins)),
      router_([] {
          std::vector<RestPath> paths;
          for (const Route& route : routes()) paths.push_back({route.method, route.path});
          return RestRouter(paths);
      }()),
      scrapes_(metric_pages) {}

HttpAnswer RestGateway::answer(const http::HttpRequest& request) {
    const RestMatch match = router_.match(method_of(request), request.path);
    switch (match.kind) {
    case RestMatch::Kind::Found: break;
    case RestMatch::Kind::Moved:
        return moved_answer(request.query.empty() ? match.text : match.text + "?" + request.query,
                            method_of(request) == "GET");
    case RestMatch::Kind::NotAllowed: return not_allowed(methods_at(request.path, match.text));
    case RestMatch::Kind::Options: return options(request, methods_at(request.path, match.text));
    case RestMatch::Kind::NotFound: return file_or_own_page(request);
    }
    const Route& route = routes()[match.route];
    if (route.serve == nullptr) return text_answer(200, "ok"); // that there is an answer is the answer
    auto loan = callers_.lend(kTurn);
    HttpAnswer answer;
    if (loan) {
        Visit visit{request, match.values, std::move(*loan), {}, {}};
        answer = (this->*route.serve)(visit);
    } else {
        answer = error_answer(si::ErrorCode::Busy, "too many requests over HTTP are at work; try again soon");
    }
    if (!route.is_plain || !origins_.empty())
        add_cors(request, request.method == "POST" ? "OPTIONS, POST" : "GET, OPTIONS", answer);
    return answer;
}

/// Browsers ask so before they send what a page of another origin could not send by itself. The original says nothing
/// to them, and so do we without a list of origins.
HttpAnswer RestGateway::options(const http::HttpRequest& request, const std::string& methods) const {
    HttpAnswer answer;
    answer.headers.emplace_back("Allow", methods);
    if (!origins_.empty()) add_cors(request, methods, answer);
    return answer;
}

HttpAnswer RestGateway::file_or_own_page(const http::HttpRequest& request) const {
    std::optional<HttpAnswer> found;
    if (pages_)
        found = pages_->answer(request);
    else if (request.path == "/")
        found = OwnPage::document(request);
    if (!found) return text_answer(404, "404 page not found");
    return method_of(request) == "GET" ? *std::move(found) : not_allowed("GET, HEAD");
}

/// Without a list every page may read what the original's handlers answer, by the original's headers. Pages of a list
/// may also send a token, and write where that allows it.
void RestGateway::add_cors(const http::HttpRequest& request, const std::string& methods, HttpAnswer& answer) const {
    std::string_view headers = "X-Requested-With,Content-Type,Accept,Origin", origin = "*";
    if (!origins_.empty()) {
        origin = request.header("origin");
        answer.headers.emplace_back("Vary", "Origin");
        if (std::find(origins_.begin(), origins_.end(), origin) == origins_.end()) return;
        headers = "X-Requested-With,Content-Type,Accept,Origin,Authorization,If-Match";
        answer.headers.emplace_back("Access-Control-Expose-Headers", "ETag");
    }
    answer.headers.emplace_back("Access-Control-Allow-Origin", origin);
    answer.headers.emplace_back("Access-Control-Allow-Methods", methods);
    answer.headers.emplace_back("Access-Control-Allow-Headers", headers);
}

// --- what a route needs -------------------------------------------------------------------------

/// Finds the partition that the path names. One of several RMs has to be chosen by `?rmID=` (I-431).
RestGateway::Refusal RestGateway::in_partition(Visit& visit, std::string wanted) const {
    si::DumpRequest request;
    request.what = "clusters";
    const RestReply reply = visit.loan->ask(request);
    if (!reply.ok) return refused(reply);
    const std::string_view rm = visit.request.parameter("rmID");
    std::vector<std::string> found;
    const auto find = [&] {
        for (const Value& one : reply.body["data"]) {
            const std::string id = one["rmBuildInformation"].front().value("rmId", std::string{});
            if (one["partition"] != wanted || (!rm.empty() && rm != id)) continue;
            found.push_back(id);
        }
    };
    find();
    if (const auto plain = found.empty() ? escaped_twice(wanted) : std::nullopt) {
        wanted = *plain;
        find();
    }
    if (found.empty()) return error_answer(404, "Partition not found");
    if (found.size() > 1)
        return error_answer(400,
                            fmt::format("partition {} is that of several resource managers, add ?rmID= with one of "
                                        "these: {}",
                                        wanted, fmt::join(found, ", ")));
    visit.partition = wanted;
    visit.rm_id = found.front();
    return std::nullopt;
}

RestGateway::Refusal RestGateway::has_queue(Visit& visit, const std::string& queue) const {
    si::DumpRequest request = dump_of(visit, "queue");
    request.queue = queue;
    const RestReply reply = visit.loan->ask(request);
    return reply.ok ? std::nullopt : Refusal{refused(reply)};
}

si::DumpRequest RestGateway::dump_of(const Visit& visit, const char* what) const {
    si::DumpRequest request;
    request.what = what;
    request.partition = visit.partition;
    request.rm_id = visit.rm_id.empty() ? std::string(visit.request.parameter("rmID")) : visit.rm_id;
    request.limit = kPage;
    return request;
}

/// What is never in pages: one object, or the first of a list with one.
HttpAnswer RestGateway::whole(Visit& visit, const si::DumpRequest& request) const {
    RestReply reply = visit.loan->ask(request);
    if (!reply.ok) return refused(reply);
    Value& data = reply.body["data"];
    return json_answer(data.is_array() && !data.empty() ? data.front() : data);
}

/// Asks for the object that a path names, in whichever of the two ways the name was escaped.
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is changed, by a pointer to its member
RestReply RestGateway::named(Visit& visit, si::DumpRequest request, std::string si::DumpRequest::*member,
                             const std::string& name) const {
    request.*member = name;
    RestReply reply = visit.loan->ask(request);
    if (reply.ok || reply.code != si::ErrorCode::NotFound) return reply;
    const auto plain = escaped_twice(name);
    if (!plain) return reply;
    request.*member = *plain;
    RestReply other = visit.loan->ask(request);
    return other.ok ? other : reply;
}

// --- the daemon and its partitions --------------------------------------------------------------

HttpAnswer RestGateway::clusters(Visit& visit) {
    return list_answer(visit.loan, dump_of(visit, "clusters"), rest_cluster);
}

HttpAnswer RestGateway::partitions(Visit& visit) {
    return list_answer(visit.loan, dump_of(visit, "partitions"));
}

HttpAnswer RestGateway::metrics(Visit& visit) {
    return scrapes_.answer(*visit.loan, "original");
}

HttpAnswer RestGateway::own_metrics(Visit& visit) {
    return scrapes_.answer(*visit.loan, "own");
}

Result<Value, HttpAnswer> RestGateway::active_configuration(Visit& visit) const {
    const RestReply reply = visit.loan->ask(dump_of(visit, "configtext"));
    if (!reply.ok) return refused(reply);
    const Value& texts = reply.body["data"];
    if (texts.size() > 1)
        return error_answer(400, "there are several resource managers, each with a configuration: add ?rmID= with one");
    if (texts.empty()) return rest_configuration({}, {}, {});
    const Value& one = texts.front();
    return rest_configuration(one["text"].get_ref<const std::string&>(), one["checksum"].get<std::string>(),
                              one["extra"]);
}

HttpAnswer RestGateway::configuration(Visit& visit) {
    const auto active = active_configuration(visit);
    if (!active.ok()) return active.error();
    if (visit.request.header("accept") == "application/json") return json_answer(with_go_names(*active));
    HttpAnswer answer = handler_answer(200);
    answer.content_type = "application/x-yaml; charset=UTF-8";
    answer.body = configuration_yaml(*active);
    return answer;
}

HttpAnswer RestGateway::validate(Visit& visit) {
    if (has_no_partitions(visit.request.body)) return json_answer({{"allowed", true}});
    si::ValidateConfigurationRequest request;
    request.config = visit.request.body;
    const RestReply reply = visit.loan->ask(request);
    if (!reply.ok) return refused(reply);
    Value outcome{{"allowed", reply.body["allowed"]}};
    if (!reply.body["allowed"].get<bool>()) outcome["reason"] = reply.body["reason"];
    return json_answer(outcome);
}

HttpAnswer RestGateway::history(Visit& visit) {
    RestReply reply = visit.loan->ask(dump_of(visit, "history"));
    const char* const member = visit.request.path.ends_with("/apps") ? "apps" : "containers";
    if (reply.ok) return json_answer(reply.body["data"][member]);
    if (reply.code != si::ErrorCode::BadState) return refused(reply);
    return error_answer(500, "Internal metrics collection is not enabled.");
}

HttpAnswer RestGateway::health(Visit& visit) {
    const RestReply reply = visit.loan->ask(si::HealthRequest{});
    return reply.ok ? json_answer(rest_health(reply.body)) : refused(reply);
}

HttpAnswer RestGateway::ready(Visit& visit) {
    const RestReply reply = visit.loan->ask(si::PingRequest{}, std::chrono::seconds{1});
    return reply.ok ? text_answer(200, "ok") : text_answer(503, reply.message);
}

HttpAnswer RestGateway::utilization(Visit& visit) {
    RestReply reply = visit.loan->ask(dump_of(visit, "utilization"));
    if (!reply.ok) return refused(reply);
    Value partitions = Value::array();
    for (Value& one : reply.body["data"]) partitions.push_back(rest_utilization(std::move(one)));
    return json_answer(partitions.empty() ? Value(nullptr) : partitions);
}

HttpAnswer RestGateway::full_dump(Visit& visit) {
    const si::DumpRequest about = dump_of(visit, "full");
    si::DumpRequest request = about;
    request.objects = FullDumpStream::kAtOnce;
    RestReply reply = visit.loan->ask(request);
    const bool is_too_large = !reply.ok && reply.code == si::ErrorCode::TooLarge;
    request.brief = true;
    if (is_too_large) reply = visit.loan->ask(request);
    if (!reply.ok) return refused(reply);
    const auto active = active_configuration(visit);
    Value document =
        rest_full_dump(std::move(reply.body["data"]), active.ok() ? with_go_names(*active) : Value(nullptr));
    HttpAnswer answer = handler_answer(200);
    if (is_too_large)
        answer.stream = FullDumpStream(visit.loan.keep(), about, std::move(document));
    else
        answer.body = indented_json_text(document, 2) + "\n";
    return answer;
}

// --- the page of ykd itself ---------------------------------------------------------------------

HttpAnswer RestGateway::own_page(Visit& visit) {
    return OwnPage::document(visit.request);
}

/// What the page of ykd itself asks for.
HttpAnswer RestGateway::for_page(Visit& visit) {
    if (!visit.values.empty())
        if (auto refusal = in_partition(visit)) return *std::move(refusal);
    return own_page_.answer(*visit.loan, visit.request, {visit.partition, visit.rm_id});
}

/// The same of a partition that the query names.
HttpAnswer RestGateway::use_for_page(Visit& visit) {
    const std::string_view named = visit.request.parameter("partition");
    if (auto refusal = in_partition(visit, std::string{named.empty() ? kDefaultPartition : named}))
        return *std::move(refusal);
    return own_page_.answer(*visit.loan, visit.request, {visit.partition, visit.rm_id});
}

HttpAnswer RestGateway::moved_to_debug(Visit& visit) {
    const std::string_view path = visit.request.path;
    return moved_answer("/debug" + std::string(path.substr(path.rfind('/'))), true);
}

// --- objects of a partition ---------------------------------------------------------------------

HttpAnswer RestGateway::rules(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    RestReply reply = visit.loan->ask(dump_of(visit, "rules"));
    if (!reply.ok) return refused(reply);
    Value& data = reply.body["data"];
    return json_answer(data.empty() ? Value::array() : data.front()["rules"]);
}

HttpAnswer RestGateway::queues(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    return whole(visit, dump_of(visit, "queues"));
}

HttpAnswer RestGateway::queue(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    const auto name = queue_in(visit.values[1]);
    if (!name) return refuse_queue_name();
    si::DumpRequest request = dump_of(visit, "queue");
    request.queue = *name;
    request.subtree = visit.request.has_parameter("subtree");
    return whole(visit, request);
}

HttpAnswer RestGateway::nodes(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    return list_answer(visit.loan, dump_of(visit, "nodes"));
}

HttpAnswer RestGateway::node(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    const RestReply reply = named(visit, dump_of(visit, "node"), &si::DumpRequest::node, visit.values[1]);
    return reply.ok ? json_answer(reply.body["data"]) : refused(reply);
}

HttpAnswer RestGateway::fragmentation(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    return whole(visit, dump_of(visit, "fragmentation"));
}

HttpAnswer RestGateway::fragmentation_of_nodes(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    si::DumpRequest request = dump_of(visit, "fragmentation");
    request.flat = true;
    return list_answer(visit.loan, request);
}

HttpAnswer RestGateway::queue_applications_of(Visit& visit, const std::string& queue, const std::string& status) const {
    si::DumpRequest request = dump_of(visit, "apps");
    request.queue = queue;
    request.status = status;
    return list_answer(visit.loan, request, rest_application);
}

HttpAnswer RestGateway::queue_applications(Visit& visit) {
    const auto name = queue_in(visit.values[1]);
    if (!name) return refuse_queue_name();
    if (auto refusal = in_partition(visit)) return *refusal;
    if (auto refusal = has_queue(visit, *name)) return *refusal;
    return queue_applications_of(visit, *name, {});
}

HttpAnswer RestGateway::queue_applications_in_state(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    const auto name = queue_in(visit.values[1]);
    if (!name) return refuse_queue_name();
    if (auto refusal = has_queue(visit, *name)) return *refusal;
    if (config::lower(visit.values[2]) != "active") return refuse_states("active");
    const std::string status = config::lower(std::string(visit.request.parameter("status")));
    if (!is_status(status)) return refuse_status();
    return queue_applications_of(visit, *name, status);
}

HttpAnswer RestGateway::applications_in_state(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    si::DumpRequest request = dump_of(visit, "apps");
    request.state = config::lower(visit.values[1]);
    if (request.state != "active" && request.state != "completed" && request.state != "rejected")
        return refuse_states("active, rejected, completed");
    if (request.state == "active") request.status = config::lower(std::string(visit.request.parameter("status")));
    if (!is_status(request.status)) return refuse_status();
    return list_answer(visit.loan, request, rest_application);
}

HttpAnswer RestGateway::application(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    RestReply reply = named(visit, dump_of(visit, "app"), &si::DumpRequest::application, visit.values[1]);
    if (reply.ok) return json_answer(rest_application(std::move(reply.body["data"])));
    return reply.code == si::ErrorCode::NotFound ? error_answer(404, "Application not found") : refused(reply);
}

HttpAnswer RestGateway::queue_application(Visit& visit) {
    if (auto refusal = in_partition(visit)) return *refusal;
    const auto name = queue_in(visit.values[1]);
    if (!name) return refuse_queue_name();
    if (auto refusal = has_queue(visit, *name)) return *refusal;
    RestReply reply = named(visit, dump_of(visit, "app"), &si::DumpRequest::application, visit.values[2]);
    if (!reply.ok && reply.code != si::ErrorCode::NotFound) return refused(reply);
    if (!reply.ok || reply.body["data"].value("queueName", std::string{}) != *name)
        return error_answer(404, "Application not found");
    return json_answer(rest_application(std::move(reply.body["data"])));
}

// --- usage --------------------------------------------------------------------------------------

HttpAnswer RestGateway::usage(Visit& visit, const char* what) const {
    if (auto refusal = in_partition(visit)) return *refusal;
    return list_answer(visit.loan, dump_of(visit, what));
}

HttpAnswer RestGateway::one_usage(Visit& visit, const char* what, std::string si::DumpRequest::*name) const {
    if (auto refusal = in_partition(visit)) return *refusal;
    si::DumpRequest request = dump_of(visit, what);
    const auto decoded = decoded_again(visit.values[1]);
    // A name that cannot be decoded is none; the daemon says so in the original's words.
    request.*name = decoded && !decoded->empty() && *decoded != "*" ? *decoded : "%";
    return whole(visit, request);
}

HttpAnswer RestGateway::users(Visit& visit) {
    return usage(visit, "users");
}

HttpAnswer RestGateway::user(Visit& visit) {
    return one_usage(visit, "user", &si::DumpRequest::user);
}

HttpAnswer RestGateway::groups(Visit& visit) {
    return usage(visit, "groups");
}

HttpAnswer RestGateway::group(Visit& visit) {
    return one_usage(visit, "group", &si::DumpRequest::group);
}

// --- Deployments and events ---------------------------------------------------------------------

HttpAnswer RestGateway::mcs_status(Visit& visit) {
    si::McsReadRequest request;
    request.what = "status";
    return mcs_answer(*visit.loan, request);
}

HttpAnswer RestGateway::cached_row(Visit& visit) {
    si::McsReadRequest request;
    request.what = "inspect";
    request.kind = visit.values[0];
    return in_either_way(visit.values[1], [&](const std::string& id) {
        request.id = id;
        return mcs_answer(*visit.loan, request);
    });
}

HttpAnswer RestGateway::deployments(Visit& visit) {
    si::McsReadRequest request;
    request.what = "list";
    request.kind = "deployment";
    return list_answer(visit.loan, request);
}

HttpAnswer RestGateway::deployment(Visit& visit) {
    return in_either_way(visit.values[0], [&](const std::string& id) { return deployment_answer(*visit.loan, id); });
}

HttpAnswer RestGateway::new_deployment(Visit& visit) {
    return create_deployment(port_, visit.request);
}

HttpAnswer RestGateway::changed_deployment(Visit& visit) {
    return in_either_way(visit.values[0],
                         [&](const std::string& id) { return change_deployment(port_, visit.request, id); });
}

HttpAnswer RestGateway::deleted_deployment(Visit& visit) {
    return in_either_way(visit.values[0],
                         [&](const std::string& id) { return delete_deployment(port_, visit.request, id); });
}

HttpAnswer RestGateway::events(Visit& visit) {
    return events_answer(*visit.loan, visit.request);
}

HttpAnswer RestGateway::event_stream(Visit& visit) {
    return event_stream_answer(port_, visit.request);
}

} // namespace yk::service
