#pragma once
// A recording: everything that was done to the core of one registration of an RM, with its time, and what the core said
// to it, in a file of its own. A run of the core is a function of what is done to it, so the file can be played again
// (playback.h): to the same words, or something has changed.
//
// Form: records, each a length of 4 bytes, the first the highest, and a msgpack map of that length. The first record is
// the header {recording: 1, ykd, rmID, epoch, at, settings}. A command is {do, at, ...}; what was said to it follows as
// {said: [..], refused: ".."} unless it was nothing, in several records with `more` if it was much. SI messages are
// kept as they came, with users resolved, in `body`. A command is written out before the core hears of it: a file may
// end anywhere, and its last command is what the daemon died of.

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
#include "libcore/scheduler/settings.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/value.h"
#include "ykd/door/transcript.h"

namespace yk {

/// The values of `do`.
namespace recorded {
inline constexpr std::string_view kSettings = "settings", kCalls = "calls", kConfigure = "configure",
                                  kAllocations = "allocations", kApplications = "applications", kNodes = "nodes",
                                  kAnswer = "answer", kTimers = "timers", kCycles = "cycles", kEnd = "end";
}

inline constexpr std::uint64_t kRecordingForm = 1;
inline constexpr std::string_view kRecordingSuffix = ".ykrec";
inline constexpr std::uint64_t kMostRecordedCycles = 65536; // of one record

struct RecordingHeader {
    std::string ykd; // version
    std::string rm_id;
    std::uint64_t epoch = 0;
    Instant at;
    Settings settings;
};

/// Writes one recording; as a Transcript it takes down what the core says. After the first failure it writes nothing.
/// Owner: CoreDoor. Thread: the owner thread of the RM.
class RecordingWriter final : public Transcript {
public:
    /// The recording of this RM begins (no fault), or ends before its time.
    using Told = std::function<void(const std::string& rm_id, const std::string& fault)>;

    /// Makes the file; an error names it, and has errno as its code.
    [[nodiscard]] static Result<std::unique_ptr<RecordingWriter>> create(std::string path,
                                                                         const RecordingHeader& header, Told told);
    ~RecordingWriter() override;
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    /// Before the core is told. `fields(packer)` writes `pairs` more pairs of the map.
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
    /// The core refused the command, and why.
    void refused(std::string why) { refused_ = std::move(why); }
    /// Before and after a cycle. Cycles at one instant are one record, or few.
    void cycle(Instant at);
    void cycled(std::uint32_t allocations) { cycles_.allocations += allocations; }
    /// Everything so far is in the file.
    void flush();

private:
    struct Cycles {
        Instant at;
        std::uint64_t count = 0, allocations = 0;
    };
    RecordingWriter(int file, std::string path, std::string rm_id, Told told)
        : file_(file), path_(std::move(path)), rm_id_(std::move(rm_id)), told_(std::move(told)) {}

    void say(Kind, std::string line) override { said_.push_back(std::move(line)); }
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
    const Told told_;
    wire::Buffer buffer_;
    Cycles cycles_; // not written yet
    std::vector<std::string> said_;
    std::optional<std::string> refused_;
};

/// Where the recordings of a daemon go.
class Recordings {
public:
    /// Makes the directory if need be; an error names it. `told`: see RecordingWriter; any thread.
    [[nodiscard]] static Result<std::unique_ptr<Recordings>> open(std::string directory, std::string version,
                                                                  RecordingWriter::Told told);
    /// A file for a registration that begins; nullptr when it cannot be made, of which `told` was called. Any thread.
    [[nodiscard]] std::unique_ptr<RecordingWriter> begin(RecordingHeader header) const;
    [[nodiscard]] const std::string& directory() const { return directory_; }

private:
    Recordings(std::string directory, std::string version, RecordingWriter::Told told)
        : directory_(std::move(directory)), version_(std::move(version)), told_(std::move(told)) {}

    std::string directory_, version_;
    RecordingWriter::Told told_;
};

/// One command of a recording and what was said to it.
struct RecordedStep {
    std::uint64_t number = 0; // from 1
    std::string what;         // of `recorded`
    Instant at;
    wire::Value fields;
    std::vector<std::string> said;
    std::optional<std::string> refused;
    bool last = false; // nothing follows: if nothing was said, the daemon may have ended before it was written
};

class RecordingReader {
public:
    /// Errors: no such file, no recording, one of another form.
    [[nodiscard]] static Result<RecordingReader> open(const std::string& path);

    [[nodiscard]] const RecordingHeader& header() const { return header_; }
    /// nullopt: there are no more.
    [[nodiscard]] Result<std::optional<RecordedStep>> next();
    /// The file ends within a record, which is left out. After the last step.
    [[nodiscard]] bool is_cut() const { return cut_; }

private:
    RecordingReader() = default;
    [[nodiscard]] Result<std::optional<wire::Value>> read_record();
    [[nodiscard]] Result<void> read_header();
    [[nodiscard]] Error fault(const std::string& text) const;

    std::string path_;
    std::ifstream file_;
    std::uint64_t left_ = 0; // bytes
    std::uint64_t steps_ = 0;
    RecordingHeader header_;
    std::optional<wire::Value> ahead_;
    bool cut_ = false;
};

/// The recordings of a directory, the oldest first, or `path` itself if it is one.
[[nodiscard]] Result<std::vector<std::string>> find_recordings(const std::string& path);

/// Settings as a map of integers and booleans, and back; every one must be there.
void pack_settings(wire::Packer& packer, const Settings& settings);
[[nodiscard]] Result<Settings> read_recorded_settings(const wire::Value& map);

} // namespace yk
