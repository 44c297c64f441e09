import type { IncidentStore } from "../../checks/incident-store.ts";
import { isNote, mutedUntil } from "../../checks/incident-text.ts";
import { ApiError } from "../../http/errors.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { NoticeChanged } from "../../notices/report.ts";
import type { NoticeChange, NoticesRpc } from "../../notices/rpc.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { readIncident } from "./operator-requests.ts";

interface IncidentDeps {
  readonly incidents: IncidentStore;
  readonly nodeId: string;
  readonly clock: Clock;
}

/** Returns whether there is such an incident. */
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

/** @throws ApiError for what the node refuses */
export async function changeNotices(
  node: Pick<RpcClient<NoticesRpc>, "changeNotices">,
  change: NoticeChange,
): Promise<NoticeChanged> {
  const changed = await node.changeNotices(change);
  if (changed.ok) return changed.value;
  if (changed.error === null) throw new ApiError("notFound", "there is no such channel");
  throw new ApiError("badRequest", changed.error);
}
