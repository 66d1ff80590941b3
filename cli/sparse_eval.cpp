#include "cli/sparse_eval.h"

#include <fmt/format.h>

#include <pantile/io/npy.h>
#include <pantile/nn/checkpoint.h>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/training_facts.h"

namespace pantile::cli {
namespace {

Result<int> evaluate(const SparseEvalOptions& options, const GlobalOptions& global) {
  if (!options.predictions.empty()) PANTILE_CHECK(announce_output(global, options.predictions));
  announce_input(global, options.model_file);
  PANTILE_TRY(const auto info, nn::read_checkpoint_info(options.model_file));
  PANTILE_TRY(const nn::Dataset data, load_training_data(global, options.data, info.dataset_options));
  if (const auto same = nn::check_dataset(info, data); !same) {
    return tl::unexpected<Error>(same.error().within(options.model_file));
  }
  PANTILE_TRY(const auto topology, nn::Topology::of(data.graph, data.edge_weights));
  PANTILE_TRY(auto network, nn::Network<float>::make(info.model, topology, data.shape(), info.seed));
  PANTILE_CHECK(nn::load_weights(options.model_file, network));
  const Stopwatch watch;
  PANTILE_TRY(const nn::Evaluation result, nn::evaluate(network, data));
  const double seconds = watch.seconds();
  global.record->timing("evaluate", seconds);
  global.record->result("predictions",
                        hash_bytes(result.predictions.data(), result.predictions.size() * sizeof(int64_t)).hex());

  const bool write = !options.predictions.empty() && !global.dry_run;
  if (write) {
    PANTILE_CHECK(
        write_npy(options.predictions,
                  {result.predictions.data(), DType::i64, {static_cast<int64_t>(result.predictions.size())}}));
  }
  const Value json = Value::object()
                         .set("dataset", to_value(data))
                         .set("model", to_value(info.model))
                         .set("model_file", options.model_file)
                         .set("train", to_value(result.train))
                         .set("validation", to_value(result.validation))
                         .set("test", to_value(result.test))
                         .set("seconds", seconds)
                         .set("predictions", write ? Value(options.predictions) : Value());
  std::string text =
      dataset_text(data) + fmt::format("{} of Pantile {}, seed {}, epoch {}:\n{}", nn::name(info.model.kind),
                                       info.version, info.seed, info.best_epoch, network.describe());
  text +=
      fmt::format("\ntrain {}, validation {}, test {}, in {}\n", accuracy_text(result.train.accuracy),
                  accuracy_text(result.validation.accuracy), accuracy_text(result.test.accuracy), as_seconds(seconds));
  if (write) text += fmt::format("predictions: {}\n", options.predictions);
  return print_result(global, json, text);
}

}  // namespace

int run_sparse_eval(const SparseEvalOptions& options, const GlobalOptions& global) {
  const auto code = evaluate(options, global);
  return code ? *code : print_error(global, code.error());
}

}  // namespace pantile::cli
