#pragma once
// Updates on behalf of an RM, and what the RM was told about them. A reply to an update says only that it was taken
// (I-116); the results are in the RM's stream, which the daemon keeps for a detached RM (I-387).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/commands/context.h"
#include "ykctl/commands/failure.h"
#include "ykctl/commands/si_schema.h"
#include "ykctl/render/output.h"

namespace yk::cli {

/// A place in the stream of a detached RM.
struct StreamPlace {
    bool readable = false;  // false: the RM is served by a process, its stream is not ours to read
    std::uint64_t next = 0; // number that the next item gets
};

/// Where the stream stands once everything sent so far is processed.
[[nodiscard]] Answer<StreamPlace> stream_place(Context& context, const std::string& rm);

/// The items from number `from` up to, and without, `to`; `lost` counts those that are no longer kept.
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
    enum class State { Absent, Pending, Placed };
    State state = State::Absent;
    std::string node; // when it is placed
};

/// What the RM was told about the elements of one update. The keys are node ids, application ids, or application and
/// allocation key as element_key() joins them.
struct Told {
    bool known = false; // false: the stream is not ours to read
    std::uint64_t lost = 0;
    std::map<std::string, Refusal> refused;
    std::map<std::string, wire::Value> accepted;
    std::map<std::string, Whereabouts> asks; // by element_key, of send_asks()
    std::uint64_t next = 0;                  // the stream goes on here
};
[[nodiscard]] std::string element_key(const std::string& application, const std::string& key);

/// Sends `body` as `kind` for the RM of the settings, waits until it is processed, and reads what the RM was told.
[[nodiscard]] Answer<Told> send_update(Context& context, std::string_view kind, wire::Value body);

/// The same for asks, of which the daemon is asked where they are: those that were there before, too.
[[nodiscard]] Answer<Told> send_asks(Context& context, const wire::Value& asks);

/// How Sync names an ask.
[[nodiscard]] wire::Value ask_name(const wire::Value& ask);
/// Where asks are now, by element_key(). `names`: a list of at most a thousand ask_name().
[[nodiscard]] Answer<std::map<std::string, Whereabouts>> find_asks(Context& context, const wire::Value& names);

/// What an application loses at once: its asks, or its allocations and not its asks.
struct Clearance {
    const char* noun;    // `ask`
    const char* counter; // of the application, in a brief dump
    const char* list;    // of the request
    std::string outcome; // `removed`
    wire::Value release; // what the release says besides whose it is
};
/// The daemon removes them without telling them one by one (I-155, I-158).
[[nodiscard]] Outcome clear_application(Context& context, const std::string& application, const Clearance& what);

/// One element of an update and what became of it.
struct Done {
    std::string what;    // `node n1`
    std::string id;      // `n1`
    std::string outcome; // `added`
    std::optional<Refusal> refusal;
    std::string detail; // `to queue root.a`
    std::string node;   // of an ask that is placed
};

/// The outcome of the element `key` of an update that was `told`: `outcome` unless it was refused, and `sent` when that
/// is not known.
[[nodiscard]] Done done(const Told& told, const std::string& key, std::string what, std::string id,
                        std::string outcome);

/// The outcome of the ask with this element_key. `noun`: `ask`, `placeholder`.
[[nodiscard]] Done ask_done(const Told& told, const std::string& element, const std::string& noun,
                            const std::string& key);

/// Collects what became of many elements and reports it: long lists of successes as a count for each outcome, refusals
/// on standard error. What machines read is written as it comes, so that memory does not grow with the number.
class Report {
public:
    explicit Report(Context& context) : context_(context) {}
    ~Report(); // closes a list that a failure cut short
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void add(Done element);
    /// Prints; Refused when an element was refused, NotFound when those all name what does not exist.
    [[nodiscard]] Exit finish();
    /// The same; with a failure of a batch that is the outcome, after what was done before it is told.
    [[nodiscard]] Outcome finish(std::optional<Failure> failure);

private:
    void print_sums();

    Context& context_;
    std::vector<Done> shown_;                               // the first successes, until there are too many to list
    std::vector<Done> complaints_;                          // the first refusals
    std::vector<std::pair<std::string, std::size_t>> sums_; // `asks placed`, in the order of appearance
    std::size_t succeeded_ = 0;
    std::size_t refused_ = 0;
    std::size_t unknown_ = 0;        // of the refused
    std::set<std::string> lists_;    // commands that show what there is, of the unknown
    std::optional<ListWriter> list_; // of machine formats
};

/// Sends one batch of messages and adds what became of them to the report.
using SendBatch = std::function<std::optional<Failure>(wire::Value batch, Report& report)>;

/// Sends every message of a -f file. The whole file is read and checked before the first batch goes out. `complete`
/// adds what options say. `noun` is for the error about a file without any.
[[nodiscard]] Outcome send_file(Context& context, const std::string& path, const MessageSpec& spec,
                                const std::string& noun, const std::function<wire::Value(wire::Value)>& complete,
                                const SendBatch& send);

/// Sends messages in batches of a thousand.
///
/// `send` sends one batch and adds to the report; the first batch that fails as a whole ends it.
class Batches {
public:
    using Send = std::function<std::optional<Failure>(wire::Value batch)>;
    explicit Batches(Send send) : send_(std::move(send)) {}
    [[nodiscard]] std::optional<Failure> add(wire::Value message);
    [[nodiscard]] std::optional<Failure> finish();

private:
    Send send_;
    wire::Value batch_ = wire::Value::array();
};

} // namespace yk::cli
