import { expect, test } from "bun:test";
import fc from "fast-check";
import { channelIdOf, parentUrlsOf } from "../../src/protocol/channel-url.ts";

const text = fc.oneof(
  fc.string(),
  fc.webUrl(),
  fc.constantFrom("a", "chain://eip155:1", "http:x", "https://x/y"),
);
const parentUrl = fc.oneof(
  text,
  text.map((name) => `https://warpcast.com/~/channel/${name}`),
  text.map((name) => `https://farcaster.xyz/~/channel/${name}`),
);

test("every parent URL is among the URLs of its channel, and belongs to no other channel", () => {
  fc.assert(
    fc.property(parentUrl, (url) => {
      const id = channelIdOf(url);
      expect(parentUrlsOf(id)).toContain(url);
      for (const other of parentUrlsOf(id)) expect(channelIdOf(other)).toBe(id);
    }),
    { numRuns: 1000 },
  );
});

test("the id is the name in a client's channel URL on both hosts, otherwise the URL itself", () => {
  for (const host of ["https://warpcast.com", "https://farcaster.xyz"])
    expect(channelIdOf(`${host}/~/channel/books`)).toBe("books");
  for (const url of [
    "chain://eip155:1/erc721:0xabc",
    "https://warpcast.com/~/channel/books/",
    "https://warpcast.com/~/channel/a?b",
    "https://elsewhere.example/~/channel/books",
  ])
    expect(channelIdOf(url)).toBe(url);
  expect(parentUrlsOf("books")[0]).toBe("https://warpcast.com/~/channel/books");
});
