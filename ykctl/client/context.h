// SPDX-License-Identifier: Apache-2.0
#pragma once
// Context: what a running command needs: settings, streams, the connection, and the RM for which it acts.

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/client/client.h"
#include "protocol/si/tool_requests.h"
#include "ykctl/cli/failure.h"
#include "ykctl/cli/patience.h"
#include "ykctl/cli/settings.h"
#include "ykctl/render/output.h"
#include "ykctl/render/screen.h"

namespace yk::cli {

/// The streams of a command. Tests use string streams.
struct Streams {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    TerminalSize (*size)() = nullptr; // of the terminal that `out` is, now; nullptr: it does not say
};

/// Of the terminal that `out` is; of another output it does not say.
[[nodiscard]] inline TerminalSize terminal_size(const Streams& streams) {
    return streams.out_is_terminal && streams.size != nullptr ? streams.size() : TerminalSize{};
}

/// An RM as Status shows it.
struct RmInfo {
    std::string id;
    bool detached = false;
};

/// How long a command waits in all.
struct TimeToWait {
    std::chrono::milliseconds limit{0};
    std::chrono::steady_clock::time_point end;
};

/// Owner: run() in run_command_line.cpp. Thread: main. The connection is made by the first call that needs it, and
/// ended politely by the destructor.
class Context {
public:
    Context(Streams streams, std::string version) : streams_(streams), version_(std::move(version)) {}
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// The version of this program.
    [[nodiscard]] const std::string& version() const { return version_; }
    /// To be called before the first request; those of the client have no effect later.
    void set_settings(Settings settings) { settings_ = std::move(settings); }
    [[nodiscard]] const Settings& settings() const { return settings_; }
    /// For a command that waits itself: --timeout from now on, or `otherwise` without one. By the end all its requests
    /// are over together, whatever each of them waits for; only an answer that comes soon is taken however short the
    /// time is. The first call counts, and later ones return the same.
    TimeToWait begin_wait(std::chrono::milliseconds otherwise);
    [[nodiscard]] Format format() const { return settings_.format; }
    [[nodiscard]] bool machine_readable() const { return is_machine_readable(settings_.format); }
    [[nodiscard]] Style style() const;
    [[nodiscard]] Streams& streams() { return streams_; }
    [[nodiscard]] std::ostream& out() { return streams_.out; }

    /// Prints a note on standard error, unless --quiet is given.
    void note(std::string_view text);

    /// For commands that dial again themselves (client/reconnect.h): from now on a request fails at once when the
    /// daemon is gone.
    void fail_when_gone();
    /// Which run of the daemon answered last (I-260); empty before the first answer.
    [[nodiscard]] std::string boot_id() const { return client_ ? client_->boot_id() : std::string{}; }

    /// What the daemon said when it was greeted: whom it takes the caller for, in which role.
    [[nodiscard]] Answer<wire::Value> greeting();
    /// The reply of one request, which is a message of protocol/si. Failures name the address.
    [[nodiscard]] Answer<wire::Value> call(const wire::EncodedRequest& request,
                                           std::chrono::milliseconds timeout = std::chrono::milliseconds{0});
    /// As call(), for requests on behalf of an RM. When another session owns the RM it tries again with `impersonate`,
    /// which an admin may do (I-344).
    template <wire::RequestMessage Request>
    [[nodiscard]] Answer<wire::Value> call_for_rm(Request request) {
        return call_for_rm(wire::EncodedRequest{request}, [&request] {
            request.impersonate = true;
            return wire::EncodedRequest{request};
        });
    }
    /// The same for a message of a file.
    [[nodiscard]] Answer<wire::Value> call_for_rm(std::string_view kind, wire::Value body);

    /// The RM of -r, or the only one that is registered. A not-found failure when there is none, a usage error with
    /// their names when there are several.
    [[nodiscard]] Answer<RmInfo> rm();
    /// Adds the partition of -p, if that is given, to a message.
    void put_partition(wire::Value& element, std::string_view key = "partitionName") const;

    /// All pages of a dump: the `data` of each (I-411). Partition and RM of the settings are added to `query`.
    [[nodiscard]] Answer<std::vector<wire::Value>> dump(std::string_view what, si::DumpRequest query = {});

    /// The same, calling `take` with each page as it arrives; `take` may end it with a failure.
    using TakePage = std::function<std::optional<Failure>(const wire::Value& page)>;
    [[nodiscard]] std::optional<Failure> dump_pages(std::string_view what, si::DumpRequest query, const TakePage& take);
    /// Sends a request that is answered in pages until the last page, following the cursor.
    template <class Request>
    [[nodiscard]] std::optional<Failure> call_pages(Request request, const TakePage& take) {
        do {
            auto page = call_page(request, take);
            if (!page.ok()) return std::move(page).error();
            request.cursor = *std::move(page);
        } while (!request.cursor.empty());
        return std::nullopt;
    }

    /// Prints list_view() and returns Ok.
    [[nodiscard]] Outcome show_list(std::vector<wire::Value> items, ListLayout layout);
    /// Prints `text` in the table formats, `item` in machine formats, and `name` for -o name.
    [[nodiscard]] Outcome show_item(const wire::Value& item, const std::string& name, const std::string& text);

private:
    [[nodiscard]] Answer<wire::Client*> client();
    [[nodiscard]] std::chrono::milliseconds time_for(const wire::EncodedRequest& request,
                                                     std::chrono::milliseconds timeout) const;
    /// Before a request is tried again; says so once when that has gone on for a while. False: the time is over.
    [[nodiscard]] bool tries_again(const std::string& why);
    /// Hands one page to `take`. Returns the cursor of the next one; empty: it was the last.
    [[nodiscard]] Answer<std::string> call_page(const wire::EncodedRequest& request, const TakePage& take);
    [[nodiscard]] Answer<wire::Value> call_for_rm(const wire::EncodedRequest& request,
                                                  const std::function<wire::EncodedRequest()>& impersonating);

    Streams streams_;
    std::string version_;
    Settings settings_;
    std::unique_ptr<wire::Client> client_;
    bool is_answered_ = true;        // the last request was; else nobody waits for the answer to a Bye either
    std::optional<TimeToWait> wait_; // nullopt: none has begun
    std::optional<std::chrono::steady_clock::time_point> first_retry_; // of the request under way
    bool is_noted_ = false;                                            // that it waits
    std::string last_noted_;                                           // why, of this request or one before
    std::optional<RmInfo> rm_;
};

/// The text of a list in the format, columns and order that the options ask for.
[[nodiscard]] Answer<std::string> list_view(const Context& context, std::vector<wire::Value> items, ListLayout layout);

/// Members of an answer. One that is absent or of another type reads as empty, 0, false or null.
[[nodiscard]] std::string text_of(const wire::Value& value, const char* key);
[[nodiscard]] std::int64_t number_of(const wire::Value& value, const char* key);
[[nodiscard]] bool flag_of(const wire::Value& value, const char* key);
[[nodiscard]] const wire::Value& member_of(const wire::Value& value, const char* key);

} // namespace yk::cli
