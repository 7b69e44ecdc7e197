// SPDX-License-Identifier: Apache-2.0
#pragma once
// A recording: everything that was done to the core of one registration of an RM, with its time, and the callbacks and
// events that followed, in a file of its own. A run of the core depends on nothing but these commands, so the file can
// be played again (playback.h): the core then emits the same lines, or its behaviour has changed.
//
// Form: records, each a length of 4 bytes, the first the highest, and a msgpack map of that length. The first record is
// the header {recording: 1, ykd, rmID, epoch, at, settings}. A command is {do, at, ...}; the lines that the core
// emitted follow as {said: [..], refused: ".."} unless there are none, in several records with `more` if they are many.
// SI messages are kept as they came, with users resolved, in `body`. A command is written to the file before the core
// carries it out: a file may end anywhere, and when the daemon crashed, the last command is the one that did it.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/ports/settings.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/value.h"
#include "ykd/recording/transcript.h"

namespace yk {

/// The values of `do`: which command a record holds.
namespace recorded {
inline constexpr std::string_view kSettings = "settings", kCalls = "calls", kConfigure = "configure",
                                  kAllocations = "allocations", kApplications = "applications", kNodes = "nodes",
                                  kAnswer = "answer", kTimers = "timers", kCycles = "cycles", kRecovery = "recovery",
                                  kEnd = "end";
// The steps of a recovery.
inline constexpr std::string_view kBegin = "begin", kBeginForced = "begin, applications forced", kEndRecovery = "end",
                                  kForget = "forget releases of what never came";
} // namespace recorded

inline constexpr std::uint64_t kRecordingForm = 1;
inline constexpr std::string_view kRecordingSuffix = ".ykrec";
/// One record stands for at most so many cycles at the same time.
inline constexpr std::uint64_t kMostRecordedCycles = 65536;

struct RecordingHeader {
    std::string ykd; // the version that records
    std::string rm_id;
    std::uint64_t epoch = 0;
    Instant at;
    Settings settings;
};

/// Writes one recording; as a Transcript it receives the callbacks and events of the core. After the first write that
/// fails nothing more is written, and the core goes on unrecorded.
/// Owner: CoreGateway. Thread: the owner thread of the RM.
class RecordingWriter final : public Transcript {
public:
    /// Called when the recording of this RM begins (`fault` is empty), or when it ends early because of `fault`.
    using Report = std::function<void(const std::string& rm_id, const std::string& fault)>;

    /// Creates the file, which must not exist; an error names it, and has errno as its code.
    [[nodiscard]] static Result<std::unique_ptr<RecordingWriter>> create(std::string path,
                                                                         const RecordingHeader& header, Report report);
    ~RecordingWriter() override;
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    /// Writes a command to the file; to be called before the core carries it out. `fields(packer)` packs `pairs` more
    /// pairs of the map. Costs one write(2).
    template <class Fields>
    void command(std::string_view what, Instant at, std::size_t pairs, Fields&& fields) {
        settle();
        write(2 + pairs, [&](wire::Packer& packer) {
            pack_command(packer, what, at);
            fields(packer);
        });
        write_out();
    }
    void command(std::string_view what, Instant at) {
        command(what, at, 0, [](wire::Packer&) {});
    }
    /// Notes why the core refused the last command.
    void refused(std::string why) { refused_ = std::move(why); }
    /// To be called before each cycle. Cycles at the same time are counted and written as one record for up to
    /// kMostRecordedCycles of them, as long as nothing else happens.
    void cycle(Instant at);
    /// To be called after each cycle, with the number of allocations that it made.
    void cycled(std::uint32_t allocations) { cycles_.allocations += allocations; }
    /// Writes everything so far to the file.
    void flush();

private:
    struct Cycles {
        Instant at;
        std::uint64_t count = 0, allocations = 0;
    };
    RecordingWriter(int file, std::string path, std::string rm_id, Report report)
        : file_(file), path_(std::move(path)), rm_id_(std::move(rm_id)), report_(std::move(report)) {}

    void say(Kind, std::string line) override { lines_.push_back(std::move(line)); }
    static void pack_command(wire::Packer& packer, std::string_view what, Instant at);
    template <class Fields>
    void write(std::size_t pairs, Fields&& fields) {
        const std::size_t begin = buffer_.size();
        buffer_.append(std::string_view{"\0\0\0\0", 4});
        wire::Packer packer(buffer_);
        packer.map(pairs);
        fields(packer);
        close_record(begin);
    }
    void close_record(std::size_t begin);
    void settle();
    void write_out();

    int file_;
    const std::string path_, rm_id_;
    const Report report_;
    wire::Buffer buffer_;
    Cycles cycles_;                  // counted and not written yet
    std::vector<std::string> lines_; // emitted since the last command and not written yet
    std::optional<std::string> refused_;
};

/// The directory of a daemon's recordings. Thread: any.
class Recordings {
public:
    /// Creates the directory if it does not exist; an error names it. `report` is called on any thread.
    [[nodiscard]] static Result<std::unique_ptr<Recordings>> open(std::string directory, std::string version,
                                                                  RecordingWriter::Report report);
    /// Creates the file for a registration that begins; nullptr when that failed, after `report` was called with why.
    [[nodiscard]] std::unique_ptr<RecordingWriter> begin(RecordingHeader header) const;
    [[nodiscard]] const std::string& directory() const { return directory_; }

private:
    Recordings(std::string directory, std::string version, RecordingWriter::Report report)
        : directory_(std::move(directory)), version_(std::move(version)), report_(std::move(report)) {}

    std::string directory_, version_;
    RecordingWriter::Report report_;
};

/// One command of a recording and the lines that the core emitted while it carried the command out.
struct RecordedStep {
    std::uint64_t number = 0; // from 1
    std::string what;         // the command, one of `recorded`
    Instant at;
    wire::Value fields;
    std::vector<std::string> said;
    std::optional<std::string> refused;
    bool last = false; // nothing follows: without lines the daemon may have ended before they were written
};

/// Reads one recording from its beginning. Thread: the owner's.
class RecordingReader {
public:
    /// Errors: there is no such file, it is no recording, or it has another form.
    [[nodiscard]] static Result<RecordingReader> open(const std::string& path);

    [[nodiscard]] const RecordingHeader& header() const { return header_; }
    /// The next command; nullopt: there are no more.
    [[nodiscard]] Result<std::optional<RecordedStep>> next();
    /// Whether the file ends within a record, which is left out. Known after the last step.
    [[nodiscard]] bool is_cut() const { return cut_; }

private:
    RecordingReader() = default;
    [[nodiscard]] Result<std::optional<wire::Value>> read_record();
    [[nodiscard]] Result<void> read_header();
    [[nodiscard]] Error fault(const std::string& text) const;

    std::string path_;
    std::ifstream file_;
    std::uint64_t left_ = 0; // bytes not read yet
    std::uint64_t steps_ = 0;
    RecordingHeader header_;
    std::optional<wire::Value> ahead_; // a command that was read while looking for more lines of the one before
    bool cut_ = false;
};

/// The recordings of a directory, the oldest first, or `path` itself if it is one.
[[nodiscard]] Result<std::vector<std::string>> find_recordings(const std::string& path);

/// Settings as a map of integers and booleans, and back; every setting but the limits must be in the map.
void pack_settings(wire::Packer& packer, const Settings& settings);
[[nodiscard]] Result<Settings> read_recorded_settings(const wire::Value& map);

} // namespace yk
