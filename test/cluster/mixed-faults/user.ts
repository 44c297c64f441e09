import { clientKey, officialEnvelope } from "../../support/envelopes.ts";
import type { Client, ClientContext } from "./client.ts";

export const CLIENT_FID = 1;

/** Users whose client app reports their tokens of an app: each event names a new token. */
export function createUsers(
  { fleet, cluster, random }: ClientContext,
  appId: string,
  fids: readonly number[],
): Client {
  /** The tokens that a user may have: the last one that was confirmed, and those without a response. */
  const possible = new Map<number, Set<string | undefined>>();
  const confirmed = new Map<number, string>();
  let sent = 0;
  let done = 0;
  let unknown = 0;
  return {
    get done() {
      return done;
    },
    get unknown() {
      return unknown;
    },
    async step() {
      const fid = random.pick(fids);
      const tokens = possible.get(fid) ?? new Set([undefined]);
      possible.set(fid, tokens);
      const token = `t${sent++}`;
      const event = {
        event: "notifications_enabled",
        notificationDetails: { url: "https://127.0.0.1/n", token },
      };
      const body = JSON.stringify(officialEnvelope(fid, clientKey(fid, CLIENT_FID), event));
      const path = `/v2/svc/frame/webhook/${appId}`;
      const { outcome } = await fleet.ask((node) =>
        fetch(node.url + path, { method: "POST", body, keepalive: false }),
      );
      if (outcome === "refused") return;
      if (outcome === "done") {
        done += 1;
        // What was sent before and has no response may still come.
        tokens.delete(confirmed.get(fid));
        confirmed.set(fid, token);
      } else unknown += 1;
      tokens.add(token);
    },
    async verify() {
      const rows = await cluster.database.query(`SELECT fid, token FROM tokens WHERE app_id = '${appId}'`);
      const stored = new Map(rows.map(({ fid, token }) => [Number(fid), String(token)]));
      return [...possible].flatMap(([fid, tokens]) =>
        tokens.has(stored.get(fid)) ? [] : [`${fid} has ${stored.get(fid)}, not ${[...tokens].join(" or ")}`],
      );
    },
  };
}
