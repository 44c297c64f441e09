import { printable } from "../../lib/text.ts";
import { memberOf, moreLine, recordsTable, recordTable } from "./table.ts";

const DELIVERY_FIELDS = [
  "message_id",
  "type",
  "state",
  "attempts",
  "last_response",
  "created_at",
  "next_attempt_at",
  "ended_at",
];

/** Formats a delivery, its attempts, and the request. */
export function deliveryText(response: unknown): string {
  const { attempts, ...delivery } = memberOf(response, "delivery") as Record<string, unknown>;
  const request = memberOf(response, "request");
  const fields = ["attempted_at", "status", "error", "duration_ms", "response"];
  return [
    recordTable(delivery, "masked"),
    `attempts\n${recordsTable(attempts, fields, "masked")}`,
    `headers\n${recordTable(memberOf(request, "headers"), "masked")}`,
    `body\n${printable(String(memberOf(request, "body")))}\n`,
  ].join("\n");
}

/** Formats the buckets with attempts. */
export function statsTable(response: unknown): string {
  const buckets = memberOf(response, "buckets");
  const used = Array.isArray(buckets) ? buckets.filter((bucket) => memberOf(bucket, "p50_ms") !== null) : [];
  const rows = used.map((bucket) => ({ ...bucket, from_at: memberOf(bucket, "at") }));
  return recordsTable(rows, ["from_at", "delivered", "failed", "p50_ms", "p95_ms"], "masked");
}

/** Formats the counts of a preview, with a line per sample. */
export function previewText(response: unknown): string {
  const count = (name: string) => printable(String(memberOf(response, name)));
  const fellTo = Object.entries((memberOf(response, "fell_to") ?? {}) as Record<string, unknown>);
  const fell = fellTo.map(([field, events]) => ({ rejected_by: field, events }));
  const samples = memberOf(response, "samples");
  const lines = Array.isArray(samples) ? samples.map((body) => `${printable(JSON.stringify(body))}\n`) : [];
  return [
    `${count("matched")} of the newest ${count("scanned")} events match\n`,
    ...(fell.length > 0 ? [recordsTable(fell, ["rejected_by", "events"], "masked")] : []),
    ...lines,
  ].join("");
}

/** Formats a page as a table, with the option for the next page. */
export function deliveriesTable(response: unknown): string {
  const deliveries = memberOf(response, "deliveries");
  const rows = Array.isArray(deliveries) ? deliveries.map(toRow) : [];
  return recordsTable(rows, DELIVERY_FIELDS, "masked") + moreLine(response);
}

/** Replaces the attempts by the last one. */
function toRow(delivery: unknown): Readonly<Record<string, unknown>> {
  const attempts = memberOf(delivery, "attempts");
  const made = Array.isArray(attempts) ? attempts : [];
  const last = made.at(-1);
  return {
    ...(delivery as object),
    attempts: made.length,
    last_response: memberOf(last, "status") ?? memberOf(last, "error"),
  };
}
