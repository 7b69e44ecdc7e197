#pragma once
// Metric families on their way to the asker: as Prometheus text (I-500) or as a map. The same calls make both.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/runtime/tally.h"

namespace yk::service {

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

enum class MetricType { Counter, Gauge, Histogram };

/// A page of metrics: from position `start` on, at most about `max_bytes`. Positions count what is written, the
/// beginnings of families included.
struct MetricWindow {
    std::size_t start = 0;
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

class MetricWriter {
public:
    /// `prefix`: only families whose name begins so are written.
    explicit MetricWriter(std::string prefix, MetricWindow window = {}) : prefix_(std::move(prefix)), window_(window) {}
    virtual ~MetricWriter() = default;

    /// Begins a family; samples follow. False: it is not wanted, what follows is dropped.
    bool family(std::string_view name, MetricType type, std::string_view help);
    /// A label `partition` with an empty value is left out (I-511).
    void sample(MetricLabels labels, std::int64_t value) {
        if (wanted_ && is_next()) put({}, labels, std::to_string(value), {});
    }
    void count(MetricLabels labels, std::uint64_t value) {
        if (wanted_ && is_next()) put({}, labels, std::to_string(value), {});
    }
    void seconds(MetricLabels labels, double value);
    /// Buckets, sum and count, in seconds (I-505).
    void histogram(MetricLabels labels, const Histogram& histogram);

    /// Nothing more has a place on this page: what would come need not be looked at.
    [[nodiscard]] bool is_full() const { return next_.has_value(); }
    /// Where the next page starts; nullopt: all was written.
    [[nodiscard]] std::optional<std::size_t> next() const { return next_; }

protected:
    [[nodiscard]] const std::string& name() const { return name_; } // of the family
    /// Makes the head of a family, or a sample, and says how many bytes it takes; commit() writes it.
    virtual std::size_t prepare_head(MetricType type, std::string_view help) = 0;
    /// `suffix`: of the family's name, `_bucket` and the like. `value`: a number as text. `bound`: of a bucket.
    virtual std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                                std::string_view bound) = 0;
    virtual void commit() = 0;
    /// What stands in front of the samples of a family that began on an earlier page.
    virtual void go_on(MetricType type, std::string_view help) = 0;

private:
    void put(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound);
    /// Whether what comes next may stand on this page. Most samples are of another one.
    [[nodiscard]] bool is_next() { return position_++ >= window_.start && !next_; }
    [[nodiscard]] bool take(std::size_t bytes);

    std::string prefix_;
    MetricWindow window_;
    std::size_t position_ = 0, used_ = 0;
    std::optional<std::size_t> next_;
    bool wanted_ = false;
    bool begun_ = false; // the family, on this page
    std::string name_, help_;
    MetricType type_ = MetricType::Counter;
};

class MetricText final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::size_t prepare_head(MetricType type, std::string_view help) override;
    std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                        std::string_view bound) override;
    void commit() override { text_ += prepared_; }
    void go_on(MetricType type, std::string_view help) override;

    std::string text_, prepared_;
};

/// [{name, type, help, samples [{name, labels {str: str}, value}]}]; a family that goes on on a page stands there
/// again.
class MetricValues final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    [[nodiscard]] wire::Value take() { return std::move(families_); }

private:
    std::size_t prepare_head(MetricType type, std::string_view help) override;
    std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                        std::string_view bound) override;
    void commit() override;
    void go_on(MetricType type, std::string_view help) override;

    wire::Value families_ = wire::Value::array();
    wire::Value prepared_;
    bool is_head_ = false; // what is prepared
};

/// I-501: `text` as part of a metric's name.
[[nodiscard]] std::string metric_name_part(std::string_view text);

} // namespace yk::service
