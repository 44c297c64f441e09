import { status } from "@grpc/grpc-js";
import type { SnapshotPage } from "../../../protocol/wire/generated/snapshot.ts";
import type { UpstreamClient } from "../../calls/client.ts";
import { PeerError, UnservedError } from "../../calls/peer.ts";
import { Backoff, type Timings } from "../../timings.ts";

/** Why a page cannot be read, for reasons that a repetition would not change. */
export type PageFault =
  /** The node no longer has the snapshot. */
  | { readonly kind: "gone" }
  /** The page contains a record that the node cannot serve. The node names the account. */
  | { readonly kind: "unreadable"; readonly fid: number }
  /** The node refuses the token. */
  | { readonly kind: "refused" };

export interface PageCallDeps {
  readonly client: Pick<UpstreamClient, "snapshots" | "snapshotPage">;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  /** Called for a fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
}

export interface PlaceOfPage {
  readonly shard: number;
  readonly virtualShard: number;
  readonly height: number;
  readonly token: string | undefined;
}

/** Thrown if the node no longer serves snapshots. */
export class NoSnapshotError extends Error {
  override name = "NoSnapshotError";
}

/** The network's nodes name the account whose record they cannot serve only in the text of the error. */
const NAMED_FID = /\bFID (\d{1,10})\b/;
/** Matches the error of a response that cannot be decoded, or exceeds a limit. */
const UNDECODABLE = /parsing error/;

/**
 * Reads a page, and retries after each fault of the connection. Throws when the signal aborts, and for a peer that does not
 * have the service.
 */
export async function readPage(
  { client, timings, signal, onFault }: PageCallDeps,
  { shard, virtualShard, height, token }: PlaceOfPage,
): Promise<SnapshotPage | PageFault> {
  const backoff = new Backoff(timings);
  for (;;) {
    try {
      return await client.snapshotPage({ shard, height, virtualShard, pageToken: token });
    } catch (cause) {
      if (signal.aborted) throw cause;
      if (isUnserved(cause)) throw new NoSnapshotError("snapshots are not served any more", { cause });
      if (hasStatus(cause, status.INTERNAL)) {
        if (UNDECODABLE.test(cause.message))
          throw new PeerError(`a page of a snapshot is invalid (${cause.message})`);
        const named = NAMED_FID.exec(cause.message)?.[1];
        if (named !== undefined) return { kind: "unreadable", fid: Number(named) };
        const snapshots = await client.snapshots(shard).catch(() => undefined);
        if (snapshots) return { kind: snapshots.some((one) => one.height === height) ? "refused" : "gone" };
      }
      onFault(`a page of shard ${shard} could not be read`, cause);
      await backoff.wait(signal);
      signal.throwIfAborted();
    }
  }
}

/** Reports whether a call failed because the node has no replication service. */
export function isUnserved(cause: unknown): boolean {
  return cause instanceof UnservedError || hasStatus(cause, status.UNIMPLEMENTED);
}

function hasStatus(cause: unknown, code: status): cause is Error {
  return cause instanceof Error && "code" in cause && cause.code === code;
}
