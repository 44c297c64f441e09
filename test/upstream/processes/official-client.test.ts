import { afterAll, beforeAll, expect, test } from "bun:test";
import { getInsecureHubRpcClient, type HubRpcClient, Message as TheirMessage } from "@farcaster/hub-nodejs";
import { indexPath, openIndexReader } from "../../../src/db/index/database.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { loadCastsByHash } from "../../../src/read/hydrate/casts.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { makeSigner, signedCast } from "../../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../../support/program.ts";
import { hashOf } from "../../support/social.ts";
import { type Chain, makeChain } from "../../support/upstream/chain.ts";
import { dataOf } from "../../support/upstream/hub-events.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";
import { Watch } from "../../support/upstream/watch.ts";

/** A following node and the official client, without code of ours on the client's side. */

const TICKS = 30;
const dir = tempDir();
const watch = new Watch();

let chain: Chain;
let upstream: UpstreamNode;
let server: UpstreamServer;
let node: RunningNode;
let client: HubRpcClient;

beforeAll(async () => {
  chain = makeChain("an official client", TICKS);
  upstream = new UpstreamNode(chain);
  upstream.produce(TICKS);
  server = new UpstreamServer(upstream, {
    faults: watch,
    refuse: (message) =>
      JSON.stringify(dataOf(message).body).includes("unwelcome") ? "bad_request.conflict" : undefined,
  });
  await server.start();
  const settings = {
    "upstream.url": server.url,
    "upstream.username": "app",
    "upstream.password": "secret",
    // The scripted upstream signs no blocks.
    "trust.level": "node",
  };
  node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
  });
  client = getInsecureHubRpcClient(node.hubAddress);
}, 180_000);

afterAll(async () => {
  client.$.close();
  await node.stop();
  server.stop();
  dir[Symbol.dispose]();
});

function cast(fid: number, text: string): Uint8Array {
  return signedCast(fid, text, makeSigner(`account ${fid}`), { timestamp: toFarcasterSecs(chain.endsAt) });
}

const isThere = (message: Uint8Array) => {
  using db = openIndexReader(indexPath(dir.path));
  return loadCastsByHash(db, [hashOf(message)]).length > 0;
};

test("forwards a submit with the node's login and stores the message once the network has merged it", async () => {
  const message = cast(2, "through the node");
  const response = await client.submitMessage(TheirMessage.decode(message));
  expect(response._unsafeUnwrap().data?.fid).toBe(2);
  const login = `Basic ${Buffer.from("app:secret").toString("base64")}`;
  expect(server.submitted.map(({ authorization }) => authorization)).toEqual([login]);
  expect(isThere(message)).toBe(false);

  chain.add({ at: chain.endsAt + 1, actions: [{ fid: 2, record: { kind: "message", bytes: message } }] });
  upstream.produce(chain.ticks.length);
  await watch.until(node.exited, () => isThere(message));
}, 180_000);

test("returns the upstream's refusal with its code", async () => {
  const refused = (await client.submitMessage(TheirMessage.decode(cast(2, "unwelcome"))))._unsafeUnwrapErr();
  expect(refused.errCode).toBe("bad_request.conflict");
});

test("returns bulk results in the order of the request, although the upstream responds by shard", async () => {
  const messages = [cast(2, "one"), cast(1, "two"), cast(4, "three"), cast(3, "unwelcome")];
  const request = { messages: messages.map((bytes) => TheirMessage.decode(bytes)) };
  const response = (await client.submitBulkMessages(request))._unsafeUnwrap();
  expect(
    response.messages.map(({ message, messageError }) =>
      message ? `0x${Buffer.from(message.hash).toString("hex")}` : messageError?.errCode,
    ),
  ).toEqual([...messages.slice(0, 3).map(hashOf), "bad_request.conflict"]);
});

test("GetInfo counts the contents of the index", async () => {
  const fidsOfIndex = () => {
    using db = openIndexReader(indexPath(dir.path));
    return db.sqlite.query<{ count: number }, []>("SELECT count(*) AS count FROM fids").get()?.count ?? 0;
  };
  await watch.until(node.exited, () => fidsOfIndex() > 0);
  const info = (await client.getInfo({ dbStats: true }))._unsafeUnwrap();
  expect(info.dbStats?.numFidRegistrations).toBe(fidsOfIndex());
});
