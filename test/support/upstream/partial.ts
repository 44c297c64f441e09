import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { Store } from "../../../src/protocol/message/merge-rules.ts";
import type { MessageData } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { liveMessages } from "../live-messages.ts";

const PROFILE_STORES: readonly number[] = [Store.UserData, Store.Verifications];
const PROFILE_EVENTS = [
  OnChainEventType.EVENT_TYPE_SIGNER,
  OnChainEventType.EVENT_TYPE_ID_REGISTER,
  OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
];

/**
 * Returns the errors in the index of a node that follows only some fids, compared with a complete index. It must have
 * everything of these fids, and the profiles of the fids that their messages mention. It may have the profiles of other
 * fids, which deleted messages may have mentioned, and the names that a fill cannot find (see `Reference`).
 */
export function partialDifferences(
  partial: IndexDatabase,
  { db: whole, hiddenNames }: { readonly db: IndexDatabase; readonly hiddenNames: readonly string[] },
  followed: ReadonlySet<number>,
): string[] {
  const isHidden = (fact: string) => hiddenNames.some((name) => fact.startsWith(`name ${name} `));
  const mentioned = new Set(
    messagesOf(whole)
      .filter(({ fid }) => followed.has(fid))
      .flatMap(({ data }) => mentionedBy(data)),
  );
  const differences: string[] = [];
  for (const fid of allFids(whole)) {
    const isFollowed = followed.has(fid);
    const expected = factsOf(whole, fid, isFollowed).filter((fact) => !isHidden(fact));
    const found = factsOf(partial, fid, true).filter((fact) => !isHidden(fact));
    const isSame = found.join("\n") === expected.join("\n");
    const isName = (fact: string) => fact.startsWith("name ") && expected.includes(fact);
    const mayLack = !isFollowed && !mentioned.has(fid) && found.every(isName);
    if (!isSame && !mayLack)
      differences.push(
        `${fid}: ${found.length} facts instead of ${expected.length}: ${difference(found, expected)}`,
      );
  }
  return differences;
}

function difference(found: readonly string[], expected: readonly string[]): string {
  const extra = found.filter((fact) => !expected.includes(fact)).map((fact) => `+${fact}`);
  const missing = expected.filter((fact) => !found.includes(fact)).map((fact) => `-${fact}`);
  return [...extra, ...missing].slice(0, 5).join(" ");
}

/** Returns everything that an index stores of an fid, or only its profile. */
function factsOf(db: IndexDatabase, fid: number, isWhole: boolean): string[] {
  const messages = messagesOf(db)
    .filter((message) => message.fid === fid && (isWhole || PROFILE_STORES.includes(message.store)))
    .map(({ store, hash }) => `message ${store} ${hash}`);
  const events = db.sqlite
    .query<{ type: number; block: number }, [number]>(
      "SELECT type, block_number AS block FROM on_chain_events WHERE fid = ?",
    )
    .all(fid)
    .filter(({ type }) => isWhole || PROFILE_EVENTS.includes(type))
    .map(({ type, block }) => `event ${type} ${block}`);
  const names = db.sqlite
    .query<{ name: string; timestamp: number }, [number]>(
      "SELECT name, timestamp FROM username_proofs WHERE fid = ?",
    )
    .all(fid)
    .map(({ name, timestamp }) => `name ${name} ${timestamp}`);
  const nonces = db.sqlite
    .query<{ nonce: number }, [number]>("SELECT nonce FROM key_nonces WHERE fid = ?")
    .all(fid)
    .filter(() => isWhole)
    .map(({ nonce }) => `nonce ${nonce}`);
  return [...messages, ...events, ...names, ...nonces].sort();
}

function messagesOf(db: IndexDatabase) {
  return liveMessages(db)
    .filter(({ store }) => store !== Store.UsernameProofs && store !== Store.GaslessKeys)
    .map((live) => ({ fid: live.fid, store: live.store, hash: live.hash.toHex(), data: live.decode().data }));
}

function allFids(db: IndexDatabase): number[] {
  return db.sqlite
    .query<{ fid: number }, []>("SELECT fid FROM fids")
    .all()
    .map(({ fid }) => fid);
}

function mentionedBy({ body }: MessageData): number[] {
  switch (body?.$case) {
    case "castAddBody":
      return [
        ...body.value.mentions,
        ...(body.value.parent?.$case === "parentCastId" ? [body.value.parent.value.fid] : []),
      ];
    case "reactionBody":
      return body.value.target?.$case === "targetCastId" ? [body.value.target.value.fid] : [];
    case "linkBody":
      return [body.value.target?.value ?? 0];
    default:
      return [];
  }
}
