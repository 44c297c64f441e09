import { printable } from "../../lib/text.ts";

/** A record of the management API, shown as received, including fields from a newer node. */
type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether secrets are shown in full, or only enough to distinguish them. */
export type SecretDisplay = "shown" | "masked";

const GAP = "  ";
const NOTHING = "-";
const MASKED_CHARS = 4;
/** The last second that a Date can represent. */
const MAX_DATE_SECS = 8_640_000_000_000;

/** Formats one record: a line per field, and below it a table for each list of secrets. */
export function recordTable(record: unknown, display: SecretDisplay): string {
  const fields = Object.entries(asRecord(record));
  const plain = fields
    .filter(([, value]) => !isSecrets(value))
    .map(([key, value]) => [key, cell(key, value)]);
  const tables = fields.flatMap(([key, value]) =>
    isSecrets(value) ? [`${key}\n${indented(secretsTable(value, display))}`] : [],
  );
  return [aligned(plain), ...tables].join("");
}

/** Formats records of one kind, one per line, with the listed fields as columns. An object is shown by its keys only. */
export function recordsTable(records: unknown, fields: readonly string[], display: SecretDisplay): string {
  if (!Array.isArray(records) || records.length === 0) return "none\n";
  const shown = (key: string, value: unknown) => {
    if (isSecrets(value)) return value.map((secret) => secretText(secret, display)).join(", ");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return cell(key, isObject ? Object.keys(value) : value);
  };
  const rows = records.map(asRecord).map((record) => fields.map((field) => shown(field, record[field])));
  return aligned([fields, ...rows]);
}

function secretsTable(secrets: readonly JsonRecord[], display: SecretDisplay): string {
  const standard = display === "shown" ? ["standard_secret"] : [];
  const fields = ["uid", "value", "created_at", "expires_at", ...standard];
  const rows = secrets.map((secret) =>
    fields.map((field) => (field === "value" ? secretText(secret, display) : cell(field, secret[field]))),
  );
  return aligned([fields, ...rows]);
}

function secretText({ value }: JsonRecord, display: SecretDisplay): string {
  const text = cell("value", value);
  return display === "shown" ? text : `${text.slice(0, MASKED_CHARS)}…`;
}

function cell(key: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if ((key === "at" || key.endsWith("_at")) && typeof value === "number") return time(value);
  if (Array.isArray(value))
    return value.length === 0 ? NOTHING : value.map((item) => cell("", item)).join(", ");
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value));
}

function time(unixSecs: number): string {
  if (!Number.isInteger(unixSecs) || Math.abs(unixSecs) > MAX_DATE_SECS) return String(unixSecs);
  return new Date(unixSecs * 1000).toISOString().replace(".000Z", "Z");
}

/** Pads lines so that columns align. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(text));
    }
  }
  const line = (row: readonly string[]) =>
    row
      .map((text, column) => text + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(text)))
      .join(GAP)
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join("");
}

function indented(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, GAP);
}

function isSecrets(value: unknown): value is readonly JsonRecord[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => "uid" in asRecord(item) && "value" in asRecord(item))
  );
}

function asRecord(value: unknown): JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Explains how to get the next page of a list; empty after the last one. */
export function moreLine(response: unknown): string {
  const cursor = memberOf(memberOf(response, "next"), "cursor");
  return typeof cursor === "string" ? `more: --cursor ${printable(cursor)}\n` : "";
}

/** Returns a member of a response; undefined if it is missing. */
export function memberOf(response: unknown, key: string): unknown {
  return asRecord(response)[key];
}

/** Formats a response as JSON. */
export function responseJson(response: unknown): string {
  return `${JSON.stringify(response, null, 2)}\n`;
}
