// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_words.h"

#include <algorithm>

#include "libcore/base/number.h"
#include "protocol/databases/sql_connection.h"

namespace yk::rs {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// `?3` is `$3`; a `?` alone is the place after the one before it.
std::string number_places(const std::string& text) {
    std::string made;
    bool is_quoted = false;
    int place = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\'') is_quoted = !is_quoted;
        if (text[at] != '?' || is_quoted) {
            made += text[at];
            continue;
        }
        made += '$';
        if (at + 1 == text.size() || !is_digit(text[at + 1])) made += std::to_string(++place);
    }
    return made;
}

} // namespace

/// The time is that of the moment, not of the beginning of the transaction, as now() would be.
std::string in_postgres(std::string_view statement) {
    std::string text{statement};
    replace_all(text, YK_NOW_MS, "(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    replace_all(text, YK_RANDOM_UID, "replace(gen_random_uuid()::text, '-', '')");
    replace_all(text, "/*pg ", "");
    replace_all(text, " */", "");
    return number_places(text);
}

std::size_t count_places(std::string_view statement) {
    std::size_t most = 0;
    for (auto at = statement.find('$'); at != std::string_view::npos; at = statement.find('$', at + 1)) {
        const auto end = std::min(statement.find_first_not_of("0123456789", at + 1), statement.size());
        most = std::max(most, to_number<std::size_t>(statement.substr(at + 1, end - at - 1)).value_or(0));
    }
    return most;
}

std::string tables_in_postgres(std::string_view definitions) {
    std::string text{definitions};
    replace_all(text, ") WITHOUT ROWID", ")");
    replace_all(text, "length(CAST(id AS BLOB))", "octet_length(id)");
    replace_all(text, "INTEGER", "BIGINT");
    replace_all(text, " TEXT", " TEXT COLLATE \"C\"");
    return text;
}

std::string array_of(const std::vector<std::string_view>& texts) {
    std::string made = "{";
    for (const std::string_view text : texts) {
        if (text.find('\0') != std::string_view::npos) continue;
        made += made.size() == 1 ? "\"" : ",\"";
        for (const char letter : text) {
            if (letter == '"' || letter == '\\') made += '\\';
            made += letter;
        }
        made += '"';
    }
    return made + '}';
}

} // namespace yk::rs
