// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/metrics/fetched_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "protocol/metric_pages/page_url.h"
#include "protocol/simulation/steady_clock.h"
#include "ykd/runtime/clock.h"
#ifdef YK_WITH_CURL
#include "protocol/metric_pages/http/curl_pages.h"
#endif

namespace yk::service {
namespace {

constexpr int kForgottenAfter = 8;                          // periods in which nobody wanted it
constexpr Duration kSlack = std::chrono::milliseconds{500}; // until an answer gets here

#ifdef YK_WITH_CURL
constexpr bool kHasClient = true;
std::unique_ptr<pages::PageClient> make_client() {
    return std::make_unique<pages::CurlPages>();
}
#else
constexpr bool kHasClient = false;
std::unique_ptr<pages::PageClient> make_client() {
    return nullptr;
}
#endif
constexpr const char* kWaits =
    "it waits for its turn: as many other pages are fetched as may be at once, and these take "
    "long; give them shorter timeouts (timeoutSeconds)";
constexpr const char* kNoClient = "this ykd was built without libcurl and fetches no pages; push the metric instead";

/// A message names the page, and not what follows in its address: that may be a password.
std::string shown(const std::string& url) {
    return url.substr(0, url.find('?'));
}

} // namespace

bool can_fetch_pages() {
    return kHasClient;
}

std::string refusal_of_page(const std::string& url, const std::vector<std::string>& allowed_hosts) {
    return can_fetch_pages() ? pages::refusal_of(url, allowed_hosts) : kNoClient;
}

/// A fetch under way. `search` and `fault` belong to the client's thread until it is done.
struct FetchedPages::Fetch {
    explicit Fetch(std::vector<pages::SampleQuery> queries) : search(std::move(queries)) {}

    pages::SampleSearch search;
    std::string fault;
};

FetchedPages::FetchedPages(Parts parts)
    : parts_{parts.allowed_hosts, std::move(parts.post), parts.period, nullptr},
      alive_(std::make_shared<FetchedPages*>(this)),
      client_(parts.client ? std::move(parts.client) : make_client()) {}

Result<mcs::MetricReading> FetchedPages::read(const mcs::MetricTarget& metric, Instant now) {
    if (now >= next_forget_) forget(now);
    const auto none = [&](const std::string& why) { return Error::of(shown(metric.url) + ": " + why); };
    if (const std::string why = refusal(metric); !why.empty()) return none(why);
    Page& page = pages_[metric.url];
    Value& value = page.values[{metric.name, metric.labels}];
    page.wanted = value.wanted = now;
    page.timeout = std::max(page.timeout, metric.timeout);
    if (!page.is_under_way && (!page.begun || now - *page.begun >= parts_.period)) fetch(metric.url, page, now);
    const Duration max_age =
        std::max(metric.max_age, parts_.period * 2); // what a look finds was fetched by the one before
    if (!page.fault.empty()) return none(page.fault);
    if (page.is_waiting(now) && (!value.is_known || now - *page.ended > max_age)) return none(kWaits);
    if (!value.is_known) return none("it is being fetched; there is a value at the next look");
    if (now - *page.ended > max_age)
        return none(fmt::format("the last page is older than {} s (maxAgeSeconds)",
                                std::chrono::duration_cast<std::chrono::seconds>(max_age).count()));
    const pages::FoundSamples& found = value.found;
    if (found.count == 0) return none("the page has no sample of that name and those labels; is it spelled so there?");
    if (!found.fault.empty()) return none(found.fault);
    if (found.oldest && now - value.at > max_age)
        return none(fmt::format("by its time the sample is older than {} s (maxAgeSeconds); is it still measured?",
                                std::chrono::duration_cast<std::chrono::seconds>(max_age).count()));
    if (found.count > 1 && metric.type == mcs::MetricType::Value)
        return none("several samples have that name and those labels; name labels that one alone has, or use type "
                    "average, which takes their sum");
    return mcs::MetricReading{found.sum, {}, value.at};
}

/// Empty: it may be fetched.
std::string FetchedPages::refusal(const mcs::MetricTarget& metric) const {
    if (!client_) return kNoClient;
    if (std::string why = pages::refusal_of(metric.url, parts_.allowed_hosts); !why.empty()) return why;
    const auto page = pages_.find(metric.url);
    if (page == pages_.end() && pages_.size() >= kMostPages)
        return fmt::format("{} pages are fetched already, and no more are", kMostPages);
    if (page != pages_.end() && page->second.values.size() >= kMostQueries &&
        !page->second.values.contains({metric.name, metric.labels}))
        return fmt::format("{} metrics are read from it already, and no more are", kMostQueries);
    return {};
}

void FetchedPages::fetch(const std::string& url, Page& page, Instant now) {
    std::vector<pages::SampleQuery> queries;
    for (const auto& [query, value] : page.values) queries.push_back(query);
    const auto fetch = std::make_shared<Fetch>(std::move(queries));
    ++fetches_;
    page.is_under_way = true;
    page.begun = now;
    auto take_chunk = [fetch](std::string_view bytes) {
        const auto taken = fetch->search.feed(bytes);
        if (!taken.ok()) fetch->fault = taken.error().message;
        return taken.ok();
    };
    auto done = [fetch, url, post = parts_.post, weak = std::weak_ptr(alive_)](std::string why) {
        if (fetch->fault.empty()) fetch->fault = std::move(why);
        if (fetch->fault.empty())
            if (const auto ended = fetch->search.end(); !ended.ok()) fetch->fault = ended.error().message;
        post([fetch, url, weak] {
            if (const auto alive = weak.lock())
                (*alive)->take(url, *fetch, Instant{SteadyClock::now().time_since_epoch().count()});
        });
    };
    page.due = now + page.timeout + kSlack;
    client_->fetch({url, std::exchange(page.timeout, {}), std::move(take_chunk), std::move(done)});
}

void FetchedPages::take(const std::string& url, const Fetch& fetch, Instant now) {
    const auto found = pages_.find(url);
    if (found == pages_.end()) return;
    Page& page = found->second;
    page.is_under_way = false;
    page.ended = now;
    page.fault = fetch.fault;
    if (!page.fault.empty()) ++failures_;
    for (auto& [query, value] : page.values) value.is_known = false;
    for (std::size_t at = 0; at < fetch.search.queries().size() && page.fault.empty(); ++at) {
        const auto value = page.values.find(fetch.search.queries()[at]);
        if (value == page.values.end()) continue;
        value->second.found = fetch.search.found()[at];
        value->second.at = measured_at(value->second.found, page.begun.value_or(now), now);
        value->second.is_known = true;
    }
}

/// A time of a sample is one of the calendar: its age is counted from there. One that is ahead of it says nothing.
Instant FetchedPages::measured_at(const pages::FoundSamples& found, Instant asked, Instant now) {
    if (!found.oldest) return asked;
    constexpr std::int64_t kMostMs = std::int64_t{1} << 43U; // in nanoseconds it is a number of 64 bits
    const std::int64_t ms = std::clamp(*found.oldest, std::int64_t{0}, kMostMs);
    return std::min(asked, now + (Instant{} + std::chrono::milliseconds{ms} - real_now()));
}

void FetchedPages::forget(Instant now) {
    next_forget_ = now + parts_.period;
    const auto is_old = [&](const auto& each) { return now - each.second.wanted > parts_.period * kForgottenAfter; };
    std::erase_if(pages_, [&](const auto& each) { return !each.second.is_under_way && is_old(each); });
    for (auto& [url, page] : pages_) std::erase_if(page.values, is_old);
}

} // namespace yk::service
