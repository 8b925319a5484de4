# The third-party packages, all from the distribution. `./dev` installs them; which file may include
# what is checked by tools/tidy.py.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)        # Boost::headers
find_package(fmt REQUIRED)               # fmt::fmt
find_package(nlohmann_json REQUIRED)     # nlohmann_json::nlohmann_json
find_package(yaml-cpp REQUIRED)          # yaml-cpp::yaml-cpp
find_package(CLI11 REQUIRED)             # CLI11::CLI11
find_package(SQLite3 REQUIRED)           # SQLite::SQLite3
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)  # PkgConfig::sodium
find_package(CURL REQUIRED)              # CURL::libcurl
find_package(OpenSSL REQUIRED)           # OpenSSL::SSL
find_package(GTest REQUIRED)             # GTest::gtest_main
find_package(rapidcheck REQUIRED)        # rapidcheck_gtest
if(FAIRLEAD_BENCH)
  find_package(benchmark REQUIRED)       # benchmark::benchmark_main
endif()

# Debian 12 exports the name without a namespace.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
