import { describe, expect, test } from "bun:test";
import type { Secret } from "../../src/db/state/secret.ts";
import type { OwnedStore } from "../../src/management/owned-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

interface AnyItem {
  readonly ownerFid: number;
  readonly secrets: readonly Secret[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Items of a kind of record. */
export interface OwnedItems<Item, Changes> {
  idOf(item: Item): string;
  /** A new item, different for each number. */
  makeItem(n: number, base: AnyItem): Item;
  /** A text that can change and be null. */
  readonly optionalText: keyof Item;
  /** A change of every field that can change, and the resulting fields. */
  readonly allChanges: Changes & Partial<Item>;
}

/** A store under test. */
export interface OwnedFixture<Item, Changes> extends OwnedItems<Item, Changes>, AsyncDisposable {
  readonly store: OwnedStore<Item, Changes>;
  /** Rows of secrets in the whole store, expired ones included. */
  secretRows(): Promise<number>;
}

export function makeSecret(n: number, createdAt = 100): Secret {
  return { uid: `uid-${n}`, value: n.toString(16).padStart(64, "0"), createdAt, expiresAt: null };
}

/** The guarantees of every implementation of a store of owned records. */
export function ownedStoreContract<Item extends AnyItem, Changes extends object>(
  name: string,
  open: (clock: ManualClock) => Promise<OwnedFixture<Item, Changes>>,
): void {
  describe(`${name}: store of owned records`, () => {
    const keep = disposedAfterEach();
    let clock: ManualClock;
    const start = async () => {
      clock = new ManualClock(100);
      const fixture = keep(await open(clock));
      const item = (n: number, ownerFid = 3) =>
        fixture.makeItem(n, { ownerFid, secrets: [makeSecret(n)], createdAt: 100, updatedAt: 100 });
      return { ...fixture, item };
    };
    const rotation = (n: number, nowSecs: number, graceSecs: number, maxSecrets = 10) => ({
      secret: makeSecret(n, nowSecs),
      graceEndsAt: nowSecs + graceSecs,
      maxSecrets,
    });

    test("finds a created record with all fields, and no other", async () => {
      const { store, item, idOf } = await start();
      const created = item(1);
      expect(await store.create(created, 25)).toEqual(created);
      expect(await store.find(idOf(created), 100)).toEqual(created);
      expect(await store.find(idOf(item(2)), 100)).toBeUndefined();
      expect(await store.find("", 100)).toBeUndefined();
    });

    test("an id with NUL, which any URL may have, is that of no record", async () => {
      const { store, item, idOf } = await start();
      await store.create(item(1), 25);
      for (const id of ["\0", `${idOf(item(1))}\0`, `\0${idOf(item(1))}`]) {
        expect(await store.find(id, 100)).toBeUndefined();
        expect(await store.delete({ id, ownerFid: 3, nowSecs: 100 })).toBe("not-found");
      }
    });

    test("lists all records of the owner in the order of creation, also within one second", async () => {
      const { store, item } = await start();
      for (const n of [5, 1, 9, 3]) await store.create(item(n), 25);
      await store.create(item(7, 4), 25);
      expect(await store.listByOwner(3, 100)).toEqual([item(5), item(1), item(9), item(3)]);
      expect(await store.listByOwner(4, 100)).toEqual([item(7, 4)]);
      expect(await store.listByOwner(5, 100)).toEqual([]);
    });

    test("the cap counts the existing records of one owner, and holds for concurrent creations", async () => {
      const { store, item, idOf } = await start();
      await store.create(item(99, 4), 3);
      const outcomes = await Promise.all([...Array(10).keys()].map((n) => store.create(item(n), 3)));
      expect(outcomes.filter((outcome) => outcome === "cap-reached")).toHaveLength(7);
      const [first] = await store.listByOwner(3, 100);
      await store.delete({ id: idOf(first ?? item(0)), ownerFid: 3, nowSecs: 100 });
      expect(await store.create(item(50), 3)).toEqual(item(50));
      expect(await store.create(item(51), 3)).toBe("cap-reached");
      expect(await store.listByOwner(3, 100)).toHaveLength(3);
    });

    test("of concurrent creations of one id one succeeds, and the others change nothing", async () => {
      const { store, item, idOf } = await start();
      const outcomes = await Promise.all([3, 4, 5, 6].map((fid) => store.create(item(1, fid), 25)));
      expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(3);
      const [created] = outcomes.filter((outcome) => outcome !== "taken");
      expect(await store.find(idOf(item(1)), 100)).toEqual(created as never);
    });

    test("a refused creation leaves no secret", async () => {
      const { store, item, secretRows } = await start();
      expect(await store.create(item(1), 0)).toBe("cap-reached");
      expect(await secretRows()).toBe(0);
    });

    test("an update changes the provided fields and the time", async () => {
      const { store, item, idOf, allChanges, optionalText } = await start();
      const created = item(1);
      await store.create(created, 25);
      const claim = { id: idOf(created), ownerFid: 3, nowSecs: 200 };
      const changed = { ...created, [optionalText]: "new", updatedAt: 200 };
      expect(await store.update(claim, { [optionalText]: "new" } as Changes)).toEqual(changed);
      expect(await store.find(claim.id, 200)).toEqual(changed);
      await store.update(claim, { [optionalText]: null } as Changes);
      expect((await store.find(claim.id, 200))?.[optionalText]).toBeNull();
      const all = { ...created, ...allChanges, updatedAt: 200 };
      expect(await store.update(claim, allChanges)).toEqual(all);
      expect(await store.find(claim.id, 200)).toEqual(all);
    });

    test("concurrent updates undo neither each other nor a rotation", async () => {
      const { store, item, idOf, allChanges, optionalText } = await start();
      const created = item(1);
      await store.create(created, 25);
      const claim = { id: idOf(created), ownerFid: 3, nowSecs: 200 };
      const { [optionalText]: _other, ...others } = allChanges;
      await Promise.all([
        store.update(claim, { [optionalText]: "one" } as Changes),
        store.rotateSecret(claim, rotation(2, 200, 60)),
        store.update(claim, others as unknown as Changes),
      ]);
      const found = await store.find(claim.id, 200);
      expect(found as object).toMatchObject({ ...others, [optionalText]: "one" });
      expect(found?.secrets.map(({ uid }) => uid)).toEqual(["uid-1", "uid-2"]);
    });

    test("a deleted record or another owner's is not changed", async () => {
      const { store, item, idOf, optionalText } = await start();
      const created = item(1);
      await store.create(created, 25);
      const foreign = { id: idOf(created), ownerFid: 4, nowSecs: 200 };
      const gone = { id: idOf(item(2)), ownerFid: 3, nowSecs: 200 };
      for (const [claim, refusal] of [
        [foreign, "not-owner"],
        [gone, "not-found"],
      ] as const) {
        expect(await store.update(claim, { [optionalText]: "theirs" } as Changes)).toBe(refusal);
        expect(await store.rotateSecret(claim, rotation(3, 200, 60))).toBe(refusal);
        expect(await store.delete(claim)).toBe(refusal);
      }
      expect(await store.find(idOf(created), 200)).toEqual(created);
    });

    test("a record is deleted with its secrets", async () => {
      const { store, item, idOf, secretRows } = await start();
      await store.create(item(1), 25);
      await store.create(item(2), 25);
      const claim = { id: idOf(item(1)), ownerFid: 3, nowSecs: 200 };
      expect(await store.delete(claim)).toBeUndefined();
      expect(await store.delete(claim)).toBe("not-found");
      expect(await store.listByOwner(3, 200)).toEqual([item(2)]);
      expect(await secretRows()).toBe(1);
    });

    test("a rotated secret is valid to the end of its grace period, and an earlier expiry stays", async () => {
      const { store, item, idOf, secretRows } = await start();
      await store.create(item(1), 25);
      const id = idOf(item(1));
      const at = (nowSecs: number) => {
        clock.setSecs(nowSecs);
        return { id, ownerFid: 3, nowSecs };
      };
      const rotated = await store.rotateSecret(at(200), rotation(2, 200, 60));
      expect(rotated).toEqual({
        ...item(1),
        updatedAt: 200,
        secrets: [{ ...makeSecret(1), expiresAt: 260 }, makeSecret(2, 200)],
      });
      await store.rotateSecret(at(210), rotation(3, 210, 60));
      const secretsAt = async (nowSecs: number) =>
        (await store.find(id, nowSecs))?.secrets.map(({ uid, expiresAt }) => [uid, expiresAt]);
      const all = [
        ["uid-1", 260],
        ["uid-2", 270],
        ["uid-3", null],
      ];
      expect(await secretsAt(259)).toEqual(all);
      expect(await secretsAt(260)).toEqual(all.slice(1));
      expect(await secretsAt(270)).toEqual(all.slice(2));
      expect((await store.listByOwner(3, 260))[0]?.secrets).toHaveLength(2);
      expect(await secretRows()).toBe(3);
      await store.rotateSecret(at(300), rotation(4, 300, 0));
      expect(await secretsAt(300)).toEqual([["uid-4", null]]);
      // Rows of expired secrets are deleted later, when a jump of the clock cannot be the reason.
      expect(await secretRows()).toBe(4);
      await store.rotateSecret(at(500), rotation(5, 500, 0));
      expect(await secretRows()).toBe(2);
    });

    test("a rotation without grace also ends earlier secrets whose grace period lasts", async () => {
      const { store, item, idOf } = await start();
      await store.create(item(1), 25);
      const claim = { id: idOf(item(1)), ownerFid: 3, nowSecs: 200 };
      await store.rotateSecret(claim, rotation(2, 200, 1_000));
      await store.rotateSecret(claim, rotation(3, 200, 0));
      expect((await store.find(claim.id, 200))?.secrets.map(({ uid }) => uid)).toEqual(["uid-3"]);
    });

    test("the number of expired secrets that are not deleted yet is bounded", async () => {
      const { store, item, idOf, secretRows } = await start();
      await store.create(item(1), 25);
      const claim = { id: idOf(item(1)), ownerFid: 3, nowSecs: 200 };
      const outcomes: unknown[] = [];
      for (let n = 2; n <= 25; n += 1) outcomes.push(await store.rotateSecret(claim, rotation(n, 200, 0, 2)));
      expect(outcomes.filter((outcome) => outcome === "too-many-secrets")).toHaveLength(5);
      expect(await secretRows()).toBe(20);
      clock.setSecs(1_000);
      const later = { ...claim, nowSecs: 1_000 };
      expect(await store.rotateSecret(later, rotation(30, 1_000, 0, 2))).toMatchObject({ ownerFid: 3 });
    });

    test("rotations are limited while nothing expires", async () => {
      const { store, item, idOf } = await start();
      await store.create(item(1), 25);
      const claim = { id: idOf(item(1)), ownerFid: 3, nowSecs: 200 };
      expect(await store.rotateSecret(claim, rotation(2, 200, 60, 2))).toMatchObject({ ownerFid: 3 });
      const before = await store.find(claim.id, 200);
      expect(await store.rotateSecret(claim, rotation(3, 200, 60, 2))).toBe("too-many-secrets");
      expect(await store.find(claim.id, 200)).toEqual(before);
      const later = { ...claim, nowSecs: 260 };
      expect(await store.rotateSecret(later, rotation(3, 260, 60, 2))).toMatchObject({ ownerFid: 3 });
    });
  });
}
