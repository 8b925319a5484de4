#include "model/tree.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

Tree sample() {
  Tree root = Tree::map();
  root.add("name", Tree::string("a"));
  root.add("portion", Tree::number("0.3"));
  root.add("looks like a number", Tree::string("16"));
  Tree& list = root.add("items", Tree::list());
  Tree item = Tree::map();
  item.add("key", Tree::string("k"));
  item.add("inner", Tree::strings({"x", "yes", ""})).push(Tree::list());
  list.push(std::move(item));
  root.add("empty", Tree::list());
  return root;
}

TEST(Tree, PrintsYamlThatAPersonWouldWrite) {
  EXPECT_EQ(to_yaml(sample()),
            "name: a\n"
            "portion: 0.3\n"
            "\"looks like a number\": \"16\"\n"
            "items:\n"
            "  - key: k\n"
            "    inner:\n"
            "      - x\n"
            "      - \"yes\"\n"
            "      - \"\"\n"
            "      - []\n"
            "empty: []\n");
}

TEST(Tree, PrintsJson) {
  EXPECT_EQ(to_json(sample()),
            "{\n"
            "  \"name\": \"a\",\n"
            "  \"portion\": 0.3,\n"
            "  \"looks like a number\": \"16\",\n"
            "  \"items\": [\n"
            "    {\n"
            "      \"key\": \"k\",\n"
            "      \"inner\": [\n"
            "        \"x\",\n"
            "        \"yes\",\n"
            "        \"\",\n"
            "        []\n"
            "      ]\n"
            "    }\n"
            "  ],\n"
            "  \"empty\": []\n"
            "}\n");
}

TEST(Tree, ControlCharactersAreEscaped) {
  EXPECT_EQ(to_json(Tree::string("a\"\\\n\x01\x7f→")), "\"a\\\"\\\\\\n\\u0001\\u007f→\"\n");
}

}  // namespace
}  // namespace fairlead
