// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeRelay: copies the change log of a database to a broker, at least once, in order for each key. It sees committed
// rows only, so no event is at the broker before its change can be read (rs R-047).
//
// Rows are sent many at a time. What counts is the end of those that are safe without one missing in between: that is
// written into the database now and then, with the last position of each lane, in one transaction. After a crash the
// next relay goes on from there: what was sent and not noted comes again, after the same predecessor as the first time,
// so that a consumer sees a repetition and not a gap (rs R-046, rs R-048).
//
// Where it cannot go on (nothing was ever sent to this broker, the log was purged under it, or it is another log), it
// begins at the latest event and announces to all consumers that each kind has to be read anew, before it sends
// anything else (rs R-055). It does the same where a broker has lost what it had said was safe. An event that a message
// cannot hold becomes an announcement of its kind, so that one odd row stops nothing.
//
// Time is a parameter; it has no thread and sleeps nowhere. What is in memory is bounded by `window`.
//
// Owner: the program, while it has the lease of the relay. Thread: one, on which it also calls its three ports.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/resource_state/poll_pace.h"
#include "protocol/brokers/broker_publisher.h"
#include "protocol/brokers/relay_state.h"

namespace yk::rs {

struct RelaySettings {
    std::size_t window = 4096;                            // messages that are under way
    Duration save_every = std::chrono::milliseconds{200}; // at most so often
    BackoffRange retry{std::chrono::milliseconds{100}, std::chrono::seconds{1}};
    BackoffRange poll{std::chrono::milliseconds{5}, std::chrono::milliseconds{100}}; // pauses while nothing changes
    /// Pauses between questions for acknowledgements, while some are to come and none comes.
    BackoffRange look{std::chrono::milliseconds{1}, std::chrono::milliseconds{100}};
    std::uint64_t seed = 1;
};

struct RelayStatus {
    bool is_running = false;              // the log is open, and the broker takes messages
    bool is_fenced = false;               // another process is the relay; this one does nothing any more
    std::string trouble;                  // what went wrong last
    std::optional<Cursor> safe;           // everything up to here is at the broker, and noted in the database
    std::size_t under_way = 0;            //
    std::optional<Instant> waiting_since; // for the next acknowledgement; nullopt: none is to come
    std::uint64_t sent = 0;               // with repetitions
    std::uint64_t confirmed = 0;          // of them
    std::uint64_t beginnings = 0;         // how often a broker or database that failed made it begin again
    std::uint64_t gaps = 0;               // how often every kind had to be announced
};

class ChangeRelay {
public:
    /// `log`: that of the database, with a connection of its own. `topics`: events of other kinds are passed over.
    ChangeRelay(ChangeLog& log, BrokerPublisher& broker, RelayStateStore& store, Topics topics,
                const RelaySettings& settings)
        : log_(log),
          broker_(broker),
          store_(store),
          topics_(std::move(topics)),
          settings_(settings),
          chance_(settings.seed),
          pace_(settings.poll),
          look_pause_(settings.look.base) {}
    ChangeRelay(const ChangeRelay&) = delete;
    ChangeRelay& operator=(const ChangeRelay&) = delete;

    /// Does what there is to do now; true: there is more to do at once.
    bool turn(Instant now);
    /// When turn() has something to do, if nobody calls wake() before. nullopt: never, another process is the relay.
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// There was a commit.
    void wake() { pace_.wake(); }

    [[nodiscard]] RelayStatus status() const;

private:
    struct Entry {
        ChangeEvent event;
        std::optional<Cursor> reached; // when it and all before it are safe; nullopt: that says nothing yet
        LaneName lane;                 // empty topic: it is not sent
        BrokerPublisher::Number number = 0;
        bool is_safe = false;
    };

    bool begin(Instant now);
    bool keep_progress(Instant now);
    [[nodiscard]] bool has_kept(const RelayState& state) const;
    [[nodiscard]] Result<void, LogFault> open_log(std::optional<RelayState> state);
    [[nodiscard]] Result<void, LogFault> announce_all();
    bool collect(Instant now);
    void note(const std::vector<BrokerPublisher::Number>& numbers);
    bool save(Instant now);
    bool read(Instant now);
    bool read_failed(const LogFault& fault, Instant now);
    [[nodiscard]] Instant next_read() const { return std::max(pace_.next(), read_retry_); }
    bool send(Instant now);

    void fail(std::string why, Instant now);
    void fail(const StoreError& error, Instant now);
    void fail(const LogFault& fault, Instant now);
    [[nodiscard]] bool has_topic(Kind kind) const;
    [[nodiscard]] std::size_t under_way() const { return unsent_.size() + sent_.size(); }

    ChangeLog& log_;
    BrokerPublisher& broker_;
    RelayStateStore& store_;
    const Topics topics_;
    const RelaySettings settings_;
    Chance chance_;
    PollPace pace_;

    bool has_begun_ = false;
    bool is_fenced_ = false;
    std::string trouble_;
    Instant retry_; // not before
    unsigned failures_ = 0;
    Instant read_retry_; // the log, not before
    unsigned read_failures_ = 0;

    std::string epoch_;                  // of the log
    std::deque<Entry> unsent_;           // read, oldest first
    std::deque<Entry> sent_;             // oldest first
    std::map<LaneName, Position> chain_; // the last one that was sent, by lane
    RelayState safe_;                    // up to the first in sent_
    bool is_unsaved_ = false;            // safe_ is further than the database
    Instant saved_at_;
    std::optional<Cursor> saved_;
    Instant looked_at_; // for acknowledgements
    Duration look_pause_;
    Instant moved_at_; // the last acknowledgement came, or the first message that has none was sent
    BrokerPublisher::Number next_number_ = 0;
    RelayStatus counts_;
};

} // namespace yk::rs
