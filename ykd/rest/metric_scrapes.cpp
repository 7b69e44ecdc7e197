// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/metric_scrapes.h"

#include <string_view>
#include <utility>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/cursor.h"
#include "ykd/observe/metric_families.h"
#include "ykd/rest/exchange/rest_answers.h"

namespace yk::service {
namespace {

constexpr auto kTurn = std::chrono::seconds{10}; // that a scrape waits for others
constexpr std::uint32_t kSmall = 64U << 10;      // bytes of an answer that is sent as it comes

/// A page as it came, whose text is most of it.
struct Page {
    std::string_view text, cursor; // of the next page; empty: it is the last one
};

Page page_in(wire::Body body) {
    Page page;
    wire::Cursor at{body};
    for (std::uint32_t left = at.map(); left > 0; --left) {
        const std::string_view key = at.text();
        if (key == "text")
            page.text = at.text();
        else if (key == "cursor")
            page.cursor = at.text();
        else
            at.skip();
    }
    return page;
}

} // namespace

HttpAnswer MetricScrapes::answer(RestCaller& caller, const char* names) {
    si::MetricsRequest request;
    request.max_bytes = kSmall;
    request.names = names;
    HttpAnswer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    std::string cursor;
    const auto take = [&](wire::Body body) {
        const Page page = page_in(body);
        answer.body = page.text;
        cursor = page.cursor;
    };
    std::unique_lock turn(turn_, kTurn);
    if (!turn) return text_answer(503, "other scrapes are being answered; try again");
    if (const RestReply reply = caller.ask(request, take); !reply.ok) return text_answer(503, reply.message);
    if (cursor.empty()) return answer;
    const auto kept = pages_.take(caller.session(), cursor);
    if (!kept) return text_answer(503, "the numbers are gone already; try again");
    answer.body.clear();
    answer.stream = [kept = *kept](http::AnswerSink& sink) {
        MetricText text(kept.view.prefix, kept.view.names, [&sink](std::string_view part) { return sink.write(part); });
        write_families(text, *kept.numbers);
        return text.finish();
    };
    return answer;
}

} // namespace yk::service
