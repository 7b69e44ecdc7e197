// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricScrapes: the metrics over HTTP, for whoever scrapes them once in some seconds.
//
// Owner: RestGateway. Thread: any.

#include <chrono>
#include <mutex>

#include "protocol/http/http_message.h"
#include "ykd/observe/metric_pages.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

class MetricScrapes {
public:
    /// `pages`: where the daemon keeps the numbers of its answers.
    explicit MetricScrapes(MetricPages& pages) : pages_(pages) {}

    /// `names` as the request Metrics has them. Of a large answer only the numbers are asked for; its text is written
    /// by the thread of the connection while it is sent, so that a client who takes its time holds no more than
    /// numbers.
    [[nodiscard]] http::HttpAnswer answer(RestCaller& caller, const char* names);

private:
    MetricPages& pages_;
    std::timed_mutex turn_; // one asks at a time, as the daemon keeps the numbers of few answers
};

} // namespace yk::service
