import type { Claim, OwnedStore, StoreRefusal } from "../db/state/stores.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type JsonObject, ownValue, readObject } from "./fields.ts";
import { badField, Refusal, refusalOf } from "./refusal.ts";
import { createSecret } from "./secrets.ts";

/** Settings for one kind of record. */
export interface OwnedSettings {
  /** Limit of records that one fid may own. */
  readonly cap: number;
  /** How long a secret stays valid after a rotation. */
  readonly graceSecs: number;
}

/**
 * Limit of unexpired secrets. A rotation after a leak must always be possible, so the limit is far above normal use
 * within a grace period; but a record must not grow with every request.
 */
const MAX_LIVE_SECRETS = 100;

/** Operations that apps and webhooks share: both belong to an fid, are few, and have secrets. */
export interface OwnedService<Item> {
  get(fid: number, id: string): Promise<Item | Refusal>;
  /** Returns all records of the fid, oldest first. */
  list(fid: number): Promise<Item[]>;
  delete(fid: number, id: string): Promise<Refusal | undefined>;
  rotateSecret(fid: number, id: string): Promise<Item | Refusal>;
}

/** The shared operations, and helpers for creating and updating a record. */
export interface OwnedParts<Item, Changes> extends OwnedService<Item> {
  readonly now: () => number;
  create(item: Item): Promise<Item | Refusal>;
  /** Finds the record that a body names, reads the body's fields with `read`, and changes the record. */
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
  /** Name of the kind of record, such as `app`. */
  readonly noun: string;
  /** Key of the record's id in a body. */
  readonly idKey: string;
}): OwnedParts<Item, Changes> {
  const { store, clock, settings, noun, idKey } = options;
  const { cap, graceSecs } = settings;
  const now = () => nowSecs(clock);
  const claim = (fid: number, id: string): Claim => ({ id, ownerFid: fid, nowSecs: now() });
  const toRefusal = <T>(outcome: T | StoreRefusal): T | Refusal =>
    typeof outcome === "string" ? refusalOf(outcome as StoreRefusal, { noun, cap }) : outcome;

  async function get(fid: number, id: string): Promise<Item | Refusal> {
    const item = await store.find(id, now());
    if (!item) return toRefusal<Item>("not-found");
    return item.ownerFid === fid ? item : toRefusal<Item>("not-owner");
  }

  return {
    now,
    get,
    list: (fid) => store.listByOwner(fid, now()),
    create: async (item) => toRefusal(await store.create(item, cap)),

    async update(fid, body, read) {
      const fields = readObject(body, "request body");
      if (fields instanceof Refusal) return fields;
      const id = ownValue(fields, idKey);
      if (typeof id !== "string" || id === "") return badField(`missing field ${idKey}`);
      const item = await get(fid, id);
      if (item instanceof Refusal) return item;
      const changes = await read(fields, item);
      if (changes instanceof Refusal) return changes;
      // The record may have been deleted while its new URL was checked; the store checks again.
      return toRefusal(await store.update(claim(fid, id), changes));
    },

    delete: async (fid, id) => toRefusal(await store.delete(claim(fid, id))),

    async rotateSecret(fid, id) {
      const rotating = claim(fid, id);
      return toRefusal(
        await store.rotateSecret(rotating, {
          secret: createSecret(rotating.nowSecs),
          graceEndsAt: rotating.nowSecs + graceSecs,
          maxSecrets: MAX_LIVE_SECRETS,
        }),
      );
    },
  };
}
