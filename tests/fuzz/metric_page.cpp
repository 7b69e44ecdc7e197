// SPDX-License-Identifier: Apache-2.0
// Fuzzes pages of metrics and their addresses: never a crash, and the same is found of a page however it is cut into
// chunks. The first byte says where, the first line is an address.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/check.h"
#include "protocol/metric_pages/page_url.h"
#include "protocol/metric_pages/sample_search.h"

namespace {

struct Outcome {
    std::string fault;
    std::size_t count = 0;
    std::int64_t sum = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(std::string_view page, std::size_t chunk) {
    yk::pages::SampleSearch search(std::vector<yk::pages::SampleQuery>{{"a", {}}, {"a", {{"x", "1"}}}});
    Outcome outcome;
    for (std::size_t at = 0; at < page.size() && outcome.fault.empty(); at += chunk)
        if (const auto fed = search.feed(page.substr(at, chunk)); !fed.ok()) outcome.fault = fed.error().message;
    if (outcome.fault.empty())
        if (const auto ended = search.end(); !ended.ok()) outcome.fault = ended.error().message;
    YK_CHECK(search.found()[1].count <= search.found()[0].count, "labels find no more");
    if (!outcome.fault.empty()) return outcome;
    outcome.count = search.found()[0].count;
    outcome.sum = search.found()[0].sum;
    YK_CHECK(outcome.sum >= 0, "no sum is below 0");
    return outcome;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t chunk = data[0] % 64U + 1;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1); // bytes as characters
    YK_CHECK(outcome_of(text, chunk) == outcome_of(text, size), "chunks make no difference");
    const std::string_view line = text.substr(0, text.find('\n'));
    static_cast<void>(yk::pages::parse_sample(line));
    const auto url = yk::pages::parse_page_url(line);
    if (!url.ok()) return 0;
    const std::string host = url->host + ":" + std::to_string(url->port);
    YK_CHECK(yk::pages::parse_allowed_host(host).ok(), "the host of an address can be allowed");
    YK_CHECK(host.find_first_of("@/\\ ") == std::string::npos, "a host is a host");
    return 0;
}
