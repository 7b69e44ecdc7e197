// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/report.h"

#include <catch2/catch.hpp>

using namespace yk::scenario;

TEST_CASE("section 5, 6: JUnit's XML of scenario files") {
    const std::vector<FileResult> results{
        {"a.yaml", Verdict::Pass, {}, {}, std::chrono::milliseconds{1500}},
        {"b <&> \"b\".yaml", Verdict::Fail, {"step 1: wanted <1>", "step 2: \x1b"}, {}, std::chrono::milliseconds{250}},
        {"c.yaml", Verdict::Broken, {}, "c.yaml:1:2: unknown key\nand more", {}}};
    CHECK(junit_text(results) ==
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuite name=\"ykctl scenario run\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.750\">\n"
          "  <testcase classname=\"scenario\" name=\"a.yaml\" time=\"1.500\"/>\n"
          "  <testcase classname=\"scenario\" name=\"b &lt;&amp;&gt; &quot;b&quot;.yaml\" time=\"0.250\">\n"
          "    <failure message=\"step 1: wanted &lt;1&gt;\">step 1: wanted &lt;1&gt;&#10;step 2: ?</failure>\n"
          "  </testcase>\n"
          "  <testcase classname=\"scenario\" name=\"c.yaml\" time=\"0.000\">\n"
          "    <error message=\"c.yaml:1:2: unknown key\">c.yaml:1:2: unknown key&#10;and more</error>\n"
          "  </testcase>\n"
          "</testsuite>\n");
    CHECK(junit_text({}) ==
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuite name=\"ykctl scenario run\" tests=\"0\" failures=\"0\" errors=\"0\" time=\"0.000\">\n"
          "</testsuite>\n");
}

TEST_CASE("section 5, 6: what came of a scenario file, for programs") {
    const FileResult failed{"b.yaml", Verdict::Fail, {"step 1"}, {}, std::chrono::milliseconds{250}};
    CHECK(value_of(failed) ==
          yk::wire::Value{{"file", "b.yaml"}, {"outcome", "fail"}, {"seconds", 0.25}, {"failures", {"step 1"}}});
}
