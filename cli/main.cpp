#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <pantile/core/thread_pool.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <new>

#include "cli/announce.h"
#include "cli/command_tree.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/manifest.h"
#include "cli/run_record.h"
#include "cli/sparse_eval.h"
#include "cli/sparse_forecasts.h"
#include "cli/sparse_train.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

constexpr const char* kGlobalGroup = "global";
using Names = std::vector<std::string>;

/// Declares the commands, parses the arguments, and starts the verb. The only code that knows the parser.
class CommandLine {
 public:
  CommandLine();
  int run(const Names& arguments);

 private:
  CLI::App* group(const std::string& name, const std::string& summary);
  CLI::App* verb(CLI::App* parent, const std::string& name, const std::string& summary, const std::string& details,
                 std::function<int()> start);
  CLI::Option* choice(CLI::Option* option, const Names& allowed);
  void add_global(CLI::App* app);
  void add_graph(CLI::App* app, GraphSource* source);
  void add_operators(CLI::App* app, SparsePlanOptions* options);
  void declare_graph();
  void declare_sparse();
  void declare_training(CLI::App* sparse);
  void declare_split(CLI::App* train);
  void declare_bench();
  void declare_others();

  Command tree_of(const CLI::App* app, const std::string& path) const;
  OptionInfo info_of(const CLI::Option* option) const;
  const Command* parsed_command(const Command& root) const;
  int usage_error(const Command& root, const std::string& message) const;
  int start_verb(const Names& arguments);

  CLI::App app_{"irregular machine-learning work on regular hardware: profile, plan, run, explain", "pantile"};
  GlobalOptions global_;
  std::function<int()> start_;
  std::map<const CLI::Option*, Names> choices_;
  DoctorOptions doctor_;
  GraphInfoOptions info_;
  GraphConvertOptions convert_;
  GraphReorderOptions reorder_;
  GraphGenerateOptions generate_;
  GraphKnnOptions knn_;
  SparsePlanOptions profile_, plan_, explain_;
  SparseTrainOptions train_;
  SparseEvalOptions eval_;
  BenchSparseOptions bench_;
  Names bench_graphs_;
  RerunOptions rerun_;
  std::string shell_;
};

/// At least `least`, at most `most`; the message names both.
CLI::Option* within(CLI::Option* option, double least, double most) {
  return option->check(
      [least, most](const std::string& text) {
        double v = 0;
        if (!CLI::detail::lexical_cast(text, v)) return fmt::format("'{}' is not a number", text);
        if (!(v >= least && v <= most)) return fmt::format("{} is not in [{:.15g}, {:.15g}]", text, least, most);
        return std::string();
      },
      "");
}

/// The parser's own conversion turns -1 and numbers beyond 64 bits into 2^64 - 1 without a word.
bool parse_seed(const std::string& text, uint64_t* seed) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *seed);
  return failed == std::errc() && end == text.data() + text.size();
}

constexpr double kMost = 9007199254740992.0;  // 2^53: every 64-bit option stays exact as a double

CommandLine::CommandLine() {
  global_.record = std::make_shared<RunRecord>();
  app_.set_help_flag("-h,--help", "show this text and leave");
  app_.get_help_ptr()->group(kGlobalGroup);
  app_.set_version_flag("-V,--version", std::string("pantile ") + PANTILE_VERSION, "show the version and leave");
  app_.require_subcommand(1);
  app_.footer(
      "Results go to stdout, progress and errors to stderr. Exit codes: 0 done, 1 the answer is no,\n"
      "2 bad usage or input, 3 a failure of the machine, 130 interrupted. NO_COLOR is honoured.\n"
      "\n"
      "  pantile doctor                                   what this machine can do\n"
      "  pantile graph info cora.mtx                      what a graph looks like\n"
      "  pantile sparse explain cora.mtx --width 16,64    what an operator costs and why\n"
      "  pantile COMMAND --help                           options and examples of a command");
  add_global(&app_);
  declare_others();
  declare_graph();
  declare_sparse();
  declare_bench();
}

