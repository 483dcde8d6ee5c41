#include "plan/sections/kill_switch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace capstan::plan {
namespace {

namespace fs = std::filesystem;

/// A service with 3 to 8 replicas, of which at most 5 were ready at once in the simulations.
struct KillSwitchSample {
  PlanSpec spec{};
  std::vector<ServicePlan> services{};

  PlanFacts facts() const { return {spec, services}; }
};

KillSwitchSample kill_switch_sample(ScalerKind scaler, std::vector<model::Role> roles = {model::Role::both}) {
  KillSwitchSample sample;
  sample.spec.name = "chat\nplatform";
  sample.spec.namespace_ = "llm";
  sample.spec.services.push_back({.name = "chat", .is_disaggregated = roles.size() > 1});
  ServicePlan service{.service = "chat", .scaler = scaler};
  for (const model::Role role : roles) {
    service.roles.push_back({.role = role, .minimum = 3, .maximum = 8, .peak_ready = 5});
  }
  sample.services = {service};
  return sample;
}

/// Runs the script with a program `kubectl` that knows some objects and numbers, and writes down its arguments.
class ScriptRun {
 public:
  ScriptRun() : folder_(fs::temp_directory_path() / fmt::format("capstan-kill-switch-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ScriptRun() { fs::remove_all(folder_); }
  ScriptRun(const ScriptRun&) = delete;
  ScriptRun& operator=(const ScriptRun&) = delete;

  /// @param answers  branches of a shell `case` on the arguments
  void set_kubectl(const std::string& answers) {
    write("kubectl", "#!/bin/sh\necho \"$*\" >>\"$(dirname \"$0\")/log\"\ncase \"$*\" in\n" + answers + "esac\n");
    fs::permissions(folder_ / "kubectl", fs::perms::owner_all);
  }

  /// Returns the commands that change something.
  std::vector<std::string> run(const PlanFacts& facts, const std::string& action = {}) {
    write("kill-switch.sh", kill_switch_script(facts));
    fs::remove(folder_ / "log");
    const std::string command =
        fmt::format("PATH='{0}':\"$PATH\" sh '{0}/kill-switch.sh' {1} 2>/dev/null", folder_.string(), action);
    status_ = std::system(command.c_str());
    std::vector<std::string> changes;
    std::istringstream log(read("log"));
    for (std::string line; std::getline(log, line);) {
      if (line.find(" get ") == line.npos) changes.push_back(line);
    }
    return changes;
  }

  int status() const { return status_; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

 private:
  fs::path folder_;
  int status_ = 0;
};

/// Returns the answers of kubectl in a cluster with a ScaledObject and this number of replicas.
std::string with_scaled_object(int replicas) {
  return fmt::format(
      "*'get deployment chat'*) echo {} ;;\n"
      "*'get scaledobject chat --output jsonpath={{.spec.triggers}}'*) echo '[{{\"type\": \"prometheus\"}}]' ;;\n"
      "*'get scaledobject chat --output jsonpath={{.spec.maxReplicaCount}}'*) echo 20 ;;\n"
      "*'get scaledobject chat --output jsonpath={{.spec.minReplicaCount}}'*) echo 2 ;;\n"
      "*'get scaledobject chat'*) ;;\n"
      "*' get '*) exit 1 ;;\n",
      replicas);
}

constexpr std::string_view kHoldKeda =
    R"(--namespace llm patch scaledobject chat --type merge --patch {"spec": {"advanced": )"
    R"({"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}}})";

TEST(KillSwitch, RemovesNoReplicaWhenMoreRunThanInTheSimulations) {
  ScriptRun script;
  script.set_kubectl(with_scaled_object(7));
  EXPECT_EQ(script.run(kill_switch_sample(ScalerKind::scaled_object).facts()),
            (std::vector<std::string>{
                std::string(kHoldKeda),
                R"(--namespace llm patch scaledobject chat --type merge --patch {"spec": {"minReplicaCount": 5}})"}));
  EXPECT_EQ(script.status(), 0);
}

TEST(KillSwitch, AddsReplicasWhenFewerRun) {
  ScriptRun script;
  script.set_kubectl(with_scaled_object(1));
  const std::vector<std::string> changes = script.run(kill_switch_sample(ScalerKind::scaled_object).facts());
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes.back(), R"(--namespace llm patch deployment chat --type merge --patch {"spec": {"replicas": 5}})");
}

TEST(KillSwitch, BringsBackTheSignalsThatWereSaved) {
  ScriptRun script;
  script.set_kubectl(with_scaled_object(7));
  const KillSwitchSample sample = kill_switch_sample(ScalerKind::scaled_object);
  EXPECT_TRUE(script.run(sample.facts(), "save").empty()) << "saving changes nothing in the cluster";
  EXPECT_EQ(script.read("last-good/scaledobject-chat.json"),
            "{\"spec\": {\"triggers\": [{\"type\": \"prometheus\"}]}}\n");
  EXPECT_EQ(script.run(sample.facts()).back(),
            "--namespace llm patch scaledobject chat --type merge --patch {\"spec\": {\"triggers\": [{\"type\": "
            "\"prometheus\"}]}}");
}

