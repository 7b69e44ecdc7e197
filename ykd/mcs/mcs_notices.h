// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsNotices: what the framework says of its own state, for operators: lines of the logger `mcs`, sentences of
// Degraded, and the table of dead letters (rs R-155). Lines of one kind are limited to a few a minute.
//
// Owner: McsApplication. Thread: that of MCS.

#include <set>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/notices.h"
#include "protocol/databases/housekeeping/mcs_housekeeping.h"
#include "ykd/process/degraded.h"
#include "ykd/process/minute_counter.h"

namespace yk::service {

class McsNotices final : public rs::NoticeSink {
public:
    McsNotices(mcs::McsHousekeeping& house, Degraded& degraded) : house_(house), degraded_(degraded) {}
    ~McsNotices() override;
    McsNotices(const McsNotices&) = delete;
    McsNotices& operator=(const McsNotices&) = delete;

    void notice(const rs::Notice& notice) override;
    /// What is wrong with a part of MCS now; empty: nothing. `part`: one word.
    void note(std::string_view part, const std::string& fault);

private:
    void note_dead_letter(const rs::Notice& notice);
    void write_line(const rs::Notice& notice);

    mcs::McsHousekeeping& house_;
    Degraded& degraded_;
    std::set<std::string, std::less<>> faults_; // keys of Degraded that are set
    std::set<mcs::DeadLetterKey> dead_letters_; // of this process
    MinuteCounter lines_;
};

} // namespace yk::service