void CommandLine::add_global(CLI::App* app) {
  const auto flag = [&](const char* name, bool& target, const char* text) {
    app->add_flag(name, target, text)->group(kGlobalGroup);
  };
  flag("--json", global_.json, "write the result as one JSON document");
  flag("-q,--quiet", global_.quiet, "no progress on stderr");
  flag("-n,--dry-run", global_.dry_run, "say what would be done, write nothing");
  app->add_option_function<std::string>(
         "--seed",
         [this](const std::string& text) {
           static_cast<void>(parse_seed(text, &global_.seed));
           global_.seed_given = true;
         },
         "seed of everything random")
      ->check(
          [](const std::string& text) {
            uint64_t seed = 0;
            return parse_seed(text, &seed) ? std::string()
                                           : fmt::format("'{}' is not a whole number in [0, 2^64)", text);
          },
          "")
      ->type_name("N")
      ->group(kGlobalGroup);
  within(app->add_option("--threads", global_.threads, "threads for parallel work; results do not depend on it"), 0,
         1024)
      ->type_name("N")
      ->group(kGlobalGroup);
  app->add_option("--manifest", global_.manifest, "write what is needed to replay the run: pantile rerun FILE")
      ->type_name("FILE")
      ->group(kGlobalGroup);
  choice(app->add_option_function<std::string>(
             "--color",
             [this](const std::string& when) {
               global_.color = when == "always"  ? ColorMode::always
                               : when == "never" ? ColorMode::never
                                                 : ColorMode::automatic;
             },
             "colours in text for people"),
         {"auto", "always", "never"})
      ->type_name("WHEN")
      ->group(kGlobalGroup);
}

CLI::App* CommandLine::group(const std::string& name, const std::string& summary) {
  CLI::App* app = app_.add_subcommand(name, summary);
  app->require_subcommand(1);
  app->get_help_ptr()->group(kGlobalGroup);
  add_global(app);
  return app;
}

CLI::App* CommandLine::verb(CLI::App* parent, const std::string& name, const std::string& summary,
                            const std::string& details, std::function<int()> start) {
  CLI::App* app = parent->add_subcommand(name, summary);
  app->footer(details);
  app->get_help_ptr()->group(kGlobalGroup);
  add_global(app);
  app->callback([this, start = std::move(start)] { start_ = start; });
  return app;
}

CLI::Option* CommandLine::choice(CLI::Option* option, const Names& allowed) {
  choices_[option] = allowed;
  return option->check(
      [allowed](const std::string& text) {
        if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return std::string();
        return fmt::format("'{}' is not one of {}", text, fmt::join(allowed, ", "));
      },
      "");
}

void CommandLine::add_graph(CLI::App* app, GraphSource* source) {
  app->add_option("GRAPH", source->path,
                  "file or OGB folder: .mtx, edge list (.csv, .txt), METIS .graph, .npz, .pantile; .gz too")
      ->required();
  choice(app->add_option("--format", source->format, "how to read it, when name and content mislead"),
         {"mtx", "snap", "csv", "metis", "ogb", "npz", "scipy", "pantile"})
      ->type_name("FORMAT");
  within(app->add_option("--num-nodes", source->num_nodes,
                         "edge lists: number of nodes, when isolated ones follow the last id"),
         0, kMost)
      ->type_name("N");
  app->add_flag("--undirected", source->undirected, "edge lists: a line stands for both directions");
  within(app->add_option("--base", source->base, "edge lists: the first id"), 0, 1)->type_name("0|1");
}

