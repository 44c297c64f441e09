import { afterAll, beforeAll, describe, expect } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";
import { fetchAsPerson, postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { newSessionKey, sessionHeaders, type TestSession } from "../support/sessions.ts";
import { consoleTest } from "./support/console-test.ts";
import { HAS_BROWSER } from "./support/shared.ts";

/** A demo node whose disk takes no writes for a while: what owners ask for is refused whole, and the page says so. */

const OWNER = 9;
const PEOPLE = 25;

describe.skipIf(!HAS_BROWSER || !Bun.which("prlimit"))("while the disk takes no writes", () => {
  const dir = tempDir();
  let node: RunningNode;
  let session: TestSession;
  let appId: string;
  beforeAll(async () => {
    // A write beyond the limit then fails instead of ending the process.
    const command = ["bash", "-c", 'trap "" XFSZ; exec "$@"', "bash", ...compiledProgram];
    node = await startDemoNode({ dataDir: `${dir.path}/data`, command, args: ["--set", "http.workers=2"] });
    const request = { name: "Bread club", app_url: "https://bread.demo.example/" };
    const { app } = (await postAsPerson(node, OWNER, "/frame/app", request)) as { app: { app_id: string } };
    appId = app.app_id;
    const people = JSON.stringify({ app_id: appId, people: PEOPLE });
    await fetch(`${node.url}/console/demo/add-app`, { method: "POST", body: people });
    const { privateKey, body } = newSessionKey({ origin: node.url });
    const created = await postAsPerson(node, OWNER, "/session", body);
    const { session_id: sessionId } = created.session as { session_id: string };
    session = { sessionId, fid: OWNER, privateKey };
  }, 180_000);
  afterAll(async () => {
    await node?.stop();
    dir[Symbol.dispose]();
  });

  const limitFiles = async (bytes: number | "unlimited") => {
    const limited = Bun.spawn(["prlimit", "--pid", String(node.pid), `--fsize=${bytes}:unlimited`]);
    expect(await limited.exited).toBe(0);
  };
  /** A request that the key of the session signs. */
  async function ask<T>(method: "GET" | "POST", path: string, value?: object): Promise<T> {
    const body = value && JSON.stringify(value);
    const signedAt = Math.floor(Date.now() / 1000);
    const headers = sessionHeaders(session, { method, path, signedAt, ...(body && { body }) });
    const response = await fetch(`${node.url}/v2/svc${path}`, { method, headers, ...(body && { body }) });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  }
  const preview = { subscription: { "cast.created": { text: "bread" } }, events: 100 };
  const send = () => ({
    app_id: appId,
    notification: { title: "Fresh bread", body: "Ready", target_url: "https://bread.demo.example/" },
  });
  const campaigns = async () =>
    (
      await ask<{ campaigns: { campaign_id: string; status: string; [count: string]: unknown }[] }>(
        "GET",
        `/frame/app/campaigns?app_id=${appId}`,
      )
    ).campaigns;
  const sessions = async () => (await ask<{ sessions: unknown[] }>("GET", "/session/list")).sessions.length;

  consoleTest(
    "a session, a send and a signed preview are refused with 503 and leave nothing, a running campaign waits, reads continue; with room all of it works, and the page says each",
    async (open) => {
      const { page, goto } = await open({ origin: node.url });
      await page.addInitScript((borrowed) => {
        localStorage.setItem("demo-fid", String(borrowed));
        localStorage.setItem("demo-signs-unasked", "1");
      }, OWNER);
      await goto("/console/manage");
      await page.getByRole("button", { name: "Start a session" }).waitFor();
      const [, running] = await Promise.all([
        limitFiles(1),
        fetchAsPerson(node, OWNER, { method: "POST", path: "/frame/app/campaign", body: send() }),
      ]);
      const before = { sessions: await sessions(), campaigns: (await campaigns()).length };

      for (const [path, body] of [
        ["/session", newSessionKey({ origin: node.url }).body],
        ["/frame/app/campaign", send()],
        ["/webhook/preview", preview],
      ] as const) {
        const refused = await fetchAsPerson(node, OWNER, { method: "POST", path, body });
        expect([path, refused.status, refused.headers.get("retry-after")]).toEqual([path, 503, "5"]);
        expect(await refused.json()).toEqual({ message: expect.stringMatching(/^the node cannot store/) });
      }
      await page.getByRole("button", { name: "Start a session" }).click();
      await page
        .getByRole("alert")
        .getByText(/503 the node cannot store/)
        .waitFor();
      expect(await ask("POST", "/webhook/preview", preview)).toHaveProperty("matched");
      expect({ sessions: await sessions(), campaigns: (await campaigns()).length }).toEqual(before);

      await limitFiles("unlimited");
      await until(async () => (await fetch(`${node.url}/ready?for=state`)).status === 200);
      await page.getByRole("button", { name: "Start a session" }).click();
      await page.getByText(/This browser reads/).waitFor();
      expect(await sessions()).toBe(before.sessions + 1);
      const sent = await fetchAsPerson(node, OWNER, {
        method: "POST",
        path: "/frame/app/campaign",
        body: send(),
      });
      expect(sent.status).toBe(202);
      await until(async () => (await campaigns()).every(({ status }) => status === "completed"));
      const ended = await campaigns();
      expect(ended).toHaveLength(running.status === 202 ? 2 : 1);
      for (const { success_count, failure_count, not_attempted_count } of ended)
        expect(Number(success_count) + Number(failure_count) + Number(not_attempted_count)).toBe(PEOPLE);
    },
    180_000,
  );
});
