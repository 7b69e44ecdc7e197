// SPDX-License-Identifier: Apache-2.0
#pragma once
// RestGateway: the REST interface of the original over HTTP (interface.md 5.4). Every route is a row of one table; what
// it answers with is asked of the daemon by the protocol, as any other client asks it, so that nothing here runs on an
// owner thread or knows more than an observer. What writes does so with the rights of the token that the request shows.
//
// Owner: Daemon. Thread: those of the connections.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/http/http_message.h"
#include "protocol/si/tool_requests.h"
#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/exchange/rest_caller.h"
#include "ykd/rest/metric_scrapes.h"
#include "ykd/rest/page/own_page.h"
#include "ykd/rest/rest_router.h"
#include "ykd/rest/web_files.h"

namespace yk::service {

class RestGateway {
public:
    /// `origins`: of the pages in browsers that may read; empty: all may.
    RestGateway(RestPort port, MetricPages& metric_pages, std::vector<std::string> origins);

    /// Files that are sent for paths that are no routes. REQUIRES: nothing is answered yet.
    void add_pages(WebFiles pages) { pages_ = std::move(pages); }

    [[nodiscard]] HttpAnswer answer(const http::HttpRequest& request);
    /// From now on requests come, and what pages show of the past is kept.
    void start() { own_page_.start(); }
    /// Ends what has no end of itself, for a daemon that stops.
    void finish_streams() { own_page_.finish_streams(); }
    /// Ends the sessions; nothing is asked any more.
    void clear() {
        own_page_.stop();
        callers_.clear();
    }

private:
    using Loan = RestCallers::Loan;
    /// One request at a route.
    struct Visit {
        const http::HttpRequest& request;
        const std::vector<std::string>& values; // of the names in the path
        Loan loan;
        // Once in_partition() has found it.
        std::string partition, rm_id;
    };
    struct Route {
        const char* method;
        const char* path;
        HttpAnswer (RestGateway::*serve)(Visit&); // null: it answers `ok` whatever the daemon does
        bool is_plain = false;                    // without the headers that the original's handlers have
    };
    static const std::vector<Route>& routes();
    [[nodiscard]] HttpAnswer file_or_own_page(const http::HttpRequest& request) const;
    [[nodiscard]] HttpAnswer options(const http::HttpRequest& request, const std::string& methods) const;
    /// The headers that say to a browser which pages may read the answer, and by which methods they may ask.
    void add_cors(const http::HttpRequest& request, const std::string& methods, HttpAnswer& answer) const;

    // --- what a route needs ---------------------------------------------------------------------
    // A refusal, or nothing: the visit goes on.
    using Refusal = std::optional<HttpAnswer>;
    [[nodiscard]] Refusal in_partition(Visit& visit) const { return in_partition(visit, visit.values.front()); }
    [[nodiscard]] Refusal in_partition(Visit& visit, std::string wanted) const;
    [[nodiscard]] Refusal has_queue(Visit& visit, const std::string& queue) const;
    [[nodiscard]] si::DumpRequest dump_of(const Visit& visit, const char* what) const;
    /// The active configuration in its own shape: of the one RM that there is, or that the query names.
    [[nodiscard]] Result<wire::Value, HttpAnswer> active_configuration(Visit& visit) const;
    [[nodiscard]] HttpAnswer whole(Visit& visit, const si::DumpRequest& request) const;
    [[nodiscard]] RestReply named(Visit& visit, si::DumpRequest request, std::string si::DumpRequest::*member,
                                  const std::string& name) const;
    [[nodiscard]] HttpAnswer usage(Visit& visit, const char* what) const;
    [[nodiscard]] HttpAnswer one_usage(Visit& visit, const char* what, std::string si::DumpRequest::*name) const;
    [[nodiscard]] HttpAnswer queue_applications_of(Visit& visit, const std::string& queue,
                                                   const std::string& status) const;

    // --- the routes -----------------------------------------------------------------------------
    [[nodiscard]] HttpAnswer clusters(Visit& visit);
    [[nodiscard]] HttpAnswer partitions(Visit& visit);
    [[nodiscard]] HttpAnswer metrics(Visit& visit);
    [[nodiscard]] HttpAnswer own_metrics(Visit& visit);
    [[nodiscard]] HttpAnswer configuration(Visit& visit);
    [[nodiscard]] HttpAnswer validate(Visit& visit);
    [[nodiscard]] HttpAnswer history(Visit& visit);
    [[nodiscard]] HttpAnswer rules(Visit& visit);
    [[nodiscard]] HttpAnswer queues(Visit& visit);
    [[nodiscard]] HttpAnswer queue(Visit& visit);
    [[nodiscard]] HttpAnswer nodes(Visit& visit);
    [[nodiscard]] HttpAnswer node(Visit& visit);
    [[nodiscard]] HttpAnswer queue_applications(Visit& visit);
    [[nodiscard]] HttpAnswer queue_applications_in_state(Visit& visit);
    [[nodiscard]] HttpAnswer applications_in_state(Visit& visit);
    [[nodiscard]] HttpAnswer application(Visit& visit);
    [[nodiscard]] HttpAnswer queue_application(Visit& visit);
    [[nodiscard]] HttpAnswer users(Visit& visit);
    [[nodiscard]] HttpAnswer user(Visit& visit);
    [[nodiscard]] HttpAnswer groups(Visit& visit);
    [[nodiscard]] HttpAnswer group(Visit& visit);
    [[nodiscard]] HttpAnswer events(Visit& visit);
    [[nodiscard]] HttpAnswer event_stream(Visit& visit);
    [[nodiscard]] HttpAnswer health(Visit& visit);
    [[nodiscard]] HttpAnswer utilization(Visit& visit);
    [[nodiscard]] HttpAnswer fragmentation(Visit& visit);
    [[nodiscard]] HttpAnswer fragmentation_of_nodes(Visit& visit);
    [[nodiscard]] HttpAnswer ready(Visit& visit);
    [[nodiscard]] HttpAnswer mcs_status(Visit& visit);
    [[nodiscard]] HttpAnswer cached_row(Visit& visit);
    [[nodiscard]] HttpAnswer deployments(Visit& visit);
    [[nodiscard]] HttpAnswer deployment(Visit& visit);
    [[nodiscard]] HttpAnswer new_deployment(Visit& visit);
    [[nodiscard]] HttpAnswer changed_deployment(Visit& visit);
    [[nodiscard]] HttpAnswer deleted_deployment(Visit& visit);
    [[nodiscard]] HttpAnswer own_page(Visit& visit);
    [[nodiscard]] HttpAnswer for_page(Visit& visit);
    [[nodiscard]] HttpAnswer use_for_page(Visit& visit);
    [[nodiscard]] HttpAnswer full_dump(Visit& visit);
    [[nodiscard]] HttpAnswer moved_to_debug(Visit& visit);

    const RestPort port_;
    const std::vector<std::string> origins_;
    RestCallers callers_{port_, kMostAtOnce};
    OwnPage own_page_{port_};
    const RestRouter router_;
    std::optional<WebFiles> pages_;
    MetricScrapes scrapes_;

    static constexpr std::size_t kMostAtOnce = 16; // requests that the daemon works on at the same time
};

} // namespace yk::service
