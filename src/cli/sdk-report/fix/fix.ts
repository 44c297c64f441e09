import { chmodSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf, UserError } from "../../../lib/failure.ts";
import { printable } from "../../../lib/text.ts";
import { blankComments } from "../blank-comments.ts";
import { sdkMajorOf } from "../changes.ts";
import { findSettings } from "../sdk-classes.ts";
import type { Place, ReportedChange, SdkReport, UnclearCall } from "../sdk-report.ts";
import type { SourceFile, SourceFiles } from "../source-files.ts";
import { findEdits, keyVariableOf, URL_VARIABLE, withEdits } from "./edits.ts";

interface ChangedLine {
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** A file with changes only in the listed lines. */
export interface FixedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly lines: readonly ChangedLine[];
}

export interface Fix {
  readonly files: readonly FixedFile[];
  /** Reported changes that no line of the fix makes. */
  readonly left: readonly ReportedChange[];
  /** Places whose effect the sources do not show, such as a client with settings from elsewhere. */
  readonly unclear: readonly UnclearCall[];
  /** The variables that the app needs, with their values if known. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Matches changes that do not concern the sources: nothing changes, or a value outside of them. */
const NO_LINE = /^stays|^a key of the node|^the secret of the webhook/;

/** Makes the changes of a repository that need no decision: the node's address and key, from the environment. */
export function createFix(sources: SourceFiles, report: SdkReport, nodeUrl: string): Fix {
  const blank = sources.files.map(({ path, text }) => ({ path, text: blankComments(path, text) }));
  const terms = {
    settings: findSettings(blank),
    sdkMajor: sdkMajorOf(blank),
    nodeUrl: nodeUrl.replace(/\/+$/, ""),
    keyVariable: keyVariableOf(blank),
  };
  const files = sources.files.flatMap((file): FixedFile[] => {
    const after = withEdits(file.text, findEdits(file, terms));
    return after === file.text ? [] : [fixedFile(file, after)];
  });
  const changed = new Set(files.flatMap(({ path, lines }) => lines.map(({ line }) => `${path}:${line}`)));
  const isOpen = ({ file, line }: Place) => !changed.has(`${file}:${line}`);
  const left = report.changes
    .filter(({ todo }) => !NO_LINE.test(todo))
    .map((change) => ({ ...change, places: change.places.filter(isOpen) }))
    .filter(({ places }) => places.length > 0);
  return {
    files,
    left,
    unclear: report.unclear,
    variables: { [URL_VARIABLE]: terms.nodeUrl, [terms.keyVariable]: "" },
  };
}

/** Edits stay within their lines, so both texts have the same number of lines. */
function fixedFile({ path, text }: SourceFile, after: string): FixedFile {
  const [old, made] = [text.split("\n"), after.split("\n")];
  const lines = old.flatMap((before, at) =>
    before === made[at] ? [] : [{ line: at + 1, before, after: made[at] ?? "" }],
  );
  return { path, before: text, after, lines };
}

/**
 * Writes the changed files, each atomically and with its mode.
 *
 * @throws UserError for a file that has changed since it was read; those before it are written
 */
export function writeFix(folder: string, { files }: Fix): void {
  for (const { path, before, after } of files) {
    const target = join(folder, path);
    const partial = `${target}.${process.pid}.partial`;
    try {
      if (readFileSync(target, "utf8") !== before) throw new Error("it has changed meanwhile");
      writeFileSync(partial, after, { flag: "wx" });
      chmodSync(partial, statSync(target).mode);
      renameSync(partial, target);
    } catch (cause) {
      try {
        unlinkSync(partial);
      } catch {
        // The temporary file was not created, or has already been renamed.
      }
      throw new UserError(`${path} was not changed: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** Formats the fix as a diff without context, in which no secret value is shown, and what is left to change or check. */
export function fixText(fix: Fix, isWritten: boolean): string {
  const { files, left, unclear, variables } = fix;
  const count = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const diff = files.flatMap(({ path, lines }) => [
    `--- a/${printable(path)}`,
    `+++ b/${printable(path)}`,
    ...lines.flatMap(({ line, before, after }) => [
      `@@ -${line} +${line} @@`,
      `-${shown(before)}`,
      `+${shown(after)}`,
    ]),
  ]);
  const lines = [
    ...diff,
    ...(diff.length > 0 ? [""] : []),
    count === 0
      ? "No line can be changed without a decision."
      : `${count} ${count === 1 ? "line" : "lines"} of ${files.length} ${files.length === 1 ? "file" : "files"} ${isWritten ? "changed" : "to change: --write does it"}.`,
    ...openText(
      "CHANGE BY HAND",
      left.map(({ what, todo, places }) => ({ what, advice: todo, places })),
    ),
    ...openText(
      "CHECK BY HAND",
      unclear.map(({ call, why, places }) => ({ what: call, advice: why, places })),
    ),
    "",
    "ENVIRONMENT OF THE APP",
    ...Object.entries(variables).map(
      ([name, value]) => `  ${name}=${value === "" ? "<a key of the node>" : value}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

interface OpenRow {
  readonly what: string;
  readonly advice: string;
  readonly places: readonly Place[];
}

function openText(title: string, rows: readonly OpenRow[]): string[] {
  if (rows.length === 0) return [];
  const lines = rows.flatMap(({ what, advice, places }) => [
    `  ${printable(what)}  ${places.map(({ file, line }) => printable(`${file}:${line}`)).join(", ")}`,
    `      ${printable(advice)}`,
  ]);
  return ["", title, ...lines];
}

const SECRET_PARAMETER = /((?:api_?key|token|secret)=)[^&"'`\s]+/gi;
const SECRET_WORD = /(?<=["'`=\s])(?![A-Z_]+["'`\s])[\w-]{16,}(?=["'`\s]|$)/g;

/** A value that its line calls a key, or passes to a client. */
const NAMED_SECRET =
  /((?:api_?key|x-api-key|secret|token)["']?\s*[:=]\s*|new\s+[\w.$]+\(\s*)(["'`])[^"'`]+\2/gi;

/**
 * Returns a line without possible secrets: values that it calls a key, and words of 16 characters with a digit that are not names of
 * variables.
 */
function shown(line: string): string {
  return printable(line)
    .replace(NAMED_SECRET, "$1$2…$2")
    .replace(SECRET_PARAMETER, "$1…")
    .replace(SECRET_WORD, hidden);
}

const hidden = (word: string) => (/\d/.test(word) ? "…" : word);
