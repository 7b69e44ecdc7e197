// SPDX-License-Identifier: Apache-2.0
#pragma once
// SeenWrites: when the caches show what was written, by this daemon or by another one with the same database, and who
// waits for that (rs R-158).
//
// The embedded log says it: once it was consumed up to the position that a write has, and what was queued by then was
// read. Events of a broker say nothing of positions; but a row that was written here is queued to be read, and stays so
// until it was.
//
// Owner: McsApplication. Thread: its owner's. Cost: each turn looks at all that wait, which are few: a session may have
// some requests under way, and a writer one for each write of the last second.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/node.h"
#include "libcore/resource_state/resource_informer.h"
#include "libcore/resource_state/state_manager.h"

namespace yk::service {

class SeenWrites {
public:
    struct Sources {
        const rs::StateManager& manager;
        const rs::ResourceInformer<mcs::Deployment>& deployments;
        const rs::ResourceInformer<mcs::DeploymentScale>& scales;
        const rs::ResourceInformer<mcs::DeploymentSchedule>& schedules;
        const rs::ResourceInformer<mcs::Node>& nodes;
        bool has_broker = false;
    };
    enum class Seen : std::uint8_t {
        Yes,
        Late, // not before it had to be
        Never // the position is of another log, or nobody can say: see has_positions()
    };
    struct Reader {
        std::function<void(Seen seen)> call; // once
        std::function<bool()> is_gone;       // nobody would hear of it
        std::string identity;                // whose it is
    };

    explicit SeenWrites(const Sources& sources) : sources_(sources) {}
    SeenWrites(const SeenWrites&) = delete;
    SeenWrites& operator=(const SeenWrites&) = delete;

    /// Whether a row that was written here, a Deployment or a node, is seen.
    [[nodiscard]] bool is_seen(rs::Kind kind, std::string_view id, const rs::Cursor& position) const;
    /// Whether positions of the database mean anything here.
    [[nodiscard]] bool has_positions() const { return !sources_.has_broker; }

    /// Calls `answer` when the row is seen, at `until`, or at the end.
    void wait_for_row(rs::Kind kind, std::string id, rs::Cursor position, Instant until, std::function<void()> answer);
    /// Calls the reader when everything up to the position is seen, which may be at once, at `until`, or at the end.
    /// False: as many wait as may, of all or of its identity.
    [[nodiscard]] bool wait_for_position(rs::Cursor position, Instant until, Reader reader, Instant now);

    /// Calls one who has waited for it; false: nobody has.
    bool turn(Instant now);
    /// When somebody's time is over; nullopt: nobody waits.
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// Calls all who wait.
    void stop();

private:
    static constexpr std::size_t kMostReaders = 1000, kMostOfOne = kMostReaders / 2;

    struct Row {
        rs::Kind kind{};
        std::string id;
        rs::Cursor position;
        Instant until;
        std::function<void()> answer;
    };
    struct WaitingReader {
        rs::Cursor position;
        Instant until;
        Reader reader;
        std::optional<Instant> reached; // the log was consumed up to there by then, and nothing is missing
    };
    [[nodiscard]] Instant read_up_to() const;
    [[nodiscard]] bool is_relisting() const;
    [[nodiscard]] bool is_of_another_log(const rs::Cursor& position, Instant now) const;
    [[nodiscard]] std::optional<Seen> look(WaitingReader& waiting, Instant read_up_to, Instant now) const;

    const Sources sources_;
    std::vector<Row> rows_;
    std::vector<WaitingReader> readers_;
};

} // namespace yk::service
