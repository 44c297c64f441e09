import { setTimeout as sleep } from "node:timers/promises";
import type { PgPool, PgTransaction } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { BusyError, RetryableError, UserError } from "../../lib/failure.ts";
import { type ComparedSettings, differingKeys, NETWORK_SETTING, parseSettings } from "../shared-settings.ts";
import {
  changeSettings,
  createCluster,
  joinNode,
  listNodes,
  type NodeRow,
  readCluster,
  readServer,
  recordServer,
  refuseSignedUntilNow,
} from "./node-rows.ts";

export const NODE_LEASE_MS = 8_000;
export const MAX_NODES = 64;

/** How often a starting node checks the lease of its own previous process. */
const RETRY_MS = 500;

export interface JoinDeps {
  readonly pool: PgPool;
  readonly nodeId: string;
  readonly version: string;
  /** The creation time of the last migration that this release knows, unix ms. */
  readonly schemaVersion: number;
  /** Whether the node has no upstream, so that its index is unlike any other. */
  readonly isSolo: boolean;
  readonly settings: ComparedSettings;
  readonly leaseMs: number;
}

/** The result of a join. */
export interface Joined {
  readonly node: StateNode;
  readonly beat: number;
  /** Soft settings that differ from those of live nodes, by node id. */
  readonly differing: ReadonlyMap<string, readonly string[]>;
  /** Whether the server differs from the previous one, or is on another timeline: the state may be older than before. */
  readonly isOtherServer: boolean;
}

/** The lease of this node's id is held by another process, or by this node's previous process. */
interface InUse {
  readonly boot: string;
  readonly beat: number;
}

/**
 * Takes the lease of the node's id. If a process holds it, waits for its end: a killed process holds it for up to 8 seconds.
 *
 * @throws RetryableError if another process uses the id, or no other node may join; UserError if the settings or the schema do not match.
 */
export async function joinCluster(deps: JoinDeps): Promise<Joined> {
  const boot = crypto.randomUUID();
  const untilMs = performance.now() + deps.leaseMs + 2 * RETRY_MS;
  let before: InUse | undefined;
  while (performance.now() < untilMs) {
    const joined = await attemptJoin(deps, boot);
    if ("node" in joined) return joined;
    // Its holder is alive, because it has renewed the lease meanwhile.
    if (before && (before.boot !== joined.boot || before.beat !== joined.beat)) break;
    before = joined;
    await sleep(RETRY_MS);
  }
  throw new BusyError(`node.id ${deps.nodeId} is in use by another process of this cluster`);
}

/** Takes the lease again after it has ended. Undefined if another process has the id or the slot. */
export async function rejoinCluster(deps: JoinDeps, node: StateNode): Promise<Joined | undefined> {
  const joined = await attemptJoin(deps, node.bootId, node.slot);
  return "node" in joined ? joined : undefined;
}

function attemptJoin(deps: JoinDeps, boot: string, ownSlot?: number): Promise<Joined | InUse> {
  const { pool, nodeId, version, schemaVersion, isSolo, settings, leaseMs } = deps;
  return pool.transaction(async (tx) => {
    await tx.lock("nodes", "");
    const rows = await tx.all(listNodes);
    const own = rows.find((row) => row.nodeId === nodeId);
    if (own?.isLive && own.boot !== boot) return { boot: own.boot, beat: own.beat };
    const others = rows.filter((row) => row.nodeId !== nodeId);
    const live = others.filter((row) => row.isLive);
    checkCompany(live, isSolo);
    const isOtherServer = await agree(tx, deps, live.length > 0);
    const slot = slotFor(own, others, ownSlot);
    if (slot === undefined) return { boot: "", beat: 0 };
    const joined = await tx.get(
      joinNode,
      ...([nodeId, boot, slot, leaseMs] as const),
      ...([version, schemaVersion, isSolo, JSON.stringify(settings.soft)] as const),
    );
    if (isOtherServer)
      await tx.run(refuseSignedUntilNow, Number(settings.hard["auth.signed_at_window_secs"]));
    const differing = new Map(
      live
        .map((row) => [row.nodeId, differingKeys(settings.soft, parseSettings(row.settings))] as const)
        .filter(([, keys]) => keys.length > 0),
    );
    return { node: { nodeId, bootId: boot, slot }, beat: joined?.beat ?? 0, differing, isOtherServer };
  });
}

function checkCompany(live: readonly NodeRow[], isSolo: boolean): void {
  const [first] = live;
  if (!first) return;
  const solo = live.find((row) => row.solo);
  if (solo)
    throw new RetryableError(
      `node ${solo.nodeId} has no upstream.url, so no other node can join its state: its index is like no other`,
    );
  if (isSolo)
    throw new RetryableError(
      `node ${first.nodeId} uses this state: a node without upstream.url can only be alone`,
    );
  if (live.length >= MAX_NODES)
    throw new RetryableError(`${MAX_NODES} nodes use this state, which is the maximum`);
}

/**
 * Compares the values that all nodes must agree on; a node without others sets them. Returns whether the server differs from the previous
 * one.
 */
async function agree(tx: PgTransaction, deps: JoinDeps, hasCompany: boolean): Promise<boolean> {
  const { hard } = deps.settings;
  const text = JSON.stringify(hard);
  await tx.run(createCluster, text);
  const agreed = await tx.get(readCluster);
  const server = await tx.get(readServer);
  if (!agreed || !server) throw new Error("the row of the cluster is missing");
  if (agreed.movedTo !== null)
    throw new UserError(
      `this state was moved to ${agreed.movedTo}: start with that one, or copy it back with \`svc state copy\``,
    );
  if (agreed.minReader > deps.schemaVersion)
    throw new UserError("the state needs a newer release of this program");
  const differing = differingKeys(hard, parseSettings(agreed.settings));
  const isFixed = (key: string) => hasCompany || key === NETWORK_SETTING;
  if (differing.some(isFixed))
    throw new UserError(
      `these settings differ from those of the other nodes of this state: ${differing.filter(isFixed).join(", ")}`,
    );
  if (agreed.settings !== text) await tx.run(changeSettings, text);
  const isOther =
    agreed.systemIdentifier !== null &&
    (agreed.systemIdentifier !== server.systemIdentifier || agreed.timeline !== server.timeline);
  if (isOther || agreed.systemIdentifier === null)
    await tx.run(recordServer, server.systemIdentifier, server.timeline);
  return isOther;
}

/**
 * Returns the slot of a node: the one it had before, or the lowest that no node has had, or that of the node that ended first. This keeps
 * the slot free of a node that is briefly away. Undefined if `wanted` belongs to another live node.
 */
function slotFor(
  own: NodeRow | undefined,
  others: readonly NodeRow[],
  wanted: number | undefined,
): number | undefined {
  const isFree = (slot: number) => !others.some((row) => row.slot === slot && row.isLive);
  if (wanted !== undefined) return isFree(wanted) ? wanted : undefined;
  if (own && isFree(own.slot) && !others.some((row) => row.slot === own.slot)) return own.slot;
  const unused = Array.from({ length: MAX_NODES }, (_, slot) => slot).find(
    (slot) => !others.some((row) => row.slot === slot),
  );
  if (unused !== undefined) return unused;
  const ended = others.filter((row) => isFree(row.slot)).sort((a, b) => a.endsAtMs - b.endsAtMs);
  return ended[0]?.slot;
}
