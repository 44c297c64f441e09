import { describe, expect, test } from "bun:test";
import { createOwnOrigin } from "../../src/http/request/own-origin.ts";

const requestFrom = (headers: Record<string, string>) => new Request("http://localhost/x", { headers });
const ownAddresses = () => ["192.168.1.5", "[fe80::1]"];

describe("the host names of a node", () => {
  const node = createOwnOrigin({
    publicUrl: "https://node.example/svc",
    listenHost: "10.1.2.3",
    ownAddresses,
  });

  test.each([
    "localhost:8080",
    "LOCALHOST",
    "127.0.0.1:1",
    "[::1]:8080",
    "10.1.2.3:8080",
    "node.example",
    "node.example:443",
  ])("%s is one", (host) => {
    expect(node.isOwnHost(host)).toBe(true);
  });

  test.each([
    null,
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:8080",
    "127.0.0.2",
    "192.168.1.5",
    "node.example.",
    "user@localhost",
    "localhost/",
    "localhost:80:80",
    "[::1",
    "localhost:99999",
    "lo calhost",
  ])("%p is none", (host) => {
    expect(node.isOwnHost(host)).toBe(false);
  });

  test("are the addresses of the machine, too, where the node listens on all", () => {
    for (const listenHost of ["0.0.0.0", "::"]) {
      const everywhere = createOwnOrigin({ publicUrl: "", listenHost, ownAddresses });
      expect(["192.168.1.5:8080", "[fe80::1]:8080"].every((host) => everywhere.isOwnHost(host))).toBe(true);
      expect(
        ["192.168.1.6:8080", "0.0.0.0:8080", "evil.example"].some((host) => everywhere.isOwnHost(host)),
      ).toBe(false);
    }
  });
});

describe("a request of the node's own page", () => {
  const node = createOwnOrigin({
    publicUrl: "https://node.example/svc",
    listenHost: "127.0.0.1",
    ownAddresses,
  });
  const isOwn = (headers: Record<string, string>) => node.isOwnOrigin(requestFrom(headers));

  test("names the origin that it is sent to, that of the public URL, or none", () => {
    expect(isOwn({ host: "127.0.0.1:8080" })).toBe(true);
    expect(isOwn({ host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080" })).toBe(true);
    expect(isOwn({ host: "localhost", origin: "http://localhost" })).toBe(true);
    // A proxy in front changed the Host.
    expect(isOwn({ host: "127.0.0.1:8080", origin: "https://node.example" })).toBe(true);
    // TLS ends at a proxy that keeps the Host.
    expect(isOwn({ host: "node.example:443", origin: "https://node.example" })).toBe(true);
    expect(isOwn({ host: "localhost:8080", "sec-fetch-site": "same-origin" })).toBe(true);
  });

  test.each<Record<string, string>>([
    { host: "127.0.0.1:8080", origin: "null" },
    { host: "127.0.0.1:8080", origin: "https://evil.example" },
    { host: "localhost:8080", origin: "http://localhost:3000" },
    { host: "localhost:8080", origin: "http://127.0.0.1:8080" },
    { host: "evil.example", origin: "http://evil.example" },
    { host: "localhost:8080", "sec-fetch-site": "same-site" },
    { host: "localhost:8080", "sec-fetch-site": "cross-site" },
  ])("is not %p", (headers) => {
    expect(isOwn(headers)).toBe(false);
  });
});
