// SPDX-License-Identifier: Apache-2.0
#include "tools/version.h"

#include <fmt/format.h>
#include <zlib.h>

#include <boost/version.hpp>
#include <nlohmann/json.hpp>
#include <string_view>
#include <systemc>

#include "arch/support/hdf5.h"
#include "tools/build_info.h"

namespace tandem {

std::string short_version() { return fmt::format("{} ({})", build_info::kVersion, build_info::kGitId); }

std::string version_text() {
  std::string text = fmt::format("tandem {}\ngit {}\n", build_info::kVersion, build_info::kGitId);
  text += fmt::format("build type {}\ncompiler {}\n", build_info::kBuildType, build_info::kCompiler);
  if (std::string_view(build_info::kBuildType) == "Debug") text += "warning: a debug build, several times slower\n";
  text += fmt::format("SystemC {}\n", sc_core::sc_release());
  text += fmt::format("HDF5 {} (headers), {} (library)\n", hdf5::header_version(), hdf5::library_version());
  if (hdf5::header_version() != hdf5::library_version()) text += "warning: HDF5 headers and library differ\n";
  text += fmt::format("yaml-cpp {}\n", build_info::kYamlCpp);
  text += fmt::format("Boost {}.{}.{}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  text += fmt::format("nlohmann-json {}.{}.{}\n", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                      NLOHMANN_JSON_VERSION_PATCH);
  text += fmt::format("fmt {}.{}.{}\n", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  return text + fmt::format("zlib {}\n", zlibVersion());
}

}  // namespace tandem
