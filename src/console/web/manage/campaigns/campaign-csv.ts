import type { CampaignHost } from "./campaign.ts";

const HEADER = ["host", "delivered", "failed", "not_attempted", "reasons"] as const;

/** A cell that a spreadsheet takes as text: what would begin a formula gets an apostrophe. */
export function csvCell(value: string | number): string {
  const text = String(value);
  const guarded = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** The results by client host, one line for each (RFC 4180). */
export function campaignCsv(hosts: readonly CampaignHost[]): string {
  const rows = hosts.map(({ host, success_count, failure_count, not_attempted_count, errors }) => [
    host,
    success_count,
    failure_count,
    not_attempted_count,
    Object.entries(errors)
      .map(([reason, count]) => `${reason} ${count}`)
      .join("; "),
  ]);
  return [HEADER, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
