import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Elysia } from "elysia";
import fc from "fast-check";
import { addressOfPeer, createClientAddresses } from "../../src/admission/client-address.ts";
import { exchangeOf } from "../../src/http/exchange.ts";
import { runHttp } from "../support/http.ts";

const TRUSTED = ["10.0.0.0/8", "fd00::/8", "127.0.0.1/32"];

function client(
  peer: string | undefined,
  value: string | null,
  header: "x-forwarded-for" | "forwarded" = "x-forwarded-for",
  trusted = TRUSTED,
): string {
  const clients = createClientAddresses({ trusted_proxies: trusted, proxy_header: header });
  return clients.of(peer, (name) => (name === header ? value : "203.0.113.99")).address;
}

const thirtyTwo = Array.from({ length: 32 }, (_, at) => `10.0.1.${at}`);

describe("X-Forwarded-For", () => {
  test.each([
    [
      "an untrusted peer is the client, whatever its header says",
      "198.51.100.7",
      "192.0.2.1",
      "198.51.100.7",
    ],
    ["an untrusted IPv6 peer is, too", "2001:db8::7", "192.0.2.1", "2001:db8::7"],
    ["a trusted peer without the header is the client", "10.0.0.1", null, "10.0.0.1"],
    ["an empty header is none", "10.0.0.1", "", "10.0.0.1"],
    ["the last value is the client of a trusted peer", "10.0.0.1", "192.0.2.1", "192.0.2.1"],
    ["what the client wrote before it does not count", "10.0.0.1", "8.8.8.8, 192.0.2.1", "192.0.2.1"],
    ["a chain of trusted proxies is walked", "10.0.0.1", "192.0.2.1, 10.0.0.3, 10.0.0.2", "192.0.2.1"],
    ["the first untrusted one ends it", "10.0.0.1", "10.9.9.9, 192.0.2.1, 10.0.0.2", "192.0.2.1"],
    ["a chain of trusted ones only ends at its first", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["a client may claim a trusted address in vain", "10.0.0.1", "127.0.0.1, 192.0.2.1", "192.0.2.1"],
    ["unknown ends the walk", "10.0.0.1", "192.0.2.1, unknown, 10.0.0.2", "10.0.0.2"],
    ["unknown as the last value leaves the peer", "10.0.0.1", "192.0.2.1, unknown", "10.0.0.1"],
    ["an obfuscated name ends the walk", "10.0.0.1", "192.0.2.1, _hidden, 10.0.0.2", "10.0.0.2"],
    ["rubbish ends the walk", "10.0.0.1", "192.0.2.1, <script>, 10.0.0.2", "10.0.0.2"],
    ["a host name ends the walk", "10.0.0.1", "192.0.2.1, proxy.example", "10.0.0.1"],
    ["an empty value ends the walk", "10.0.0.1", "192.0.2.1,, 10.0.0.2", "10.0.0.2"],
    ["an octet above 255 is rubbish", "10.0.0.1", "192.0.2.1, 10.0.0.256", "10.0.0.1"],
    ["an octal octet is rubbish", "10.0.0.1", "192.0.2.1, 010.0.0.2", "10.0.0.1"],
    ["a number is rubbish", "10.0.0.1", "192.0.2.1, 167772162", "10.0.0.1"],
    ["a port is cut off", "10.0.0.1", "192.0.2.1:4711", "192.0.2.1"],
    ["a bare IPv6 address has no port", "10.0.0.1", "2001:db8::1:4711", "2001:db8::1:4711"],
    ["brackets are cut off", "10.0.0.1", "[2001:db8::1]", "2001:db8::1"],
    ["brackets and a port are", "10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
    ["quotes are", "10.0.0.1", '"[2001:db8::1]:4711"', "2001:db8::1"],
    ["an IPv4-mapped value is the IPv4 address", "10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"],
    ["an IPv4-mapped proxy is trusted as IPv4", "10.0.0.1", "192.0.2.1, ::ffff:10.0.0.2", "192.0.2.1"],
    ["an IPv4-mapped peer is, too", "::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"],
    ["trusted IPv6 proxies are walked", "fd00::1", "2001:db8::1, [fd12::9]:80", "2001:db8::1"],
    ["an IPv6 address has one spelling", "10.0.0.1", "2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["at most 32 values are walked", "10.0.0.1", ["192.0.2.1", ...thirtyTwo].join(), "10.0.1.0"],
    [
      "31 proxies and the client are 32",
      "10.0.0.1",
      ["192.0.2.1", ...thirtyTwo.slice(1)].join(),
      "192.0.2.1",
    ],
    ["a zone in a value is rubbish", "10.0.0.1", "fe80::1%eth0", "10.0.0.1"],
    ["a zone of the peer is cut off", "fe80::1%eth0", "192.0.2.1", "fe80::1"],
    ["spaces and tabs around values do not count", "10.0.0.1", " 192.0.2.1 ,\t10.0.0.2 ", "192.0.2.1"],
    ["a long value is rubbish", "10.0.0.1", `192.0.2.1, ${"1".repeat(5000)}`, "10.0.0.1"],
    ["a request without a connection is of nobody", undefined, "192.0.2.1", "unknown"],
  ])("%s", (_, peer, value, expected) => {
    expect(client(peer, value)).toBe(expected);
  });

  test("ignores the header without trusted proxies", () => {
    expect(client("10.0.0.1", "192.0.2.1", "x-forwarded-for", [])).toBe("10.0.0.1");
  });

  test("a trusted network may be written as IPv4-mapped", () => {
    expect(client("10.0.0.1", "192.0.2.1", "x-forwarded-for", ["::ffff:10.0.0.0/104"])).toBe("192.0.2.1");
  });
});

describe("Forwarded", () => {
  test.each([
    ["the client is in for", "for=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"],
    ["names do not count their case, nor their order", 'Proto=http ; FOR="192.0.2.1:80"', "192.0.2.1"],
    ["IPv6 is quoted, in brackets", 'for="[2001:db8::1]:4711"', "2001:db8::1"],
    ["a port may have a name", 'for="192.0.2.1:_port"', "192.0.2.1"],
    ["a chain is walked", "for=192.0.2.1, for=10.0.0.3;by=x,for=10.0.0.2", "192.0.2.1"],
    ["a comma in quotes does not end an element", 'for=192.0.2.1;host="a,for=8.8.8.8"', "192.0.2.1"],
    ["an element without for ends the walk", "for=192.0.2.1, proto=https, for=10.0.0.2", "10.0.0.2"],
    ["two for in an element end it", "for=192.0.2.1;for=192.0.2.2", "10.0.0.1"],
    ["unknown ends it", "for=192.0.2.1, for=unknown", "10.0.0.1"],
    [
      "an open quote of the client does not swallow the proxies' values",
      'for="x, for=192.0.2.1',
      "192.0.2.1",
    ],
    ["a quote of the client behind its own comma does not either", 'a",for=192.0.2.1', "192.0.2.1"],
    ["an open quote of a proxy is rubbish", 'for=192.0.2.1, for="10.0.0.2', "10.0.0.1"],
    ["a long element is rubbish", `for=192.0.2.1;host=${"a".repeat(5000)}`, "10.0.0.1"],
    ["empty parameters do not count", ";for=192.0.2.1;;", "192.0.2.1"],
    [
      "a for inside the quotes of another parameter is none",
      'for=192.0.2.1;host="a;for=8.8.8.8;b"',
      "192.0.2.1",
    ],
    ["an escaped quote does not end them", 'for=192.0.2.1;host="x\\",for=8.8.8.8;a=\\"y"', "192.0.2.1"],
    ["a parameter that ends with for is another one", "for=192.0.2.1;xfor=8.8.8.8", "192.0.2.1"],
  ])("%s", (_, value, expected) => {
    expect(client("10.0.0.1", value, "forwarded")).toBe(expected);
  });
});

const untrusted = fc.oneof(
  fc.ipV4().filter((address) => !address.startsWith("10.") && address !== "127.0.0.1"),
  fc.constantFrom("2001:db8::1", "2606:4700::1111"),
);
const proxies = fc.array(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.${a}.${b}.1`),
  { maxLength: 31 },
);

test("finds the address that the first trusted proxy saw, whatever the client writes", () => {
  fc.assert(
    fc.property(fc.string(), untrusted, proxies, (written, address, hops) => {
      expect(client("10.0.0.1", [written, address, ...hops].join(", "))).toBe(address);
      const elements = [address, ...hops].map((one) => (one.includes(":") ? `for="[${one}]"` : `for=${one}`));
      expect(client("10.0.0.1", [written, ...elements].join(", "), "forwarded")).toBe(address);
    }),
  );
});

test("any peer and header give an address or none, without an exception", () => {
  const clients = createClientAddresses({
    trusted_proxies: ["0.0.0.0/0", "::/0"],
    proxy_header: "forwarded",
  });
  const value = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(",", ";", "for=", '"', "[", "]", ":", "1.2.3.4", "::1", " ", "\\"), {
      maxLength: 80,
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV6()), value, (peer, header) => {
      const found = clients.of(peer, () => String(header));
      expect(found.address).toMatch(/^([0-9a-f.:]+|unknown)$/);
    }),
  );
});

test("limits count by IPv4 address, and by the /64 network of IPv6", () => {
  const clients = createClientAddresses({ trusted_proxies: [], proxy_header: "forwarded" });
  const bucket = (peer: string) => clients.of(peer, () => undefined).bucket;
  expect(bucket("10.1.2.3")).toBe("10.1.2.3");
  expect(bucket("::ffff:10.1.2.3")).toBe("10.1.2.3");
  expect(bucket("2001:db8:1:2:3::1")).toBe("2001:db8:1:2::/64");
  expect(bucket("2001:db8:1:2:ffff::9")).toBe("2001:db8:1:2::/64");
  expect(bucket("2001:db8:1:3::1")).toBe("2001:db8:1:3::/64");
});

test("the address of a gRPC peer is read with and without brackets", () => {
  expect(addressOfPeer("10.1.2.3:5000")).toBe("10.1.2.3");
  expect(addressOfPeer("[2001:db8::1]:5000")).toBe("2001:db8::1");
  expect(addressOfPeer("::1:5000")).toBe("::1");
});

test("a route gets the client of its request, also from a header of several lines", async () => {
  const plugin = new Elysia().get("/whoami", ({ request }) => exchangeOf(request).client());
  await using http = runHttp({
    plugins: [plugin],
    http: { trusted_proxies: ["127.0.0.0/8", "10.0.0.0/8"] },
  });
  const ask = async (...headers: string[]) => {
    const socket = connect(http.port, "127.0.0.1");
    const lines = ["GET /v2/svc/whoami HTTP/1.1", "Host: x", "Connection: close", ...headers, "", ""];
    socket.end(lines.join("\r\n"));
    const [, body = ""] = (await text(socket)).split("\r\n\r\n");
    return JSON.parse(body).address;
  };
  expect(await ask()).toBe("127.0.0.1");
  expect(await ask("X-Forwarded-For: 192.0.2.1")).toBe("192.0.2.1");
  expect(await ask("X-Forwarded-For: 8.8.8.8, 192.0.2.1", "X-Forwarded-For: 10.0.0.2")).toBe("192.0.2.1");
  expect(await ask("X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: unknown")).toBe("127.0.0.1");
  expect(await ask("Forwarded: for=192.0.2.1")).toBe("127.0.0.1");
});
