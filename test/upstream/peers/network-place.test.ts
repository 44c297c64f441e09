import { expect, test } from "bun:test";
import { isPublicHost, limitsFor } from "../../../src/upstream/peers/network-place.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  "snapchain.internal": ["10.0.0.7"],
  "hub.example": ["1.1.1.1"],
  "both.example": ["10.0.0.7", "1.1.1.1"],
};

test("a host is public by its addresses, and one that does not resolve is treated as a guest treats others", async () => {
  const resolve = async (name: string) => {
    const addresses = names[name];
    if (!addresses) throw new Error("no such name");
    return addresses;
  };
  const isPublic = await Promise.all(
    [
      "127.0.0.1",
      "10.1.2.3",
      "::1",
      "localhost",
      "a.localhost",
      "snapchain.internal",
      "1.1.1.1",
      "2606:4700::1111",
      "hub.example",
      "both.example",
      "unknown.example",
    ].map((host) => isPublicHost(host, resolve)),
  );
  expect(isPublic).toEqual([false, false, false, false, false, false, true, true, true, true, true]);
});

test("settings of 0 leave the limits to the place of the node, others count", () => {
  const open = { concurrency: 0, max_calls_per_sec: 0 };
  expect(limitsFor(open, false)).toEqual({ concurrency: 32, callsPerSec: 0 });
  expect(limitsFor(open, true)).toEqual({ concurrency: 4, callsPerSec: 20 });
  expect(limitsFor({ concurrency: 9, max_calls_per_sec: 50 }, true)).toEqual({
    concurrency: 9,
    callsPerSec: 50,
  });
});
