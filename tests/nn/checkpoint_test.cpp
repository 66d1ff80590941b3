#include <pantile/io/safetensors.h>
#include <pantile/nn/checkpoint.h>
#include <cmath>
#include <fstream>

#include "nn/small_data.h"
#include "support/temporary_folder.h"

namespace pantile::nn::test {
namespace {

struct Trained {
  Dataset data = toy_dataset(60, 3, 12, 4);
  ModelConfig model;
  TrainConfig training;
  TrainResult result;
  CheckpointInfo info;
  std::string path;

  Trained(const pantile::test::TemporaryFolder& folder, ModelKind kind)
      : model(default_model(kind)), path(folder / "m.safetensors") {
    model.hidden = 6;
    model.dropout = 0.123456789012345678;
    training.epochs = 5;
    training.seed = 0xffffffffffffffffull;
    auto network = make(3);
    result = must(train(network, data, training));
    DatasetOptions options;
    options.undirected = true;
    info = CheckpointInfo::of(model, training, 3, data, options, result);
    info.version = "1.2.3";
    const auto saved = save_checkpoint(path, network, info);
    EXPECT_TRUE(saved) << saved.error().message;
  }
  Network<float> make(uint64_t seed) const {
    return must(Network<float>::make(model, must(Topology::of(data.graph)), data.shape(), seed));
  }
};

TEST(Checkpoint, EveryModelReadsBackToTheSameScores) {
  for (const ModelKind kind : kModelKinds) {
    SCOPED_TRACE(name(kind));
    const pantile::test::TemporaryFolder folder;
    const Trained t(folder, kind);
    const auto info = must(read_checkpoint_info(t.path));
    EXPECT_TRUE(check_dataset(info, t.data));
    auto network = must(Network<float>::make(info.model, must(Topology::of(t.data.graph)), t.data.shape(), 99));
    ASSERT_TRUE(load_weights(t.path, network));
    const auto again = must(evaluate(network, t.data));
    EXPECT_EQ(again.test.loss, t.result.test.loss);
    EXPECT_EQ(again.test.accuracy, t.result.test.accuracy);
  }
}

TEST(Checkpoint, RemembersEverySetting) {
  const pantile::test::TemporaryFolder folder;
  const Trained t(folder, ModelKind::gat);
  const auto i = must(read_checkpoint_info(t.path));
  EXPECT_EQ(i.model.kind, ModelKind::gat);
  EXPECT_EQ(i.model.hidden, 6);
  EXPECT_EQ(i.model.heads, 8);
  EXPECT_EQ(i.model.dropout, 0.123456789012345678);
  EXPECT_EQ(i.training.seed, 0xffffffffffffffffull);
  EXPECT_EQ(i.training.epochs, 5);
  EXPECT_EQ(i.seed, 3u);
  EXPECT_EQ(i.features, 12);
  EXPECT_EQ(i.classes, 3);
  EXPECT_EQ(i.dataset_name, "toy");
  EXPECT_EQ(i.dataset_fingerprint, t.data.fingerprint.hex());
  EXPECT_TRUE(i.dataset_options.undirected);
  EXPECT_EQ(i.version, "1.2.3");
  EXPECT_EQ(i.test_accuracy, t.result.test.accuracy);
}

TEST(Checkpoint, AnotherDatasetIsRefusedByName) {
  const pantile::test::TemporaryFolder folder;
  const Trained t(folder, ModelKind::gcn);
  const auto info = must(read_checkpoint_info(t.path));
  Dataset other = toy_dataset(60, 3, 12, 5);
  other.name = "other";
  const auto refused = check_dataset(info, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  for (const char* part : {"'toy'", "'other'"}) EXPECT_NE(refused.error().message.find(part), std::string::npos);
  EXPECT_NE(check_dataset(info, toy_dataset(60, 3, 13, 5)).error().message.find("13 features, the model takes 12"),
            std::string::npos);
  EXPECT_NE(check_dataset(info, toy_dataset(90, 3, 12, 5)).error().message.find("90 nodes"), std::string::npos);
}

/// Writes the trained file again with one change.
void rewrite(const std::string& path, const std::function<void(SafeTensors&)>& change) {
  auto file = must(read_safetensors(path));
  change(file);
  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : file.tensors) views[name] = tensor.view();
  ASSERT_TRUE(write_safetensors(path, views, file.metadata));
}

TEST(Checkpoint, DamagedFilesAreRefusedWithTheirReason) {
  const pantile::test::TemporaryFolder folder;
  const auto info_error = [&](const std::function<void(SafeTensors&)>& change) {
    const Trained t(folder, ModelKind::gcn);
    rewrite(t.path, change);
    const auto got = read_checkpoint_info(t.path);
    return got ? std::string("accepted") : got.error().message;
  };
  const auto mentions = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(mentions(info_error([](SafeTensors& f) { f.metadata.clear(); }), "pantile.format"));
  EXPECT_TRUE(mentions(info_error([](SafeTensors& f) { f.metadata["pantile.format"] = "2"; }), "format 2"));
  EXPECT_TRUE(mentions(info_error([](SafeTensors& f) { f.metadata["pantile.hidden"] = "6x"; }), "pantile.hidden"));
  EXPECT_TRUE(mentions(info_error([](SafeTensors& f) { f.metadata["pantile.model"] = "rnn"; }), "'rnn'"));
  EXPECT_TRUE(mentions(info_error([](SafeTensors& f) { f.metadata.erase("pantile.seed"); }), "pantile.seed"));
}

TEST(Checkpoint, TensorsThatDoNotFitAreNamed) {
  const pantile::test::TemporaryFolder folder;
  const auto load_error = [&](const std::function<void(SafeTensors&)>& change) {
    const Trained t(folder, ModelKind::gcn);
    rewrite(t.path, change);
    auto network = t.make(1);
    const auto got = load_weights(t.path, network);
    return got ? std::string("accepted") : got.error().message;
  };
  EXPECT_NE(load_error([](SafeTensors& f) { f.tensors.erase("convs.0.bias"); }).find("'convs.0.bias' is missing"),
            std::string::npos);
  EXPECT_NE(load_error([](SafeTensors& f) {
              f.tensors["convs.0.bias"].shape = {2, 3};
            }).find("[2, 3]"),
            std::string::npos);
  EXPECT_NE(load_error([](SafeTensors& f) {
              f.tensors["extra"] = must(Tensor::allocate(DType::f32, {0}));
            }).find("5 tensors"),
            std::string::npos);
}

TEST(Checkpoint, AFileOfAnotherKindIsRefused) {
  const pantile::test::TemporaryFolder folder;
  std::ofstream(folder / "x.safetensors") << "garbage";
  EXPECT_FALSE(read_checkpoint_info(folder / "x.safetensors"));
  EXPECT_FALSE(read_checkpoint_info(folder / "missing.safetensors"));
}

}  // namespace
}  // namespace pantile::nn::test
