// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands behind the core's two ports in a measurement: about the work a daemon cannot avoid, and no more.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libcore/ports/callbacks.h"
#include "libcore/ports/event.h"

namespace yk::bench {

/// Answers that a measurement does not look at.
class QuietCallbacks : public Callbacks {
public:
    void allocation_made(const NewAllocation&) noexcept override {}
    void allocations_released(std::span<const ReleasedAllocation>) noexcept override {}
    void asks_rejected(std::span<const RejectedAsk> rejected, bool) noexcept override { refused_ += rejected.size(); }
    void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept override { refused_ += ignored.size(); }
    void applications_answered(std::span<const AcceptedApplication>,
                               std::span<const RejectedApplication> rejected) noexcept override {
        refused_ += rejected.size();
    }
    void application_updated(const UpdatedApplication&) noexcept override {}
    void nodes_answered(std::span<const AcceptedNode>, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) noexcept override {
        refused_ += rejected.size() + failed.size();
    }
    void ask_outstanding(std::string_view, std::string_view, std::string_view) noexcept override {}

    /// Elements that the core refused: 0 unless the workload is wrong.
    [[nodiscard]] std::uint64_t refused() const { return refused_; }

private:
    std::uint64_t refused_ = 0;
};

/// Copies the key of every allocation into an outgoing buffer that is "sent" every 200 kB.
class CopyingCallbacks final : public QuietCallbacks {
public:
    CopyingCallbacks() { buffer_.reserve(kSendBytes + 256); }
    void allocation_made(const NewAllocation& allocation) noexcept override {
        if (buffer_.size() >= kSendBytes) buffer_.clear(); // before and not after: last_key() reads it
        buffer_.insert(buffer_.end(), allocation.key.begin(), allocation.key.end());
        ++made_;
    }
    [[nodiscard]] std::uint64_t made() const { return made_; }
    /// The key of the last allocation; REQUIRES: made() > 0.
    [[nodiscard]] std::string_view last_key() const { return {buffer_.data() + buffer_.size() - 36, 36}; }

private:
    static constexpr std::size_t kSendBytes = 200'000;
    std::vector<char> buffer_;
    std::uint64_t made_ = 0;
};

/// The last 100,000 events, in records of fixed size.
class RingEvents final : public EventSink {
public:
    RingEvents() : ring_(kRecords) {}
    void record(const EventRecord& event) noexcept override {
        Record& slot = ring_[next_];
        next_ = next_ + 1 == kRecords ? 0 : next_ + 1;
        slot.at = event.at;
        slot.type = event.type;
        slot.change = event.change;
        slot.detail = event.detail;
        slot.object_size = copy(event.object, slot.object);
        slot.reference_size = copy(event.reference, slot.reference);
        if (event.resource.absent()) return;
        for (ResourceId id = 0; id < slot.amounts.size(); ++id) slot.amounts[id] = event.resource.amounts->get(id);
    }

private:
    static constexpr std::size_t kRecords = 100'000;
    struct Record {
        Instant at;
        std::array<std::int64_t, 4> amounts{};
        EventType type{};
        EventChange change{};
        EventDetail detail{};
        std::uint8_t object_size = 0;
        std::uint8_t reference_size = 0;
        std::array<char, 40> object{};
        std::array<char, 40> reference{};
    };
    static std::uint8_t copy(std::string_view text, std::array<char, 40>& to) {
        return static_cast<std::uint8_t>(text.copy(to.data(), to.size()));
    }

    std::vector<Record> ring_;
    std::size_t next_ = 0;
};

} // namespace yk::bench
