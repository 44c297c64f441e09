import { printable } from "../../lib/text.ts";
import { commandName } from "../shell/command-name.ts";
import type { Verdict } from "./request-support.ts";
import type { Place, ReportedCall, SdkReport } from "./sdk-report.ts";

const HEADINGS: readonly (readonly [Verdict, string])[] = [
  ["works", "WORKS with only a new base URL and key"],
  ["needs", "WORKS with what is listed"],
  ["empty", "WORKS but is always empty: the protocol has no such data"],
  ["not_implemented", "501: not supported by design"],
  ["not_found", "404: not a path of this node"],
];

const MAX_COLUMN_CHARS = 44;
const MAX_SHOWN_PLACES = 3;
const MAX_SHOWN_ROWS = 200;

/** Formats the report as tables for a terminal. */
export function sdkReportText(report: SdkReport): string {
  const { calls, unclear, changes, scopes } = report;
  const sections = [
    head(report),
    ...HEADINGS.map(([verdict, title]) =>
      callSection(
        title,
        calls.filter((call) => call.verdict === verdict),
      ),
    ),
    section(
      "CHECK BY HAND",
      unclear.map(({ call, why, places }) => ({ columns: [call], detail: why, places })),
    ),
    section(
      "CHANGE THESE LINES",
      changes.map(({ what, todo, places }) => ({ columns: [what], detail: todo, places })),
    ),
    calls.length === 0 ? "" : next(scopes, calls),
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

function head({ folder, files, skipped, isCut, sdkMajor, isServed, calls, unclear }: SdkReport): string {
  const sdk = sdkMajor === undefined ? "" : `, SDK ${sdkMajor}`;
  const works = calls.filter(({ verdict }) => ["works", "needs", "empty"].includes(verdict)).length;
  const lines = [
    `${printable(folder)}: ${count(files, "file")}${sdk}`,
    calls.length === 0
      ? unclear.length === 0
        ? "No calls of the hosted API were found."
        : "No certain calls of the hosted API were found."
      : `Distinct calls that work here: ${works} of ${calls.length}.`,
    ...(isServed
      ? []
      : [
          `service.compat_prefixes lacks "farcaster": with these settings every call of the hosted API is 404.`,
        ]),
    ...(skipped.length > 0 ? [`Not read (large or generated): ${printable(skipped.join(", "))}`] : []),
    ...(isCut ? ["The folder is too large: not all of it was read."] : []),
  ];
  return lines.join("\n");
}

interface Row {
  readonly columns: readonly string[];
  readonly detail: string;
  readonly places: readonly Place[];
}

function callSection(title: string, calls: readonly ReportedCall[]): string {
  return section(
    title,
    calls.map(({ call, request, needs, note, places }) => {
      const needed = needs.flatMap(({ kind, text, isSet }) => {
        if (kind !== "setting") return [text];
        return isSet ? [] : [`the setting ${text}`];
      });
      const detail = [needed.join("; "), note ?? ""].filter((text) => text !== "").join("; ");
      const short = request.replace(" /v2/farcaster/", " /");
      return { columns: [call === request ? "by its path" : call, short], detail, places };
    }),
  );
}

function section(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const shown = rows.slice(0, MAX_SHOWN_ROWS);
  const columns = shown[0]?.columns ?? [];
  const widths = columns.map((_, at) => {
    const longest = Math.max(...shown.map((row) => row.columns[at]?.length ?? 0));
    return Math.min(MAX_COLUMN_CHARS, longest);
  });
  const lines = shown.flatMap(({ columns, detail, places }) => [
    `  ${columns.map((text, at) => printable(text).padEnd(widths[at] ?? 0)).join("  ")}  ${placesText(places)}`,
    ...(detail === "" ? [] : [`      ${printable(detail)}`]),
  ]);
  const rest = rows.length > shown.length ? [`  and ${rows.length - shown.length} more: see --json`] : [];
  return [`${title} (${rows.length})`, ...lines, ...rest].join("\n");
}

function placesText(places: readonly Place[]): string {
  const shown = places.slice(0, MAX_SHOWN_PLACES).map(({ file, line }) => printable(`${file}:${line}`));
  const more = places.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function next(scopes: readonly string[], calls: readonly ReportedCall[]): string {
  const list = scopes.length === 0 ? "read" : scopes.join(",");
  const needsApp = calls.some(({ needs }) => needs.some(({ kind }) => kind === "app"));
  return [
    "NEXT",
    `  ${commandName} api-key create --fid <your fid> --key-file <custody key> --name <app> --scopes ${list} --url <node>`,
    ...(needsApp
      ? [
          `  ${commandName} app create --fid <your fid> --key-file <custody key> --name <app> --app-url <https URL> --url <node>`,
        ]
      : []),
    "  docs/moving-from-a-hosted-api.md has what differs in responses.",
  ].join("\n");
}
