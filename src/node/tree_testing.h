// A folder of files for one test, as /proc and /sys would show them; gone at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fairlead::node {

class TestTree {
 public:
  TestTree() : path_("/tmp/fairlead-node-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  TestTree(const TestTree&) = delete;
  TestTree& operator=(const TestTree&) = delete;
  ~TestTree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    std::ofstream(*this / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(*this / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace fairlead::node