TEST(KillSwitch, KnowsTheHpaAndTheControllerToo) {
  ScriptRun script;
  script.set_kubectl(
      "*'get horizontalpodautoscaler chat --output'*) echo 4 ;;\n*'get horizontalpodautoscaler chat'*) ;;\n"
      "*'get deployment chat'*) echo 6 ;;\n*' get '*) exit 1 ;;\n");
  EXPECT_EQ(script.run(kill_switch_sample(ScalerKind::hpa).facts()).front(),
            R"(--namespace llm patch horizontalpodautoscaler chat --type merge --patch {"spec": {"behavior": )"
            R"({"scaleDown": {"selectPolicy": "Disabled"}}}})");
  script.set_kubectl("*'get inferencescaler chat'*) ;;\n*'get deployment chat'*) echo 6 ;;\n*' get '*) exit 1 ;;\n");
  EXPECT_EQ(script.run(kill_switch_sample(ScalerKind::capstan).facts()),
            (std::vector<std::string>{R"(patch fleetpolicy default --type merge --patch {"spec": {"halt": true}})"}));
  EXPECT_EQ(script.run(kill_switch_sample(ScalerKind::capstan).facts(), "resume"),
            (std::vector<std::string>{R"(patch fleetpolicy default --type merge --patch {"spec": {"halt": false}})"}));
}

TEST(KillSwitch, FailsWithoutAnAnswerAndLowersNothing) {
  ScriptRun script;
  script.set_kubectl("*) exit 1 ;;\n");
  EXPECT_TRUE(script.run(kill_switch_sample(ScalerKind::scaled_object).facts()).empty());
  EXPECT_NE(script.status(), 0);
  EXPECT_TRUE(script.run(kill_switch_sample(ScalerKind::scaled_object).facts(), "halt").empty());
  EXPECT_NE(script.status(), 0) << "an unknown action";
}

TEST(KillSwitch, AConstantFleetNeedsNoAutoscaler) {
  ScriptRun script;
  script.set_kubectl("*'get deployment chat'*) echo 4 ;;\n*' get '*) exit 1 ;;\n");
  const KillSwitchSample sample = kill_switch_sample(ScalerKind::constant);
  EXPECT_EQ(script.run(sample.facts()),
            std::vector<std::string>{
                R"(--namespace llm patch deployment chat --type merge --patch {"spec": {"replicas": 5}})"});
  EXPECT_EQ(script.status(), 0);
  EXPECT_EQ(save_signals_command(sample.facts()), "");
  EXPECT_FALSE(kill_switch_words(sample.services).contains("change of an autoscaler"));
  EXPECT_TRUE(kill_switch_words(kill_switch_sample(ScalerKind::hpa).services).contains("change of an autoscaler"));
  EXPECT_EQ(kill_switch_commands(sample.facts()).size(), 3u) << "no command for an autoscaler";
}

TEST(KillSwitch, ResumeLetsTheAutoscalerRemoveReplicas) {
  ScriptRun script;
  script.set_kubectl(with_scaled_object(7));
  const std::vector<std::string> changes = script.run(kill_switch_sample(ScalerKind::scaled_object).facts(), "resume");
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].ends_with(R"({"spec": {"minReplicaCount": 3}})")) << changes[0];
  EXPECT_NE(changes[1].find(R"("selectPolicy": "Max")"), std::string::npos) << changes[1];
}

TEST(KillSwitch, NamesItsCommands) {
  const KillSwitchSample sample = kill_switch_sample(ScalerKind::hpa, {model::Role::prefill, model::Role::decode});
  const std::vector<std::string> commands = kill_switch_commands(sample.facts());
  ASSERT_EQ(commands.size(), 5u);
  EXPECT_EQ(commands[0], "sh kill-switch.sh  # on a breach of the SLO: removes no replica");
  EXPECT_EQ(commands[3],
            R"(kubectl -n llm patch hpa chat-prefill --type merge --patch '{"spec": {"behavior": {"scaleDown": )"
            R"({"selectPolicy": "Disabled"}}}}'  # its first step for chat-prefill: the replicas that run stay)");
  EXPECT_EQ(save_signals_command(sample.facts()),
            "kubectl diff --filename=replicas/hpa/chat-prefill.yaml --filename=replicas/hpa/chat-decode.yaml "
            ">/dev/null 2>&1 || sh kill-switch.sh save");
  EXPECT_NE(kill_switch_script(sample.facts()).find("# Kill switch of the plan chat platform.\n"), std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
