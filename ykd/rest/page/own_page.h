// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnPage: the page that ykd has itself, one document, and the answers that only it asks for: those of the REST
// interface are too large for fifty thousand nodes, and have no explanations. What many pages ask for is made once.
//
// Owner: RestGateway. Thread: those of the connections.

#include <string>

#include "protocol/http/http_message.h"
#include "protocol/si/tool_requests.h"
#include "ykd/rest/exchange/rest_caller.h"
#include "ykd/rest/page/change_feed.h"
#include "ykd/rest/page/shared_answers.h"
#include "ykd/rest/page/use_sampler.h"

namespace yk::service {

/// A partition of a resource manager.
struct PagePlace {
    std::string partition, rm_id;
};

class OwnPage {
public:
    explicit OwnPage(const RestPort& port);

    /// The document, with a policy that lets nothing else into it.
    [[nodiscard]] static http::HttpAnswer document(const http::HttpRequest& request);
    /// What the page asks for, by the last part of the path. `place`: where the request names a partition.
    [[nodiscard]] http::HttpAnswer answer(RestCaller& caller, const http::HttpRequest& request, const PagePlace& place);

    /// The time line begins.
    void start() { sampler_.start(); }
    /// Ends the streams of changes.
    void finish_streams() { feed_.finish(); }
    void stop() {
        feed_.stop();
        sampler_.stop();
    }

private:
    /// {resources [str], nodes [[name, 1 if schedulable, allocations, [used share of each resource in thousandths, -1:
    /// it has none]]]}
    [[nodiscard]] http::HttpAnswer nodes(RestCaller& caller, const PagePlace& place);
    /// {all, applications [...]}: active ones of the queue and those below it (empty: of all), those with pending asks
    /// first, at most 1,000.
    [[nodiscard]] http::HttpAnswer applications(RestCaller& caller, const PagePlace& place, const std::string& queue);
    /// Why something is as it is; the reply of the protocol.
    [[nodiscard]] static http::HttpAnswer explain(RestCaller& caller, const http::HttpRequest& request);
    /// The configurations that were in force, the newest first.
    [[nodiscard]] http::HttpAnswer configurations(RestCaller& caller, const std::string& rm_id);
    /// Who was preempted, the newest first, of the events that are kept.
    [[nodiscard]] http::HttpAnswer preemptions(RestCaller& caller);
    /// The time line of a span: hour, day or month.
    [[nodiscard]] http::HttpAnswer use(const PagePlace& place, std::string_view span) const;

    SharedAnswers shared_;
    ChangeFeed feed_;
    UseSampler sampler_;
};

} // namespace yk::service
