// SPDX-License-Identifier: Apache-2.0
#pragma once
// SampleSearch: looks for samples in a page of metrics as Prometheus reads them (text format 0.0.4), while the page
// comes in chunks of any size. It keeps no page: what it holds is one line and what was found.
//
// Strict: one line that is not of the format refuses the page, since nobody knows what else is wrong with it then: a
// page of HTML with a login, or one that was cut. Each line ends with a line feed, the last one too.
//
//     # TYPE queue_length gauge
//     queue_length{queue="mail",host="a"} 17 1395066363000
//
// Owner: whoever fetches the page. Thread: one at a time.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/result.h"

namespace yk::pages {

/// One line of a page.
struct Sample {
    std::string_view name; // a part of the line
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;                 // may be NaN or infinite
    std::optional<std::int64_t> time; // milliseconds since 1970
};

/// A line that is no comment and not empty, without its line feed. The message of an error says what is wrong.
[[nodiscard]] Result<Sample> parse_sample(std::string_view line);

/// The samples of a metric that have these labels, whatever others they have. A label with an empty text is one that
/// they do not have.
struct SampleQuery {
    std::string name;
    std::map<std::string, std::string> labels;
    friend auto operator<=>(const SampleQuery&, const SampleQuery&) = default;
};

/// What was found of a query.
struct FoundSamples {
    std::size_t count = 0;
    std::int64_t sum = 0;                 // thousandths; at most the largest number
    std::string fault;                    // why one of them is no value; empty: all are
    std::optional<std::int64_t> oldest{}; // the least of their times; nullopt: none has one
};

class SampleSearch {
public:
    static constexpr std::size_t kLongestLine = std::size_t{64} << 10U;
    static constexpr std::size_t kMostLabels = 64; // of a sample

    explicit SampleSearch(std::vector<SampleQuery> queries);
    SampleSearch(const SampleSearch&) = delete;
    SampleSearch& operator=(const SampleSearch&) = delete;

    /// The next chunk. An error names the line, and is the answer to everything that follows.
    [[nodiscard]] Result<void> feed(std::string_view bytes);
    /// There is no more.
    [[nodiscard]] Result<void> end();

    [[nodiscard]] const std::vector<SampleQuery>& queries() const { return queries_; }
    /// At the places of the queries; all that there is after end().
    [[nodiscard]] const std::vector<FoundSamples>& found() const { return found_; }

private:
    [[nodiscard]] Result<void> refuse(std::size_t line, const std::string& why);
    [[nodiscard]] Result<void> take_line(std::string_view line);
    static void add(FoundSamples& to, const Sample& sample);

    const std::vector<SampleQuery> queries_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_; // places of queries
    std::vector<FoundSamples> found_;
    std::size_t lines_ = 0; // that ended
    std::string rest_;      // of the line that has not
    std::string fault_;     // empty: none so far
};

} // namespace yk::pages
