// Model folders of Transformers that are trained, measured and pruned on data of one's own.
#include "cli/runs.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "support/small_folders.hpp"
#include "support/small_marian.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using headroom::Index;
using headroom::small_folder;
using headroom::SmallFolder;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// 40 different texts of the letters a to f, as words or joined.
std::vector<std::string> texts(const std::string& between) {
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int rest = i + 7; rest > 0; rest /= 3) {
      text += (text.empty() ? "" : between) + std::string(1, char('a' + (i + rest) % 6));
    }
    all.push_back(text);
  }
  return all;
}

std::string lines_of(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

/// A model folder with its tokenizer, and data for it.
struct Tuned {
  std::string task, architecture;
  std::string data;  // the name of the file
};

const std::vector<Tuned> all_tuned{{"masked", "BertForMaskedLM", "lines.txt"},
                                   {"classify", "BertForSequenceClassification", "labels.tsv"},
                                   {"keep", "BertModel", "lines.txt"},
                                   {"text", "GPT2LMHeadModel", "text.txt"},
                                   {"pairs", "MarianMTModel", "pairs.tsv"}};

bool has_sentence_piece(const TemporaryFolder& folder) {
  try {
    headroom::open_tokenizer(folder.path());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Writes the model into `model` and the data into `folder`.
void write(const Tuned& tuned, const TemporaryFolder& model, const TemporaryFolder& folder) {
  const bool text = tuned.task == "text";
  SmallFolder small = small_folder(tuned.architecture, text ? std::ssize(bpe_tokens()) : 11);
  if (tuned.task == "classify") {
    small.json["id2label"] = {{"0", "low"}, {"1", "high"}, {"2", "none"}};
  }
  if (tuned.task == "pairs") {
    small.json.update({{"decoder_start_token_id", 10}, {"eos_token_id", 0}});
    model.file("source.spm", marian_source());
    model.file("target.spm", marian_target());
    model.file("vocab.json",
               ids_of({"</s>", "<unk>", space_mark + "the", "c", "at", space_mark + "die", "Katze",
                       space_mark, ">>deu<<", "x", "<pad>"})
                   .dump());
  } else if (text) {
    write_gpt2(model);
  } else {
    model.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\n");
  }
  small.write(model);
  std::vector<std::string> labels{"text\tlabel"}, numbers = labels, pairs{"source\ttarget"};
  const std::vector<std::string> words = texts(" ");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t number = i % 3;
    labels.push_back(words[i] + "\t" + (number == 0 ? "low" : number == 1 ? "high" : "none"));
    numbers.push_back(words[i] + "\t" + std::to_string(number));
    std::string source;  // in the words of Marian's vocabulary
    for (const char letter : words[i]) {
      source += letter == ' ' ? " " : letter < 'c' ? "the" : letter < 'e' ? "cat" : "x";
    }
    pairs.push_back(source + "\tdie Katze");
  }
  folder.file("lines.txt", lines_of(words));
  folder.file("text.txt", lines_of(texts("")) + lines_of(words));
  folder.file("labels.tsv", lines_of(labels));
  folder.file("numbers.tsv", lines_of(numbers));
  folder.file("pairs.tsv", lines_of(pairs));
}

}  // namespace

TEST_CASE("a model folder is measured, pruned, trained on, and written back, for each task") {
  for (const Tuned& tuned : all_tuned) {
    INFO(tuned.task);
    const TemporaryFolder folder, model;
    write(tuned, model, folder);
    if (tuned.task == "pairs" && !has_sentence_piece(model)) continue;
    const std::string path = model.path().string();
    const auto run = [&](std::vector<std::string> words) {
      const Finished done = headroom_program(std::move(words), folder);
      INFO(done.err << done.out);
      CHECK(done.code == 0);
      return done;
    };

    const Finished measured = run({"importance", "--model", path, "--data", tuned.data, "--metric",
                                   "sensitivity,leave_one_out", "--json"});
    const json importance = json::parse(measured.out);
    CHECK(importance["metrics"].size() == 2);
    CHECK(importance["heads"].size() == (tuned.task == "pairs" ? 12 : 8));
    CHECK_THAT(measured.err,
               StartsWith(importance["examples"].dump() + " examples to measure heads") &&
                   Contains("an example: "));

    run({"prune", "--model", path, "--data", tuned.data, "--keep", "6", "--metric", "leave_one_out",
         "--out", "pruned"});
    const Finished again =
        run({"importance", "--model", "pruned", "--metric", "sensitivity", "--json"});
    CHECK(json::parse(again.out)["heads"].size() == 6);

    const Finished trained =
        run({"train",    "--from",       path,    "--task",     tuned.task, "--data",
             tuned.data, "--steps",      "6",     "--batch",    "4",        "--prune",
             "2",        "--prune-from", "2",     "--prune-to", "4",        "--evaluate-every",
             "3",        "--split",      "2:1:1", "--out",      "run"});
    CHECK_THAT(trained.err, Contains("examples for training"));
    const json config = json::parse(content(folder / "run/config.json"));
    CHECK(config["task"]["folder"] == path);
    CHECK(config["task"]["name"] == tuned.task);
    const json summary = json::parse(content(folder / "run/summary.json"));
    CHECK(summary["heads_alive"] == (tuned.task == "pairs" ? 10 : 6));
    CHECK(summary["test"].contains("test_loss"));
    CHECK(fs::exists(folder / "run/report.html"));

    // A run that ends in the middle and is resumed gives the same model.
    run({"train",    "--from",       path, "--task",     tuned.task, "--data",
         tuned.data, "--steps",      "6",  "--batch",    "4",        "--prune",
         "2",        "--prune-from", "2",  "--prune-to", "4",        "--evaluate-every",
         "3",        "--until",      "3",  "--split",    "2:1:1",    "--out",
         "half"});
    json half = json::parse(content(folder / "half/config.json"));
    half["training"].erase("until");
    folder.file("half/config.json", half.dump(2));
    run({"train", "--resume", "--accept-changes", "--out", "half"});
    CHECK(headroom::TensorFile::read(folder / "half/best.safetensors").names() ==
          headroom::TensorFile::read(folder / "run/best.safetensors").names());
    CHECK(json::parse(content(folder / "half/summary.json"))["test"] == summary["test"]);

    run({"train", "--from", "run", "--steps", "2", "--evaluate-every", "2", "--out", "more"});
    run({"export", "--model", "run", "--form", "dense", "--out", "dense"});
    const headroom::ModelFolder dense = headroom::open_model_folder(
        folder / "dense", tuned.task == "text" ? "GPT2LMHeadModel" : "");
    CHECK(dense.removed.size() == 2);
    CHECK(dense.absent().empty());
    CHECK(fs::exists(folder / "dense/README.md"));
    const Finished measured_again = run({"importance", "--model", "dense", "--data", tuned.data,
                                         "--metric", "leave_one_out", "--json"});
    // The removed heads are known as removed, though the dense form has them as zeros.
    CHECK(json::parse(measured_again.out)["heads"].size() == importance["heads"].size() - 2);

    // A folder that has lost heads is trained on, and its run as well.
    if (tuned.task != "keep") continue;
    run({"export", "--model", "run", "--form", "compact", "--out", "compact"});
    run({"train", "--from", (folder / "compact").string(), "--data", tuned.data, "--steps", "2",
         "--evaluate-every", "2", "--prune", "1", "--prune-from", "1", "--prune-to", "2", "--split",
         "2:1:1", "--out", "fewer"});
    run({"train", "--from", "fewer", "--steps", "2", "--evaluate-every", "2", "--out", "fewest"});
    CHECK(json::parse(content(folder / "fewest/summary.json"))["heads_alive"] == 5);
  }
}

TEST_CASE("a model without a classifier gets one for the classes of the data") {
  const TemporaryFolder folder, model;
  write(all_tuned[0], model, folder);
  const std::string path = model.path().string();
  const auto run = [&](const std::vector<std::string>& words) {
    const Finished done = headroom_program(words, folder);
    INFO(done.err);
    CHECK(done.code == 0);
    return done.out;
  };
  run({"train",      "--from",  path, "--task",           "classify", "--data",
       "labels.tsv", "--steps", "3",  "--evaluate-every", "3",        "--split",
       "2:1:1",      "--prune", "1",  "--prune-from",     "1",        "--prune-to",
       "2",          "--out",   "run"});
  run({"importance", "--model", "run", "--metric", "sensitivity"});
  run({"export", "--model", "run", "--form", "dense", "--out", "dense"});
  const json config = json::parse(content(folder / "dense/config.json"));
  CHECK(config["architectures"] == json{"BertForSequenceClassification"});
  CHECK(config["id2label"] == json{{"0", "high"}, {"1", "low"}, {"2", "none"}});
  const auto loaded = headroom::open_model_folder(folder / "dense").saved();
  const auto kept = headroom::load_model(folder / "run/best.safetensors");
  CHECK(loaded.classifier().output.weight.shape() == headroom::Shape{3, 8});
  const headroom::Array ours = kept.classifier().output.weight.value();
  for (Index i = 0; i < ours.size(); ++i) {
    CHECK(float(loaded.classifier().output.weight.value()[i]) == float(ours[i]));
  }
  const Finished measured = headroom_program(
      {"importance", "--model", path, "--task", "classify", "--data", "labels.tsv"}, folder);
  CHECK(measured.code == 2);
  CHECK_THAT(measured.err, Contains("has no classifier yet"));
}

TEST_CASE("parts of a model are frozen or have a rate of their own") {
  const TemporaryFolder folder, model;
  write(all_tuned[1], model, folder);
  const auto train = [&](std::vector<std::string> more, const std::string& out) {
    std::vector<std::string> words{"train",
                                   "--from",
                                   model.path().string(),
                                   "--data",
                                   "labels.tsv",
                                   "--steps",
                                   "2",
                                   "--evaluate-every",
                                   "2",
                                   "--batch",
                                   "40",
                                   "--out",
                                   out};
    words.insert(words.end(), more.begin(), more.end());
    return headroom_program(words, folder);
  };
  CHECK(train({}, "plain").code == 0);
  CHECK(train({"--freeze", "embeddings,encoder.layers.0.", "--part-rates", "classifier=0.5"}, "run")
            .code == 0);
  const auto plain = headroom::load_model(folder / "plain/best.safetensors");
  const auto tuned = headroom::load_model(folder / "run/best.safetensors");
  const auto before = headroom::open_model_folder(model.path()).load();
  const auto values = [](headroom::Module& of) {
    std::map<std::string, headroom::Array> all;
    for (const auto& [name, tensor] : headroom::parameters(of)) all[name] = tensor.value();
    return all;
  };
  const auto first = values(*before), free = values(*plain.model), ruled = values(*tuned.model);
  const auto moved = [&](const std::string& name) {
    return std::pair(double(std::abs(free.at(name)[0] - first.at(name)[0])),
                     double(std::abs(ruled.at(name)[0] - first.at(name)[0])));
  };
  for (const char* name : {"embedding.weight", "encoder.layers.0.linear1.weight"}) {
    bool same = true, free_same = true;
    for (Index i = 0; i < first.at(name).size(); ++i) {
      same = same && ruled.at(name)[i] == first.at(name)[i];
      free_same = free_same && free.at(name)[i] == first.at(name)[i];
    }
    INFO(name);
    CHECK(same);
    CHECK_FALSE(free_same);
  }
  // Adam's first steps have the length of the rate.
  const auto [whole, part] = moved("output.weight");
  CHECK(part > 0.4 * whole);
  CHECK(part < 0.6 * whole);

  const Finished unknown = train({"--freeze", "tower"}, "x");
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("no parameter's name contains \"tower\""));
  const Finished query = train({"--freeze", "query"}, "x");
  CHECK(query.code == 2);
  CHECK_THAT(query.err, Contains("\"query\" is part of a matrix that is trained as a whole"));
  const Finished nothing = train({"--freeze", "."}, "x");
  CHECK_THAT(nothing.err, Contains("nothing is left to train"));
  const Finished malformed = train({"--part-rates", "classifier"}, "x");
  CHECK_THAT(malformed.err, Contains("--part-rates \"classifier\" is not a part with"));
  CHECK_THAT(train({"--part-rates", "classifier=2,classifier=3"}, "x").err,
             Contains("--part-rates: \"classifier\" is there twice"));
  CHECK_THAT(train({"--freeze", "bert,classifier"}, "x").err, Contains("nothing is left to train"));
  CHECK_FALSE(fs::exists(folder / "x"));
}

