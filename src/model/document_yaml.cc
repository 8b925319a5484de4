// YAML text into a DocumentBuilder. The only file that knows yaml-cpp.
#include <istream>
#include <streambuf>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "model/document_builder.h"

namespace fairlead {
namespace {

int line_of(const YAML::Mark& mark) {
  return mark.line + 1;
}

class Handler final : public YAML::EventHandler {
 public:
  explicit Handler(DocumentBuilder& builder) : builder_(builder) {}

  // yaml-cpp 0.7 does not get past a "," or "]" where a document begins, and calls it an empty
  // document for ever.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == last_start_) {
      throw DocumentRefused{DocumentProblem{line_of(mark),
                                            ErrorCode::kInvalidArgument,
                                            "not valid YAML: no value can begin here",
                                            "remove the comma or bracket that opens nothing",
                                            {}}};
    }
    last_start_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.null(line_of(mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.alias(line_of(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // "?" is a plain scalar, "!" one in quotes or a block.
    check_tag(mark, tag);
    builder_.scalar(value, tag == "!" || tag == "tag:yaml.org,2002:str", line_of(mark), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    builder_.open(ValueKind::kList, line_of(mark), anchor);
  }
  void OnSequenceEnd() override { builder_.close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    builder_.open(ValueKind::kMap, line_of(mark), anchor);
  }
  void OnMapEnd() override { builder_.close(); }

 private:
  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    for (const char* known : {"str", "int", "float", "bool", "null", "seq", "map"}) {
      if (tag == std::string("tag:yaml.org,2002:") + known) return;
    }
    throw DocumentRefused{DocumentProblem{line_of(mark),
                                          ErrorCode::kInvalidArgument,
                                          "the tag \"" + tag + "\" has no meaning here",
                                          "remove it",
                                          {}}};
  }

  DocumentBuilder& builder_;
  int last_start_ = -1;
};

// Reads from a string_view without copying it.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // never written to: there is no put area
    setg(begin, begin, begin + text.size());
  }
};

std::string cure_for(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line && begin != std::string_view::npos; ++i) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  if (begin == std::string_view::npos) return {};
  const std::size_t first = text.find_first_not_of(" \t", begin);
  const std::string_view indent =
      text.substr(begin, first == std::string_view::npos ? 0 : first - begin);
  if (indent.find('\t') != std::string_view::npos) return "indent with spaces, not with tabs";
  return "check indentation, colons and quotes near this line";
}

}  // namespace

std::vector<DocumentProblem> read_yaml(std::string_view text, DocumentBuilder& builder,
                                       std::vector<Value>& roots) {
  try {
    ViewBuffer buffer(text);
    std::istream in(&buffer);
    YAML::Parser parser(in);
    Handler handler(builder);
    while (parser.HandleNextDocument(handler)) {
      if (!builder.has_root()) continue;
      Value root = builder.take_root();
      if (!root.is_null()) roots.push_back(std::move(root));
    }
  } catch (DocumentRefused& refused) {
    return {std::move(refused.problem)};
  } catch (const YAML::Exception& e) {
    const int line = e.mark.is_null() ? 1 : line_of(e.mark);
    return {DocumentProblem{
        line, ErrorCode::kInvalidArgument, "not valid YAML: " + e.msg, cure_for(text, line), {}}};
  } catch (const std::exception& e) {
    return {DocumentProblem{
        1, ErrorCode::kInvalidArgument, std::string("not valid YAML: ") + e.what(), {}, {}}};
  }
  builder.link_all(roots);
  return builder.take_problems();
}

}  // namespace fairlead
