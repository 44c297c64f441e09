import { COMPAT_PREFIX } from "./request-support.ts";
import type { SourceFile } from "./source-files.ts";

/** A request that a source makes by path. */
export interface PathCall {
  /** Undefined if the source does not show it. */
  readonly method: string | undefined;
  /** Without the query; `{}` represents text that is created at run time. */
  readonly path: string;
  readonly at: number;
}

/** The names that a repository gives to base URLs and to functions that take a path, with the path that is prepended. */
export interface PathNames {
  /** Constants with a base URL. */
  readonly bases: ReadonlyMap<string, string>;
  /** Functions whose first argument is a path, and HTTP clients with a base URL. */
  readonly callers: ReadonlyMap<string, string>;
}

const WORDS = "GET|POST|PUT|PATCH|DELETE";
const MAX_NAMES = 200;
const MAX_CALLS_OF_FILE = 1_000;
const HOST_AND_PATH = String.raw`https?:\/\/[\w.-]{0,60}\bneynar\.com((?:\/v\d)?(?:\/farcaster)?)\/?`;

/** @param files files with blanked comments. */
export function findPathNames(files: readonly SourceFile[]): PathNames {
  const bases = new Map<string, string>();
  const callers = new Map<string, string>();
  const add = (names: Map<string, string>, name: string | undefined, path: string) => {
    if (name !== undefined && names.size < MAX_NAMES) names.set(name, path);
  };
  const constant = new RegExp(
    `\\b(\\w{1,60})["']?\\s*(?::\\s*\\w+\\s*)?(?::|:?=)\\s*(?:[\\w.()"'\\[\\], ]{1,80}(?:\\?\\?|\\|\\||,)\\s*)?[fr]?["'\`]${HOST_AND_PATH}["'\`]`,
    "g",
  );
  const client = new RegExp(
    `\\b(\\w{1,60})\\s*(?::\\s*\\w+\\s*)?=\\s*[\\w.$]{1,60}\\(\\s*\\{[^{}]{0,300}?["'\`]${HOST_AND_PATH}["'\`]`,
    "g",
  );
  for (const { text } of files) {
    if (!text.includes("neynar.com")) continue;
    for (const [, name, path = ""] of text.matchAll(constant)) add(bases, name, path);
    for (const [, name, path = ""] of text.matchAll(client)) add(callers, name, path);
  }
  const functions = new Map<string, string>();
  for (const file of files) {
    for (const { path, at } of requestsOf(file, bases)) {
      const prefix = /^(.*?)\/?\{\}$/.exec(path)?.[1];
      if (prefix !== undefined && !prefix.includes("{}"))
        add(functions, functionAround(file.text, at), prefix);
    }
  }
  const called = calledPattern(functions);
  for (const { text } of files) {
    if (called === undefined) break;
    for (const [, name = ""] of text.matchAll(called)) add(callers, name, functions.get(name) ?? "");
  }
  return { bases, callers };
}

/** Returns a pattern for calls of these functions and clients up to the path; undefined without names. */
function calledPattern(names: ReadonlyMap<string, string>): RegExp | undefined {
  if (names.size === 0) return undefined;
  const generic = String.raw`(?:<[\w\s,.|[\]{}:;&?"]{1,200}>)?`;
  return new RegExp(
    `(?<!function\\s|def\\s|func\\s)\\b(${[...names.keys()].join("|")})(?:\\.(get|post|put|patch|delete))?\\s*${generic}\\(\\s*(?:["'](${WORDS})["']\\s*,\\s*)?f?["'\`](?=\\/?[a-z])`,
    "g",
  );
}

/** @param file a file with blanked comments. */
export function findPathCalls(file: SourceFile, { bases, callers }: PathNames): PathCall[] {
  const { text } = file;
  const calls = requestsOf(file, bases)
    // The callers of the function contain the rest of the path.
    .filter(({ path, at }) => !path.endsWith("{}") || !callers.has(functionAround(text, at) ?? ""));
  const called = calledPattern(callers);
  for (const found of called === undefined ? [] : text.matchAll(called)) {
    if (calls.length >= MAX_CALLS_OF_FILE) break;
    const [whole, name = "", verb, word] = found;
    const at = found.index + whole.length;
    const { path, end } = readPath(text, at);
    const full = `${callers.get(name)}/${path}`.replaceAll(/\/{2,}/g, "/");
    const method = verb?.toUpperCase() ?? word ?? methodAround(text, found.index, end);
    calls.push({ method, path: full, at });
  }
  return calls;
}

