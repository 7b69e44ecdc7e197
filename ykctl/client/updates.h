// SPDX-License-Identifier: Apache-2.0
#pragma once
// Updates on behalf of an RM, and their results. The reply to an update says only that it was accepted for processing
// (I-116); the results are in the stream of the RM, which the daemon keeps for a detached RM (I-387).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/wire/value.h"
#include "ykctl/cli/failure.h"
#include "ykctl/client/context.h"
#include "ykctl/files/si_schema.h"
#include "ykctl/render/output.h"

namespace yk::cli {

/// A position in the stream of a detached RM.
struct StreamPosition {
    bool readable = false;  // false: a process serves the RM, and only that may read its stream
    std::uint64_t next = 0; // the number that the next item will get
};

/// The position of the stream once everything sent so far is processed.
[[nodiscard]] Answer<StreamPosition> stream_position(Context& context, const std::string& rm);

/// The items with numbers from `from` to `to` - 1; `lost` is the number of those that are no longer kept.
struct StreamItems {
    std::vector<wire::Value> items;
    std::uint64_t lost = 0;
};
[[nodiscard]] Answer<StreamItems> read_stream(Context& context, const std::string& rm, std::uint64_t from,
                                              std::uint64_t to);

/// A refusal of one element.
struct Refusal {
    std::string reason;
    std::int64_t code = 0;
};

/// Where an ask is once the scheduler has come to rest.
struct Whereabouts {
    enum class State {
        Absent,
        Pending,
        Placed,
        Quarantined
    }; // the last: during a recovery, until its application comes
    State state = State::Absent;
    std::string node; // of a placed one
};

/// Names one element of an update: an ask or allocation by application and key, a node or application by its id alone.
using ElementKey = std::pair<std::optional<std::string>, std::string>;
[[nodiscard]] ElementKey element_key(const std::string& application, const std::string& key);
[[nodiscard]] ElementKey id_key(const std::string& id);

/// What the stream of the RM reports about the elements of one update.
struct ElementOutcomes {
    bool known = false;     // false: the stream cannot be read, see StreamPosition
    std::uint64_t lost = 0; // messages that are no longer kept
    std::map<ElementKey, Refusal> refused;
    std::map<ElementKey, wire::Value> accepted;
    std::map<ElementKey, Whereabouts> asks; // of send_asks() only
    std::uint64_t next = 0;                 // the number of the next item of the stream
};

/// Sends an update for the RM of the settings, whose name is filled in here, waits until it is processed, and reads the
/// results from the stream.
[[nodiscard]] Answer<ElementOutcomes> send_update(Context& context, si::NodeRequest update);
[[nodiscard]] Answer<ElementOutcomes> send_update(Context& context, si::ApplicationRequest update);
[[nodiscard]] Answer<ElementOutcomes> send_update(Context& context, si::AllocationReleasesRequest releases);
/// The same for messages of a file: `body` as `kind`.
[[nodiscard]] Answer<ElementOutcomes> send_update(Context& context, std::string_view kind, wire::Value body);

/// The same for asks, of options or of a file. Also asks the daemon where each of them is now, including those that
/// existed before.
[[nodiscard]] Answer<ElementOutcomes> send_asks(Context& context, const std::vector<si::AllocationAsk>& asks);
[[nodiscard]] Answer<ElementOutcomes> send_asks(Context& context, const wire::Value& asks);

/// How Sync names an ask.
[[nodiscard]] si::AskName ask_name(const si::AllocationAsk& ask);
[[nodiscard]] si::AskName ask_name(const wire::Value& ask);
/// Where at most a thousand asks are now.
[[nodiscard]] Answer<std::map<ElementKey, Whereabouts>> find_asks(Context& context, std::vector<si::AskName> names);

/// What clear_application() removes: all asks of an application, or all its allocations but not its asks.
struct Clearance {
    const char* noun;    // `ask`
    const char* counter; // of the application, in a brief dump
    const char* outcome; // `removed`
    /// The request for one application in a partition.
    std::function<si::AllocationReleasesRequest(const std::string& application, const std::string& partition)> request;
};
/// Removes them with one request, which the daemon does not report one by one (I-155, I-158).
[[nodiscard]] Outcome clear_application(Context& context, const std::string& application, const Clearance& what);

/// One element of an update and what became of it.
struct Done {
    std::string what;    // `node n1`
    std::string id;      // `n1`
    std::string outcome; // `added`
    std::optional<Refusal> refusal;
    std::string detail;       // ` in root.a`
    std::string node;         // of an ask that is placed
    wire::Value changes = {}; // [{field, from, to}], of an element that differed
};

/// As done(), of what is added: the RM is notified of what it gets, so what it is not notified of waits in quarantine
/// while the RM recovers.
[[nodiscard]] Done added(const ElementOutcomes& outcomes, const ElementKey& key, std::string what, std::string id,
                         std::string outcome);
/// What became of the element `key` of an update: `outcome` unless it was refused, and `sent` when that is not known.
[[nodiscard]] Done done(const ElementOutcomes& outcomes, const ElementKey& key, std::string what, std::string id,
                        std::string outcome);

/// What became of an ask; `noun` is `ask` or `placeholder`.
[[nodiscard]] Done ask_done(const ElementOutcomes& outcomes, const ElementKey& element, const std::string& noun,
                            const std::string& key);

/// Collects what became of many elements and reports it: successes, when there are many, as a count for each outcome,
/// and refusals on standard error. Machine formats are written element by element, so that memory does not grow.
class Report {
public:
    /// `shown`: so many successes are listed one by one.
    explicit Report(Context& context, std::size_t shown = kShownSuccesses) : context_(context), most_shown_(shown) {}
    ~Report(); // closes the list of a machine format that a failure cut short
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    /// For a report of several kinds: that of the elements from now on, `node`, for machine formats.
    void set_kind(std::string kind) { kind_ = std::move(kind); }
    void add(Done element);
    /// Prints the report. Returns Refused when an element was refused, but NotFound when all refused ones do not exist.
    [[nodiscard]] Exit finish();
    /// The same when `failure` has ended the batches: prints what was done before it, then returns it.
    [[nodiscard]] Outcome finish(std::optional<Failure> failure);

private:
    static constexpr std::size_t kShownSuccesses = 20;

