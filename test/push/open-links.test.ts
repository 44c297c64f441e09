import { expect, test } from "bun:test";
import { createOpenLinks, hostFault, withParameter } from "../../src/push/open-links.ts";

const HOST = "c.example";

/** The links of a campaign with this URL, and those that were stored. */
function startLinks(targetUrl: string, tracksOpens = true) {
  const stored: { token: string; host: string }[] = [];
  const links = createOpenLinks({
    opens: { addLink: async ({ token, host }) => void stored.push({ token, host }) },
    parameter: "svc_open",
  });
  const work = {
    seq: 1,
    appId: "app",
    campaignId: "campaign",
    notification: { notificationId: "n", title: "T", body: "B", targetUrl },
    audience: { targetFids: [], excludeFids: [], followingFid: null, ...(tracksOpens && { tracksOpens }) },
  };
  return { stored, linkOf: (host = HOST, campaignId = "campaign") => links({ ...work, campaignId }, host) };
}

test.each([
  ["https://a.example", "https://a.example?n=v"],
  ["https://a.example/p?q=1", "https://a.example/p?q=1&n=v"],
  ["https://a.example/p?q=1#part", "https://a.example/p?q=1&n=v#part"],
  ["https://a.example/#/route?x", "https://a.example/?n=v#/route?x"],
  ["https://a.example/%c3%a4?", "https://a.example/%c3%a4?&n=v"],
])("adds a parameter to %s and changes nothing else", (url, expected) => {
  expect(withParameter(url, "n", "v")).toBe(expected);
});

test("the link of a campaign and host is stored once, with the token that it contains", async () => {
  const { stored, linkOf } = startLinks("https://a.example/x");
  const links = [await linkOf(), await linkOf(), await linkOf("d.example"), await linkOf(HOST, "another")];
  expect(await linkOf()).toBe(links[0] ?? "");
  const tokens = links.map((link) => /^https:\/\/a\.example\/x\?svc_open=(\w{10})$/.exec(link)?.[1]);
  expect(new Set(tokens).size).toBe(3);
  expect(tokens[1]).toBe(tokens[0]);
  expect(stored.map(({ token }) => token)).toEqual([tokens[0], tokens[2], tokens[3]] as string[]);
  expect(stored.map(({ host }) => host)).toEqual([HOST, "d.example", HOST]);
});

test("knows at most ten thousand links as stored, and stores one that it has forgotten again", async () => {
  const { stored, linkOf } = startLinks("https://a.example/x");
  for (let at = 0; at < 10_000; at++) await linkOf(`${at}.example`);
  await linkOf("0.example");
  expect(stored).toHaveLength(10_000);
  await linkOf("one-more.example");
  await linkOf("0.example");
  expect(stored).toHaveLength(10_002);
});

test("a campaign that does not track opens has its own URL, and no link is stored", async () => {
  const { stored, linkOf } = startLinks("https://a.example/x", false);
  expect(await linkOf()).toBe("https://a.example/x");
  expect(stored).toEqual([]);
});

test("opens are not tracked where the link would be longer than a client accepts", async () => {
  const added = "?svc_open=".length + 10;
  const longest = "https://a.example/".padEnd(1024 - added, "x");
  const fits = startLinks(longest);
  expect(await fits.linkOf()).toHaveLength(1024);
  const tooLong = startLinks(`${longest}x`);
  expect(await tooLong.linkOf()).toBe(`${longest}x`);
  expect(tooLong.stored).toEqual([]);
});

test("a URL is an app's own if its host and port are the app's, in either case", () => {
  expect(hostFault("https://A.example/x", "https://a.example")).toBeUndefined();
  expect(hostFault("https://a.example:8443/x", "https://a.example")).toContain("a.example");
  expect(hostFault("https://b.a.example", "https://a.example")).toContain("a.example");
});
