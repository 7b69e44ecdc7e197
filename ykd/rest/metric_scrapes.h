// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricScrapes: the metrics over HTTP, for whoever scrapes them once in some seconds.
//
// Owner: RestGateway. Thread: any.

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/http/http_message.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

class MetricScrapes {
public:
    /// `names` as the request Metrics has them. One reads at a time, as the daemon keeps few answers of several pages;
    /// all of them are read before the first is sent, so that a client who takes its time has nobody wait.
    [[nodiscard]] http::HttpAnswer answer(RestCaller& caller, const char* names);

private:
    using Text = std::shared_ptr<std::string>;
    /// Memory of a large answer that has been sent, for the next one: to have that from the system each time takes a
    /// third of the time of a scrape.
    struct Spare {
        std::mutex mutex;
        std::string text;
    };
    /// An empty text, whose memory comes back at the end of its last owner.
    [[nodiscard]] Text lend() const;

    std::timed_mutex turn_;
    const std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

} // namespace yk::service
