import { getInsecureHubRpcClient, Message, Metadata } from "@farcaster/hub-nodejs";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { makeSigner, signedCast } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";
import type { Client, ClientContext } from "./client.ts";
import type { Answer } from "./fleet.ts";

const CALL_MS = 20_000;

/** A call of a receiver. */
export interface Arrival {
  readonly id: string;
  readonly hook: string;
  readonly text: string;
  readonly atMs: number;
}

export interface AuthorOptions {
  readonly fids: readonly number[];
  /** The receivers of the webhooks for these casts. */
  readonly hooks: readonly string[];
  readonly arrivals: readonly Arrival[];
}

/** Authors who submit casts over gRPC to any node; each cast must reach each webhook. */
export function createAuthors(
  { fleet, random }: ClientContext,
  { fids, hooks, arrivals }: AuthorOptions,
): Client & { readonly acknowledged: ReadonlyMap<string, number> } {
  /** The author by text. */
  const acknowledged = new Map<string, number>();
  const forged = new Set<string>();
  let sent = 0;
  let done = 0;
  let unknown = 0;

  async function submit(url: string, bytes: Uint8Array): Promise<Answer> {
    const hub = getInsecureHubRpcClient(url);
    try {
      const result = await hub.submitMessage(Message.decode(bytes), new Metadata(), {
        deadline: Date.now() + CALL_MS,
      });
      const code = result.isOk() ? "ok" : result.error.errCode;
      const outcome = result.isOk() ? "done" : code.startsWith("bad_request") ? "refused" : "unknown";
      return { outcome, status: result.isOk() ? 200 : 400, body: code };
    } finally {
      hub.close();
    }
  }

  return {
    acknowledged,
    get done() {
      return done;
    },
    get unknown() {
      return unknown;
    },
    async step() {
      const fid = random.pick(fids);
      const isForged = random.chance(0.1);
      const text = `${isForged ? "forged" : "cast"} ${sent++}`;
      const signer = isForged ? makeSigner("a stranger") : accountSigner(fid);
      const timestamp = toFarcasterSecs(Math.floor(Date.now() / 1000));
      const bytes = signedCast(fid, text, signer, { timestamp });
      const { outcome } = await fleet.call((node) => submit(node.hubAddress, bytes));
      if (isForged) forged.add(text);
      else if (outcome === "done") acknowledged.set(text, fid);
      if (outcome === "done") done += 1;
      if (outcome === "unknown") unknown += 1;
    },
    async verify() {
      const wrong: string[] = [];
      const byCast = Map.groupBy(arrivals, ({ hook, text }) => `${hook} ${text}`);
      for (const hook of hooks) {
        for (const text of acknowledged.keys())
          if (!byCast.has(`${hook} ${text}`)) wrong.push(`${text} never came to ${hook}`);
        for (const text of forged) if (byCast.has(`${hook} ${text}`)) wrong.push(`${text} came to ${hook}`);
      }
      for (const [cast, calls] of byCast) {
        const ids = new Set(calls.map(({ id }) => id));
        if (ids.size !== 1) wrong.push(`${cast} came under ${ids.size} ids`);
      }
      for (const { name, running } of fleet.nodes) {
        if (!running) continue;
        const found = new Set<string>();
        for (const fid of fids) {
          let cursor: string | null = "";
          while (cursor !== null) {
            const query: string = `fid=${fid}&limit=100${cursor && `&cursor=${cursor}`}`;
            const response = await fetch(`${running.url}/v2/svc/feed/user/casts?${query}`);
            const page = (await response.json()) as {
              casts: { text: string }[];
              next: { cursor: string | null };
            };
            for (const { text } of page.casts) found.add(text);
            cursor = page.next.cursor;
          }
        }
        for (const text of acknowledged.keys())
          if (!found.has(text)) wrong.push(`${name} does not have ${text}`);
        for (const text of forged) if (found.has(text)) wrong.push(`${name} has ${text}`);
      }
      return wrong;
    },
  };
}