TEST_CASE("labels are names of classes or the numbers of all") {
  const TemporaryFolder folder, model;
  write(all_tuned[1], model, folder);
  const auto measured = [&](const std::string& data) {
    return headroom_program({"importance", "--model", model.path().string(), "--data", data,
                             "--metric", "leave_one_out", "--json"},
                            folder);
  };
  const Finished names = measured("labels.tsv");
  CHECK(names.code == 0);
  CHECK(json::parse(names.out)["metrics"] == json::parse(measured("numbers.tsv").out)["metrics"]);
  folder.file("mixed.tsv", "text\tlabel\n" + lines_of({"a b\tlow", "c\t1", "d\thigh", "e\t2"}));
  CHECK_THAT(measured("mixed.tsv").err, Contains("is none of the model's classes"));
}

TEST_CASE("a run that begins with a run of a model folder has its classes and its rates") {
  const TemporaryFolder folder, model;
  write(all_tuned[0], model, folder);
  const auto train = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", "--steps", "2",    "--evaluate-every",
                                   "2",     "--split", "2:1:1"};
    words.insert(words.end(), more.begin(), more.end());
    return headroom_program(words, folder);
  };
  const std::string path = model.path().string();
  CHECK(
      train({"--from", path, "--task", "classify", "--data", "labels.tsv", "--out", "run"}).code ==
      0);
  folder.file("other.tsv",
              "text\tlabel\n" + lines_of({"a b\thigh", "c\tmore", "d\thigh", "e\tlow"}));
  const Finished other = train({"--from", "run", "--data", "other.tsv", "--out", "more"});
  CHECK(other.code == 4);
  CHECK_THAT(other.err, Contains("the label \"more\" is none of the model's classes"));
  CHECK_FALSE(fs::exists(folder / "more"));

  const auto config = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"--data", "labels.tsv", "--print-config"};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(train(words).out);
  };
  const json usual = config({"--from", path, "--task", "classify"}),
             named = config({"--from", path, "--task", "classify", "--optimizer", "adamw"});
  CHECK(usual["training"]["peak_rate"] == 5e-5);
  CHECK(named["training"]["peak_rate"] == 5e-5);
  const json dropped = config({"--from", "run", "--dropout", "0.25"});
  CHECK(dropped["model"]["dropout"] == 0.25);
  CHECK(dropped["model"]["attention_dropout"] == 0.25);
}

