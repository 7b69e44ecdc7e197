// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/full_dump_stream.h"

#include "ykd/rest/exchange/rest_lists.h"
#include "ykd/rest/rest_documents.h"

namespace yk::service {

using http::AnswerSink;
using wire::Value;

bool FullDumpStream::operator()(AnswerSink& sink) const {
    const char* before = "{\n  ";
    for (const auto& [name, value] : document_.items()) {
        if (!sink.write(std::exchange(before, ",\n  ") + json_text(name) + ": ")) return false;
        if (!send_member(sink, name, value)) return false;
    }
    return sink.write("\n}\n");
}

bool FullDumpStream::send_member(AnswerSink& sink, const std::string& name, const Value& value) const {
    if (name == "applications") return send_applications(sink);
    if (name == "nodes") return send_nodes(sink);
    const bool is_list = name == "queues" || name == "reservations" || name == "users" || name == "groups";
    return is_list ? send_list(sink, list_of(name)) : sink.write(json_text(value));
}

/// All that are known, in whatever state: there is a list of each.
bool FullDumpStream::send_applications(AnswerSink& sink) const {
    bool is_first = true;
    if (!sink.write("[")) return false;
    for (const char* state : {"active", "completed", "rejected"}) {
        si::DumpRequest request = list_of("apps");
        request.state = state;
        RestReply reply = caller_->ask(request);
        if (!reply.ok) return false;
        if (!send_elements(sink, *caller_, request, std::move(reply.body), rest_application, is_first)) return false;
    }
    return sink.write("]");
}

/// An object for each partition, with its nodes.
bool FullDumpStream::send_nodes(AnswerSink& sink) const {
    const char* before = "[";
    for (const Value& partition : document_["partitions"]) {
        const Value head{{"clusterId", partition["clusterId"]}, {"partitionName", partition["name"]}};
        std::string text = std::exchange(before, ",") + json_text(head);
        text.back() = ',';
        si::DumpRequest request = list_of("nodes");
        request.rm_id = partition["clusterId"].get<std::string>();
        request.partition = partition["name"].get<std::string>();
        if (!sink.write(text + "\"nodesInfo\":") || !send_list(sink, request) || !sink.write("}")) return false;
    }
    return sink.write(document_["partitions"].empty() ? "[]" : "]");
}

bool FullDumpStream::send_list(AnswerSink& sink, const si::DumpRequest& request) const {
    RestReply reply = caller_->ask(request);
    if (!reply.ok) return false;
    bool is_first = true;
    return sink.write("[") && send_elements(sink, *caller_, request, std::move(reply.body), unchanged, is_first) &&
           sink.write("]");
}

si::DumpRequest FullDumpStream::list_of(const std::string& what) const {
    si::DumpRequest request = request_;
    request.what = what;
    return request;
}

} // namespace yk::service
