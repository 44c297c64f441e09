import { describe, expect, test } from "bun:test";
import { CONNECTED_PEERS } from "../../../src/upstream/calls/contacts.ts";
import { BoundedReader } from "../../../src/upstream/calls/decode/bounded-reader.ts";
import { runDiscovery } from "../../../src/upstream/peers/discover.ts";
import { publicAddressOf } from "../../../src/upstream/peers/network-place.ts";
import {
  encodedContacts,
  followNodes,
  type RecordedNode,
  SHARDS,
  withChunk,
} from "../../support/upstream/recorded-nodes.ts";

const DEVNET = 3;
/** The nodes of tests are on this machine, which operation refuses. */
const discovery = { everyMs: 20, publicAddress: async (host: string) => host };

const isKnown = (count: number) => (followed: { upstreams(): readonly unknown[] }) =>
  followed.upstreams().length === count;

describe("upstream.discover", () => {
  test("an announced node takes over from the followed one while another of the settings is where it is, and not without that", async () => {
    await using followed = await followNodes({ nodes: 3, named: 2, lastBlock: 40, discovery });
    const [first, second, found] = followed.nodes as [RecordedNode, RecordedNode, RecordedNode];
    await followed.allApplied(40);
    for (const one of [first, second]) one.announces = [found.url];
    await followed.until(() => isKnown(3)(followed));
    expect(followed.upstreams().map(({ isDiscovered }) => isDiscovered)).toEqual([false, false, true]);
    // The second is behind: only the announced one has the next blocks.
    first.kill();
    for (const shard of SHARDS) found.heads.set(shard, 80);
    await followed.allApplied(80);
    expect(followed.upstreams()[2]?.isActive).toBe(true);
    second.kill();
    await followed.until(() => followed.upstreams().every(({ isActive }) => !isActive));
    for (const shard of SHARDS) found.heads.set(shard, 90);
    const asked = found.calls.get("GetInfo") ?? 0;
    await followed.until(() => (found.calls.get("GetInfo") ?? 0) > asked + 2);
    expect(SHARDS.map(followed.applied)).toEqual([80, 80, 80]);
  });

  test("one that serves a forged block is refused, leaves the list and is not tried again", async () => {
    await using followed = await followNodes({ nodes: 2, named: 1, lastBlock: 40, discovery });
    const [first, liar] = followed.nodes as [RecordedNode, RecordedNode];
    liar.recording = withChunk(1, 40, ({ commits }) => {
      const [one] = commits?.signatures ?? [];
      if (one) one.signature[7] = (one.signature[7] ?? 0) ^ 1;
    });
    await followed.allApplied(40);
    first.announces = [liar.url];
    await followed.until(() => (liar.calls.get("GetInfo") ?? 0) > 0);
    const asked = first.calls.get("GetConnectedPeers") ?? 0;
    await followed.until(() => (first.calls.get("GetConnectedPeers") ?? 0) > asked + 3);
    expect(followed.upstreams()).toHaveLength(1);
    expect(liar.calls.get("GetInfo")).toBe(1);
  });

  test("is not a second witness of who owns an fid", async () => {
    await using followed = await followNodes({ nodes: 3, named: 1, lastBlock: 40, discovery });
    const [first, ...found] = followed.nodes as [RecordedNode, RecordedNode, RecordedNode];
    await followed.allApplied(40);
    first.announces = found.map(({ url }) => url);
    await followed.until(() => isKnown(3)(followed));
    expect(await followed.confirm().confirmCustody(7000, "signed")).toMatchObject({ isConfirmed: false });
    for (const one of found) expect(one.calls.get("GetOnChainEvents")).toBeUndefined();
  });
});

describe("the addresses that are tried", () => {
  async function triedOf(announced: readonly string[], network = DEVNET, rounds = announced.length + 2) {
    const tried: string[] = [];
    const stopping = new AbortController();
    let asked = 0;
    await runDiscovery({
      network: DEVNET,
      contacts: async () => {
        asked += 1;
        if (asked > rounds) stopping.abort();
        return CONNECTED_PEERS.decode(new BoundedReader(encodedContacts(announced, network)));
      },
      isKnown: (place) => place === "known.example:3383",
      hasRoom: () => true,
      publicAddress: async () => "203.0.113.5",
      add: async (url) => void tried.push(url),
      everyMs: 0,
      signal: stopping.signal,
    });
    return tried;
  }

  test("are each tried once, https first, without those that are known, of another network or not of a node", async () => {
    const announced = [
      "http://a.example:3383",
      "https://b.example",
      "http://a.example:3383/",
      "http://known.example:3383",
      "http://user:pass@c.example:1",
      "http://c.example/path",
      "ftp://c.example:1",
      "javascript:alert(1)",
      `http://${"x".repeat(300)}.example`,
      "",
    ];
    expect(await triedOf(announced)).toEqual(["https://b.example", "http://a.example:3383"]);
    expect(await triedOf(announced, 1)).toEqual([]);
  });

  test("are at most 32 of one response, which a flood does not change", async () => {
    const flood = Array.from({ length: 5000 }, (_, at) => `http://n${at}.example:1`);
    expect(await triedOf(flood, DEVNET, 1)).toHaveLength(32);
  });

  test("are public: a host with any other address is refused", async () => {
    const resolving = (addresses: string[]) => async () => addresses;
    expect(await publicAddressOf("a.example", resolving(["93.184.216.34"]))).toBe("93.184.216.34");
    expect(await publicAddressOf("a.example", resolving(["93.184.216.34", "10.0.0.1"]))).toBeUndefined();
    expect(await publicAddressOf("a.example", resolving([]))).toBeUndefined();
    for (const host of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fe80::1", "::ffff:10.0.0.1"])
      expect(await publicAddressOf(host)).toBeUndefined();
    expect(await publicAddressOf("1.1.1.1")).toBe("1.1.1.1");
  });
});