TEST_CASE("lines of standard input are texts, with commas and tabs, unless a column is named") {
  const TemporaryFolder folder, model;
  write(all_tuned[2], model, folder);
  const auto trained = [&](const std::string& file, const std::string& more) {
    const Finished done = run_process(
        {"bash", "-c",
         "cat " + file + " | " + HEADROOM_PROGRAM + " train --task keep --data - --steps 1 " +
             "--evaluate-every 1 --force --out run --from " + model.path().string() + more},
        {}, folder.path());
    INFO(done.err);
    CHECK(done.code == 0);
    return std::pair(json::parse(content(folder / "run/config.json"))["task"]["data"],
                     json::parse(content(folder / "run/summary.json"))["test"]);
  };
  std::vector<std::string> commas = texts(", "), columns{"number\ttext"};
  for (const std::string& text : texts(" ")) columns.push_back("1\t" + text);
  folder.file("commas.txt", lines_of(commas));
  folder.file("columns.tsv", lines_of(columns));
  const auto [data, test] = trained("commas.txt", "");
  CHECK(data.get<std::string>().find(".txt") != std::string::npos);
  const auto [table, of_column] = trained("columns.tsv", " --columns text");
  CHECK(table.get<std::string>().find(".tsv") != std::string::npos);
  CHECK(of_column == trained("lines.txt", "").second);
}