    void print_sums();

    Context& context_;
    const std::size_t most_shown_;
    std::string kind_;
    std::vector<Done> shown_;                               // the first successes, until there are too many to list
    std::vector<Done> complaints_;                          // the first refusals
    std::vector<std::pair<std::string, std::size_t>> sums_; // `asks placed`, in the order of appearance
    std::size_t succeeded_ = 0;
    std::size_t refused_ = 0;
    std::size_t unknown_ = 0;        // of the refused, those that do not exist
    std::set<std::string> lists_;    // commands that list what exists, for the unknown ones
    std::optional<ListWriter> list_; // for machine formats
};

/// Sends one batch of messages and adds what became of them to the report.
using SendBatch = std::function<std::optional<Failure>(wire::Value batch, Report& report)>;

/// Sends every message of a -f file. The whole file is read and checked before the first batch goes out. `complete`
/// adds the values of options. `noun` is for the error about a file without any message.
[[nodiscard]] Outcome send_file(Context& context, const std::string& path, const MessageSpec& spec,
                                const std::string& noun, const std::function<wire::Value(wire::Value)>& complete,
                                const SendBatch& send);

/// Sends messages in batches of a thousand with `send`. The first batch that fails as a whole ends it. `List` is a
/// std::vector of messages, or a Value for those of a file.
template <class List>
class Batches {
public:
    using Send = std::function<std::optional<Failure>(List batch)>;
    explicit Batches(Send send) : send_(std::move(send)) {}
    [[nodiscard]] std::optional<Failure> add(typename List::value_type message) {
        batch_.push_back(std::move(message));
        return batch_.size() < kBatch ? std::nullopt : finish();
    }
    [[nodiscard]] std::optional<Failure> finish() {
        return batch_.empty() ? std::nullopt : send_(std::exchange(batch_, List()));
    }

private:
    static constexpr std::size_t kBatch = 1000;

    Send send_;
    List batch_;
};

} // namespace yk::cli
