// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/metric_scrapes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/cursor.h"
#include "ykd/rest/exchange/rest_answers.h"

namespace yk::service {
namespace {

constexpr auto kTurn = std::chrono::seconds{10}; // that a scrape waits for others
/// Bytes of a page. Larger ones are copied on their way into memory that nobody has used yet, several times; with
/// smaller ones more families are passed that stand before them.
constexpr std::uint32_t kPage = 250'000;
constexpr std::size_t kPart = 64U << 10;     // bytes that are sent at once
constexpr std::size_t kMostKept = 64U << 20; // bytes of a spare text

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

bool send(std::string_view text, http::AnswerSink& sink) {
    for (; !text.empty(); text.remove_prefix(std::min(kPart, text.size())))
        if (!sink.write(text.substr(0, kPart))) return false;
    return true;
}

} // namespace

MetricScrapes::Text MetricScrapes::lend() const {
    const auto give_back = [spare = spare_](std::string* text) {
        const std::unique_ptr<std::string> used{text};
        used->clear();
        const std::lock_guard lock(spare->mutex);
        if (used->capacity() <= kMostKept && used->capacity() > spare->text.capacity()) spare->text.swap(*used);
    };
    auto text = std::make_unique<std::string>();
    {
        const std::lock_guard lock(spare_->mutex);
        text->swap(spare_->text);
    }
    return {text.release(), give_back};
}

HttpAnswer MetricScrapes::answer(RestCaller& caller, const char* names) {
    std::unique_lock turn(turn_, kTurn);
    if (!turn) return text_answer(503, "other scrapes are being answered; try again");
    si::MetricsRequest request;
    request.max_bytes = kPage;
    request.names = names;
    HttpAnswer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    Text all;
    const auto take = [&](wire::Body body) {
        const Page page = page_in(body);
        request.cursor = page.cursor;
        if (page.cursor.empty() && !all) {
            answer.body = page.text;
            return;
        }
        if (!all) all = lend();
        all->append(page.text);
    };
    do {
        const RestReply reply = caller.ask(request, take);
        if (!reply.ok) return text_answer(503, reply.message);
    } while (!request.cursor.empty());
    if (!all) return answer;
    answer.stream = [text = std::move(all)](http::AnswerSink& sink) { return send(*text, sink); };
    return answer;
}

} // namespace yk::service
