import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AddressClass, classify, parseAddress } from "../../src/net/address-class.ts";

/** First and last address of every special-purpose block, and the public addresses just outside. */
const RANGES: readonly [AddressClass, ...string[]][] = [
  ["unspecified", "0.0.0.0", "0.255.255.255", "::"],
  ["loopback", "127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"],
  ["private", "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  ["private", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", "feff::1"],
  ["link-local", "169.254.0.0", "169.254.169.253", "169.254.255.255", "fe80::", "febf::1"],
  ["shared", "100.64.0.0", "100.100.100.200", "100.127.255.255"],
  ["metadata", "169.254.169.254", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"],
  ["benchmark", "198.18.0.0", "198.19.255.255", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  [
    "documentation",
    "192.0.2.0",
    "192.0.2.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
  ],
  ["documentation", "2001:db8::", "2001:db8:ffff::1", "3fff::", "3fff:fff:ffff::1"],
  ["multicast", "224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff:ffff::1"],
  ["broadcast", "255.255.255.255"],
  // The library parses the dotted form of a compatible address as a mapped one; neither can be allowed.
  ["ipv4-mapped", "::8.8.8.8", "::ffff:0:0", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:255.255.255.255"],
  ["ipv4-compatible", "::2", "::7f00:1", "::808:808", "::ffff:ffff"],
  ["nat64", "64:ff9b::", "64:ff9b::a00:1", "64:ff9b::ffff:ffff", "64:ff9b:1::", "64:ff9b:1:ffff::1"],
  ["nat64", "::ffff:0:0:0", "::ffff:0:7f00:1"],
  ["6to4", "2002::", "2002:7f00:1::1", "2002:ffff::1", "192.88.99.0", "192.88.99.255"],
  ["teredo", "2001::", "2001:0:ffff::1"],
  ["anycast-service", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2001:3::1", "2001:4:112::1"],
  ["anycast-service", "2620:4f:8000::1"],
  ["reserved", "192.0.0.0", "192.0.0.192", "192.0.0.255", "240.0.0.0", "255.255.255.254"],
  // Benchmarking, identifiers, unassigned protocol blocks, the 6bone, discard, segment routing.
  ["reserved", "2001:1::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1", "3ffe::1"],
  [
    "reserved",
    "100::1",
    "100:0:0:1::1",
    "5f00::1",
    "::1:0:0:0",
    "1::1",
    "1fff::1",
    "4000::1",
    "fbff::1",
    "fe00::1",
  ],
  [
    "public",
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
  ],
  [
    "public",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
  ],
  [
    "public",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
  ],
  [
    "public",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
  ],
  ["public", "8.8.8.8", "168.63.129.15", "168.63.129.17", "93.184.216.34"],
  [
    "public",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2001:4860:4860::8888",
    "2003::1",
    "2606:4700::1111",
  ],
  ["public", "2000::1", "2a00:1450:4001::1", "2400:cb00::1", "3ffd::1", "3fff:1000::1"],
];

describe("classify", () => {
  test.each(RANGES)("%s: %s %s %s %s %s %s %s", (expected, ...addresses) => {
    for (const text of addresses) {
      const address = parseAddress(text);
      expect([text, address && classify(address)]).toEqual([text, expected]);
    }
  });

  test("rejects text that other parsers repair", () => {
    for (const text of [
      "",
      "1",
      "127.1",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "1.2.3.4.5",
      "256.1.1.1",
      "fe80::1%eth0",
      "[::1]",
    ])
      expect([text, parseAddress(text)]).toEqual([text, undefined]);
  });

  test("no IPv6 address outside 2000::/3 is public, and none that embeds an IPv4 address", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const address = parseAddress(groups.map((part) => part.toString(16)).join(":"));
        if (!address) throw new Error("eight groups are an address");
        const first = groups[0] ?? 0;
        if (classify(address) === "public") {
          expect(first >> 13).toBe(1);
          expect(first).not.toBe(0x2002);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
