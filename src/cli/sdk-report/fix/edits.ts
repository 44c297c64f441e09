import { extname } from "node:path";
import { blankComments } from "../blank-comments.ts";
import {
  type ClientWithoutBase,
  clientsWithoutBase,
  type SettingsNames,
  untilClosed,
} from "../sdk-classes.ts";
import type { SourceFile } from "../source-files.ts";

/** The variable with the node's address, which the changed lines read. */
export const URL_VARIABLE = "FARCASTER_API_URL";

/** How changed lines read it, each with the quote before it, if any. */
const READS = new RegExp(
  [
    String.raw`(\x60)\$\{process\.env\.${URL_VARIABLE} \?\? "[^"\n]{0,200}"\}`,
    String.raw`process\.env\.${URL_VARIABLE} \?\? (")[^"\n]{0,200}(?=")`,
    String.raw`os\.environ\.get\((["'])${URL_VARIABLE}\3, \3[^"'\n]{0,200}\3\) \+ \3`,
    String.raw`os\.environ\.get\((["'])${URL_VARIABLE}\4, \4[^"'\n]{0,200}(?=\4\))`,
    String.raw`(f["'])\{os\.environ\.get\((["'])${URL_VARIABLE}\6, \6[^"'\n]{0,200}\6\)\}`,
    String.raw`("?)\$\{${URL_VARIABLE}:-[^}\n]{0,200}\}`,
  ].join("|"),
  "g",
);

/**
 * Returns a text in which the lines of a fix call the hosted API again, so that a report sees their paths. All other characters keep
 * their positions.
 */
export function beforeFix(text: string): string {
  if (!text.includes(URL_VARIABLE)) return text;
  return text.replaceAll(READS, (...found: (string | undefined)[]) => {
    const [whole = "", template, script, python, alone, inner, , shell] = found;
    const quote = template ?? script ?? python ?? alone ?? inner ?? shell ?? "";
    return `${quote}https://api.neynar.com`.padStart(whole.length);
  });
}
/** The variable with the key, if the app has none. */
const KEY_VARIABLE = "FARCASTER_API_KEY";

/** A change within one line. */
export interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly text: string;
}

/** What the edits of a repository depend on. */
export interface FixTerms {
  readonly settings: SettingsNames;
  readonly sdkMajor: number | undefined;
  /** Without a slash at its end. */
  readonly nodeUrl: string;
  /** The variable from which the app reads its key. */
  readonly keyVariable: string;
}

const LOADERS: Readonly<Record<string, "ts" | "tsx" | "jsx">> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".js": "jsx",
  ".jsx": "jsx",
  ".mjs": "jsx",
  ".cjs": "jsx",
};

/** Hosts that a node replaces under the same paths; for the last one only its login page. */
const HOST = String.raw`https://(?:(?:sdk-|hub-|snapchain-)?api\.neynar\.com(?![\w.-])(?!/f/app/)|app\.neynar\.com(?=/login(?![\w/-])))`;
const MAX_EDITS = 1_000;
/** Each attempt parses the file. */
const MAX_TRIED = 100;

/** Returns the variable of the app's key: the first that its sources read, or else our own name. */
export function keyVariableOf(files: readonly SourceFile[]): string {
  for (const { text } of files) {
    const name = /\bprocess\.env\.((?:[A-Z]{1,20}_){0,4}NEYNAR_(?:[A-Z]{1,20}_){0,2}API_?KEY)\b/.exec(
      text,
    )?.[1];
    if (name !== undefined) return name;
  }
  return KEY_VARIABLE;
}

/** Returns the edits of a file, in order and disjoint; none if the result would no longer be valid in the same language. */
export function findEdits(file: SourceFile, terms: FixTerms): readonly Edit[] {
  if (!/neynar/i.test(file.text)) return [];
  const extension = extname(file.path);
  const blank = blankComments(file.path, file.text);
  const loader = LOADERS[extension];
  if (loader !== undefined) {
    const edits = disjoint(scriptEdits({ path: file.path, text: blank }, terms));
    return parses(file.text, loader) ? thoseThatParse(file.text, edits, loader) : [];
  }
  if (extension === ".py") return disjoint(pythonEdits(blank, terms));
  if ([".sh", ".bash", ".zsh"].includes(extension)) return disjoint(shellEdits(blank, terms));
  const isPlain = extension === ".html" || /(^|\/)\.env[\w.-]*$/.test(file.path);
  return isPlain ? disjoint(hostsIn(blank).map((found) => ({ ...found, text: terms.nodeUrl }))) : [];
}

