import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import {
  index,
  json,
  key,
  type RecordOf,
  type Row,
  recordCodec,
  table,
  text,
  whole,
} from "../../db/state/table.ts";

export type SavedKind = "draft" | "segment";

/** Drafts and segments of apps: the owner's input, as the body of the request that stored it. Times are unix seconds. */
export const savedItems = table(
  "saved_items",
  {
    /** 16 characters of base58. */
    item_id: key(text()),
    app_id: text(),
    kind: text<SavedKind>(),
    content: json<Readonly<Record<string, unknown>>>(),
    created_at: whole(),
    updated_at: whole(),
  },
  {
    indexes: [index("saved_items_of_app", ["app_id", "kind", "created_at", "item_id"])],
  },
);

export type SavedItem = RecordOf<typeof savedItems>;

/** How much an app may store of a kind. */
export interface SavedBounds {
  readonly items: number;
  /** Total characters of all items. */
  readonly chars: number;
}

/** Stores drafts and segments. Every method is atomic. The caller has checked who owns the app. */
export type SavedStore = ReturnType<typeof createSaved>;

const codec = recordCodec(savedItems);
const select = `SELECT ${codec.columns} FROM saved_items`;
type ItemRow = Row<typeof savedItems>;

const byId = sql<ItemRow, [itemId: string]>("saved-items.find", `${select} WHERE item_id = $1`);
const ofApp = sql<ItemRow, [appId: string, kind: string]>(
  "saved-items.of-app",
  `${select} WHERE app_id = $1 AND kind = $2 ORDER BY created_at, item_id`,
);
const others = sql<{ items: number; chars: number | null }, [appId: string, kind: string, itemId: string]>(
  "saved-items.others",
  `SELECT count(*) AS items, sum(length(content))::bigint AS chars FROM saved_items
   WHERE app_id = $1 AND kind = $2 AND item_id <> $3`,
);
/** Overwrites only an item of the same app and kind. */
const upsert = sql<unknown, ReturnType<typeof codec.values>>(
  "saved-items.put",
  `${codec.insert.replace("INTO saved_items", "INTO saved_items AS s")} ON CONFLICT (item_id) DO UPDATE SET
     content = excluded.content, updated_at = excluded.updated_at
   WHERE s.app_id = excluded.app_id AND s.kind = excluded.kind`,
);
const remove = sql<unknown, [itemId: string, appId: string, kind: string]>(
  "saved-items.delete",
  "DELETE FROM saved_items WHERE item_id = $1 AND app_id = $2 AND kind = $3",
);

export function createSaved(db: StateDb) {
  return {
    /**
     * Stores an item, replacing one with the same id, unless the app would then have too many items of the kind, or too many characters.
     */
    put: db.decision("saved.put", async (tx, item: SavedItem, bounds: SavedBounds) => {
      await tx.lock("owner", `saved:${item.appId}`);
      const { items = 0, chars } = (await tx.get(others, item.appId, item.kind, item.itemId)) ?? {};
      const added = JSON.stringify(item.content).length;
      if (items >= bounds.items || (chars ?? 0) + added > bounds.chars) return "too-many";
      return (await tx.run(upsert, ...codec.values(item))) === 1 ? "stored" : "taken";
    }),
    async find(itemId: string): Promise<SavedItem | undefined> {
      const row = await db.get(byId, itemId);
      return row && codec.toRecord(row);
    },
    /** Oldest first. */
    list: async (appId: string, kind: SavedKind): Promise<SavedItem[]> =>
      (await db.all(ofApp, appId, kind)).map(codec.toRecord),
    /** Returns whether the item existed. */
    delete: db.decision(
      "saved.delete",
      async (tx, appId: string, kind: SavedKind, itemId: string) =>
        (await tx.run(remove, itemId, appId, kind)) === 1,
    ),
  };
}

const nextApp = sql<{ app_id: string | null; is_there: boolean | number }, [after: string]>(
  "saved-items.next-app",
  `SELECT app_id, EXISTS (SELECT 1 FROM apps WHERE apps.app_id = next.app_id) AS is_there
   FROM (SELECT min(app_id) AS app_id FROM saved_items WHERE app_id > $1) AS next`,
);
const deleteOfApp = sql<unknown, [appId: string, max: number]>(
  "saved-items.delete-of-app",
  `DELETE FROM saved_items WHERE item_id IN
   (SELECT item_id FROM saved_items WHERE app_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Deletes the items of deleted apps, one app per step. */
export function savedSweep(db: StateDb): Sweep {
  const forget = db.decision(
    "saved.forget",
    (tx, appId: string, maxRows: number) => tx.run(deleteOfApp, appId, maxRows),
    { isOneStatement: true },
  );
  let position = "";
  return {
    name: "saved_items",
    async step(maxRows) {
      const { app_id: appId = null, is_there: isThere } = (await db.get(nextApp, position)) ?? {};
      if (appId === null) {
        position = "";
        return { deleted: 0, more: false };
      }
      const deleted = isThere ? 0 : await forget(appId, maxRows);
      if (deleted < maxRows) position = appId;
      return { deleted, more: true };
    },
  };
}
