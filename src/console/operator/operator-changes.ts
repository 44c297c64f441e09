import type { IncidentStore } from "../../checks/incident-store.ts";
import { isNote, mutedUntil } from "../../checks/incident-text.ts";
import { ApiError } from "../../http/errors.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { NoticeChanged } from "../../notices/report.ts";
import type { NoticeChange, NoticesRpc } from "../../notices/rpc.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { OfferedBackup, OperatorRpc } from "../console-rpc.ts";
import type { readBackup, readIncident } from "./operator-requests.ts";
import { unwrapOperator } from "./operator-sessions.ts";
import { tarOf } from "./tar.ts";

interface IncidentDeps {
  readonly incidents: IncidentStore;
  readonly nodeId: string;
  readonly clock: Clock;
}

/** Returns whether the incident exists. */
export function changeIncident(
  { incidents, nodeId, clock }: IncidentDeps,
  change: ReturnType<typeof readIncident>,
): Promise<boolean> {
  switch (change.action) {
    case "ack":
      return incidents.acknowledge(change.id, `the console of ${nodeId}`, null, nowSecs(clock));
    case "note":
      if (!isNote(change.note)) throw new ApiError("badRequest", "note must have no control characters");
      return incidents.note(change.id, change.note || null);
    case "mute":
      return incidents.mute(change.id, mutedUntil(change.hours, nowSecs(clock)) ?? null);
  }
}

/** @throws ApiError if the node refuses */
export async function changeNotices(
  node: Pick<RpcClient<NoticesRpc>, "changeNotices">,
  change: NoticeChange,
): Promise<NoticeChanged> {
  const changed = await node.changeNotices(change);
  if (changed.ok) return changed.value;
  if (changed.error === null) throw new ApiError("notFound", "there is no such channel");
  throw new ApiError("badRequest", changed.error);
}

/** The methods of the main thread that changes of backups need. */
type BackupsRpc = Pick<
  RpcClient<OperatorRpc>,
  "backUp" | "checkBackup" | "offerBackup" | "takeBackup" | "backupTaken"
>;

/** Starts a backup, starts reading one back, or returns where one can be downloaded once. */
export async function changeBackups(
  node: BackupsRpc,
  change: ReturnType<typeof readBackup>,
): Promise<{ readonly started: true } | { readonly path: string }> {
  if (!("file" in change)) {
    unwrapOperator(await node.backUp());
    return { started: true };
  }
  if (change.action === "download")
    return { path: `/console/op/backup/${unwrapOperator(await node.offerBackup(change.file))}` };
  unwrapOperator(await node.checkBackup(change.file));
  return { started: true };
}

/**
 * Sends a backup as one archive while it is read from disk. The next download can start after this one has ended or its client has
 * disconnected.
 */
export function downloadOf({ name, files }: OfferedBackup, node: Pick<BackupsRpc, "backupTaken">): Response {
  async function* archive() {
    try {
      yield* tarOf(files);
    } finally {
      await node.backupTaken();
    }
  }
  const chunks = archive();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "application/x-tar",
      "content-disposition": `attachment; filename="${name}.tar"`,
      "cache-control": "no-store",
    },
  });
}
