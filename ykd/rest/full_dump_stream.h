// SPDX-License-Identifier: Apache-2.0
#pragma once
// FullDumpStream: sends a full dump that is too large to be made at once. What is small in it was asked for before; its
// lists are sent while their pages are fetched, so that a client who takes long costs one page of memory. Each page is
// of its own moment, as those of long lists are.
//
// Owner: the answer that sends it. Thread: that of its connection.

#include <memory>
#include <string>

#include "protocol/http/http_message.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/value.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

class FullDumpStream {
public:
    /// Up to so many asks and allocations of a partition a full dump is made at once, and is of one moment. It takes
    /// about 8 KiB of memory for each.
    static constexpr std::uint32_t kAtOnce = 20'000;

    /// `document`: the dump with null in place of its lists. `request`: of the partitions that it is about.
    FullDumpStream(std::shared_ptr<RestCaller> caller, si::DumpRequest request, wire::Value document)
        : caller_(std::move(caller)), request_(std::move(request)), document_(std::move(document)) {
        document_["applications"] = nullptr; // left out of a dump where it is null
    }

    bool operator()(http::AnswerSink& sink) const;

private:
    [[nodiscard]] bool send_member(http::AnswerSink& sink, const std::string& name, const wire::Value& value) const;
    [[nodiscard]] bool send_applications(http::AnswerSink& sink) const;
    [[nodiscard]] bool send_nodes(http::AnswerSink& sink) const;
    [[nodiscard]] bool send_list(http::AnswerSink& sink, const si::DumpRequest& request) const;
    [[nodiscard]] si::DumpRequest list_of(const std::string& what) const;

    std::shared_ptr<RestCaller> caller_;
    si::DumpRequest request_;
    wire::Value document_;
};

} // namespace yk::service
