import { describe, expect, test } from "bun:test";
import { costCheck, costOf, followedNodeText, wholeNetworkText } from "../../src/cli/doctor/costs.ts";
import figures from "../../src/protocol/network/network-figures.json" with { type: "json" };
import { STORES } from "../../src/upstream/fill/read-fid.ts";
import { EVENT_TYPES } from "../../src/upstream/fill/stored.ts";
import { configWith } from "../runtime/config.ts";
import { documentText } from "../support/documents.ts";

const { network, followedNode, filling, scopes } = figures;
const flat = (file: string) => documentText(file).replaceAll(/\s+/g, " ");

test("the whole network costs what the documents say, computed from the figures of a message and an fid", () => {
  expect(wholeNetworkText()).toBe(
    "about 909 million messages (November 2026), an index of 309 GB, 494 GB while it is filled, 13.5 h of two free cores",
  );
  expect(followedNodeText()).toContain("16 GB of memory, 4 cores and 1.5 to 2 TB of disk");
});

test.each([
  ["the whole network", []],
  ["some fids", ["upstream.fids=[1,2]"]],
])(
  "doctor says for a node that follows %s what the whole network and the followed node cost",
  async (_, fids) => {
    const findings = async (...settings: string[]) =>
      (await costCheck(configWith(...settings)).run(new AbortController().signal)).map(({ text }) => text);
    const [own, followed] = await findings("upstream.url=http://127.0.0.1:1", ...fids);
    expect(own).toContain(`the whole network has ${wholeNetworkText()}`);
    expect(followed).toContain(followedNodeText());
    expect(await findings()).toEqual([]);
  },
);

test("a filling makes as many calls for an fid as the figures say", () => {
  const lists = STORES.reduce((sum, [, methods]) => sum + methods.length, 0);
  // Further: the names and the keys.
  expect(EVENT_TYPES.length + lists + 2).toBe(filling.callsPerFid);
});

describe.each(["README.md", "docs/getting-started.md", "docs/operate/capacity.md"])("%s", (file) => {
  test("says what the whole network costs here and at the followed node, and what a part does", () => {
    const text = flat(file);
    const { bytes, bytesWhileFilling } = costOf(network);
    const [least, most] = followedNode.diskTb;
    for (const said of [
      `${network.messages / 1e6} million messages`,
      `${Math.round(bytes / 1e9)} GB`,
      `${Math.round(bytesWhileFilling / 1e9)} GB`,
      "13.5 h",
      `${followedNode.memoryGb} GB of memory`,
      `${least} to ${most} TB`,
      network.asOf,
    ])
      expect([said, text.includes(said)]).toEqual([said, true]);
    for (const { url } of file === "docs/operate/capacity.md" ? followedNode.sources : [])
      expect(text).toContain(url);
    expect(text).toContain("1,000 fids");
  });
});

test("the table of scopes is computed from the figures", () => {
  const text = documentText("docs/operate/capacity.md");
  for (const scope of scopes) {
    const { bytes, bytesWhileFilling, seconds } = costOf(scope);
    const [, disk = "", peak = "", time = "", unit = ""] =
      new RegExp(
        `^\\| ${scope.name} +\\| ${scope.messages.toLocaleString("en")} +\\| ([\\d.]+) GB +\\| ([\\d.]+) GB +\\|.*\\| (\\d+) (s|min) +\\|$`,
        "m",
      ).exec(text) ?? [];
    // The documents round; no figure is off by more than a tenth.
    const near = (said: string, value: number) => Math.abs(Number(said) - value) <= value / 10 + 0.05;
    expect([scope.name, near(disk, bytes / 1e9), near(peak, bytesWhileFilling / 1e9)]).toEqual([
      scope.name,
      true,
      true,
    ]);
    expect(near(time, unit === "s" ? seconds : seconds / 60)).toBe(true);
  }
});