/** Returns a text with edits applied, which are in order and disjoint. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let made = "";
  let at = 0;
  for (const edit of edits) {
    made += text.slice(at, edit.at) + edit.text;
    at = edit.at + edit.removed;
  }
  return made + text.slice(at);
}

const hostsIn = (text: string) =>
  [...text.matchAll(new RegExp(HOST, "g")).take(MAX_EDITS)].map(({ 0: found, index }) => ({
    at: index,
    removed: found.length,
  }));

function disjoint(edits: readonly Edit[]): readonly Edit[] {
  let end = 0;
  return edits
    .toSorted((a, b) => a.at - b.at)
    .filter((edit) => {
      if (edit.at < end) return false;
      end = edit.at + edit.removed;
      return true;
    });
}

/** What may precede a string that is a value. */
const BEFORE_VALUE = /(?:[(=,:?[+|&>]|\breturn)\s*$/;
const MAX_BEFORE_CHARS = 80;

function scriptEdits(file: SourceFile, terms: FixTerms): Edit[] {
  const { text } = file;
  // Neither has access to a server's variables.
  if (
    /^\s*["']use client["']/.test(text) ||
    (/\bimport\.meta\.env\b/.test(text) && !/\bprocess\.env\b/.test(text))
  )
    return [];
  const base = `process.env.${URL_VARIABLE} ?? ${JSON.stringify(terms.nodeUrl)}`;
  const key = `process.env.${terms.keyVariable} ?? ""`;
  const edits: Edit[] = [];
  for (const { at, removed } of hostsIn(text)) {
    const quote = text[at - 1] ?? "";
    if (quote === "`") {
      edits.push({ at, removed, text: `\${${base}}` });
      continue;
    }
    if (quote !== '"' && quote !== "'") continue;
    const end = text.indexOf(quote, at);
    const rest = text.slice(at + removed, end);
    const before = text.slice(Math.max(0, at - 1 - MAX_BEFORE_CHARS), at - 1);
    const isKey = /^\s*:/.test(text.slice(end + 1, end + 20)) && !/\?[^:]*$/.test(before);
    if (end < 0 || /[\n`\\]|\$\{/.test(rest) || isKey || !BEFORE_VALUE.test(before)) continue;
    const value = rest === "" ? base : `\`\${${base}}${rest}\``;
    const isAttribute = /[\w-]=$/.test(before) && /\.[jt]sx$/.test(file.path);
    const isWithin = rest === "" && /[+?|&]\s*$/.test(before);
    edits.push({
      at: at - 1,
      removed: end + 2 - at,
      text: isAttribute
        ? `{${value}}`
        : isWithin || (/^\s*[+?|&.]/.test(text.slice(end + 1, end + 20)) && rest === "")
          ? `(${value})`
          : value,
    });
  }
  for (const client of clientsWithoutBase(file, terms.settings, terms.sdkMajor))
    edits.push(...clientEdits(text, client, base, key, terms.sdkMajor));
  const literalKey = /(?<=\b(?:apiKey|api_key)\s*:\s*|["']x-api-key["']\s*:\s*)(["'])[\w-]{8,200}\1/g;
  for (const { 0: found, index } of text.matchAll(literalKey).take(MAX_EDITS))
    edits.push({ at: index, removed: found.length, text: key });
  return edits;
}

/** Adds `basePath` to the settings with which a client is created, if they are in this file. */
function clientEdits(
  text: string,
  { className, isCertain, at }: ClientWithoutBase,
  base: string,
  key: string,
  sdkMajor: number | undefined,
): Edit[] {
  const start = text.indexOf("(", at) + 1;
  if (!isCertain || start === 0) return [];
  const given = untilClosed(text, start, "(", ")");
  const path = sdkMajor === 2 && className !== "NeynarHubClient" ? `\`\${${base}}/v2\`` : base;
  const object = /^\s*\{/.exec(given);
  if (object !== null) return [{ at: start + object[0].length, removed: 0, text: ` basePath: ${path},` }];
  if (sdkMajor !== 1 || /[,{\n]/.test(given) || given.trim() === "") return [];
  const literal = /^\s*(["'])[\w-]{8,200}\1\s*$/.test(given);
  return [{ at: start, removed: given.length, text: `${literal ? key : given}, { basePath: ${path} }` }];
}

function pythonEdits(text: string, { nodeUrl }: FixTerms): Edit[] {
  if (!/^\s*import\s+(?:[\w.]+\s*,\s*)*os\b/m.test(text)) return [];
  return hostsIn(text).flatMap(({ at, removed }): Edit[] => {
    const quote = text[at - 1] ?? "";
    if ((quote !== '"' && quote !== "'") || text[at - 2] === quote) return [];
    const end = text.indexOf(quote, at);
    const rest = text.slice(at + removed, end);
    if (end < 0 || rest.includes("\n")) return [];
    const prefix = /[A-Za-z]*$/.exec(text.slice(Math.max(0, at - 4), at - 1))?.[0] ?? "";
    const inner = quote === '"' ? "'" : '"';
    const read = (mark: string) => `os.environ.get(${mark}${URL_VARIABLE}${mark}, ${mark}${nodeUrl}${mark})`;
    if (/^f$/i.test(prefix)) return [{ at, removed, text: `{${read(inner)}}` }];
    if (prefix !== "" || /^\s*["']/.test(text.slice(end + 1, end + 20))) return [];
    return rest === ""
      ? [{ at: at - 1, removed: removed + 2, text: read(quote) }]
      : [{ at: at - 1, removed: removed + 1, text: `${read(quote)} + ${quote}` }];
  });
}

function shellEdits(text: string, { nodeUrl }: FixTerms): Edit[] {
  return hostsIn(text).flatMap(({ at, removed }): Edit[] => {
    const line = text.slice(text.lastIndexOf("\n", at) + 1, at);
    const isLiteral = (line.match(/'/g)?.length ?? 0) % 2 === 1;
    return isLiteral ? [] : [{ at, removed, text: `\${${URL_VARIABLE}:-${nodeUrl}}` }];
  });
}

/** Drops each edit whose result would not parse, such as an edit within a type. */
function thoseThatParse(text: string, edits: readonly Edit[], loader: "ts" | "tsx" | "jsx"): readonly Edit[] {
  if (parses(withEdits(text, edits), loader)) return edits;
  const kept: Edit[] = [];
  for (const edit of edits.slice(0, MAX_TRIED))
    if (parses(withEdits(text, [...kept, edit]), loader)) kept.push(edit);
  return kept;
}

function parses(text: string, loader: "ts" | "tsx" | "jsx"): boolean {
  try {
    new Bun.Transpiler({ loader }).transformSync(text);
    return true;
  } catch {
    return false;
  }
}
