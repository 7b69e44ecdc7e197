// SPDX-License-Identifier: Apache-2.0
#pragma once
// FetchedPages: values of metrics from pages in the text format of Prometheus (rs R-112). A page is fetched once in a
// period, however many Deployments want something of it, while whoever asks gets what is known. What nobody wants
// any more is forgotten.
//
// Owner: MetricReader. Thread: that of MCS. Cost: what is wanted, and the pages that are under way line by line.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/mcs/scaling/metric_proposal.h"
#include "protocol/metric_pages/page_client.h"
#include "protocol/metric_pages/sample_search.h"

namespace yk::service {

/// Whether this program can fetch pages: it was built with libcurl.
[[nodiscard]] bool can_fetch_pages();
/// Why a policy may not name this address; empty: it may.
[[nodiscard]] std::string refusal_of_page(const std::string& url, const std::vector<std::string>& allowed_hosts);

class FetchedPages {
public:
    struct Parts {
        const std::vector<std::string>& allowed_hosts;   // as pages::parse_allowed_host() takes them
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
        Duration period{};                               // between two fetches of a page
        std::unique_ptr<pages::PageClient> client;       // nullptr: that of libcurl, if there is one
    };
    static constexpr std::size_t kMostPages = 4096;
    static constexpr std::size_t kMostQueries = 4096; // of a page

    explicit FetchedPages(Parts parts);
    FetchedPages(const FetchedPages&) = delete;
    FetchedPages& operator=(const FetchedPages&) = delete;

    /// Whoever asks has the page fetched, unless it was within the period. An error says why there is no value, and the
    /// way out. REQUIRES: the source of the metric is Prometheus.
    [[nodiscard]] Result<mcs::MetricReading> read(const mcs::MetricTarget& metric, Instant now);

    // --- for whoever looks at it ----------------------------------------------------------------
    [[nodiscard]] std::size_t size() const { return pages_.size(); }
    [[nodiscard]] std::uint64_t fetches() const { return fetches_; }
    [[nodiscard]] std::uint64_t failures() const { return failures_; }

private:
    struct Value {
        Instant wanted; // last
        pages::FoundSamples found;
        Instant at;            // it was measured: then the page was asked for, or what its time says if that is older
        bool is_known = false; // it was looked for in the last page
    };
    struct Page {
        Instant wanted; // last
        Duration timeout{};
        std::optional<Instant> begun, ended; // of the last fetch
        Instant due;                         // the fetch under way has ended by then, unless it waits for its turn
        bool is_under_way = false;
        [[nodiscard]] bool is_waiting(Instant now) const { return is_under_way && now > due; }
        std::string fault; // of the last fetch
        std::map<pages::SampleQuery, Value> values;
    };
    struct Fetch; // what its thread fills

    [[nodiscard]] std::string refusal(const mcs::MetricTarget& metric) const;
    void fetch(const std::string& url, Page& page, Instant now);
    void take(const std::string& url, const Fetch& fetch, Instant now);
    [[nodiscard]] static Instant measured_at(const pages::FoundSamples& found, Instant asked, Instant now);
    void forget(Instant now);

    const Parts parts_;
    std::map<std::string, Page, std::less<>> pages_; // by URL
    std::uint64_t fetches_ = 0, failures_ = 0;
    Instant next_forget_;
    const std::shared_ptr<FetchedPages*> alive_; // for calls that come later
    std::unique_ptr<pages::PageClient> client_;  // the last one: its thread ends first; nullptr: none
};

} // namespace yk::service
