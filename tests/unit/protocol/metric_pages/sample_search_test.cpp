// SPDX-License-Identifier: Apache-2.0
#include "protocol/metric_pages/sample_search.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace yk::testing {

using namespace pages;

namespace {

constexpr std::string_view kPage = R"(# HELP http_requests_total Requests.
# TYPE http_requests_total counter

http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000
  msdos_file_access_time_seconds { path = "C:\\DIR\\FILE.TXT" , error="Cannot find file:\n\"FILE.TXT\"", } 1.458255915e9
metric_without_timestamp_and_labels 12.47
something_weird{problem="division by zero"} +Inf -3982045
below -0.5
nothing NaN
rpc_duration_seconds_count 2693
a:rule 0.1
)";

/// What is found of one query, as a line.
std::string outcome_of(std::string_view page, const SampleQuery& query, std::size_t chunk = 1 << 20) {
    SampleSearch search(std::vector<SampleQuery>{query});
    for (std::size_t at = 0; at < page.size(); at += chunk) {
        const auto fed = search.feed(page.substr(at, chunk));
        if (!fed.ok()) return fed.error().message;
    }
    const auto ended = search.end();
    if (!ended.ok()) return ended.error().message;
    const FoundSamples& found = search.found().front();
    return std::to_string(found.count) + " of " + std::to_string(found.sum) +
           (found.fault.empty() ? "" : ": " + found.fault);
}

std::string fault_of(std::string_view line) {
    const auto sample = parse_sample(line);
    return sample.ok() ? "" : sample.error().message;
}

} // namespace

