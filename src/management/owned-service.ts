import type { Claim, OwnedStore, StoreRefusal } from "../db/state/stores.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type JsonObject, ownValue, readObject } from "./fields.ts";
import { badField, Refusal, refusalOf } from "./refusal.ts";
import { createSecret } from "./secrets.ts";

/** What operators set for one kind of record. */
export interface OwnedSettings {
  /** Most records that one fid may own. */
  readonly cap: number;
  /** How long a secret works on after it was rotated out. */
  readonly graceSecs: number;
}

/**
 * A rotation after a leak must always be possible, so this is far above what people do in a grace period; but a record
 * must not grow with every request.
 */
const MAX_LIVE_SECRETS = 100;

/** What apps and webhooks have in common: they belong to an fid, are few, and hold secrets. */
export interface OwnedService<Item> {
  get(fid: number, id: string): Promise<Item | Refusal>;
  /** Every record of the fid, oldest first. */
  list(fid: number): Promise<Item[]>;
  delete(fid: number, id: string): Promise<Refusal | undefined>;
  rotateSecret(fid: number, id: string): Promise<Item | Refusal>;
}

/** The parts that creating and updating are made of, for the two services. */
export interface OwnedParts<Item, Changes> extends OwnedService<Item> {
  readonly now: () => number;
  create(item: Item): Promise<Item | Refusal>;
  /** Finds the record that a body names, then lets `read` judge the body's fields for it, then changes the record. */
  update(
    fid: number,
    body: unknown,
    read: (body: JsonObject, item: Item) => Promise<Changes | Refusal>,
  ): Promise<Item | Refusal>;
}

export function createOwnedParts<Item extends { readonly ownerFid: number }, Changes>(options: {
  readonly store: OwnedStore<Item, Changes>;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
  /** What the record is called, as `app`. */
  readonly noun: string;
  /** The key of a body that holds the record's id. */
  readonly idKey: string;
}): OwnedParts<Item, Changes> {
  const { store, clock, settings, noun, idKey } = options;
  const { cap, graceSecs } = settings;
  const now = () => nowSecs(clock);
  const claim = (fid: number, id: string): Claim => ({ id, ownerFid: fid, nowSecs: now() });
  const answer = <T>(outcome: T | StoreRefusal): T | Refusal =>
    typeof outcome === "string" ? refusalOf(outcome as StoreRefusal, { noun, cap }) : outcome;

  async function get(fid: number, id: string): Promise<Item | Refusal> {
    const item = await store.find(id, now());
    if (!item) return answer<Item>("not-found");
    return item.ownerFid === fid ? item : answer<Item>("not-owner");
  }

  return {
    now,
    get,
    list: (fid) => store.listByOwner(fid, now()),
    create: async (item) => answer(await store.create(item, cap)),

    async update(fid, body, read) {
      const given = readObject(body, "request body");
      if (given instanceof Refusal) return given;
      const id = ownValue(given, idKey);
      if (typeof id !== "string" || id === "") return badField(`missing field ${idKey}`);
      const item = await get(fid, id);
      if (item instanceof Refusal) return item;
      const changes = await read(given, item);
      if (changes instanceof Refusal) return changes;
      // The record may have gone while its new URL was being checked; the store decides again.
      return answer(await store.update(claim(fid, id), changes));
    },

    delete: async (fid, id) => answer(await store.delete(claim(fid, id))),

    async rotateSecret(fid, id) {
      const rotating = claim(fid, id);
      return answer(
        await store.rotateSecret(rotating, {
          secret: createSecret(rotating.nowSecs),
          graceEndsAt: rotating.nowSecs + graceSecs,
          maxSecrets: MAX_LIVE_SECRETS,
        }),
      );
    },
  };
}
