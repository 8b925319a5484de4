#include "net/wire/tls.h"

#include <boost/system/error_code.hpp>

namespace fairlead::net::wire {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Result<std::shared_ptr<ssl::context>> new_context(ssl::context::method method) {
  try {
    auto context = std::make_shared<ssl::context>(method);
    context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                         ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                         ssl::context::no_tlsv1_1);
    return context;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kFailed, std::string("TLS cannot be set up: ") + error.what());
  }
}

std::unexpected<Error> cannot(const std::string& what, const std::string& file, error_code error,
                              std::string cure) {
  return fail(
      Error{ErrorCode::kInvalidArgument, what + ": " + error.message(), file, {}, std::move(cure)});
}

}  // namespace

Result<std::shared_ptr<ssl::context>> server_context(const TlsFiles& files) {
  FAIRLEAD_ASSIGN(auto context, new_context(ssl::context::tls_server));
  error_code error;
  context->use_certificate_chain_file(files.certificate, error);
  if (error) {
    return cannot("the certificate cannot be used", files.certificate, error,
                  "give a readable PEM file with the server's own certificate first");
  }
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) {
    return cannot("the private key cannot be used", files.key, error,
                  "give the readable PEM file of the key that belongs to " + files.certificate);
  }
  return context;
}

Result<std::shared_ptr<ssl::context>> client_context(const std::string& ca_file) {
  FAIRLEAD_ASSIGN(auto context, new_context(ssl::context::tls_client));
  error_code error;
  if (ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(ca_file, error);
  }
  if (error) {
    return cannot("the trusted certificates cannot be read", ca_file, error,
                  "give a readable PEM file");
  }
  return context;
}

}  // namespace fairlead::net::wire
