#include "cli/engine_options.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/run.h"
#include "manifest/scalars.h"

namespace capstan::cli {
namespace {

/// Reads a duration such as 90s or 1m30s.
Duration read_time(const std::string& option, const std::string& text) {
  const std::optional<Duration> value = manifest::read_duration(text);
  if (!value || *value < Duration{} || *value > std::chrono::hours(24 * 366)) {
    throw CLI::ValidationError(option, "'" + text + "' is not a duration, expected one such as 90s or 250ms");
  }
  return *value;
}

void add_time(CLI::App& command, const std::string& option, Duration& out, const std::string& help) {
  command
      .add_option_function<std::string>(
          option, [&out, option](const std::string& text) { out = read_time(option, text); }, help)
      ->option_text("TIME");
}

void add_integer(CLI::App& command, const std::string& option, std::int64_t& out, std::int64_t least,
                 const std::string& help) {
  command.add_option(option, out, help)->check(CLI::Range(least, std::int64_t{1} << 24))->option_text("N");
}

void add_speed(CLI::App& command, double& speed) {
  command.add_option("--speed", speed, "Speed of the emulated clock; 1 is real time")
      ->check(CLI::Range(0.001, 10'000.0))
      ->option_text("N");
}

void add_access(CLI::App& command, emulator::LoadAccessArguments& a) {
  command
      .add_option("--api-key", a.api_key,
                  "Bearer token of each request, never printed; default: the environment variable CAPSTAN_API_KEY")
      ->envname("CAPSTAN_API_KEY")
      ->option_text("KEY");
  command.add_option("--header", a.headers, "Header of each request; may be repeated")
      ->option_text("\"NAME: VALUE\"")
      ->allow_extra_args(false);
  CLI::Option* ca = command.add_option("--ca-file", a.ca_file, "Trust the certificates that these authorities signed")
                        ->option_text("FILE");
  command.add_flag("--insecure", a.insecure, "Trust any certificate of an https endpoint")->excludes(ca);
}

}  // namespace

CLI::App* add_engine_serve(CLI::App& engine, EngineServeArguments& a) {
  CLI::App* serve = engine.add_subcommand("serve", "Emulate inference servers on many addresses");
  serve
      ->add_option("--bind", a.bind,
                   "Address or range of addresses to listen on; port 0 takes a free port; may be repeated")
      ->option_text("127.16.0.1-127.16.0.200:8000")
      ->allow_extra_args(false);
  serve
      ->add_option("--bind-file", a.bind_file,
                   "File of addresses and ranges, read again when it changes; - reads standard input")
      ->option_text("FILE|-");
  serve->add_option("--model", a.model, "Model of the engine table")->option_text("NAME");
  serve
      ->add_option("--served-model-name", a.served_name,
                   "Name of the model in the API; default: the name of the engine table")
      ->option_text("NAME");
  serve->add_option("--gpu", a.gpu, "GPU of the engine table")->option_text("H100");
  add_integer(*serve, "--tp,--tensor-parallel-size", a.tensor_parallel, 1, "GPUs per engine");
  serve->add_option("--dtype", a.dtype, "Data type of the weights")->option_text("bfloat16|fp8");
  add_integer(*serve, "--max-num-seqs", a.max_seqs, 1, "Maximum number of requests in a batch");
  add_integer(*serve, "--max-num-batched-tokens", a.max_batched_tokens, 1, "Maximum number of tokens in a step");
  add_integer(*serve, "--max-waiting", a.max_waiting, 1,
              "Maximum number of requests waiting in an engine; further ones get 503");
  add_integer(*serve, "--kv-blocks", a.kv_blocks, 1,
              "KV blocks of 16 tokens; default: as many as fit in the GPU memory");
  serve->add_flag("--no-prefix-caching", a.no_prefix_cache, "Compute every prompt in full");
  add_integer(*serve, "--max-model-len", a.max_model_tokens, 2,
              "Maximum number of tokens of a prompt and its answer together");
  add_time(*serve, "--front-end", a.front_end, "Delay between engine and client, added to the time of each token");
  add_time(*serve, "--cold-start", a.cold_start, "Time from the start of an engine until it accepts requests");
  add_time(*serve, "--loading", a.loading,
           "Last part of --cold-start, in which the engine answers 503 instead of refusing connections");
  add_time(*serve, "--shutdown-timeout", a.shutdown_timeout, "Time to finish running requests after SIGTERM or SIGINT");
  add_word(
      *serve, "--metrics", {"vllm", "sglang"}, [&a](const std::string& word) { a.metrics = word; },
      "Engine whose metric names are used");
  add_integer(*serve, "--stream-interval", a.stream_interval, 1, "Tokens per piece of a stream");
  add_integer(*serve, "--answer-tokens", a.answer_tokens, 1, "Mean number of tokens of answers that end by themselves");
  add_integer(*serve, "--seed", a.seed, 0, "Seed of the lengths of answers that end by themselves");
  add_speed(*serve, a.speed);
  serve->footer(
      "Examples:\n"
      "  capstan engine serve --bind 127.0.0.1:8000 --model Llama-3.1-8B --gpu H100\n"
      "  capstan engine serve --bind 127.16.0.1-127.16.0.200:8000 --cold-start 90s --speed 10");
  return serve;
}

CLI::App* add_engine_load(CLI::App& engine, EngineLoadArguments& a) {
  CLI::App* load = engine.add_subcommand("load", "Replay a trace against inference servers");
  CLI::Option* endpoint =
      load->add_option("--endpoint", a.endpoints,
                       "Base URL with or without /v1, address, or range of addresses; may be repeated")
          ->option_text("http://127.0.0.1:8000")
          ->allow_extra_args(false);
  CLI::Option* list =
      load->add_option(
              "--endpoint-file", a.endpoint_file,
              "File of addresses, read again when it changes; - reads standard input; a minus removes an address")
          ->excludes(endpoint)
          ->option_text("FILE|-");
  load->add_option("--service", a.service, "Kubernetes Service: send to its ready addresses, also when they change")
      ->excludes(endpoint)
      ->excludes(list)
      ->option_text("[NAMESPACE/]NAME[:PORT]");
  add_cluster(*load, a.cluster, "Namespace of the Service; default: that of the configuration");
  for (const char* option : {"--kubeconfig", "--context", "--namespace"}) load->get_option(option)->needs("--service");
  CLI::Option* trace = load->add_option("--trace", a.trace, "Trace to replay")->option_text("FILE");
  load->add_option("--profile", a.profile, "Draw requests from this profile instead of a trace; default: azure-hour")
      ->excludes(trace)
      ->option_text("azure-hour");
  load->add_option("--model", a.model, "Model name in each request")->option_text("NAME");
  add_access(*load, a.access);
  add_word(
      *load, "--route", {"round_robin", "least_loaded"}, [&a](const std::string& word) { a.route = word; },
      "How to choose the endpoint of a request");
  load->add_option_function<std::string>(
          "--duration", [&a](const std::string& text) { a.duration = read_time("--duration", text); },
          "Send only requests that arrive before this time")
      ->option_text("TIME");
  load->add_option("--limit", a.limit, "Send at most this number of requests")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->option_text("N");
  load->add_option("--scale", a.scale, "Factor of the load, as in a scenario")
      ->check(CLI::Range(1e-6, 1e5))
      ->option_text("N");
  add_speed(*load, a.speed);
  add_time(*load, "--timeout", a.timeout, "Give up a request after this time, in real time");
  add_integer(*load, "--seed", a.seed, 0, "Seed of a profile's requests and of --scale");
  add_output(*load, a.output);
  load->footer(
      "Examples:\n"
      "  capstan engine load --endpoint http://127.0.0.1:8000 --trace conv.csv --limit 1000\n"
      "  capstan engine load --endpoint 127.16.0.1-127.16.0.8:8000 --profile azure-hour --duration 5m --speed 10\n"
      "  capstan engine load --service llm/engine:http --trace conv.csv\n"
      "  CAPSTAN_API_KEY=... capstan engine load --endpoint https://llm.example.com/v1 --ca-file ca.pem --model chat");
  return load;
}

}  // namespace capstan::cli
