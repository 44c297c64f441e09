import { BLOCK_FIDS, FidBlock } from "../../../src/push/store/campaigns/ledger-block.ts";
import type { PushClient } from "../../support/push-client.ts";
import { notification } from "../../support/send.ts";
import type { Client, ClientContext } from "./client.ts";

export interface SenderApp {
  readonly appId: string;
  readonly key: string;
  /** Users of the app, each with one token of the client: `t<fid>`. */
  readonly tokens: number;
}

/** A sender of notifications to all users of an app, each through one node, or through two at once. */
export function createSender(
  { fleet, cluster, random }: ClientContext,
  app: SenderApp,
  client: PushClient,
): Client {
  const acknowledged = new Set<string>();
  const refused = new Set<string>();
  let done = 0;
  let unknown = 0;

  async function send(uuid: string): Promise<void> {
    const headers: Record<string, string> = { "x-api-key": app.key };
    const waits = random.chance(0.3);
    if (!waits) headers.prefer = "respond-async";
    const body = JSON.stringify({ notification: { ...notification, uuid } });
    const path = `/v2/svc/frame/notifications/${app.appId}`;
    const { outcome } = await fleet.ask(
      (node) => fetch(node.url + path, { method: "POST", headers, body, keepalive: false }),
      { mayWait: waits },
    );
    if (outcome === "done") acknowledged.add(uuid);
    if (outcome === "refused") refused.add(uuid);
    if (outcome === "done") done += 1;
    if (outcome === "unknown") unknown += 1;
  }

  return {
    get done() {
      return done;
    },
    get unknown() {
      return unknown;
    },
    async step() {
      const uuid = crypto.randomUUID();
      await Promise.all(Array.from({ length: random.chance(0.5) ? 2 : 1 }, () => send(uuid)));
    },
    async verify() {
      const rows = await cluster.database.query(
        `SELECT campaign_id, notification_id AS id, status, success_count::int AS success, failure_count::int AS failure,
           not_attempted_count::int AS rest FROM campaigns WHERE app_id = '${app.appId}'`,
      );
      const wrong: string[] = [];
      const successes = new Map<string, number>();
      for (const { campaign_id, id, status, success, failure, rest } of rows) {
        const counts = [success, failure, rest].map(Number);
        const sum = counts.reduce((total, count) => total + count, 0);
        if (status !== "completed" || sum !== app.tokens)
          wrong.push(`campaign ${campaign_id} is ${status} with ${counts.join(", ")}`);
        successes.set(String(id), (successes.get(String(id)) ?? 0) + Number(success));
      }
      for (const [id, success] of successes)
        if (success !== app.tokens) wrong.push(`${success} tokens were served with ${id}`);
      for (const id of acknowledged) {
        if (!successes.has(id)) wrong.push(`there is no campaign of ${id}`);
        const missing = Array.from({ length: app.tokens }, (_, fid) => `${id} t${fid + 1}`).filter(
          (key) => !client.shown.has(key),
        );
        if (missing.length > 0) wrong.push(`${missing.length} tokens never got ${id}`);
      }
      for (const id of refused)
        if (!acknowledged.has(id) && successes.has(id)) wrong.push(`${id} was refused and sent`);
      return wrong;
    },
  };
}

/** Returns `<uuid> <token>` of everything that is stored as sent. */
export function sentTokens(rows: readonly Record<string, unknown>[]): string[] {
  return rows.flatMap(({ id, block, fids }) => {
    const sent = new FidBlock(fids as Uint8Array);
    return Array.from({ length: BLOCK_FIDS }, (_, at) => Number(block) * BLOCK_FIDS + at)
      .filter((fid) => sent.has(fid))
      .map((fid) => `${id} t${fid}`);
  });
}
