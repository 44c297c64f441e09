import { expect, test } from "bun:test";
import { join } from "node:path";
import { compiledProgram } from "../support/compiled-program.ts";
import { postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { newSessionKey, sessionHeaders, type TestSession } from "../support/sessions.ts";

/** Kills of a node while owners start sessions, send and try subscriptions. */
const KILLS = IS_LONG ? 20 : 2;
const MAX_MS_UNTIL_KILL = 250;
/** Fewer than the sessions that an fid may have, so that none ends by itself. */
const SESSIONS = 12;
const SENDS = 12;
const FIRST_OWNER = 100;

interface Attempt {
  readonly name: string;
  /** Undefined where the kill was first. */
  answer: Record<string, unknown> | undefined;
}

/** Makes requests at once; a request that the kill cut has no response. */
function attempt(
  count: number,
  prefix: string,
  run: (name: string) => Promise<Record<string, unknown>>,
): { readonly attempts: Attempt[]; readonly done: Promise<unknown> } {
  const attempts = Array.from(
    { length: count },
    (_, n): Attempt => ({ name: `${prefix} ${n}`, answer: undefined }),
  );
  const done = Promise.all(
    attempts.map(async (one, n) => {
      await Bun.sleep((n * MAX_MS_UNTIL_KILL) / count);
      try {
        one.answer = await run(one.name);
      } catch {
        // Cut by the kill.
      }
    }),
  );
  return { attempts, done };
}

async function read(node: RunningNode, session: TestSession, path: string, op: string) {
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = sessionHeaders(session, { method: "GET", path, op, signedAt });
  const response = await fetch(`${node.url}/v2/svc${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function startSession(node: RunningNode, fid: number, label: string) {
  const { privateKey, body } = newSessionKey({ origin: new URL(node.url).origin, label });
  const { session } = (await postAsPerson(node, fid, "/session", body)) as {
    session: { session_id: string };
  };
  return { sessionId: session.session_id, fid, privateKey };
}

const PREVIEW = { subscription: { "cast.created": {} }, events: 1_000 };

test(
  `after ${KILLS} kills nothing is half done: what was acknowledged stays, and the rest can be requested again`,
  async () => {
    using dir = tempDir();
    const dataDir = join(dir.path, "data");
    let node = await startDemoNode({ dataDir });
    let cut = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const fid = FIRST_OWNER + kill;
      const reader = await startSession(node, fid, "reads");
      const request = { name: "Bread club", app_url: "https://bread.demo.example/" };
      const { app } = (await postAsPerson(node, fid, "/frame/app", request)) as { app: { app_id: string } };
      const appId = app.app_id;
      await fetch(`${node.url}/console/demo/add-app`, {
        method: "POST",
        body: JSON.stringify({ app_id: appId, people: 20 }),
      });
      const send = (title: string) =>
        postAsPerson(node, fid, "/frame/app/campaign", {
          app_id: appId,
          notification: { title, body: "The oven is hot", target_url: "https://bread.demo.example/" },
        });
      const sessions = attempt(SESSIONS, "session", async (label) => ({
        ...(await startSession(node, fid, label)),
      }));
      const sends = attempt(SENDS, "send", send);
      const previews = attempt(4, "preview", () => postAsPerson(node, fid, "/webhook/preview", PREVIEW));
      await Bun.sleep(Math.random() * MAX_MS_UNTIL_KILL);
      await node.kill();
      await Promise.all([sessions.done, sends.done, previews.done]);
      cut += [...sessions.attempts, ...sends.attempts].filter(({ answer }) => answer === undefined).length;

      node = await startNode({ command: compiledProgram, demo: true, dataDir });
      const listed = await read(node, reader, "/session/list", "session.read");
      expect(listed.status).toBe(200);
      const labels = (listed.body.sessions as { label: string }[]).map(({ label }) => label);
      expect(new Set(labels).size).toBe(labels.length);
      const answered = sessions.attempts.filter(({ answer }) => answer !== undefined);
      expect(labels).toEqual(expect.arrayContaining(answered.map(({ name }) => name)));
      for (const { answer } of answered)
        expect(
          (await read(node, answer as unknown as TestSession, "/session/list", "session.read")).status,
        ).toBe(200);
      for (const { name, answer } of sends.attempts) {
        if (answer === undefined) continue;
        const path = `/frame/app/campaign?campaign_id=${answer.campaign_id}`;
        const found = await read(node, reader, path, "app.read");
        expect([name, found.status]).toEqual([name, 200]);
        expect(found.body.campaign).toMatchObject({ notification: { title: name } });
      }
      // What was cut is asked for again.
      const again = sends.attempts.find(({ answer }) => answer === undefined);
      if (again) expect(await send(again.name)).toMatchObject({ campaign_id: expect.any(String) });
      await startSession(node, fid, "after the kill");
      expect(await postAsPerson(node, fid, "/webhook/preview", PREVIEW)).toMatchObject({
        scanned: expect.any(Number),
      });
    }
    console.info(`${KILLS} kills cut ${cut} of ${KILLS * (SESSIONS + SENDS)} requests`);
    if (IS_LONG) expect(cut).toBeGreaterThan(0);
    expect(await node.stop()).toBe(0);
  },
  IS_LONG ? 300_000 : 120_000,
);
