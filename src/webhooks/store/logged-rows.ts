import type { EventKind } from "../../protocol/event-kind.ts";
import type { DeliveryState, LoggedDelivery } from "./delivery-log.ts";
import type { Attempt } from "./delivery-queue.ts";

/** Attempts of one delivery that are returned. Only repeated manual replays lead to more. */
export const MAX_SHOWN_ATTEMPTS = 20;

/** States of deliveries that a replay of a range queues again. */
export const REPLAYED_STATES = ["failed", "dropped"] as const satisfies readonly DeliveryState[];

/** Attempts that were stored before the error class was renamed have this one, until their retention ends. */
const FORMER_TOO_LARGE = "answer_too_large";

/** A delivery with its event, as a database returns it. */
export interface LoggedRow {
  readonly seq: number;
  readonly message_id: string;
  readonly event_id: string;
  readonly kind: EventKind;
  readonly is_test: number | boolean;
  readonly state: DeliveryState;
  readonly created_at: number;
  readonly due_at_ms: number | null;
  readonly lease_ends_at_ms: number | null;
  readonly ended_at: number | null;
}

export interface AttemptRow {
  readonly at_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string;
}

export function toAttempt({ at_ms, status, error, duration_ms, answer }: AttemptRow): Attempt {
  return {
    atMs: at_ms,
    status,
    error: error === FORMER_TOO_LARGE ? "response_too_large" : error,
    durationMs: duration_ms,
    responseText: answer,
  };
}

export function toLogged(row: LoggedRow, attempts: readonly Attempt[]): LoggedDelivery {
  return {
    seq: row.seq,
    messageId: row.message_id,
    eventId: row.event_id,
    kind: row.kind,
    isTest: Boolean(row.is_test),
    state: row.state,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    nextAttemptAtMs: row.lease_ends_at_ms === null ? row.due_at_ms : null,
    attempts,
  };
}