void CommandLine::declare_graph() {
  CLI::App* graph = group("graph", "look at graphs, convert, reorder and make them");
  CLI::App* info =
      verb(graph, "info", "sizes, degrees, shape and fingerprint of a graph",
           "Example:\n  pantile graph info soc-slashdot.csv.gz", [this] { return run_graph_info(info_, global_); });
  add_graph(info, &info_.graph);

  CLI::App* convert =
      verb(graph, "convert", "write a graph in another format",
           "The format follows from the name of OUT: .pantile (own; opens without reading), .mtx, .npz (scipy),\n"
           ".csv, .graph (METIS). The file is written under a temporary name and renamed when complete.\n\n"
           "Examples:\n  pantile graph convert edges.csv.gz graph.pantile --undirected\n"
           "  pantile graph convert multigraph.mtx simple.mtx --coalesce sum",
           [this] { return run_graph_convert(convert_, global_); });
  add_graph(convert, &convert_.graph);
  convert->add_option("OUT", convert_.out, "file to write")->required();
  choice(convert->add_option("--to", convert_.to, "format of OUT, when its name does not tell"),
         {"pantile", "mtx", "npz", "csv", "metis"})
      ->type_name("FORMAT");
  choice(convert->add_option("--coalesce", convert_.coalesce, "merge parallel edges; without it they all stay"),
         {"sum", "mean", "min", "max", "first"})
      ->type_name("HOW");

  CLI::App* reorder =
      verb(graph, "reorder", "rename the nodes so that gathers stay local, if that pays",
           "Says what each order is predicted to bring, and after how many SpMM calls its cost is earned back.\n"
           "auto takes the best order that pays within --calls, and none when none does.\n\n"
           "Example:\n  pantile graph reorder graph.pantile --out ordered.pantile --permutation new_of_old.npy",
           [this] { return run_graph_reorder(reorder_, global_); });
  add_graph(reorder, &reorder_.graph);
  choice(reorder->add_option("--how", reorder_.how, "the order"), {"auto", "degree", "bfs", "rcm", "community"})
      ->type_name("ORDER")
      ->capture_default_str();
  within(reorder->add_option("--calls", reorder_.calls, "auto: SpMM calls in which an order must pay"), 1, kMost)
      ->type_name("N")
      ->capture_default_str();
  reorder->add_option("-o,--out", reorder_.out, "where to write the graph")->type_name("FILE");
  reorder->add_option("--permutation", reorder_.permutation, "where to write the new id of each old node (.npy)")
      ->type_name("FILE");

  CLI::App* generate = verb(graph, "generate", "make a random or regular graph",
                            "Examples:\n  pantile graph generate rmat --scale 16 --out rmat.pantile --seed 7\n"
                            "  pantile graph generate sbm --nodes 5000 --blocks 5 --out sbm.npz --labels blocks.npy\n"
                            "  pantile graph generate grid --columns 300 --rows 200 --out grid.mtx",
                            [this] { return run_graph_generate(generate_, global_); });
  choice(generate->add_option("KIND", generate_.kind,
                              "rmat: power law; community: clusters; sbm: stochastic blocks; grid: mesh"),
         {"rmat", "community", "sbm", "grid"})
      ->required();
  generate->add_option("-o,--out", generate_.out, "file to write, in the format of its name")
      ->required()
      ->type_name("FILE");
  const auto count = [&](const char* name, int64_t& target, double least, const char* text) {
    within(generate->add_option(name, target, text), least, kMost)->type_name("N")->capture_default_str();
  };
  count("--scale", generate_.scale, 0, "rmat: 2^N nodes");
  count("--edge-factor", generate_.edge_factor, 0, "rmat: edges drawn a node");
  count("--nodes", generate_.nodes, 0, "community, sbm: nodes");
  count("--degree", generate_.degree, 0, "community: edges drawn a node");
  count("--community", generate_.community, 1, "community: nodes in each");
  within(generate->add_option("--inside", generate_.inside, "community: share of edges inside it"), 0, 1)
      ->type_name("X")
      ->capture_default_str();
  count("--blocks", generate_.blocks, 1, "sbm: number of blocks");
  within(generate->add_option("--degree-in", generate_.degree_in, "sbm: expected edges inside the block"), 0, kMost)
      ->type_name("X")
      ->capture_default_str();
  within(generate->add_option("--degree-out", generate_.degree_out, "sbm: expected edges to other blocks"), 0, kMost)
      ->type_name("X")
      ->capture_default_str();
  generate->add_option("--labels", generate_.labels, "sbm: where to write the block of each node (.npy)")
      ->type_name("FILE");
  count("--columns", generate_.width, 0, "grid: width");
  count("--rows", generate_.height, 0, "grid: height");
  within(generate->add_option("--neighbours", generate_.neighbours, "grid: 4 or 8"), 4, 8)
      ->type_name("N")
      ->capture_default_str();
  generate->add_flag("--keep-duplicates", generate_.keep_duplicates, "rmat, community: keep edges drawn twice");
  generate->add_flag("--ordered", generate_.ordered,
                     "community: leave its nodes beside each other instead of scrambling the ids");

  CLI::App* knn = verb(graph, "knn", "nearest-neighbour graph of feature rows, as a graph or a data set",
                       "Examples:\n  pantile graph knn images.npy --k 10 --out images.pantile\n"
                       "  pantile graph knn images.npy --labels labels.npy --scale 0.00392157 --out images.npz",
                       [this] { return run_graph_knn(knn_, global_); });
  knn->add_option("FEATURES", knn_.features, ".npy array [nodes, ...] of numbers")->required();
  knn->add_option("-o,--out", knn_.out, "file to write")->required()->type_name("FILE");
  within(knn->add_option("-k,--k", knn_.k, "neighbours of each node"), 1, 1 << 20)
      ->type_name("N")
      ->capture_default_str();
  choice(knn->add_option("--metric", knn_.metric, "what near means"), {"cosine", "euclidean"})
      ->type_name("METRIC")
      ->capture_default_str();
  knn->add_flag("--directed", knn_.directed,
                "edges from neighbours only; otherwise both directions, without duplicates");
  knn->add_option("--labels", knn_.labels, ".npy [nodes] of integers: write a data set")->type_name("FILE");
  knn->add_flag("--dataset", knn_.dataset, "write an .npz with edge_index, x and y instead of the graph alone");
  within(knn->add_option("--limit", knn_.limit, "take the first N rows only"), 0, kMost)->type_name("N");
  within(knn->add_option("--scale", knn_.scale, "factor on every feature"), -1e30, 1e30)
      ->type_name("X")
      ->capture_default_str();
}

