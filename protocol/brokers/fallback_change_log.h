// SPDX-License-Identifier: Apache-2.0
#pragma once
// FallbackChangeLog: the change log of a broker, and that of the database itself while the broker is away for longer.
// Each change from one to the other is a gap: where the two stand to each other is not known, so the latest position of
// the other one is captured and every kind is read anew (rs R-056).
//
// A broker is there when it lets itself be read, which that it says where it ends does not show: captures alone do not
// count. One that was back and went again soon is looked at more and more rarely, since each change costs full reads.
//
// A broker that answers says nothing of whether the relay reaches it. So the database is asked now and then how far the
// relay is: a broker to which nothing comes is left like one that is away, until the relay has caught up (rs R-056).
//
// Owner: the program, with the two logs. Thread: one call at a time. Time comes from `now`.

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/time.h"
#include "libcore/resource_state/ports/change_log.h"
#include "protocol/brokers/relay_state.h"

namespace yk::rs {

struct FallbackSettings {
    Duration after = std::chrono::seconds{30};    // that the broker has not answered, or got nothing; 0: never
    Duration look = std::chrono::seconds{5};      // whether it is back; how far the relay is
    Duration most_look = std::chrono::minutes{5}; // the same, of one that does not stay
    Duration settled = std::chrono::seconds{2};   // a broker that answers for so long is not away any more
};

class FallbackChangeLog final : public ChangeLog {
public:
    /// nullopt: the database does not say now.
    using AskProgress = std::function<std::optional<RelayProgress>()>;

    /// `progress`: of the relay; empty: it is not asked for.
    FallbackChangeLog(ChangeLog& broker, ChangeLog& database, const FallbackSettings& settings,
                      std::function<Instant()> now, AskProgress progress = {})
        : broker_(broker),
          database_(database),
          settings_(settings),
          now_(std::move(now)),
          progress_(std::move(progress)),
          look_(settings.look) {}

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override;
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override;

    /// Whether events come from the broker, or are to.
    [[nodiscard]] bool is_on_broker() const { return on_broker_; }
    /// Since when it has not let itself be read.
    [[nodiscard]] std::optional<Instant> broker_down_since() const { return down_since_; }
    /// How long ago an event was seen in the database that the relay has not sent since.
    [[nodiscard]] Duration relay_lag() const { return lag_.lag(now_()); }
    /// What it last said of that; empty: nothing is wrong with it.
    [[nodiscard]] const std::string& broker_trouble() const { return trouble_; }

private:
    [[nodiscard]] Result<Cursor, LogFault> read_latest() override;
    [[nodiscard]] bool is_time_to_leave(const LogFault& fault);
    [[nodiscard]] bool look_at_relay(Instant now);
    void answered();
    void is_well();
    [[nodiscard]] std::optional<Cursor> broker_is_back();
    [[nodiscard]] Result<void, LogFault> find_broker();
    void leave_broker();

    ChangeLog& broker_;
    ChangeLog& database_;
    const FallbackSettings settings_;
    const std::function<Instant()> now_;
    const AskProgress progress_;
    bool on_broker_ = true;
    std::optional<Instant> down_since_;
    Instant last_down_;
    std::string trouble_;
    std::optional<Instant> back_since_; // nullopt: it was not away yet
    Duration look_;                     // pause before the next look
    Instant next_look_;
    RelayLag lag_;
    Instant next_progress_;               // the relay is looked at
    std::optional<CapturedCursor> found_; // of the broker that may be back: it is opened with the next call
    std::string database_epoch_;          // of the last capture there
};

} // namespace yk::rs