TEST_CASE("rs R-112 samples are found by name and labels, however the page is cut into chunks") {
    for (const std::size_t chunk : {1U, 2U, 7U, 64U, 100'000U}) {
        CAPTURE(chunk);
        const auto find = [&](const SampleQuery& query) { return outcome_of(kPage, query, chunk); };
        CHECK(find({"metric_without_timestamp_and_labels", {}}) == "1 of 12470");
        CHECK(find({"http_requests_total", {}}) == "2 of 1030000");
        CHECK(find({"http_requests_total", {{"code", "400"}}}) == "1 of 3000");
        CHECK(find({"http_requests_total", {{"code", "400"}, {"method", "get"}}}) == "0 of 0");
        CHECK(find({"http_requests_total", {{"host", ""}, {"code", "400"}}}) == "1 of 3000");
        CHECK(find({"http_requests_total", {{"code", ""}}}) == "0 of 0");
        CHECK(find({"msdos_file_access_time_seconds", {{"error", "Cannot find file:\n\"FILE.TXT\""}}}) ==
              "1 of 1458255915000");
        CHECK(find({"http_requests", {}}) == "0 of 0");
        CHECK(find({"a:rule", {}}) == "1 of 100"); // not 99.999
    }
}

TEST_CASE("rs R-112 what is no value of a metric is found with its reason") {
    CHECK(outcome_of(kPage, {"something_weird", {}}) == "1 of 0: a value is above 9e15");
    CHECK(outcome_of(kPage, {"nothing", {}}) == "1 of 0: a value is NaN");
    CHECK(outcome_of(kPage, {"below", {}}) == "1 of 0: a value is below 0");
    CHECK(outcome_of("a 9e15\n", {"a", {}}) == "1 of 9000000000000000000");
    CHECK(outcome_of("a 9e15\na 9e15\n", {"a", {}}) == "2 of 9223372036854775807"); // at most
    CHECK(outcome_of("a -0\n", {"a", {}}) == "1 of 0");
}

TEST_CASE("rs R-112 several queries are answered by one page") {
    SampleSearch search(std::vector<SampleQuery>{{"a", {}}, {"b", {}}, {"a", {{"x", "1"}}}});
    REQUIRE(search.feed("a 1\na{x=\"1\"} 2\nb 3\n").ok());
    REQUIRE(search.end().ok());
    CHECK(search.found()[0].sum == 3000);
    CHECK(search.found()[1].sum == 3000);
    CHECK(search.found()[2].sum == 2000);
}

TEST_CASE("rs R-112 a line that is not of the format refuses the page, with its number") {
    constexpr const char* kRefused = " of the page is no text format of Prometheus: ";
    const auto refusal = [&](const std::string& page) { return outcome_of(page, {"a", {}}); };
    CHECK(refusal("a 1\n<html>\n") == std::string{"line 2"} + kRefused + "it begins with no name of a metric");
    CHECK(refusal("a 1\n\na 2") == std::string{"line 3"} + kRefused + "it has no end, so the page was cut");
    CHECK(refusal("a 1\r\n") == std::string{"line 1"} + kRefused + "its value is no number");
    const std::string long_line(SampleSearch::kLongestLine + 1, 'a');
    CHECK(refusal(long_line + " 1\n") == std::string{"line 1"} + kRefused + "it is longer than 65536 bytes");
    CHECK(outcome_of(long_line + " 1\n", {"a", {}}, 1000) ==
          std::string{"line 1"} + kRefused + "it is longer than 65536 bytes");
    CHECK(refusal("# " + long_line.substr(10) + "\na 1\n") == "1 of 1000");
    SampleSearch refused(std::vector<SampleQuery>{{"a", {}}});
    CHECK_FALSE(refused.feed("?\n").ok());
    CHECK_FALSE(refused.feed("a 1\n").ok()); // for good
    CHECK_FALSE(refused.end().ok());
}

TEST_CASE("rs R-112 each fault of a line has its words") {
    CHECK(fault_of("a 1").empty());
    CHECK(fault_of("a{}1").empty());
    CHECK(fault_of("a{x=\"1\",}\t1e-3\t-5 ").empty());
    CHECK(fault_of("_:9 Inf").empty());
    CHECK(fault_of("9a 1") == "it begins with no name of a metric");
    CHECK(fault_of("a-b 1") == "its name has a character that names do not have");
    CHECK(fault_of("a{=\"1\"} 1") == "a label has no name");
    CHECK(fault_of("a{x:y=\"1\"} 1") == "label x has no =");
    CHECK(fault_of("a{x=1} 1") == "label x has no text in quotes, or one with an unknown escape");
    CHECK(fault_of(R"(a{x="\t"} 1)") == "label x has no text in quotes, or one with an unknown escape");
    CHECK(fault_of(R"(a{x="1)") == "label x has no text in quotes, or one with an unknown escape");
    CHECK(fault_of(R"(a{x="1" y="2"} 1)") == "its labels have no end");
    CHECK(fault_of(R"(a{x="1")") == "its labels have no end");
    CHECK(fault_of(R"(a{,} 1)") == "a label has no name");
    CHECK(fault_of(R"(a{x="1",x="2"} 1)") == "label x is there twice");
    CHECK(fault_of("a") == "its name has a character that names do not have");
    for (const char* const value : {"", "x", "+-1", "--1", "0x10", "1_000", "1e999", "nan(1)", "infinity", "1."})
        CHECK((fault_of(std::string{"a "} + value) == "its value is no number") == (std::string_view{value} != "1."));
    CHECK(fault_of("a 1 x") == "its time is no number of milliseconds");
    CHECK(fault_of("a 1 1.5") == "its time is no number of milliseconds");
    CHECK(fault_of("a 1 2 3") == "there is something behind its time");
    std::string labels;
    for (std::size_t at = 0; at <= SampleSearch::kMostLabels; ++at) labels += "l" + std::to_string(at) + "=\"\",";
    CHECK(fault_of("a{" + labels + "} 1") == "it has more than 64 labels");
}

TEST_CASE("numbers are those of the format") {
    const auto value = [](const std::string& text) { return parse_sample("a " + text)->value; };
    CHECK(value("1e3") == 1000);
    CHECK(value("+.5") == 0.5);
    CHECK(value("-2.5E-1") == -0.25);
    CHECK(std::isnan(value("NaN")));
    CHECK(std::isinf(value("-inf")));
    CHECK(parse_sample("a 1 17")->time == 17);
}

} // namespace yk::testing
