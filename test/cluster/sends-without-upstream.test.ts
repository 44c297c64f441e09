import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { run } from "../cli/run.ts";
import { callSigned, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { transferEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { eventRecord } from "../support/node.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { custodyWallet } from "../support/signing.ts";

/** Sends of a cluster whose only running node does not know who owns the sender, or who is in the audience. */

const NOWHERE = "upstream.url=http://127.0.0.1:1";
const FID = 4;

describe.skipIf(!HAS_POSTGRES)("sends of a node without its upstream", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster({ seed: "scheduled sends of nodes", command: compiledProgram });
  }, 180_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  async function addApp(node: RunningNode): Promise<string> {
    const app = { name: "Bread", app_url: "https://127.0.0.1" };
    const created = await callSigned(node, FID, "POST", "/frame/app", app);
    return (created.body.app as { app_id: string }).app_id;
  }

  const send = (node: RunningNode, appId: string, terms: object) =>
    callSigned(node, FID, "POST", "/frame/app/campaign", {
      app_id: appId,
      notification: { title: "T", body: "B", target_url: "https://127.0.0.1/x" },
      ...terms,
    });

  async function schedule(node: RunningNode, appId: string): Promise<string> {
    const scheduled = await send(node, appId, { send_at: Math.floor(Date.now() / 1000) + 1 });
    expect(scheduled.status).toBe(202);
    return (scheduled.body.schedule as { schedule_id: string }).schedule_id;
  }

  const command = (...args: string[]) => run([...cluster.argsOf("command"), ...args]);

  async function pausesOf(node: RunningNode) {
    const status = (await (await fetch(`${node.url}/status`)).json()) as { switches: readonly unknown[] };
    return status.switches;
  }

  /** Stores sends at a node and stops it before it can start one. */
  async function inPause<T>(node: RunningNode, store: () => Promise<T>): Promise<T> {
    expect((await command("state", "pause", "sends", "--reason", "test")).exitCode).toBe(0);
    await until(async () => (await pausesOf(node)).length > 0, "the pause is known");
    const stored = await store();
    await node.stop();
    expect((await command("state", "resume", "sends")).exitCode).toBe(0);
    return stored;
  }

  /** How often the only campaign of an app was started, and whether it has ended. */
  async function campaignOf(appId: string) {
    const [row] = await cluster.database.query(
      `SELECT runs, ended_at FROM svc.campaigns WHERE app_id = '${appId}'`,
    );
    return { runs: Number(row?.runs), hasEnded: row?.ended_at != null };
  }

  /** The state of its only wave, and for how many seconds that has been due by the clock of the state. */
  async function waveOf(scheduleId: string) {
    const [row] = await cluster.database.query(
      `SELECT w.state, w.reason, extract(epoch FROM clock_timestamp()) - w.due_at_ms / 1000.0 AS overdue
       FROM svc.schedule_waves w JOIN svc.schedules s ON s.seq = w.schedule WHERE s.schedule_id = '${scheduleId}'`,
    );
    return { state: row?.state, reason: row?.reason ?? null, overdue: Number(row?.overdue) };
  }

  const startWithout = (name: string, dataDir: string) =>
    startNode({ command: compiledProgram, dataDir, args: cluster.argsOf(name, NOWHERE) });

  /** Looks happen once a second. */
  const overdue = (id: string) => until(async () => (await waveOf(id)).overdue > 3, "three looks");

  test("wait for the index of a new node to be filled, and are then sent", async () => {
    using dir = tempDir();
    const first = await cluster.start("first");
    const [id, appId] = await inPause(first, async () => {
      const scheduled = await schedule(first, await addApp(first));
      const other = await addApp(first);
      expect((await send(first, other, {})).status).toBe(202);
      return [scheduled, other] as const;
    });
    const unfilled = await startWithout("second", dir.path);
    await overdue(id);
    await unfilled.stop();
    expect(await waveOf(id)).toMatchObject({ state: "due", reason: null });
    expect(await campaignOf(appId)).toEqual({ runs: 0, hasEnded: false });
    const filled = await cluster.start("second");
    await until(async () => (await waveOf(id)).state !== "due", "it is decided");
    await until(async () => (await campaignOf(appId)).hasEnded, "the campaign has ended");
    await filled.stop();
    expect(await waveOf(id)).toMatchObject({ state: "sent", reason: null });
  }, 120_000);

  test("that a previous owner has scheduled are held once the node knows of the transfer, and not sent before", async () => {
    using dir = tempDir();
    const current = await cluster.start("third");
    const id = await inPause(current, async () => schedule(current, await addApp(current)));
    cluster.act([
      {
        fid: FID,
        record: eventRecord(
          transferEvent(FID, custodyWallet(FID).address, makeWallet("buyer").address, { block: 90_000 }),
        ),
      },
    ]);
    const stale = await startWithout("third", dir.path);
    await overdue(id);
    await stale.stop();
    expect(await waveOf(id)).toMatchObject({ state: "due", reason: null });
    const caughtUp = await cluster.start("third");
    await until(async () => (await waveOf(id)).state !== "due", "it is decided");
    await caughtUp.stop();
    expect(await waveOf(id)).toMatchObject({ state: "held", reason: "custody_moved" });
  }, 120_000);
});
