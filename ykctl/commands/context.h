#pragma once
// Context: what a running command works with: settings, streams, the connection, and the RM it acts for.

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/transport/client.h"
#include "ykctl/commands/failure.h"
#include "ykctl/commands/patience.h"
#include "ykctl/commands/settings.h"
#include "ykctl/render/output.h"

namespace yk::cli {

/// Where a command reads and writes. Tests put string streams here.
struct Streams {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
};

/// An RM as Status shows it.
struct RmInfo {
    std::string id;
    bool detached = false;
};

/// Owner: run() in cli.cpp. Thread: main. The connection is made by the first call that needs it, and ended politely by
/// the destructor.
class Context {
public:
    Context(Streams streams, std::string version) : streams_(streams), version_(std::move(version)) {}
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Of this program.
    [[nodiscard]] const std::string& version() const { return version_; }
    /// Before any command runs.
    void set_settings(Settings settings) { settings_ = std::move(settings); }
    [[nodiscard]] const Settings& settings() const { return settings_; }
    /// --timeout, for a command that itself waits so long; its requests take their usual time from here on. Before the
    /// first of them.
    [[nodiscard]] std::optional<std::chrono::milliseconds> take_timeout() {
        settings_.client.timeout = kQuick;
        return std::exchange(settings_.timeout, std::nullopt);
    }
    [[nodiscard]] Format format() const { return settings_.format; }
    [[nodiscard]] bool machine_readable() const { return is_machine_readable(settings_.format); }
    [[nodiscard]] Style style() const;
    [[nodiscard]] Streams& streams() { return streams_; }
    [[nodiscard]] std::ostream& out() { return streams_.out; }

    /// A note on standard error; not with --quiet.
    void note(std::string_view text);

    /// The reply of one request. Failures name the address.
    [[nodiscard]] Answer<wire::Value> call(std::string_view kind, wire::Value body = wire::Value::object(),
                                           std::chrono::milliseconds timeout = std::chrono::milliseconds{0});
    /// As call(), for requests on behalf of an RM: an admin goes on with `impersonate` when the RM is another session's
    /// (I-344).
    [[nodiscard]] Answer<wire::Value> call_for_rm(std::string_view kind, wire::Value body);

    /// The RM of -r, or the only one there is. None: not found. Several: usage, with their names.
    [[nodiscard]] Answer<RmInfo> rm();
    /// `partitionName` for messages: that of -p, else absent.
    void put_partition(wire::Value& element, std::string_view key = "partitionName") const;

    /// All pages of a dump: the `data` of each (I-411). Partition and RM of the settings are added to `query`.
    [[nodiscard]] Answer<std::vector<wire::Value>> dump(std::string_view what,
                                                        wire::Value query = wire::Value::object());

    /// The same page by page, as they come; `take` may end it with a failure.
    using TakePage = std::function<std::optional<Failure>(const wire::Value& page)>;
    [[nodiscard]] std::optional<Failure> dump_pages(std::string_view what, wire::Value query, const TakePage& take);
    /// The replies to a request that is answered in pages, by cursor.
    [[nodiscard]] std::optional<Failure> call_pages(std::string_view kind, wire::Value body, const TakePage& take);

    /// A list as it was asked for: form, columns, order.
    [[nodiscard]] Answer<std::string> list_view(std::vector<wire::Value> items, ListLayout layout) const;
    /// Prints it and says Ok.
    [[nodiscard]] Outcome show_list(std::vector<wire::Value> items, ListLayout layout);
    /// `text` is what tables show; machine formats show the item.
    [[nodiscard]] Outcome show_item(const wire::Value& item, const std::string& name, const std::string& text);

private:
    [[nodiscard]] Answer<wire::Client*> client();

    Streams streams_;
    std::string version_;
    Settings settings_;
    std::unique_ptr<wire::Client> client_;
    std::optional<RmInfo> rm_;
};

/// Texts, numbers and lists out of an answer; what is absent or of another type is empty, 0, or nothing.
[[nodiscard]] std::string text_of(const wire::Value& value, const char* key);
[[nodiscard]] std::int64_t number_of(const wire::Value& value, const char* key);
[[nodiscard]] bool flag_of(const wire::Value& value, const char* key);
[[nodiscard]] const wire::Value& member_of(const wire::Value& value, const char* key);

} // namespace yk::cli
