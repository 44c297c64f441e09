import { Database } from "bun:sqlite";
import { indexPath } from "../src/db/index/database.ts";
import { seededRandom } from "../src/demo/random.ts";
import { encodeMessage } from "../src/protocol/message/signed-message.ts";
import { type HubEvent, HubEventType } from "../src/protocol/wire/generated/hub.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { shardOf } from "../test/support/upstream/shards.ts";
import { sealed } from "./backfill-set.ts";
import { MAINNET_MIX, newRecord } from "./network.ts";

/** Number of casts, of any age, that the messages may name. */
const NAMED = 20_000;

/** Activity while a node was away: this many new messages, by any user, in the blocks after `from`. */
export interface Away {
  /** The data directory of the node, whose users and casts the messages name. */
  readonly dataDir: string;
  readonly from: number;
  readonly blocks: number;
  readonly messages: number;
}

/** Makes the messages of those blocks. Returns the encoded messages by shard and block. */
export function awayMessages({ dataDir, from, blocks, messages }: Away): ReadonlyMap<string, Message[]> {
  const casts = castsOf(dataDir);
  const fids = accountsOf(dataDir);
  const random = seededRandom("away");
  const byBlock = new Map<string, Message[]>();
  for (let n = 0; n < messages; n++) {
    const record = newRecord(random, { mix: MAINNET_MIX, fids, casts }, sealed);
    if (record.kind !== "message") continue;
    const block = from + 1 + Math.floor((n * blocks) / messages);
    const key = `${shardOf(record.message.data.fid)} ${block}`;
    const own = byBlock.get(key) ?? [];
    byBlock.set(key, own);
    own.push(Message.decode(encodeMessage(record.message)));
  }
  return byBlock;
}

/** Returns the events of a block: its announcement, then its merges. */
export function eventsOfBlock(confirmed: HubEvent, messages: readonly Message[]): HubEvent[] {
  const { id, blockNumber, shardIndex, timestamp, body } = confirmed;
  if (messages.length === 0 || body?.$case !== "blockConfirmedBody") return [confirmed];
  const merge = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
  const eventCountsByType = { ...body.value.eventCountsByType, [merge]: messages.length };
  const announced = { ...body.value, eventCountsByType, totalEvents: messages.length + 1 };
  return [
    { ...confirmed, body: { $case: "blockConfirmedBody", value: announced } },
    ...messages.map((message, at) => ({
      type: merge,
      id: id + 1 + at,
      blockNumber,
      shardIndex,
      timestamp,
      body: { $case: "mergeMessageBody" as const, value: { message, deletedMessages: [] } },
    })),
  ];
}

/** Returns the greatest n for which the fids 1 to n all exist. The last fids of a made network have gaps. */
export function accountsOf(dataDir: string): number {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const dense =
    "SELECT count(*) AS n FROM (SELECT fid, row_number() OVER (ORDER BY fid) AS n FROM fids) WHERE fid = n";
  return db.query<{ n: number }, []>(dense).get()?.n ?? 0;
}

/** Returns some casts of all ages. */
export function castsOf(dataDir: string): { fid: number; hash: Uint8Array }[] {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const { least, most } = db
    .query<{ least: number; most: number }, []>("SELECT min(id) AS least, max(id) AS most FROM casts")
    .get() ?? { least: 0, most: 0 };
  const next = db.query<{ fid: number; hash: Uint8Array }, [number]>(
    "SELECT fid, hash FROM casts WHERE id >= ? ORDER BY id LIMIT 1",
  );
  return Array.from({ length: NAMED }, (_, n) =>
    next.get(Math.floor(least + ((most - least) * n) / NAMED)),
  ).flatMap((cast) => cast ?? []);
}
