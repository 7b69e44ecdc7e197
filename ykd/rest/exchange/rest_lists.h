// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists over HTTP: those that fit into one page are answered whole, longer ones are sent while their pages are fetched.

#include <memory>
#include <string>
#include <utility>

#include "protocol/wire/value.h"
#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

/// Whether no page follows this one.
[[nodiscard]] bool is_last(const wire::Value& page);
/// The objects of a page; those of nodes are in a map for each partition, those of MCS are called items.
[[nodiscard]] wire::Value elements_of(wire::Value& page);

/// What the original has in place of an object of the protocol.
using Reshape = wire::Value (*)(wire::Value);
[[nodiscard]] inline wire::Value unchanged(wire::Value object) {
    return object;
}

/// Sends the elements of a list whose first page is there, fetches the other pages and sends theirs. `is_first`: none
/// stands before them; afterwards: none was sent. False: they cannot be had, or not be sent.
template <class Request>
[[nodiscard]] bool send_elements(http::AnswerSink& sink, RestCaller& caller, Request request, wire::Value page,
                                 Reshape reshape, bool& is_first) {
    for (;;) {
        for (wire::Value& one : elements_of(page)) {
            if (!std::exchange(is_first, false) && !sink.write(",")) return false;
            if (!sink.write(json_text(reshape(std::move(one))))) return false;
        }
        if (is_last(page)) return true;
        request.cursor = page["cursor"].template get<std::string>();
        RestReply reply = caller.ask(request);
        if (!reply.ok) return false;
        page = std::move(reply.body);
    }
}

/// Sends a list whose first page is there, and fetches the others.
template <class Request>
class ListStream {
public:
    ListStream(std::shared_ptr<RestCaller> caller, Request request, wire::Value page, Reshape reshape)
        : caller_(std::move(caller)), request_(std::move(request)), page_(std::move(page)), reshape_(reshape) {}

    bool operator()(http::AnswerSink& sink) {
        bool is_first = true;
        return sink.write("[") &&
               send_elements(sink, *caller_, std::move(request_), std::move(page_), reshape_, is_first) &&
               sink.write("]\n");
    }

private:
    std::shared_ptr<RestCaller> caller_;
    Request request_;
    wire::Value page_;
    Reshape reshape_;
};

/// A list, whole or while its pages are fetched: then the caller is kept for as long as the client takes it.
template <class Request>
[[nodiscard]] HttpAnswer list_answer(RestCallers::Loan& loan, const Request& request, Reshape reshape = unchanged) {
    RestReply reply = loan->ask(request);
    if (!reply.ok) return refused(reply);
    if (is_last(reply.body)) {
        wire::Value all = elements_of(reply.body);
        for (wire::Value& one : all) one = reshape(std::move(one));
        return json_answer(all);
    }
    HttpAnswer answer = handler_answer(200);
    answer.stream = ListStream<Request>(loan.keep(), request, std::move(reply.body), reshape);
    return answer;
}

} // namespace yk::service
