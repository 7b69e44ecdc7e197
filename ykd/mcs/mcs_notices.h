// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsNotices: what MCS says of its own state, for operators: lines of the logger `mcs`, events of the type RM,
// sentences of Degraded, and the table of dead letters (rs R-155). Lines and events of one kind are limited to a few a
// minute.
//
// Owner: McsApplication. Thread: that of MCS.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/resource_state/ports/notices.h"
#include "protocol/databases/housekeeping/mcs_housekeeping.h"
#include "ykd/process/degraded.h"
#include "ykd/process/log.h"
#include "ykd/process/minute_counter.h"

namespace yk::service {

class McsNotices final : public rs::NoticeSink {
public:
    /// An event of ykd with this text.
    using Event = std::function<void(std::string_view text)>;

    /// `has_broker`: the change log is not the database's, and its outage not that of the database.
    McsNotices(mcs::McsHousekeeping& house, Degraded& degraded, Event event, bool has_broker)
        : house_(house), degraded_(degraded), event_(std::move(event)), has_broker_(has_broker) {}
    ~McsNotices() override;
    McsNotices(const McsNotices&) = delete;
    McsNotices& operator=(const McsNotices&) = delete;

    void notice(const rs::Notice& notice) override;
    /// What is wrong with a part of MCS now; empty: nothing. `part`: one word. Returns whether it was well before.
    bool note(std::string_view part, const std::string& fault);
    /// Something else that has changed: a line and an event, no more than a few of each `what` a minute.
    void say(const std::string& what, std::string_view text, spdlog::level::level_enum level = spdlog::level::info);

private:
    void note_database(std::string& fault, const rs::Notice& notice);
    void note_dead_letter(const rs::Notice& notice);
    void write_line(const rs::Notice& notice);
    /// Whether the line is to be written; the last one for a while says so.
    [[nodiscard]] bool is_line_due(const std::string& what, std::string& line);

    mcs::McsHousekeeping& house_;
    Degraded& degraded_;
    const Event event_;
    const bool has_broker_;
    std::string store_fault_, log_fault_;       // why each is away; empty: it is not
    std::set<std::string, std::less<>> faults_; // keys of Degraded that are set
    std::set<mcs::DeadLetterKey> dead_letters_; // of this process
    MinuteCounter lines_;
};

} // namespace yk::service
