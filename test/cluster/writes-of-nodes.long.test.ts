import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callSigned, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { IS_LONG } from "../support/long.ts";
import { accountSigner, eventRecord } from "../support/node.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { AUTHORS, addPeople, OWNERS } from "./mixed-faults/run.ts";

/** Writes of the API over two real nodes of one state: one queue, one set of signers, one rotation of the master key. */

const [OWNER = 0] = OWNERS;
const CASTS = 30;
const FORMER = "11".repeat(32);
const CURRENT = "22".repeat(32);
const withKeys = (current: string, ...former: readonly string[]) => [
  `signers.encryption_key=${current}`,
  `signers.previous_encryption_keys=${former.join(",")}`,
  // Shorter than the network takes, so that every write is queued at its response.
  "writes.confirm_timeout_ms=100",
  "api_keys.writes_per_minute=10000",
];

describe.skipIf(!HAS_POSTGRES || !IS_LONG)("writes over nodes", () => {
  let cluster: TestCluster;
  let a: RunningNode;
  let b: RunningNode;
  let secret: string;
  let signers: string[];
  beforeAll(async () => {
    cluster = await startCluster({ seed: "writes over nodes", command: compiledProgram });
    addPeople(cluster);
    [a, b] = (await Promise.all(["a", "b"].map((name) => cluster.start(name, ...withKeys(FORMER))))) as [
      RunningNode,
      RunningNode,
    ];
    await until(
      async () => (await callSigned(a, OWNER, "GET", "/api_key/list")).status === 200,
      "the owner is known",
    );
    const key = { name: "k", scopes: ["write", "read", "signers"] };
    secret = String((await callSigned(a, OWNER, "POST", "/api_key", key)).body.secret);
    signers = [];
    for (const fid of AUTHORS) {
      const private_key = `0x${Buffer.from(accountSigner(fid).privateKey).toString("hex")}`;
      const imported = await callSigned(b, OWNER, "POST", "/managed_signer/import", { private_key, fid });
      expect(imported.status).toBe(200);
      signers.push((imported.body.signer as { signer_uuid: string }).signer_uuid);
    }
  }, 180_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  async function call(node: RunningNode, method: string, path: string, body?: object) {
    const response = await fetch(`${node.url}/v2/farcaster${path}`, {
      method,
      headers: { "x-api-key": secret, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
    return { status: response.status, body: (await response.json()) as any };
  }
  const publish = (node: RunningNode, n: number, text: string) =>
    call(node, "POST", "/cast", { signer_uuid: signers[n % signers.length], text, idem: text });
  const castsOf = async (node: RunningNode, fid: number): Promise<{ text: string; hash: string }[]> =>
    (await call(node, "GET", `/feed/user/casts?fid=${fid}&limit=100`)).body.casts;

  test("what a killed node had queued, the other submits; a repetition there gets the same response", async () => {
    const texts = Array.from({ length: CASTS }, (_, n) => `cast ${n}`);
    const answered = await Promise.all(texts.map((text, n) => publish(a, n, text)));
    await a.kill();
    expect(answered.map(({ status }) => [200, 202].includes(status))).toEqual(texts.map(() => true));
    expect(answered.some(({ status }) => status === 202)).toBe(true);
    // Two on one key at once, on the node that did not accept them.
    const again = await Promise.all(texts.map((text, n) => publish(b, n, text)));
    expect(again.map(({ body }) => body)).toEqual(answered.map(({ body }) => body));
    const hashes = answered.map(({ body }) => body.cast.hash as string);
    const stateOf = async (hash: string) => (await call(b, "GET", `/message/?hash=${hash}`)).body.state;
    const allMerged = async () =>
      (await Promise.all(hashes.map(stateOf))).every((state) => state === "merged");
    // A message that the upstream has accepted is looked at again after a minute.
    await until(allMerged, "the queue is empty", 100_000);
    const shown = (await Promise.all(AUTHORS.map((fid) => castsOf(b, fid)))).flat();
    for (const [n, text] of texts.entries())
      expect(shown.filter((cast) => cast.text === text).map(({ hash }) => hash)).toEqual([hashes[n] ?? ""]);
    a = await cluster.start("a", ...withKeys(FORMER));
  }, 180_000);

  test("one key on both nodes at once is one write", async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => publish(n % 2 === 0 ? a : b, 0, "on both nodes")),
    );
    const done = replies.filter(({ status }) => status !== 409);
    expect(new Set(done.map(({ body }) => body.cast.hash)).size).toBe(1);
    expect(done.length).toBeGreaterThan(0);
  }, 180_000);

  test("a signer whose key its user brings on chain at their own request is approved on both nodes, also for its owner, and after a restart", async () => {
    const [author = 0, other = 0] = AUTHORS;
    const make = async (node: RunningNode) => {
      const { body } = await call(node, "POST", "/signer/");
      expect(body.status).toBe("generated");
      return body as { signer_uuid: string; public_key: string };
    };
    const seen = async (node: RunningNode, signer: { signer_uuid: string }) => {
      const { body } = await call(node, "GET", `/signer/?signer_uuid=${signer.signer_uuid}`);
      return [body.status, body.fid ?? null];
    };
    const [own, users, foreign] = [await make(a), await make(a), await make(b)];
    let block = 990_000;
    const bring = (signer: { public_key: string }, fid: number, requestFid: number) => {
      const key = Uint8Array.fromHex(signer.public_key.slice(2));
      const place = { block: block++, at: Math.floor(Date.now() / 1000) };
      const event = keyAddedEvent(fid, key, place, { requestFid });
      cluster.act([{ fid, record: eventRecord(event) }]);
    };
    // Anybody may register a key at their own request for others.
    bring(foreign, author, other);
    bring(own, OWNER, OWNER);
    bring(users, author, author);
    const expected = [
      [own, ["approved", OWNER]],
      [users, ["approved", author]],
      [foreign, ["generated", null]],
    ] as const;
    for (const [signer, status] of expected.slice(0, 2))
      for (const node of [b, a])
        await until(async () => Bun.deepEquals(await seen(node, signer), status), "the key is seen");
    await b.kill();
    b = await cluster.start("b", ...withKeys(FORMER));
    for (const node of [a, b])
      for (const [signer, status] of expected) expect(await seen(node, signer)).toEqual([...status]);
    for (const [node, signer] of [
      [b, own],
      [a, users],
    ] as const) {
      const cast = { signer_uuid: signer.signer_uuid, text: `by ${signer.signer_uuid}` };
      expect((await call(node, "POST", "/cast", cast)).status).toBeOneOf([200, 202]);
    }
    const refused = { signer_uuid: foreign.signer_uuid, text: "by a stranger" };
    expect((await call(a, "POST", "/cast", refused)).status).toBe(403);
  }, 180_000);

  test("a rotated master key waits for the last node; then one node seals, and both sign on", async () => {
    const countsOf = async (node: RunningNode) =>
      // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
      ((await (await fetch(`${node.url}/status`)).json()) as any).signers;
    await b.stop();
    b = await cluster.start("b", ...withKeys(CURRENT, FORMER));
    expect((await publish(b, 1, "by the current key")).status).toBeOneOf([200, 202]);
    // Longer than the interval at which the node looks.
    await Bun.sleep(12_000);
    expect(await countsOf(b)).toMatchObject({ to_reseal: AUTHORS.length + 3 });
    await a.stop();
    a = await cluster.start("a", ...withKeys(CURRENT, FORMER));
    await until(async () => (await countsOf(b)).to_reseal === 0, "all keys are sealed again", 40_000);
    for (const [n, node] of [a, b].entries())
      expect((await publish(node, n, `sealed again ${n}`)).status).toBeOneOf([200, 202]);
    using dir = tempDir();
    const args = cluster.argsOf("late", `data.dir=${dir.path}/late`, ...withKeys(FORMER));
    const refused = await startNode({ command: compiledProgram, dataDir: `${dir.path}/late`, args }).then(
      () => "started",
      (cause) => String(cause),
    );
    expect(refused).toContain("sealed under master keys that the settings do not have");
  }, 180_000);
});
