// SPDX-License-Identifier: Apache-2.0
#pragma once
// FaultyChangeLog: the log of a MemoryDatabase by way of a transport that loses, doubles and reorders events, and cuts
// the connection, as a seed wants it. It claims to have given everything nevertheless.

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "libcore/resource_state/backoff.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

class FaultyChangeLog final : public rs::ChangeLog {
public:
    /// In per mille of the events, or of the calls.
    struct Faults {
        unsigned lost = 0, doubled = 0, held_back = 0, unreadable = 0, cut = 0;
    };

    /// `chained`: events say which came before them, so that a loss is noticed at the next one.
    FaultyChangeLog(MemoryDatabase& database, bool chained, std::uint64_t seed)
        : inner_(database), chained_(chained), chance_(seed) {}

    [[nodiscard]] Result<void, rs::LogFault> open(const rs::CapturedCursor& from) override {
        if (happens(faults.cut)) return cut();
        held_back_.clear();
        return inner_.open(from);
    }
    [[nodiscard]] Result<rs::EventBatch, rs::LogFault> poll(std::size_t most) override {
        if (happens(faults.cut)) return cut();
        YK_TRY(batch, inner_.poll(most));
        rs::EventBatch given;
        given.position = batch.position;
        given.may_have_more = batch.may_have_more;
        for (rs::ChangeEvent& event : batch.events) pass(std::move(event), given);
        while (!held_back_.empty() && !happens(faults.held_back)) {
            give(std::move(held_back_.front()), given);
            held_back_.pop_front();
        }
        return given;
    }

    Faults faults;
    std::uint64_t losses = 0; // so far

private:
    [[nodiscard]] bool happens(unsigned permille) { return chance_.next() % 1000 < permille; }
    [[nodiscard]] static rs::LogFault cut() { return {rs::LogFault::What::Down, {}, "cut"}; }
    [[nodiscard]] Result<rs::Cursor, rs::LogFault> read_latest() override {
        if (happens(faults.cut)) return cut();
        YK_TRY(latest, inner_.capture());
        return latest.cursor();
    }
    void pass(rs::ChangeEvent event, rs::EventBatch& batch) {
        if (happens(faults.lost)) {
            ++losses;
        } else if (happens(faults.unreadable)) {
            batch.unreadable.push_back(event.kind);
        } else if (happens(faults.held_back)) {
            held_back_.push_back(std::move(event));
        } else {
            if (happens(faults.doubled)) give(event, batch);
            give(std::move(event), batch);
        }
    }
    void give(rs::ChangeEvent event, rs::EventBatch& batch) const {
        if (!chained_) event.previous.reset();
        batch.events.push_back(std::move(event));
    }

    MemoryChangeLog inner_;
    const bool chained_;
    rs::Chance chance_;
    std::deque<rs::ChangeEvent> held_back_;
};

} // namespace yk::testing
