// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of the state directory that are small, and written whole: each has a first line with its form, its version,
// what it is, the length of its text and a checksum. One appears under its name only when it is complete and on the
// disk.
//
// KeptFiles writes them on a thread of its own, which may wait for the disk; what cannot be written is tried again each
// second. Owner: DaemonState. Thread: any.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/simulation/loop_thread.h"

namespace yk::service {

/// Why a file cannot be used.
struct KeptFault {
    enum class Kind {
        Damaged,   // it is not what was written
        Newer,     // it is whole, and of a version that this program does not know
        Unreadable // the system does not let it be read; nothing is known of what is in it
    };
    Kind kind{};
    std::string message; // names the file
};

/// The text of a file. Nothing: there is no such file. `what`: one word, which the file must have.
[[nodiscard]] Result<std::optional<std::string>, KeptFault> read_kept_file(const std::string& path,
                                                                           std::string_view what);
/// A file with this text, as a whole.
[[nodiscard]] std::string kept_form_of(std::string_view what, std::string_view text, unsigned version = 1);
/// Writes the file, which the disk has when this returns. An error: under the name there is what was there before, or,
/// with code StateFile::kMayBeUndone, this text, and maybe what was there before after a loss of power.
[[nodiscard]] Result<void> write_kept_file(const std::string& path, std::string_view what, std::string_view text);

class KeptFiles {
public:
    /// `on_fault`: a file cannot be written or removed, and what a restart would find; or, with an empty fault, it can
    /// again. Called on the thread that writes.
    using OnFault = std::function<void(const std::string& path, const std::string& fault)>;
    explicit KeptFiles(OnFault on_fault) : on_fault_(std::move(on_fault)) {}
    ~KeptFiles() { stop(); }
    KeptFiles(const KeptFiles&) = delete;
    KeptFiles& operator=(const KeptFiles&) = delete;

    /// Starts the thread.
    void start();
    /// From now on the file has the text that `make` returns, which is called on the thread that writes, since making a
    /// long one takes a while; one that was put before and is not written yet is left out.
    using MakeText = std::function<std::string()>;
    void put(const std::string& path, std::string_view what, MakeText make);
    void remove(const std::string& path);
    /// As read_kept_file(), of what was put last.
    [[nodiscard]] Result<std::optional<std::string>, KeptFault> read(const std::string& path,
                                                                     std::string_view what) const;
    /// Calls `call` when what was put until now is written, or could not be written at once. At once when nothing
    /// waits.
    void when_written(std::function<void()> call) {
        when_kept({}, [call = std::move(call)](bool) { call(); });
    }
    /// The same, and says whether what was put for this file, or its removal, is on the disk.
    void when_kept(const std::string& path, std::function<void(bool kept)> call);
    /// Writes what waits, once, and ends the thread.
    void stop();

private:
    struct Change {
        std::string what;
        MakeText make; // empty: the file goes
    };
    using Changes = std::map<std::string, Change>; // by path
    struct Waiter {
        std::string path;
        std::function<void(bool kept)> call;
    };

    void run();
    std::optional<Simulator::Clock::time_point> step();
    [[nodiscard]] bool has_work() const { return !waiting_.empty() || !waiters_.empty(); }
    void write_what_waits(std::unique_lock<std::mutex>& lock);
    void end(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] Changes write(const Changes& changes) const;
    [[nodiscard]] static std::string carry_out(const std::string& path, const Change& change);

    const OnFault on_fault_;
    mutable std::mutex mutex_; // guards the rest
    std::condition_variable wake_;
    Changes waiting_, under_way_, failed_; // failed_: to be tried again
    std::vector<Waiter> waiters_;
    bool runs_ = false, stopping_ = false;
    Simulator::Clock::time_point again_{}; // in a simulation: when what failed is tried again
    LoopThread thread_;
};

} // namespace yk::service
