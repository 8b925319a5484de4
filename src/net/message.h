// Requests and responses as plain values, with who asks and where they came in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/headers.h"
#include "net/target.h"

namespace fairlead::net {

// The other end of a connection. On a unix socket the kernel vouches for uid, gid and pid.
struct Peer {
  bool unix_socket = false;
  std::string address;  // of TCP: "127.0.0.1", "::1"
  std::uint16_t port = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
};

struct Request {
  std::string method;  // upper case as it came: "GET"; any token is possible
  Target target;
  Headers headers;
  std::string body;
  Peer peer;
  std::string listener;  // the name of the listener it came in by
  bool tls = false;
  bool websocket = false;  // asks to become a WebSocket
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

// "Not Found"; "Unknown" for a status without a name.
std::string_view reason_of(int status);

// A problem document (RFC 9457) without a type of its own: what the transport itself has to say.
Response problem(int status, std::string_view detail);

// True unless a browser says that a page of another site asks: there is no Origin, or it names the
// Host that was asked for. What changes state by cookie, and every WebSocket, needs it.
bool same_origin(const Request& request);

// "example.org:80", "[::1]:80" without the port; brackets stay.
std::string_view host_without_port(std::string_view host);

}  // namespace fairlead::net
