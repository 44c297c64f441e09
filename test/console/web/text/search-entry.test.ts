import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pageOfClientUrl, readEntry } from "../../../../src/console/web/text/page-paths.ts";

const hash = `0x${"4ecdd0c0350b7ee92a80".repeat(2)}`;

describe("readEntry", () => {
  test.each([
    ["3", "/console/people/3"],
    ["!3", "/console/people/3"],
    ["fid 3", "/console/people/3"],
    ["@mirawren", "/console/people/mirawren"],
    ["@Mira.eth", "/console/people/mira.eth"],
    ["/coffee", "/console/channels/coffee"],
    ["https://warpcast.com/mirawren", "/console/people/mirawren"],
    ["https://farcaster.xyz/~/channel/coffee", "/console/channels/coffee"],
    [`https://farcaster.xyz/~/conversations/${hash}`, `/console/casts/${hash}`],
    [`https://farcaster.xyz/tove/${hash.toUpperCase().replace("0X", "0x")}`, `/console/casts/${hash}`],
  ])("%s opens %s", (text, page) => {
    expect(readEntry(` ${text} `)).toEqual({ kind: "page", page });
  });

  test("looks up what may be a hash or an address, and the URL of a cast with the start of its hash", () => {
    expect(readEntry(hash.toUpperCase().replace("0X", "0x"))).toEqual({ kind: "hex20", hex: hash });
    const url = "https://farcaster.xyz/tove/0x4ecdd0c0";
    expect(readEntry(url)).toEqual({ kind: "url", url });
    const address = "3sQHGnvgqALxPemFs2o2YWEBaynQdHPGPsfRDKh6k88X";
    expect(readEntry(address)).toEqual({ kind: "address", address });
  });

  test("searches for everything else; a single word may be a name", () => {
    expect(readEntry("Tove")).toEqual({ kind: "words", text: "Tove", username: "tove" });
    expect(readEntry("fresh bread")).toEqual({ kind: "words", text: "fresh bread", username: undefined });
    expect(readEntry("https://other.example/x")).toEqual({
      kind: "words",
      text: "https://other.example/x",
      username: undefined,
    });
    expect(readEntry("  ")).toEqual({ kind: "empty" });
  });

  test("takes any text, and every page is of this console", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `https://farcaster.xyz/${text}`),
        ),
        (text) => {
          const entry = readEntry(text);
          if (entry.kind === "page")
            expect(new URL(entry.page, "https://node.example").pathname).toStartWith("/console/");
        },
      ),
    );
  });
});

describe("pageOfClientUrl", () => {
  test("is undefined for other hosts, schemes and paths", () => {
    for (const url of [
      "https://farcaster.xyz.evil.example/tove",
      "https://evil.example/farcaster.xyz/tove",
      "javascript://farcaster.xyz/tove",
      "https://farcaster.xyz:8443/tove",
      "https://farcaster.xyz/",
      "https://farcaster.xyz/~/settings",
      "https://farcaster.xyz/tove/0x12/3",
      "https://farcaster.xyz/%E0%A4%A/x",
      "not a url",
    ]) {
      expect(pageOfClientUrl(url)).toBeUndefined();
    }
  });

  test("encodes what it puts into a path", () => {
    expect(pageOfClientUrl("https://warpcast.com/~/channel/a%20b%3Fc")).toBe("/console/channels/a%20b%3Fc");
  });
});
