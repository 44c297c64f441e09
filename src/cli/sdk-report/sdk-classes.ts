import type { SourceFile } from "./source-files.ts";

export const SDK_PACKAGE = "@neynar/nodejs-sdk";

export const CLIENT_CLASSES = ["NeynarAPIClient", "NeynarHubClient"] as const;
type ClassName = (typeof CLIENT_CLASSES)[number] | "Configuration";

/** A place where an SDK client is created without the node's address, or with settings that the sources do not show. */
export interface ClientWithoutBase {
  readonly className: ClassName;
  readonly isCertain: boolean;
  readonly at: number;
}

const MAX_ALIASES = 20;
const MAX_OBJECTS = 5_000;
const MAX_ARGUMENT_CHARS = 1_000;

/**
 * Returns the names that a file gives to the SDK's classes, with their class: the original names, and those of `import { A as B }`,
 * `const { A: B } = require(…)` and of a default import, which is also assumed to be the client.
 *
 * @param file a file with blanked comments.
 */
export function sdkClassesIn({ text }: SourceFile): Map<string, ClassName> {
  const classes = new Map<string, ClassName>([
    ...CLIENT_CLASSES.map((name) => [name, name] as const),
    ["Configuration", "Configuration"],
  ]);
  if (!text.includes("eynar")) return classes;
  const renamed =
    /\b(NeynarAPIClient|NeynarHubClient|Configuration)\s*(?:\bas\b|:)\s*([A-Za-z_$][\w$]*)\s*[,}]/g;
  for (const [, name, alias] of text.matchAll(renamed).take(MAX_ALIASES))
    classes.set(alias as string, name as ClassName);
  const whole =
    /\bimport\s+([\w$]+)\s*(?:,\s*\{[^{}]{0,500}\}\s*)?from\s*["']@neynar\/nodejs-sdk["']|\b(?:const|let|var)\s+([\w$]+)\s*=\s*require\(\s*["']@neynar\/nodejs-sdk["']\s*\)(?!\s*\.)/g;
  for (const [, one, other] of text.matchAll(whole).take(MAX_ALIASES))
    classes.set((one ?? other) as string, "NeynarAPIClient");
  return classes;
}

/** What the sources show about a client's settings: that they have `basePath`, that they lack it, or neither. */
type Verdict = "has" | "lacks" | "unknown";

/** Objects in a repository that may be a client's settings, by name. */
export type SettingsNames = ReadonlyMap<
  string,
  readonly { readonly path: string; readonly verdict: Verdict }[]
>;

/** @param files files with blanked comments. */
export function findSettings(files: readonly SourceFile[]): SettingsNames {
  const named = new Map<string, { path: string; verdict: Verdict }[]>();
  let objects = 0;
  for (const { path, text } of files) {
    if (!/neynar|basePath/i.test(text)) continue;
    const assigned =
      /\b([\w$]{1,60})\s*(?::\s*[\w.$<>]{1,80}\s*)?=\s*(?:\{|new\s+(?:[\w$]{1,60}\.)?Configuration\b)/g;
    for (const { 0: found, 1: name = "", index } of text.matchAll(assigned)) {
      objects += 1;
      if (objects > MAX_OBJECTS) return named;
      const isObject = found.endsWith("{");
      // A `Configuration` is checked where it is created.
      const verdict = isObject ? objectVerdict(untilClosed(text, index + found.length, "{", "}")) : "has";
      const known = named.get(name);
      if (known) known.push({ path, verdict });
      else named.set(name, [{ path, verdict }]);
    }
  }
  return named;
}

/**
 * Returns where a file creates a client, or its `Configuration`, without `basePath`: such a client sends its key to the vendor.
 *
 * @param file a file with blanked comments.
 * @param sdkMajor the SDK's version. In version 1, clients take the key and optional settings.
 */
export function clientsWithoutBase(
  file: SourceFile,
  settings: SettingsNames,
  sdkMajor: number | undefined,
): ClientWithoutBase[] {
  const { text } = file;
  if (!/neynar/i.test(text)) return [];
  const classes = sdkClassesIn(file);
  const names = [...classes.keys()].map((name) => name.replaceAll("$", "\\$")).join("|");
  const made = new RegExp(`\\bnew\\s+(?:[\\w$]{1,60}\\.){0,2}(${names})\\s*\\(`, "g");
  return [...text.matchAll(made)].flatMap(({ 0: found, 1: name = "", index }) => {
    const className = classes.get(name);
    const given = untilClosed(text, index + found.length, "(", ")");
    const verdict = sdkMajor === 1 ? optionalVerdict(given) : verdictOf(given, file.path, settings);
    if (className === undefined || verdict === "has") return [];
    return { className, isCertain: verdict === "lacks", at: index };
  });
}

const optionalVerdict = (given: string): Verdict => (/\bbasePath\b/.test(given) ? "has" : "lacks");

const objectVerdict = (text: string): Verdict => {
  if (/\bbasePath\b/.test(text)) return "has";
  return text.includes("...") ? "unknown" : "lacks";
};

/**
 * @param given the arguments of a client or of a `Configuration`. A `Configuration` among them is checked separately.
 * @param path the path of the file, whose own names have precedence over others.
 */
function verdictOf(given: string, path: string, settings: SettingsNames): Verdict {
  if (/\bbasePath\b|\bnew\s+(?:[\w$]{1,60}\.)?Configuration\b/.test(given)) return "has";
  if (/^\s*(?:\{|$)/.test(given)) return objectVerdict(given);
  const name = /^\s*([\w$]+)\s*(?:$|,)/.exec(given)?.[1] ?? "";
  const found = settings.get(name) ?? [];
  const own = found.filter((one) => one.path === path);
  if (own.some(({ verdict }) => verdict === "lacks")) return "lacks";
  const candidates = own.length > 0 ? own : found;
  return candidates.length > 0 && candidates.every(({ verdict }) => verdict === "has") ? "has" : "unknown";
}

/** Returns the text from `start` to the end of the bracket that was just opened. */
export function untilClosed(text: string, start: number, opening: string, closing: string): string {
  const end = Math.min(text.length, start + MAX_ARGUMENT_CHARS);
  let depth = 1;
  for (let at = start; at < end; at += 1) {
    if (text[at] === opening) depth += 1;
    if (text[at] === closing) depth -= 1;
    if (depth === 0) return text.slice(start, at);
  }
  return text.slice(start, end);
}
