// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricWriter: writes metric families, as Prometheus text (I-500) or as a map. The same calls make both. One page may
// be written of a longer whole.
//
// Thread: one at a time.

#include <cstdint>
#include <functional>
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

/// Whose names the families have: see own_metric_name() for ours.
enum class MetricNames { Original, Own };

/// A page of metrics: from position `start` on, at most about `max_bytes`. A position counts heads of families and
/// samples.
struct MetricWindow {
    std::size_t start = 0;
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

class MetricWriter {
public:
    /// `prefix`: only families whose names begin with it are written.
    explicit MetricWriter(std::string prefix, MetricWindow window = {}, MetricNames names = MetricNames::Original)
        : prefix_(std::move(prefix)), window_(window), names_(names) {}
    virtual ~MetricWriter() = default;

    /// Begins a family, by the original's name; its samples follow. False: its name has not the prefix, or what it says
    /// is in another family of ours; its samples are dropped.
    bool family(std::string_view name, MetricType type, std::string_view help);
    /// Gives all samples that follow these labels in front of their own, until the next family or call. They are
    /// written once, which is what makes a page of many queues cheap.
    void common(MetricLabels labels) {
        if (wanted_ && !is_full()) set_common(labels);
    }
    /// Adds a sample. A label `partition` with an empty value is left out (I-511).
    void sample(MetricLabels labels, std::int64_t value) {
        if (wanted_ && is_next()) put({}, labels, std::to_string(value), {});
    }
    void count(MetricLabels labels, std::uint64_t value) {
        if (wanted_ && is_next()) put({}, labels, std::to_string(value), {});
    }
    /// Passes the next `count` samples of the family if all of them are of earlier pages; else they are to be added.
    [[nodiscard]] bool skip(std::size_t count) {
        if (position_ + count > window_.start) return false;
        position_ += count;
        return true;
    }
    void real(MetricLabels labels, double value);
    /// Adds buckets, sum and count, in seconds (I-505).
    void histogram(MetricLabels labels, const Histogram& histogram);

    /// Whether the page is full. Then further calls have no effect and may be skipped.
    [[nodiscard]] bool is_full() const { return next_.has_value(); }
    /// Where the next page starts; nullopt: all was written.
    [[nodiscard]] std::optional<std::size_t> next() const { return next_; }

protected:
    [[nodiscard]] const std::string& name() const { return name_; } // of the family
    /// Prepares the head of a family and returns how many bytes it takes; commit() writes it.
    virtual std::size_t prepare_head(MetricType type, std::string_view help) = 0;
    /// Prepares a sample and returns how many bytes it takes. `suffix`: of the family's name, `_bucket` and the like.
    /// `value`: a number as text. `bound`: the upper bound of a bucket, else empty.
    virtual std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                                std::string_view bound) = 0;
    virtual void commit() = 0;
    virtual void set_common(MetricLabels labels) = 0;
    /// Writes what stands in front of the samples of a family that began on an earlier page.
    virtual void go_on(MetricType type, std::string_view help) = 0;
    /// Nobody wants the rest.
    void stop() { next_ = position_; }

private:
    void put(std::string_view suffix, MetricLabels labels, const std::string& value, std::string_view bound);
    /// Advances the position. True: what comes now may stand on this page; most samples are of other pages.
    [[nodiscard]] bool is_next() { return position_++ >= window_.start && !next_; }
    /// Whether what is prepared, of so many bytes, still fits; if not, the next page begins with it.
    [[nodiscard]] bool take(std::size_t bytes);

    std::string prefix_;
    MetricWindow window_;
    MetricNames names_;
    std::size_t position_ = 0, used_ = 0;
    std::optional<std::size_t> next_;
    bool wanted_ = false; // the family has the prefix
    bool begun_ = false;  // the family has its head on this page
    std::string name_, help_;
    MetricType type_ = MetricType::Counter;
};

class MetricText final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    /// Takes a part of the text; false: the rest is not wanted.
    using TakePart = std::function<bool(std::string_view)>;
    /// Gives what is written to `take_part` in parts of about 256 KiB instead of keeping it, so that a whole that is
    /// large costs no memory. finish() is to be called at the end.
    MetricText(std::string prefix, MetricNames names, TakePart take_part)
        : MetricWriter(std::move(prefix), {}, names), take_part_(std::move(take_part)) {}
    /// Gives the last part. False: what was taken is not all.
    [[nodiscard]] bool finish();
    [[nodiscard]] std::string_view text() const { return std::string_view(text_).substr(0, committed_); }
    [[nodiscard]] std::string take() {
        text_.resize(committed_);
        return std::move(text_);
    }

private:
    std::size_t prepare_head(MetricType type, std::string_view help) override;
    std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                        std::string_view bound) override;
    void commit() override;
    void set_common(MetricLabels labels) override;
    void go_on(MetricType type, std::string_view help) override;
    void give_part();
    /// Where so many bytes may be written, behind what is committed.
    [[nodiscard]] char* place_for(std::size_t bytes);
    /// They were, up to `end`. Returns how many.
    std::size_t prepared_up_to(const char* end);

    std::string front_;                        // of the samples: the name, the bracket and the labels in common
    std::string text_;                         // longer than what is in it
    std::size_t committed_ = 0, prepared_ = 0; // where that ends
    TakePart take_part_;
};

/// [{name, type, help, samples [{name, labels {str: str}, value}]}]; a family that began on an earlier page is repeated
/// with the rest of its samples.
class MetricValues final : public MetricWriter {
public:
    using MetricWriter::MetricWriter;
    [[nodiscard]] wire::Value take() { return std::move(families_); }

private:
    std::size_t prepare_head(MetricType type, std::string_view help) override;
    std::size_t prepare(std::string_view suffix, MetricLabels labels, const std::string& value,
                        std::string_view bound) override;
    void commit() override;
    void set_common(MetricLabels labels) override;
    void go_on(MetricType type, std::string_view help) override;

    wire::Value families_ = wire::Value::array();
    wire::Value common_ = wire::Value::object(); // labels
    wire::Value prepared_;
    bool is_head_ = false; // the prepared value is the head of a family
};

/// `text` as part of a metric's name: other characters than letters, digits, `_` and `:` become `_` (I-501).
[[nodiscard]] std::string metric_name_part(std::string_view text);

} // namespace yk::service
