import { mkdirSync } from "node:fs";
import { getInsecureHubRpcClient, Message as TheirMessage } from "@farcaster/hub-nodejs";
import { indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork, MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Webhook } from "../../src/webhooks/store/webhook-store.ts";
import { registerEvent, rentEvent, signerEvent } from "./events.ts";
import { makeWallet, signedCast, signMessage } from "./messages.ts";
import { accountSigner } from "./node.ts";
import { reactionMessage } from "./social.ts";
import { localStores } from "./state-stores.ts";

/** Settings of a node that delivers to this machine as fast as it can. */
export const deliveryArgs = [
  "net.allow_http=true",
  "net.allow_cidrs=127.0.0.0/8",
  "webhooks.rate_limit=1000000",
].flatMap((setting) => ["--set", setting]);

/** Fills a data directory with users who have enough storage, and with webhooks. */
export async function prepareDeliveries(
  dataDir: string,
  { fids, webhooks }: { readonly fids: readonly number[]; readonly webhooks: readonly Webhook[] },
): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const at = nowSecs() - 86_400;
  using db = openIndexWriter(indexPath(dataDir));
  claimNetwork(db, "mainnet");
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engine = createIngestEngine({
    db,
    network,
    clock: systemClock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const events = fids.flatMap((fid) => [
    registerEvent(fid, makeWallet(`custody ${fid}`).address, { block: 1_000 + fid, at }),
    signerEvent(fid, accountSigner(fid).publicKey, { block: 2_000 + fid, at }),
    rentEvent(fid, 1_000, { block: 3_000 + fid, at }),
  ]);
  engine.apply(events.map((event) => ({ kind: "onChainEvent", event })));
  using state = openState(statePath(dataDir));
  const store = localStores(state).webhooks;
  for (const webhook of webhooks) await store.create(webhook, 10_000);
}

const nowSecs = () => Math.floor(Date.now() / 1000);
const timestamp = () => toFarcasterSecs(nowSecs());

/** Messages with the current time. */
export const castNow = (fid: number, text: string) =>
  signedCast(fid, text, accountSigner(fid), { timestamp: timestamp() });

export const uncastNow = (fid: number, hash: `0x${string}`) =>
  signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      fid,
      timestamp: timestamp(),
      body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(hash.slice(2), "hex") } },
    },
    accountSigner(fid),
  );

export const likeNow = (fid: number, target: { readonly fid: number; readonly hash: `0x${string}` }) =>
  reactionMessage(fid, ReactionType.REACTION_TYPE_LIKE, target, { at: timestamp() });

/** The official client of a node. */
export function hubClient(hubAddress: string) {
  const client = getInsecureHubRpcClient(hubAddress);
  return {
    /** Returns which of the messages the node accepted; undefined when the call failed. */
    async submit(messages: readonly Uint8Array[]): Promise<boolean[] | undefined> {
      const result = await client.submitBulkMessages({
        messages: messages.map((bytes) => TheirMessage.decode(bytes)),
      });
      return result.isOk() ? result.value.messages.map(({ message }) => message !== undefined) : undefined;
    },
    [Symbol.dispose]: () => client.$.close(),
  };
}

/** Resolves when a node has nothing left to deliver; rejects after a timeout. */
export async function allDelivered(url: string, withinMs = 60_000): Promise<void> {
  const until = Date.now() + withinMs;
  for (;;) {
    const status = (await (await fetch(`${url}/status`)).json()) as {
      webhooks: { outbox_events: number; deliveries: { queued: number } | null };
    };
    if (status.webhooks.outbox_events === 0 && status.webhooks.deliveries?.queued === 0) return;
    if (Date.now() > until) throw new Error(`still to be delivered: ${JSON.stringify(status)}`);
    await Bun.sleep(20);
  }
}