TEST_CASE("what cannot be trained or measured of a model folder is one line with a remedy") {
  const TemporaryFolder folder, model;
  write(all_tuned[1], model, folder);
  folder.file("unknown.tsv", "text\tlabel\n" + lines_of({"a b\tlow", "c\tmiddle", "d\thigh"}));
  folder.file("empty.txt", "");
  folder.file("two.txt", "a\nb\n");
  folder.file("few.txt", "a\nb\nc\nd\ne f\na b\n");
  const std::string path = model.path().string();
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } bad[] = {
      {{"importance", "--model", path}, 2, "name a file with --data"},
      {{"prune", "--model", path, "--keep", "3"}, 2, "name a file with --data"},
      {{"importance", "--model", path, "--data", "unknown.tsv"},
       4,
       "unknown.tsv:3: the label \"middle\" is none of the model's classes: low, high, none"},
      {{"importance", "--model", path, "--data", "lines.txt", "--task", "masked"},
       2,
       "cannot be trained or measured for masked, only for classify and keep"},
      {{"importance", "--model", path, "--data", "empty.txt", "--task", "keep"}, 4, "empty.txt"},
      {{"importance", "--model", path, "--data", "two.txt", "--task", "keep"}, 4, "two.txt"},
      {{"importance", "--model", path, "--data", "none.txt", "--task", "keep"}, 5, "none.txt"},
      {{"train", "--task", "keep", "--data", "lines.txt"}, 2, "needs a model folder"},
      {{"train", "--from", path, "--task", "dates"}, 2, "dates is not one of a model folder"},
      {{"train", "--from", path, "--data", "labels.tsv", "--width", "16"}, 2, "--width"},
      {{"train", "--from", path, "--data", "labels.tsv", "--moments", "keep"}, 2, "no moments"},
      {{"train", "--from", path}, 2, "needs a data file"},
      {{"train", "--from", path, "--data", "labels.tsv", "--fold", "1/5"}, 2, "--fold: "},
      {{"train", "--from", path, "--data", "labels.tsv", "--longest", "9"}, 2, "--longest: "},
      {{"importance", "--model", path, "--data", "labels.tsv", "--set", "train"}, 2, "needs a run"},
  };
  for (const auto& one : bad) {
    const Finished run = headroom_program(one.words, folder);
    INFO(one.says << "\n" << run.err);
    CHECK(run.code == one.code);
    CHECK_THAT(run.err, Contains(one.says));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  const Finished few = headroom_program({"train", "--from", path, "--task", "keep", "--data",
                                         "few.txt", "--prune", "2", "--out", "few"},
                                        folder);
  CHECK(few.code == 2);
  CHECK_THAT(few.err, Contains("importance set is empty"));
  CHECK_FALSE(fs::exists(folder / "few"));
  // A run whose folder is gone says so.
  CHECK(headroom_program({"train", "--from", path, "--data", "labels.tsv", "--steps", "1",
                          "--evaluate-every", "1", "--out", "run"},
                         folder)
            .code == 0);
  CHECK_THAT(headroom_program({"evaluate", "--model", "run"}, folder).err,
             Contains("evaluate is for models of headroom's own"));
  const Finished inside = headroom_program(
      {"export", "--model", "run", "--form", "dense", "--out", path + "/inside"}, folder);
  CHECK(inside.code == 2);
  CHECK_FALSE(fs::exists(model / "inside"));
  // So does one whose folder has other weights.
  const std::string tensors = content(model / "model.safetensors");
  std::string changed = tensors;
  changed.back() = char(changed.back() ^ 1);
  model.file("model.safetensors", changed);
  const Finished other = headroom_program({"importance", "--model", "run"}, folder);
  CHECK(other.code == 5);
  CHECK_THAT(other.err,
             Contains("the run began with other weights") && Contains("restore the model folder"));
  model.file("model.safetensors", tensors);
  fs::rename(model / "config.json", model / "other.json");
  for (const char* command : {"importance", "export"}) {
    std::vector<std::string> words{command, "--model", "run"};
    if (words[0] == "export") words.insert(words.end(), {"--form", "dense"});
    const Finished gone = headroom_program(words, folder);
    INFO(gone.err);
    CHECK(gone.code == 5);
    CHECK_THAT(gone.err, Contains("is gone; put it there again"));
  }
}