void CommandLine::add_operators(CLI::App* app, SparsePlanOptions* options) {
  add_graph(app, &options->graph);
  choice(
      app->add_option("--op", options->ops, "operators, separated by commas")->delimiter(',')->allow_extra_args(false),
      forecast_ops())
      ->type_name("OP,...")
      ->capture_default_str();
  within(app->add_option("--width", options->widths, "feature widths, separated by commas")
             ->delimiter(',')
             ->allow_extra_args(false),
         1, 1 << 24)
      ->type_name("N,...")
      ->capture_default_str();
  choice(app->add_option("--dtype", options->dtype, "type of the features"),
         {"float32", "float64", "bfloat16", "float16"})
      ->type_name("TYPE")
      ->capture_default_str();
  within(app->add_option("--budget", options->budget, "seconds to spend on measuring each operator"), 0.001, 3600)
      ->type_name("SECONDS")
      ->capture_default_str();
}

void CommandLine::declare_sparse() {
  CLI::App* sparse = group("sparse", "GNN operators on the CPU: look, predict, measure, train");
  CLI::App* profile = verb(sparse, "profile", "what the graph means for the kernels: rows, work units, balance, memory",
                           "Example:\n  pantile sparse profile graph.pantile --width 16,64,256",
                           [this] { return run_sparse_profile(profile_, global_); });
  add_graph(profile, &profile_.graph);
  within(profile->add_option("--width", profile_.widths, "feature widths, separated by commas")
             ->delimiter(',')
             ->allow_extra_args(false),
         1, 1 << 24)
      ->type_name("N,...")
      ->capture_default_str();

  CLI::App* plan = verb(sparse, "plan", "the chosen path and predicted time of operators",
                        "Runs no operator unless --measure is given. --json gives the whole plan.\n\n"
                        "Example:\n  pantile sparse plan graph.pantile --op spmm,gcn --width 16,64",
                        [this] { return run_sparse_plan(plan_, global_); });
  add_operators(plan, &plan_);
  plan->add_flag("--measure", plan_.measure, "run the operators too");

  explain_.measure = true;
  CLI::App* explain = verb(sparse, "explain", "predicted against measured, and the reason for each choice",
                           "Example:\n  pantile sparse explain graph.pantile --op spmm,gat --width 64",
                           [this] { return run_sparse_explain(explain_, global_); });
  add_operators(explain, &explain_);
  explain->add_flag("--measure,!--no-measure", explain_.measure, "run the operators (--no-measure: predict only)");
  declare_training(sparse);
}

