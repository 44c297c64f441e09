import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { indexPath } from "../../src/db/index/database.ts";
import {
  Action,
  activateChannels,
  acts,
  ownsWallet,
  registers,
  walletOf,
} from "../support/channel-records.ts";
import { startLoggedNode } from "../support/logged-node.ts";
import { accountRecords } from "../support/node.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { emptyDir, run } from "./run.ts";

const TICKS = 60;
const node = new UpstreamNode(makeChain("verify command", TICKS));
const server = new UpstreamServer(node);

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => server.stop());

/** A data directory with the data of the upstream. */
function filledDir() {
  const dir = emptyDir();
  node.chain.reference.db.sqlite.query("VACUUM INTO ?").run(indexPath(dir.path));
  return dir;
}

const follows = (...rest: string[]) => ["verify", "--set", `upstream.url=${server.url}`, ...rest];

test("verify exits with 0 when the index equals the upstream, while another process writes to it", async () => {
  using dir = filledDir();
  using writer = new Database(indexPath(dir.path));
  writer.exec("PRAGMA journal_mode = WAL");
  writer.exec("BEGIN IMMEDIATE");
  const ended = await run(follows("--data-dir", dir.path, "--sample", "5"));
  expect(ended.out).toContain("5 fids compared, 0 differ");
  expect(ended.exitCode).toBe(0);
}, 180_000);

test("verify leaves out usernames that another name server has signed, as a node that follows a demo network does", async () => {
  using dir = filledDir();
  const named = (() => {
    using db = new Database(indexPath(dir.path));
    const { changes } = db.query("DELETE FROM username_proofs WHERE type = 1").run();
    return changes;
  })();
  const fids = Array.from({ length: 40 }, (_, at) => at + 1).join(",");
  const ended = await run(follows("--data-dir", dir.path, "--fid", fids));
  expect(named).toBeGreaterThan(0);
  expect(ended.out).toMatch(/40 fids compared, 0 differ\n[1-9]\d* usernames left out: another name server/);
  expect(ended.exitCode).toBe(0);
}, 180_000);

/** A node with a channel, and a data directory with all that it has. */
async function startChannelNode() {
  const channels = await startLoggedNode();
  activateChannels(channels.db);
  channels.merge(
    ...[1, 2].flatMap((fid) => accountRecords(fid)),
    ownsWallet(1),
    registers("books", walletOf(1)),
    acts(1, "books", Action.addMember, 2),
  );
  const dir = emptyDir();
  channels.db.sqlite.query("VACUUM INTO ?").run(indexPath(dir.path));
  const verify = (...rest: string[]) =>
    run(["verify", "--set", `upstream.url=http://${channels.hub.address}`, "--data-dir", dir.path, ...rest]);
  return {
    dir,
    verify,
    async [Symbol.asyncDispose]() {
      await channels[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

test("verify exits with 1 and names missing and extra messages and, check 34, wrong slots of channels, as text and as JSON", async () => {
  await using channels = await startChannelNode();
  const equal = await channels.verify();
  expect(equal.out).toContain("1 registrations and 1 channels compared, 0 differ\n");
  expect(equal.exitCode).toBe(0);
  {
    using db = new Database(indexPath(channels.dir.path));
    db.exec("UPDATE channel_slots SET state = 4 WHERE target_fid = 2");
  }
  using dir = filledDir();
  const { fid, hash } = (() => {
    using db = new Database(indexPath(dir.path));
    const lost = db
      .query<{ id: number; fid: number; hash: Uint8Array }, []>(
        "SELECT id, fid, hash FROM casts ORDER BY id LIMIT 1",
      )
      .get();
    db.query("UPDATE casts SET hash = zeroblob(20) WHERE id = ?").run(lost?.id ?? 0);
    return { fid: lost?.fid ?? 0, hash: lost?.hash.toHex() };
  })();
  const lost = [`Casts 0x${hash}`];
  const extra = [`Casts 0x${"00".repeat(20)}`];
  const [text, json, channelText, channelJson] = await Promise.all([
    run(follows("--data-dir", dir.path)),
    run(follows("--data-dir", dir.path, "--fid", String(fid), "--json")),
    channels.verify(),
    channels.verify("--fid", "2", "--json"),
  ]);
  expect(text.out).toContain(`fid ${fid}: 1 missing, 1 extra\n  missing ${lost}\n  extra ${extra}\n`);
  expect(JSON.parse(json.out)).toMatchObject({ compared: 1, differences: [{ fid, missing: lost, extra }] });
  expect(channelText.out).toContain(
    'channel "books": 1 missing, 1 extra\n  missing fid 2 member\n  extra fid 2 banned\n',
  );
  expect(JSON.parse(channelJson.out).channels.differences).toEqual([
    { key: "books", missing: ["fid 2 member"], extra: ["fid 2 banned"] },
  ]);
  const ended = [text, json, channelText, channelJson];
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
}, 180_000);

test("verify compares with each followed node, and says from which one the index differs", async () => {
  using dir = filledDir();
  const behind = new UpstreamNode(node.chain);
  behind.produce(TICKS / 2);
  const other = new UpstreamServer(behind);
  await other.start();
  const urls = `upstream.urls=${server.url},${other.url}`;
  const args = ["verify", "--set", urls, "--data-dir", dir.path, "--sample", "20"];
  const [text, json] = await Promise.all([run(args), run([...args, "--json"])]);
  await other.stop();
  expect(text.out).toMatch(/^fid \d+ at upstream 2: 0 missing, \d+ extra$/m);
  expect(text.out).not.toContain("at upstream 1");
  const { differences } = JSON.parse(json.out) as { differences: { upstream: number }[] };
  expect(new Set(differences.map(({ upstream }) => upstream))).toEqual(new Set([2]));
  expect([text.exitCode, json.exitCode]).toEqual([1, 1]);
}, 180_000);

test("verify --roots exits with 1 and says why where there is nothing to compare with, as in the index of a demo network", async () => {
  using dir = filledDir();
  const verify = (...more: string[]) => run(["verify", "--roots", "--data-dir", dir.path, ...more]);
  const whole = await verify();
  expect(whole.out).toMatch(/\d accounts computed, and no roots of them are stored to compare with\n/);
  expect(whole.out).toEndWith(
    "not proven, so the exit code is 1: no signed root is stored, as in a demo network, which has no validators\n",
  );
  const fid = await verify("--fid", "1");
  expect(fid.out).toBe("1 accounts computed, and no roots of them are stored to compare with\n");
  expect([whole.exitCode, fid.exitCode]).toEqual([1, 1]);
  expect(JSON.parse((await verify("--json")).out)).toMatchObject({
    areAccountsCompared: false,
    differing: 0,
  });
}, 180_000);

test("verify exits with 1 without an upstream, an index or a followed fid, and with 75 when the upstream is down", async () => {
  using dir = filledDir();
  const [none, empty, stranger, down] = await Promise.all([
    run(["verify", "--data-dir", dir.path]),
    run(follows("--data-dir", `${dir.path}/none`)),
    run(follows("--data-dir", dir.path, "--set", "upstream.fids=1", "--fid", "2")),
    run(["verify", "--set", "upstream.url=http://127.0.0.1:1", "--data-dir", dir.path]),
  ]);
  expect([none.exitCode, empty.exitCode, stranger.exitCode, down.exitCode]).toEqual([1, 1, 1, 75]);
  expect(none.errors).toContain("upstream.url is empty");
  expect(empty.errors).toContain("there is no index yet");
  expect(stranger.errors).toContain("fid 2 is not followed");
  expect(down.errors).toContain("the upstream cannot be queried");
}, 180_000);
