import { chmodSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf, UserError } from "../../../lib/failure.ts";
import { printable } from "../../../lib/text.ts";
import { blankComments } from "../blank-comments.ts";
import { sdkMajorOf } from "../changes.ts";
import { findSettings } from "../sdk-classes.ts";
import type { Place, ReportedChange, SdkReport } from "../sdk-report.ts";
import type { SourceFile, SourceFiles } from "../source-files.ts";
import { findEdits, keyVariableOf, URL_VARIABLE, withEdits } from "./edits.ts";

interface ChangedLine {
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** A file that changes: only in the lines that are listed. */
export interface FixedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly lines: readonly ChangedLine[];
}

export interface Fix {
  readonly files: readonly FixedFile[];
  /** What the report names and no line of the fix changes. */
  readonly left: readonly ReportedChange[];
  /** The variables that the app needs, with their values where they are known. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What stays as it is in sources, or is a value outside of them. */
const NO_LINE = /^stays|^a key of the node|^the secret of the webhook/;

/** Makes the changes of a repository that need no decision: the address of the node and its key, from the environment. */
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
  return { files, left, variables: { [URL_VARIABLE]: terms.nodeUrl, [terms.keyVariable]: "" } };
}

/** Edits stay within their lines, so that both texts have the same number of them. */
function fixedFile({ path, text }: SourceFile, after: string): FixedFile {
  const [old, made] = [text.split("\n"), after.split("\n")];
  const lines = old.flatMap((before, at) =>
    before === made[at] ? [] : [{ line: at + 1, before, after: made[at] ?? "" }],
  );
  return { path, before: text, after, lines };
}

/**
 * Writes the changed files, each at once and with its mode.
 *
 * @throws UserError for a file that is another one than was read; those before it are written
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
        // It was not made, or has its name already.
      }
      throw new UserError(`${path} was not changed: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** The fix as a diff without context, in which no value of a secret is shown, and what is left. */
export function fixText(fix: Fix, isWritten: boolean): string {
  const { files, left, variables } = fix;
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
    ...(left.length > 0 ? ["", "LEFT TO YOU"] : []),
    ...left.flatMap(({ what, todo, places }) => [
      `  ${printable(what)}  ${places.map(({ file, line }) => printable(`${file}:${line}`)).join(", ")}`,
      `      ${printable(todo)}`,
    ]),
    "",
    "THE ENVIRONMENT OF THE APP",
    ...Object.entries(variables).map(
      ([name, value]) => `  ${name}=${value === "" ? "<a key of the node>" : value}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

const SECRET_PARAMETER = /((?:api_?key|token|secret)=)[^&"'`\s]+/gi;
const SECRET_WORD = /(?<=["'`=\s])(?![A-Z_]+["'`\s])[\w-]{16,}(?=["'`\s]|$)/g;

/** A value that a line itself calls a key, or gives to a client. */
const NAMED_SECRET =
  /((?:api_?key|x-api-key|secret|token)["']?\s*[:=]\s*|new\s+[\w.$]+\(\s*)(["'`])[^"'`]+\2/gi;

/** A line without what may be a secret: what it calls a key, and words of 16 characters with a digit that name no variable. */
function shown(line: string): string {
  return printable(line)
    .replace(NAMED_SECRET, "$1$2…$2")
    .replace(SECRET_PARAMETER, "$1…")
    .replace(SECRET_WORD, hidden);
}

const hidden = (word: string) => (/\d/.test(word) ? "…" : word);