void CommandLine::declare_training(CLI::App* sparse) {
  CLI::App* train =
      verb(sparse, "train", "train a GNN on a data set, without torch",
           "DATA is an .npz with edge_index [2, E], x [N, F], y [N] and perhaps train_mask, val_mask, test_mask,\n"
           "or an OGB raw folder. What is not given is the model's published default.\n"
           "Ctrl-C ends the training and keeps the best weights so far.\n\n"
           "Examples:\n  pantile sparse train --data cora.npz --model gcn --seeds 10\n"
           "  pantile sparse train --data images.npz --model gat --out gat.safetensors",
           [this] { return run_sparse_train(train_, global_); });
  const auto number = [&](const char* name, auto& target, double least, double most, const char* text) {
    return within(train->add_option(name, target, text), least, most)->type_name("N");
  };
  train->add_option("--data", train_.data, "data set: .npz or OGB folder")->required()->type_name("DATA");
  choice(train->add_option("--model", train_.model, "the network; mlp is the same without the graph"),
         {"gcn", "sage", "gin", "gat", "gatv2", "agnn", "transformer", "mlp"})
      ->type_name("MODEL")
      ->capture_default_str();
  train->add_option("-o,--out", train_.out, "where to write the best model (.safetensors)")->type_name("FILE");
  number("--seeds", train_.seeds, 1, 10000, "runs with the seeds --seed, --seed + 1, ...: mean and spread")
      ->capture_default_str();
  number("--hidden", train_.hidden, 1, kMost, "width of the hidden layers, over all heads");
  number("--layers", train_.layers, 1, 1000, "layers");
  number("--heads", train_.heads, 1, kMost, "attention heads");
  number("--output-heads", train_.output_heads, 1, kMost, "attention heads of the last layer");
  number("--epochs", train_.epochs, 1, kMost, "most epochs");
  number("--patience", train_.patience, 0, kMost, "epochs without a better validation score until it stops; 0: never");
  number("--learning-rate,--lr", train_.learning_rate, 0, 1e6, "step of Adam");
  number("--weight-decay", train_.weight_decay, 0, 1e6, "weight decay of Adam");
  number("--dropout", train_.dropout, 0, 1, "dropout of features, and of attention where the model has it");
  number("--input-dropout", train_.input_dropout, 0, 1, "dropout of the input features");
  number("--attention-dropout", train_.attention_dropout, 0, 1, "dropout of attention");
  choice(train->add_option("--aggregation", train_.aggregation, "sage: how neighbours are joined"),
         {"mean", "max", "sum"})
      ->type_name("HOW")
      ->capture_default_str();
  choice(train->add_option("--monitor", train_.monitor, "what the best epoch is best at, on validation nodes"),
         {"accuracy", "loss"})
      ->type_name("WHAT")
      ->capture_default_str();
  declare_split(train);

  CLI::App* eval =
      verb(sparse, "eval", "score a trained model on its data set",
           "Example:\n  pantile sparse eval --data cora.npz --model gcn.safetensors --predictions classes.npy",
           [this] { return run_sparse_eval(eval_, global_); });
  eval->add_option("--data", eval_.data, "the data set that the model was trained on")->required()->type_name("DATA");
  eval->add_option("--model,--model-file", eval_.model_file, "file that sparse train --out wrote")
      ->required()
      ->type_name("FILE");
  eval->add_option("--predictions", eval_.predictions, "where to write the class of every node (.npy)")
      ->type_name("FILE");
}

