import { sql } from "../../db/state/sql.ts";
import { stateSecs } from "../../db/state/state-clock.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { bytes, index, table, text, whole } from "../../db/state/table.ts";

/**
 * Measurements of the nodes of one state, so that each node can show all of them, including removed ones. A row has the
 * figures of a minute or an hour as float32. A row with step 0 has the names of the series; its time is their hash.
 */
export const nodeFigures = table(
  "node_figures",
  {
    node_id: text(),
    /** Seconds. */
    step: whole(),
    /** Unix seconds. */
    t: whole(),
    body: bytes(),
  },
  {
    key: ["node_id", "step", "t"],
    indexes: [index("node_figures_by_time", ["step", "t"])],
    isCopied: false,
  },
);

/** Intervals between rows, in seconds. */
export type NodeStep = 60 | 3600;

/** How long rows are kept, in seconds. */
export const NODE_FIGURES_SECS: Readonly<Record<NodeStep, number>> = { 60: 86_400, 3600: 90 * 86_400 };

export type NodeValues = Readonly<Record<string, number>>;

export interface NodeRow {
  readonly t: number;
  readonly figures: NodeValues;
}

/** The figures of the nodes of one state. */
export interface NodeFigures {
  /** Stores a row of a node. A second row for the same time replaces it. */
  put(row: NodeRow & { readonly nodeId: string; readonly step: NodeStep }): Promise<void>;
  /** Returns the newest `max` rows of a node, ascending. `to` is exclusive. */
  read(range: {
    readonly nodeId: string;
    readonly step: NodeStep;
    readonly from: number;
    readonly to: number;
    readonly max: number;
  }): Promise<NodeRow[]>;
  /** Returns the nodes that have rows. */
  nodes(): Promise<string[]>;
}

const NAMES = 0;
const HASH_BYTES = 4;
/** More than the number of live nodes of a state. */
const MAX_NODES = 256;

const putRow = sql<unknown, [nodeId: string, step: number, t: number, body: Uint8Array]>(
  "node-figures.put",
  `INSERT INTO node_figures (node_id, step, t, body) VALUES ($1, $2, $3, $4)
   ON CONFLICT (node_id, step, t) DO UPDATE SET body = excluded.body`,
);
const rowsOf = sql<
  { t: number; body: Uint8Array },
  [nodeId: string, step: number, from: number, to: number, max: number]
>(
  "node-figures.of",
  `SELECT t, body FROM node_figures WHERE node_id = $1 AND step = $2 AND t >= $3 AND t < $4 ORDER BY t DESC LIMIT $5`,
);
/** One index seek per node. */
const nodeIds = sql<{ node_id: string }, [max: number]>(
  "node-figures.nodes",
  `WITH RECURSIVE found (node_id) AS (
     SELECT min(node_id) FROM node_figures WHERE node_id > ''
     UNION ALL
     SELECT (SELECT min(n.node_id) FROM node_figures n WHERE n.node_id > found.node_id)
     FROM found WHERE found.node_id IS NOT NULL
   )
   SELECT node_id FROM found WHERE node_id IS NOT NULL LIMIT $1`,
);
const deleteOld = sql<unknown, [step: number, before: number, max: number]>(
  "node-figures.sweep",
  `DELETE FROM node_figures WHERE (node_id, step, t) IN
   (SELECT node_id, step, t FROM node_figures WHERE step = $1 AND t < $2 ORDER BY t LIMIT $3)`,
);
/** Deletes the names of nodes that have no other rows. */
const deleteNames = sql<unknown, [max: number]>(
  "node-figures.sweep-names",
  `DELETE FROM node_figures WHERE (node_id, step, t) IN
   (SELECT n.node_id, n.step, n.t FROM node_figures n WHERE n.step = 0
      AND NOT EXISTS (SELECT 1 FROM node_figures f WHERE f.node_id = n.node_id AND f.step > 0) LIMIT $1)`,
);

export function createNodeFigures(db: StateDb): NodeFigures {
  // The names are stored first, so that no row is without them. Neither write is synced, so a crash may lose some.
  const put = db.decision(
    "nodeFigures.put",
    async (tx, nodeId: string, rows: readonly (readonly [step: number, t: number, body: Uint8Array])[]) => {
      for (const [step, t, body] of rows) await tx.run(putRow, nodeId, step, t, body);
    },
    { isSynced: false },
  );
  return {
    async put({ nodeId, step, t, figures }) {
      const names = Object.keys(figures).sort();
      const list = new TextEncoder().encode(JSON.stringify(names));
      const hash = Bun.hash.crc32(list);
      const body = new Uint8Array(HASH_BYTES * (1 + names.length));
      const view = new DataView(body.buffer);
      view.setUint32(0, hash);
      for (const [at, name] of names.entries())
        view.setFloat32(HASH_BYTES * (1 + at), figures[name] ?? Number.NaN);
      await put(nodeId, [
        [NAMES, hash, list],
        [step, t, body],
      ]);
    },
    async read({ nodeId, step, from, to, max }) {
      const lists = new Map(
        (await db.all(rowsOf, nodeId, NAMES, 0, Number.MAX_SAFE_INTEGER, MAX_NODES)).map(({ t, body }) => [
          t,
          JSON.parse(new TextDecoder().decode(body)) as readonly string[],
        ]),
      );
      const rows = await db.all(rowsOf, nodeId, step, from, to, max);
      return rows.reverse().map(({ t, body }) => {
        const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
        const names = lists.get(view.getUint32(0)) ?? [];
        return {
          t,
          figures: Object.fromEntries(
            names.map((name, at) => [name, view.getFloat32(HASH_BYTES * (1 + at))] as const),
          ),
        };
      });
    },
    nodes: async () => (await db.all(nodeIds, MAX_NODES)).map(({ node_id }) => node_id),
  };
}

/** Deletes rows past their retention, and the names of nodes that have none left. */
export function nodeFigureSweep(db: StateDb): Sweep {
  return db.sweep("node_figures", async (tx, maxRows) => {
    const now = stateSecs(tx.clock);
    let deleted = 0;
    for (const step of [60, 3600] as const)
      if (deleted < maxRows)
        deleted += await tx.run(deleteOld, step, now - NODE_FIGURES_SECS[step], maxRows - deleted);
    return deleted < maxRows ? deleted + (await tx.run(deleteNames, maxRows - deleted)) : deleted;
  });
}
