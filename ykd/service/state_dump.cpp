#include "ykd/service/state_dump.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "ykd/service/daemon.h"
#include "ykd/service/dump_making.h"
#include "ykd/service/gather.h"
#include "ykd/service/log.h"
#include "ykd/service/state_files.h"

namespace yk::service {
namespace {

constexpr std::size_t kFewObjects = 1000; // that an application or node has within it; more are fetched in pieces

std::string json(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

/// Writes the document. Thread: one that may wait for owner threads and for the disk.
class StateDump {
public:
    StateDump(Daemon& daemon, StateFile& file) : daemon_(daemon), file_(file) {}

    /// `brief`: the full dump with null for what is long.
    void write(const Value& brief) {
        file_.write(R"({"schema":1,"what":"all","data":{)");
        const char* separator = "\n";
        for (const auto& [key, member] : brief.items()) {
            file_.write(std::exchange(separator, ",\n") + json(key) + ":");
            if (!member.is_null())
                file_.write(json(member));
            else if (key == "applications")
                write_applications();
            else if (key == "nodes")
                write_nodes();
            else
                write_pictures(key);
        }
        file_.write("\n}}\n");
    }

private:
    using Separate = std::function<void()>; // before each element
    using TakePiece = std::function<void(DumpPart& piece)>;

    void write_list(const std::function<void(const Separate&)>& write_elements) {
        file_.write("[");
        write_elements([this, separator = "\n"]() mutable { file_.write(std::exchange(separator, ",\n")); });
        file_.write("]");
    }

    /// One partition, piece by piece: each is made on the owner thread, between cycles, and taken here.
    void each_piece(const RmPtr& rm, const std::string& partition, const DumpQuery& query, const TakePiece& take) {
        const DumpKind& kind = *find_dump_kind(query.what);
        PicturePlace place;
        place.is_live = true;
        for (bool is_last = false; !is_last && file_.is_good();) {
            DumpPart piece;
            piece.rm_id = rm->id;
            piece.partition = partition;
            place.room = kPiece;
            const auto made = std::make_shared<std::promise<bool>>();
            rm->owner.control(
                [&, made](RmOwner& owner) {
                    is_last = owner.context() == nullptr || kind.collect(*owner.context(), query, place, piece);
                    made->set_value(true);
                },
                [made] { made->set_value(false); });
            if (!made->get_future().get()) return; // the RM has left
            put_in_order(place);
            take(piece);
        }
    }
    void each_partition(const std::function<void(const RmPtr& rm, const std::string& partition)>& look) {
        for (const DumpTarget& target : all_targets(daemon_))
            for (const std::string& partition : target.partitions) look(target.rm, partition);
    }

    void write_applications() {
        write_list([this](const Separate& next) {
            for (const char* state : {"active", "completed", "rejected"})
                each_partition([&](const RmPtr& rm, const std::string& partition) {
                    DumpQuery query;
                    query.what = "apps";
                    query.state = state;
                    query.most = kFewObjects;
                    each_piece(rm, partition, query, [&](DumpPart& piece) {
                        for (std::size_t i = 0; i < piece.applications.size(); ++i) {
                            next();
                            write_whole(application_of(piece, i), rm, partition);
                        }
                    });
                });
        });
    }
    void write_nodes() {
        write_list([this](const Separate& next) {
            each_partition([&](const RmPtr& rm, const std::string& partition) {
                next();
                file_.write("{\"partitionName\":" + json(partition) + ",\"clusterId\":" + json(rm->id) +
                            ",\"nodesInfo\":");
                write_list([&](const Separate& next_node) {
                    DumpQuery query;
                    query.what = "nodes";
                    query.most = kFewObjects;
                    each_piece(rm, partition, query, [&](DumpPart& piece) {
                        for (const NodeView& node : piece.nodes) {
                            next_node();
                            write_whole(node_value(node), rm, partition);
                        }
                    });
                });
                file_.write("}");
            });
        });
    }
    /// What has to be whole before it can be told: trees of queues, users and groups, reservations.
    void write_pictures(const std::string& what) {
        const DumpKind& kind = *find_dump_kind(what);
        write_list([&](const Separate& next) {
            each_partition([&](const RmPtr& rm, const std::string& partition) {
                DumpPart whole;
                whole.rm_id = rm->id;
                whole.partition = partition;
                DumpQuery query;
                query.what = what;
                each_piece(rm, partition, query, [&](DumpPart& piece) { add_piece(whole, std::move(piece)); });
                put_in_order(whole);
                for (std::size_t i = 0; i < kind.count(whole); ++i) {
                    next();
                    file_.write(json(wire::decode_value(wire::Body::of_scanned(kind.encode(whole, i, false)))));
                }
            });
        });
    }

    /// An application or node; what came without its long lists gets them.
    void write_whole(const Value& object, const RmPtr& rm, const std::string& partition) {
        if (!object.contains("brief")) return file_.write(json(object));
        const bool is_node = object.contains("nodeID");
        DumpQuery query;
        (is_node ? query.node : query.application) = object.at(is_node ? "nodeID" : "applicationID");
        const char* separator = "{";
        for (const auto& [key, member] : object.items()) {
            if (key == "allocationCount") continue;
            file_.write(std::exchange(separator, ","));
            if (key != "brief") {
                file_.write(json(key) + ":" + json(member));
                continue;
            }
            if (!is_node) { // asks are on no node
                query.what = "asks";
                file_.write("\"requests\":");
                write_objects(&DumpPart::asks, ask_value, query, rm, partition);
                file_.write(",");
            }
            query.what = "allocations";
            file_.write("\"allocations\":");
            write_objects(&DumpPart::allocations, allocation_value, query, rm, partition);
        }
        file_.write("}");
    }
    template <class View>
    void write_objects(std::vector<View> DumpPart::*list, Value (*value_of)(const View&), const DumpQuery& query,
                       const RmPtr& rm, const std::string& partition) {
        write_list([&](const Separate& next) {
            each_piece(rm, partition, query, [&](DumpPart& piece) {
                for (const View& view : piece.*list) {
                    next();
                    file_.write(json(value_of(view)));
                }
            });
        });
    }

    Daemon& daemon_;
    StateFile& file_;
};

/// One at a time (I-436).
void say_busy() {
    log("core").warn("state on request: no file is written, another full dump is being made");
}

void write_dump(Daemon& daemon, const Value& brief) {
    auto claim = daemon.snapshots().claim_full_dump();
    if (!claim) return say_busy();
    const std::string& directory = daemon.settings().state_directory;
    const std::string name = dump_name(real_now().ns);
    StateFile file(directory, name);
    StateDump(daemon, file).write(brief);
    claim.reset(); // before the file is there: who sees it may ask for the next dump at once
    const auto bytes = file.finish();
    if (bytes.ok())
        log("core").warn("state on request: {} bytes written to {}/{}", *bytes, directory, name);
    else
        log("core").error("state on request: {}", bytes.error().message);
}

} // namespace

void dump_to_state_directory(Daemon& daemon) {
    const auto write = [&daemon](std::optional<Value> brief) {
        std::thread([&daemon, brief = std::move(brief)] { write_dump(daemon, *brief); }).detach();
    };
    DumpQuery query;
    query.most = 0;
    if (!make_full_dump({daemon, nullptr}, query, all_targets(daemon), write)) say_busy();
}

} // namespace yk::service