void CommandLine::declare_split(CLI::App* train) {
  choice(
      train->add_option("--normalise", train_.normalise, "features: rows sum to 1; automatic: where they are counts"),
      {"automatic", "rows", "none"})
      ->type_name("HOW")
      ->capture_default_str();
  train->add_flag("--undirected", train_.undirected, "add the reverse of every edge");
  const auto count = [&](const char* name, auto& target, const char* text) {
    within(train->add_option(name, target, text), 0, kMost)->type_name("N")->capture_default_str();
  };
  count("--split-seed", train_.split_seed, "data without masks: seed of the random split");
  count("--train-per-class", train_.train_per_class, "data without masks: training nodes of each class");
  count("--validation-nodes", train_.validation_nodes, "data without masks: validation nodes");
  count("--test-nodes", train_.test_nodes, "data without masks: test nodes");
}

void CommandLine::declare_bench() {
  CLI::App* bench = group("bench", "measure the operators against the machine's own limits");
  CLI::App* bench_sparse =
      verb(bench, "sparse", "sparse operators against copy and gather rooflines",
           "Without a graph: an R-MAT graph and a community graph. Comparisons with torch, scipy,\n"
           "torch-geometric and dgl: ./dev bench sparse in the source tree.\n\n"
           "Example:\n  pantile bench sparse graph.pantile --op spmm --width 64",
           [this] {
             for (const std::string& path : bench_graphs_) {
               GraphSource source;
               source.path = path;
               bench_.graphs.push_back(std::move(source));
             }
             return run_bench_sparse(bench_, global_);
           });
  bench_sparse->add_option("GRAPH", bench_graphs_, "graphs to measure on");
  choice(bench_sparse->add_option("--op", bench_.ops, "operators, separated by commas")
             ->delimiter(',')
             ->allow_extra_args(false),
         forecast_ops())
      ->type_name("OP,...")
      ->capture_default_str();
  within(bench_sparse->add_option("--width", bench_.widths, "feature widths, separated by commas")
             ->delimiter(',')
             ->allow_extra_args(false),
         1, 1 << 24)
      ->type_name("N,...")
      ->capture_default_str();
  choice(bench_sparse->add_option("--dtype", bench_.dtype, "type of the features"),
         {"float32", "float64", "bfloat16", "float16"})
      ->type_name("TYPE")
      ->capture_default_str();
  within(bench_sparse->add_option("--budget", bench_.budget, "seconds for each operator and width"), 0.001, 3600)
      ->type_name("SECONDS")
      ->capture_default_str();
}

void CommandLine::declare_others() {
  CLI::App* doctor =
      verb(&app_, "doctor", "what this machine offers, measured, and which libraries are there",
           "Example:\n  pantile doctor --json | jq .peaks", [this] { return run_doctor(doctor_, global_); });
  doctor->add_flag("--measure,!--no-measure", doctor_.measure, "measure the peaks (--no-measure: skip that second)");

  CLI::App* rerun =
      verb(&app_, "rerun", "replay a run from its manifest and compare every output",
           "Exit code 1 when anything differs. The files of the first run are not touched.\n\n"
           "Example:\n  pantile graph generate rmat --out g.pantile --manifest run.json\n  pantile rerun run.json",
           [this] { return run_rerun(rerun_, global_); });
  rerun->add_option("MANIFEST", rerun_.manifest, "file that --manifest wrote")->required();
  rerun->add_option("--keep", rerun_.keep, "folder to keep the replayed outputs in")->type_name("FOLDER");

  CLI::App* completion =
      verb(&app_, "completion", "completion script for a shell",
           "Load it in the start file of the shell:\n  bash  source <(pantile completion bash)\n"
           "  zsh   source <(pantile completion zsh)\n  fish  pantile completion fish | source",
           [this] {
             const std::string script = completion_script(tree_of(&app_, "pantile"), shell_);
             return print_result(global_, Value::object().set("shell", shell_).set("script", script), script);
           });
  choice(completion->add_option("SHELL", shell_, "which shell"), {"bash", "zsh", "fish"})->required();
}