/** Returns the requests whose path is in one literal, or follows the name of a base URL. */
function requestsOf({ text }: SourceFile, bases: ReadonlyMap<string, string>): PathCall[] {
  const calls: PathCall[] = [];
  const add = (prefix: string, start: number, from: number) => {
    const { path, end } = readPath(text, from);
    const full = `${prefix}/${path}`.replaceAll(/\/{2,}/g, "/").replace(/(.)\/$/, "$1");
    if (calls.length >= MAX_CALLS_OF_FILE || /^(\/v\d(\/farcaster)?)?\/?$/.test(full)) return;
    calls.push({ method: methodAround(text, start, end), path: full, at: start });
  };
  for (const { index } of text.matchAll(/\/v[12]\/farcaster(?=[/$])/g)) {
    const prefix = text.slice(index, index + COMPAT_PREFIX.length);
    add(prefix, index, index + COMPAT_PREFIX.length);
  }
  for (const { index, 0: host } of text.matchAll(
    /https?:\/\/(?:hub|snapchain)-api\.neynar\.com(?=\/v1\/)/g,
  )) {
    add("", index, index + host.length);
  }
  if (bases.size > 0) {
    const names = [...bases.keys()].join("|");
    const used = new RegExp(
      `(?:\\{\\s*(?:\\w+\\.)*(${names})\\s*\\}|\\b(${names})\\s*\\+\\s*f?["'\`])(?=\\/?[a-z$])(?!\\/?v\\d\\/farcaster)`,
      "g",
    );
    for (const found of text.matchAll(used)) {
      const [whole, inTemplate, added] = found;
      add(bases.get(inTemplate ?? added ?? "") ?? "", found.index, found.index + whole.length);
    }
  }
  return calls.filter(({ path }) => /^\/v\d\//.test(path));
}

const MAX_PATH_CHARS = 300;

/** Reads a path up to its query or end. Text inserted at run time becomes `{}`; at the end of a word it is a query. */
function readPath(text: string, from: number): { readonly path: string; readonly end: number } {
  const limit = Math.min(text.length, from + MAX_PATH_CHARS);
  let path = "";
  let at = from;
  while (at < limit) {
    const char = text[at] ?? "";
    if (char === "{" || (char === "$" && text[at + 1] === "{")) {
      const end = closingBrace(text, at, limit);
      if (end === undefined) break;
      if (!/[\w-]$/.test(path)) path += "{}";
      at = end + 1;
    } else if (char === "%" && /[sdv]/.test(text[at + 1] ?? "")) {
      if (!/[\w-]$/.test(path)) path += "{}";
      at += 2;
    } else if (/[\w\-/.:]/.test(char)) {
      path += char;
      at += 1;
    } else break;
  }
  // "/user/" + name
  if (/["'`]/.test(text[at] ?? "") && path.endsWith("/") && /^\s*\+\s*\w/.test(text.slice(at + 1, at + 20)))
    path += "{}";
  return { path: path.replaceAll(/:\w+/g, "{}").replaceAll("{}{}", "{}"), end: at };
}

function closingBrace(text: string, from: number, limit: number): number | undefined {
  let depth = 0;
  for (let at = from; at < limit; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] !== "}") continue;
    depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

/** Returns the method of a request, from the call around its path. */
function methodAround(text: string, start: number, end: number): string | undefined {
  const before = text.slice(Math.max(0, start - 160), start).replace(/^[\s\S]*[;}]\s*\n/, "");
  const after = /^(?:(?!;|\n\s*\n|\/v2\/farcaster)[\s\S]){0,400}/.exec(text.slice(end, end + 400))?.[0] ?? "";
  const verb = /\.(get|post|put|patch|delete)\s*(?:<[^()]{0,80}>)?\(\s*[^()]{0,80}$/i.exec(before)?.[1];
  if (verb !== undefined) return verb.toUpperCase();
  const word = new RegExp(
    `(?:["'](${WORDS})["']\\s*,|-X\\s*["']?(${WORDS})\\b|Method(Get|Post|Put|Patch|Delete)\\s*,)[^;]{0,80}$`,
  ).exec(before);
  const found = word?.[1] ?? word?.[2] ?? word?.[3];
  if (found !== undefined) return found.toUpperCase();
  const field = new RegExp(`\\bmethod["']?\\s*[:=]\\s*["'\`](${WORDS})["'\`]`, "i");
  const written = field.exec(after) ?? field.exec(before);
  if (written) return written[1]?.toUpperCase();
  const flag = new RegExp(`-X\\s*["']?(${WORDS})\\b`).exec(after);
  return flag?.[1] ?? methodOfVariable(text, before, end);
}

/** Returns the method of the call that gets a URL through a variable. */
function methodOfVariable(text: string, before: string, end: number): string | undefined {
  const name = /(\w+)\s*(?::\s*\w+\s*)?:?=\s*[frb]?["'`][^"'`]*$/.exec(before)?.[1];
  if (name === undefined) return undefined;
  const rest = text.slice(end, end + 1_500);
  const use = new RegExp(
    `(?:\\.(get|post|put|patch|delete)|\\b\\w+)\\s*\\(\\s*(?:["'](${WORDS})["']\\s*,\\s*)?${name}\\b`,
    "i",
  ).exec(rest);
  if (use === null) return undefined;
  const verb = use[1] ?? use[2];
  if (verb !== undefined) return verb.toUpperCase();
  const options = /^(?:(?!;)[\s\S]){0,300}/.exec(rest.slice(use.index))?.[0] ?? "";
  return new RegExp(`\\bmethod["']?\\s*[:=]\\s*["'\`](${WORDS})["'\`]`, "i")
    .exec(options)?.[1]
    ?.toUpperCase();
}

const MAX_FUNCTION_CHARS = 1_500;

/** Returns the name of the function that contains a position, if one starts shortly before it. */
function functionAround(text: string, at: number): string | undefined {
  const before = text.slice(Math.max(0, at - MAX_FUNCTION_CHARS), at);
  const starts =
    /\bfunction\s*\*?\s*(\w+)|\bdef\s+(\w+)|\bfunc\s+(?:\([^()]*\)\s*)?(\w+)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>)|\n[ \t]*(?:(?:public|private|protected|static|async|#)\s+)*(\w+)\s*(?:<[^<>()]{0,80}>)?\([^()]{0,300}\)\s*(?::[^={}]{0,80})?\{/g;
  let name: string | undefined;
  for (const found of before.matchAll(starts)) {
    const inner = found.slice(1).find((group) => group !== undefined);
    if (inner !== undefined && !/^(if|for|while|switch|catch|return|async|await)$/.test(inner)) name = inner;
  }
  return name;
}
