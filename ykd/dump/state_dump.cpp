// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/state_dump.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "ykd/process/log.h"
#include "ykd/process/state_files.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

constexpr std::size_t kMaxInline = 1000; // asks and allocations of an application or node; more are fetched in chunks

std::string json(const Value& value) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

/// Writes the document. Thread: one that may wait for owner threads and for the disk.
class StateDump {
public:
    StateDump(const RmTable& rms, StateFile& file) : rms_(rms), file_(file) {}

    /// `brief`: the full dump, in which null stands for each long list.
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
                write_lists(key);
        }
        file_.write("\n}}\n");
    }

private:
    using Separate = std::function<void()>; // before each element
    using TakeChunk = std::function<void(DumpPart& chunk)>;

    void write_list(const std::function<void(const Separate&)>& write_elements) {
        file_.write("[");
        write_elements([this, separator = "\n"]() mutable { file_.write(std::exchange(separator, ",\n")); });
        file_.write("]");
    }

    /// Reads one partition chunk by chunk. Each is made on the owner thread, between cycles, and handed to `take` here.
    void each_chunk(const RmPtr& rm, const std::string& partition, const DumpQuery& query, const TakeChunk& take) {
        const DumpKind& kind = *find_dump_kind(query.what);
        SnapshotCursor cursor;
        cursor.is_live = true;
        for (bool is_last = false; !is_last && file_.is_good();) {
            DumpPart chunk;
            chunk.rm_id = rm->id;
            chunk.partition = partition;
            cursor.budget = kChunk;
            const auto made = std::make_shared<std::promise<bool>>();
            rm->owner.control(
                [&, made](RmOwner& owner) {
                    const PartitionState* state = owner.read(partition);
                    is_last = state == nullptr || kind.collect(*state, query, cursor, chunk);
                    made->set_value(true);
                },
                [made] { made->set_value(false); });
            if (!made->get_future().get()) return; // the RM has left
            put_in_order(cursor);
            take(chunk);
        }
    }
    void each_partition(const std::function<void(const RmPtr& rm, const std::string& partition)>& look) {
        for (const DumpTarget& target : all_targets(rms_))
            for (const std::string& partition : target.partitions) look(target.rm, partition);
    }

    void write_applications() {
        write_list([this](const Separate& next) {
            for (const char* state : {"active", "completed", "rejected"})
                each_partition([&](const RmPtr& rm, const std::string& partition) {
                    DumpQuery query;
                    query.what = "apps";
                    query.state = state;
                    query.most = kMaxInline;
                    each_chunk(rm, partition, query, [&](DumpPart& chunk) {
                        for (std::size_t i = 0; i < chunk.applications.size(); ++i) {
                            next();
                            write_whole(application_of(chunk, i), rm, partition);
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
                    query.most = kMaxInline;
                    each_chunk(rm, partition, query, [&](DumpPart& chunk) {
                        for (const NodeView& node : chunk.nodes) {
                            next_node();
                            write_whole(node_value(node, partition, rm->id), rm, partition);
                        }
                    });
                });
                file_.write("}");
            });
        });
    }
    /// Writes what has to be complete before it can be written: trees of queues, users and groups, reservations.
    void write_lists(const std::string& what) {
        const DumpKind& kind = *find_dump_kind(what);
        write_list([&](const Separate& next) {
            each_partition([&](const RmPtr& rm, const std::string& partition) {
                DumpPart whole;
                whole.rm_id = rm->id;
                whole.partition = partition;
                DumpQuery query;
                query.what = what;
                each_chunk(rm, partition, query, [&](DumpPart& chunk) { add_chunk(whole, std::move(chunk)); });
                put_in_order(whole);
                for (std::size_t i = 0; i < kind.count(whole); ++i) {
                    next();
                    file_.write(json(wire::decode_value(wire::Body::of_scanned(kind.encode(whole, i, false)))));
                }
            });
        });
    }

    /// Writes an application or node. One that came without its long lists gets them.
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
            each_chunk(rm, partition, query, [&](DumpPart& chunk) {
                for (const View& view : chunk.*list) {
                    next();
                    file_.write(json(value_of(view)));
                }
            });
        });
    }

    const RmTable& rms_;
    StateFile& file_;
};

/// Only one full dump is made at a time (I-436).
void log_busy() {
    log("core").warn("state on request: no file is written, another full dump is being made");
}

} // namespace

void StateDumper::write_file(const Value& brief) {
    auto claim = snapshots_.claim_full_dump();
    if (!claim) return log_busy();
    const std::string name = dump_name(real_now().ns);
    StateFile file(directory_, name);
    StateDump(rms_, file).write(brief);
    claim.reset(); // before the file is there: who sees it may ask for the next dump at once
    const auto bytes = file.finish();
    if (bytes.ok())
        log("core").warn("state on request: {} bytes written to {}/{}", *bytes, directory_, name);
    else
        log("core").error("state on request: {}", bytes.error().message);
}

void StateDumper::write() {
    if (directory_.empty()) return;
    const auto write = [this](std::optional<Value> brief) {
        std::thread([this, brief = std::move(brief)] { write_file(*brief); }).detach();
    };
    DumpQuery query;
    query.most = 0;
    if (!maker_.make_full_dump({nullptr}, query, all_targets(rms_), write)) log_busy();
}

} // namespace yk::service