OptionInfo CommandLine::info_of(const CLI::Option* option) const {
  OptionInfo info;
  info.positional = option->get_positional();
  if (info.positional) {
    info.names = {option->get_single_name()};
  } else {
    for (const std::string& name : option->get_snames()) info.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) info.names.push_back("--" + name);
    if (option->get_type_size_max() != 0) info.value = option->get_type_name();
  }
  info.description = option->get_description();
  info.required = option->get_required();
  info.many = option->get_expected_max() > 1;
  info.preset = option->get_default_str();
  // The parser shows lists as [a,b]; help writes its own brackets.
  if (info.preset.size() > 1 && info.preset.front() == '[') info.preset = info.preset.substr(1, info.preset.size() - 2);
  if (const auto at = choices_.find(option); at != choices_.end()) info.choices = at->second;
  return info;
}

Command CommandLine::tree_of(const CLI::App* app, const std::string& path) const {
  Command command;
  command.name = app->get_name();
  command.path = path;
  command.summary = app->get_description();
  command.details = app->get_footer();
  for (const CLI::Option* option : app->get_options()) {
    // The options of every command belong to the program; verbs would only repeat them.
    if (app == &app_ || option->get_group() != kGlobalGroup) command.options.push_back(info_of(option));
  }
  for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(tree_of(sub, path + " " + sub->get_name()));
  }
  return command;
}

const Command* CommandLine::parsed_command(const Command& root) const {
  const Command* command = &root;
  const CLI::App* app = &app_;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    for (const Command& sub : command->commands) {
      if (sub.name == app->get_name()) {
        command = &sub;
        break;
      }
    }
  }
  return command;
}

int CommandLine::usage_error(const Command& root, const std::string& message) const {
  const Command* command = parsed_command(root);
  const int code = print_error(global_, {ErrorCode::invalid_argument, message});
  print_note({}, fmt::format("see {} --help", command->path));
  return code;
}

int CommandLine::start_verb(const Names& arguments) {
  if (!global_.manifest.empty()) {
    if (const auto ok = check_output(global_.manifest); !ok)
      return print_error(global_, ok.error().within("--manifest"));
  }
  if (global_.threads > 0) set_num_threads(global_.threads);
  const Stopwatch watch;
  const int code = start_();
  if (interrupted()) {
    print_note({}, "interrupted; no file was left half-written");
    return kInterruptedExit;
  }
  if (!global_.manifest.empty() && !global_.dry_run && code <= 1) {
    const auto written = write_manifest(global_, arguments, code, watch.seconds());
    if (!written) return print_error(global_, written.error().within("--manifest"));
  }
  return code;
}

int CommandLine::run(const Names& arguments) {
  const Command root = tree_of(&app_, "pantile");
  if (arguments.empty()) {
    Command bare = root;
    bare.options.clear();
    std::fputs(help_text(bare, root.options).c_str(), stderr);
    return 2;
  }
  const std::string unknown = unknown_word(root, arguments);
  try {
    // The parser takes its arguments from the back.
    app_.parse(Names(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    Command command = *parsed_command(root);
    if (command.path == root.path) command.options.clear();
    return print_result({}, {}, help_text(command, root.options));
  } catch (const CLI::CallForVersion&) {
    return print_result({}, {}, fmt::format("pantile {}", PANTILE_VERSION));
  } catch (const CLI::ParseError& e) {
    return usage_error(root, unknown.empty() ? e.what() : unknown);
  }
  return start_verb(arguments);
}

/// A file opened in place of a closed stdout would receive the result; better to say so at once.
bool stdout_is_open() { return fcntl(STDOUT_FILENO, F_GETFD) >= 0; }

}  // namespace
}  // namespace pantile::cli

int main(int argc, char** argv) {
  using namespace pantile;
  const cli::GlobalOptions plain;
  if (!cli::stdout_is_open())
    return cli::print_error(plain, {ErrorCode::io, "stdout is closed; there is nowhere to write the result"});
  cli::install_interrupt();
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  // `pantile help graph info` is what people type who know git.
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  try {
    return cli::CommandLine().run(arguments);
  } catch (const std::bad_alloc&) {
    return cli::print_error(plain, {ErrorCode::out_of_memory, "out of memory"});
  } catch (const std::exception& e) {
    return cli::print_error(plain, {ErrorCode::internal, fmt::format("unexpected failure: {}", e.what())});
  }
}
