// SPDX-License-Identifier: Apache-2.0
// The examples in deploy/ pass all checks: their settings fit the limits that they set themselves.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <string>

#include "heatsink/base/config_file.h"
#include "heatsink/base/option.h"
#include "heatsink/base/testing/source_dir.h"
#include "heatsink/doctor/facts_for_test.h"

namespace heatsink::doctor {
namespace {

std::string in_deploy(const std::string& path) {
  return std::string(kSourceDir) + "/deploy/" + path;
}

Facts with_options(const std::string& text) {
  Facts facts = healthy();
  // Proxies that other machines reach need a server that wants a login.
  facts.server.replies["PING"] = error_value("NOAUTH Authentication required.");
  OptionSet set;
  facts.options.describe(set);
  const ConfigFaults faults = apply_config_text(text, "example", set);
  EXPECT_TRUE(faults.empty()) << faults.front().message;
  return facts;
}

void expect_nothing_to_mend(const Facts& facts) {
  for (const Finding& finding : examine(facts).findings)
    EXPECT_EQ(finding.level, Level::kOk) << finding.code << ": " << finding.what;
}

// "256Mi", as Kubernetes writes it.
std::uint64_t bytes_of(const std::string& quantity) {
  EXPECT_TRUE(quantity.ends_with("Mi")) << quantity;
  return std::stoull(quantity) << 20U;
}

class KubernetesExample : public ::testing::TestWithParam<const char*> {};

TEST_P(KubernetesExample, FitsItsMemoryLimit) {
  std::string options;
  YAML::Node container;
  for (const YAML::Node& document :
       YAML::LoadAllFromFile(in_deploy(std::string("kubernetes/") + GetParam()))) {
    if (document["kind"].as<std::string>() == "ConfigMap")
      options = document["data"]["heatsink.yaml"].as<std::string>();
    if (!document["spec"] || !document["spec"]["template"]) continue;
    const YAML::Node pod = document["spec"]["template"]["spec"];
    for (const char* list : {"initContainers", "containers"})
      for (const YAML::Node& each : pod[list])
        if (each["name"].as<std::string>() == "heatsink") container = each;
  }
  Facts facts = with_options(options);
  const YAML::Node resources = container["resources"];
  facts.machine.memory.control_group = bytes_of(resources["limits"]["memory"].as<std::string>());
  // A limit of CPU would stop all threads for a part of each 100 ms.
  EXPECT_FALSE(resources["limits"]["cpu"]);
  expect_nothing_to_mend(facts);
}

INSTANTIATE_TEST_SUITE_P(Deploy, KubernetesExample,
                         ::testing::Values("daemonset.yaml", "fleet.yaml", "sidecar.yaml"));

TEST(DebianExample, FitsTheLimitsOfItsUnit) {
  const Result<std::string> options = read_config_file(in_deploy("debian/heatsink.yaml"));
  const Result<std::string> unit = read_config_file(in_deploy("debian/heatsink.service"));
  ASSERT_TRUE(options.ok() && unit.ok());
  Facts facts = with_options(*options);
  constexpr std::string_view kFiles = "\nLimitNOFILE=";
  const std::size_t at = unit->find(kFiles);
  ASSERT_NE(at, std::string::npos);
  facts.machine.open_files_max = facts.machine.open_files_hard =
      std::stoull(unit->substr(at + kFiles.size()));
  EXPECT_EQ(unit->find("\nMemoryMax="), std::string::npos) << "then it belongs here";
  expect_nothing_to_mend(facts);
}

// What docs/reference/machine.md and docs/guides/capacity.md say that a container needs.
TEST(ContainerExample, TheDefaultsFitInto320Mebibytes) {
  Facts facts = healthy();
  facts.machine.memory.control_group = 320ULL << 20U;
  expect_nothing_to_mend(facts);
}

}  // namespace
}  // namespace heatsink::doctor
