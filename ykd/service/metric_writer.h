#pragma once
// Metric families on their way to the asker: as Prometheus text (I-500) or as a map. The same calls make both.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/runtime/tally.h"

namespace yk::service {

using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

enum class MetricType { Counter, Gauge, Histogram };

class MetricWriter {
public:
    /// `prefix`: only families whose name begins so are written.
    explicit MetricWriter(std::string prefix) : prefix_(std::move(prefix)) {}
    virtual ~MetricWriter() = default;

    /// Begins a family; samples follow. False: it is not wanted, what follows is dropped.
    bool family(std::string_view name, MetricType type, std::string_view help);
    /// A label `partition` with an empty value is left out (I-511).
    void sample(MetricLabels labels, std::int64_t value) {
        if (wanted_) add({}, labels, std::to_string(value), {});
    }
    void count(MetricLabels labels, std::uint64_t value) {
        if (wanted_) add({}, labels, std::to_string(value), {});
    }
    void seconds(MetricLabels labels, double value);
    /// Buckets, sum and count, in seconds (I-505).
    void histogram(MetricLabels labels, const Histogram& histogram);

protected:
    virtual void begin(std::string_view name, MetricType type, std::string_view help) = 0;
    /// `suffix`: of the family's name, `_bucket` and the like. `value`: a number as text.
    /// `bound`: of a bucket.
    virtual void add(std::string_view suffix, MetricLabels labels, const std::string& value,
                     std::string_view bound) = 0;

private:
    std::string prefix_;
    bool wanted_ = false;
};

class MetricText final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void begin(std::string_view name, MetricType type, std::string_view help) override;
    void add(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound) override;

    std::string text_, name_;
};

/// [{name, type, help, samples [{name, labels {str: str}, value}]}]
class MetricValues final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    [[nodiscard]] wire::Value take() { return std::move(families_); }

private:
    void begin(std::string_view name, MetricType type, std::string_view help) override;
    void add(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound) override;

    wire::Value families_ = wire::Value::array();
};

/// I-501: `text` as part of a metric's name.
[[nodiscard]] std::string metric_name_part(std::string_view text);

} // namespace yk::service
