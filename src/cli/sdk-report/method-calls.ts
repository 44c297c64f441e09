import { FORMER_METHODS, HUB_METHODS, SDK_METHODS, type SdkClass } from "./sdk-methods.ts";
import type { SourceFile } from "./source-files.ts";

/** A call of a method of the SDK. */
export interface MethodCall {
  readonly name: string;
  readonly request: string;
  /** Where the name starts. */
  readonly at: number;
  /** Whether the object was seen to be the SDK's client. */
  readonly isCertain: boolean;
}

/** The names that a repository gives to clients of the SDK, to functions that return one, and to fields with one. */
export interface ClientNames {
  /** Of each file; a file that is missing has none of its own. */
  readonly ofFile: ReadonlyMap<string, ReadonlyMap<string, SdkClass>>;
  readonly ofAll: ReadonlyMap<string, SdkClass>;
}

const PACKAGE = "@neynar/nodejs-sdk";
const CLASSES = ["NeynarAPIClient", "NeynarHubClient"] as const;
const MAX_NAMES = 2_000;
const MAX_CLASSES_OF_FILE = 200;
const MAX_CALLS_OF_FILE = 5_000;

const requests = new Map(Object.entries(SDK_METHODS));
const hubRequests = new Map(Object.entries(HUB_METHODS));
const formerRequests = new Map(Object.entries(FORMER_METHODS).map(([name, { request }]) => [name, request]));

/** Methods of the vendor's app studio and accounts: `build`, `upgrade`. Other libraries have these names, too. */
const isCommon = (request: string) =>
  !/ \/v\d\/(farcaster|onchain|signature|stp|fungible)(\/|$)/.test(request);

export function usesSdk(files: readonly SourceFile[]): boolean {
  return files.some(({ text }) => text.includes(PACKAGE));
}

/** @param files with blank comments. */
export function findClientNames(files: readonly SourceFile[]): ClientNames {
  const ofFile = new Map<string, Map<string, SdkClass>>();
  const ofAll = new Map<string, SdkClass>();
  const add = (path: string, name: string | undefined, of: SdkClass) => {
    if (name === undefined || ofAll.size >= MAX_NAMES) return;
    const own = ofFile.get(path) ?? new Map<string, SdkClass>();
    ofFile.set(path, own.set(name, of));
    ofAll.set(name, of);
  };
  for (const { path, text } of files) {
    for (const of of CLASSES) {
      const uses = text.matchAll(new RegExp(`\\b${of}\\b`, "g")).take(MAX_CLASSES_OF_FILE);
      for (const { index } of uses) {
        add(path, of, of);
        for (const name of namesBefore(text.slice(Math.max(0, index - 300), index))) add(path, name, of);
      }
    }
  }
  // Names that a file gives to what it has from another one: `import { client as bot }`, `const client = getClient();`.
  const renamed =
    /\b(\w+)\s+as\s+(\w+)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:this\.)?(\w+)(?:\(\s*\))?\s*[;\n]/g;
  for (const { path, text } of files) {
    for (const [, source, alias, name, value] of text.matchAll(renamed)) {
      const of = ofAll.get(source ?? value ?? "");
      if (of !== undefined) add(path, alias ?? name, of);
    }
  }
  return { ofFile, ofAll };
}

/** The names that a class is assigned to, annotates, or is returned by, in the text before its own name. */
function namesBefore(text: string): string[] {
  const patterns = [
    // client = new X, client: X = new X, const get = () => new X, client ??= new X
    /([\w$]+)\s*(?::[^=;{}\n]{0,80})?(?:\?\?|\|\|)?=\s*(?:await\s+)?(?:(?:async\s*)?\([^()]{0,120}\)\s*(?::[^=;{}\n]{0,80})?=>\s*\(?\s*)?new\s+(?:\w+\.)?$/,
    // client: X, #client?: X, get(): X, get = (): Promise<X>
    /([\w$]+)\s*[?!]?\s*(?:=\s*(?:async\s*)?)?(?:\([^()]{0,200}\)\s*)?:\s*(?:readonly\s+)?(?:Promise<\s*)?(?:\w+\.)?$/,
    // { client: new X
    /([\w$]+)\s*:\s*new\s+(?:\w+\.)?$/,
    // function get() { … return new X, get = () => { … return new X
    /(?:function\s+([\w$]+)\s*\(|([\w$]+)\s*=\s*(?:async\s*)?\()[^()]{0,200}\)[^{}]{0,80}\{[^{}]{0,200}return\s+new\s+(?:\w+\.)?$/,
  ];
  return patterns.flatMap((pattern) => {
    const [, one, other] = pattern.exec(text) ?? [];
    const name = one ?? other;
    return name === undefined || name === "return" ? [] : [name];
  });
}

/** @param file with blank comments. */
export function findMethodCalls({ path, text }: SourceFile, names: ClientNames): MethodCall[] {
  const own = names.ofFile.get(path);
  const calls: MethodCall[] = [];
  const called =
    /(?:\.\s*|\[\s*["'])([A-Za-z]\w{3,60})(?:["']\s*\])?\s*(?:\(|\?\.\(|<[\w\s,.|[\]{}:;&?"']{1,200}>\s*\(|\.bind\()/g;
  for (const found of text.matchAll(called)) {
    const [whole, name = ""] = found;
    if (!requests.has(name) && !formerRequests.has(name) && !hubRequests.has(name)) continue;
    if (calls.length >= MAX_CALLS_OF_FILE) break;
    const receiver = receiverBefore(text, found.index);
    if (receiver === undefined || receiver === "this" || receiver === "super") continue;
    const of = own?.get(receiver) ?? names.ofAll.get(receiver);
    const request =
      of === "NeynarHubClient" ? hubRequests.get(name) : (requests.get(name) ?? formerRequests.get(name));
    if (request === undefined) continue;
    // Many libraries have a `client.build()`.
    if (of !== "NeynarHubClient" && isCommon(request) && !own?.has(receiver)) continue;
    calls.push({ name, request, at: found.index + whole.indexOf(name), isCertain: of !== undefined });
  }
  return calls;
}

const MAX_ARGUMENT_CHARS = 400;

/** The name before a dot: `a.b` and `a.b()` give `b`, `(await b())` gives `b`. */
function receiverBefore(text: string, dot: number): string | undefined {
  let end = dot;
  while (end > 0 && /[\s?!]/.test(text[end - 1] ?? "")) end -= 1;
  const before = text.slice(Math.max(0, end - MAX_ARGUMENT_CHARS), end);
  if (!before.endsWith(")")) return /[\w$]+$/.exec(before)?.[0];
  const opening = openingOf(before);
  if (opening === undefined) return undefined;
  const callee = /([\w$]+)\s*$/.exec(before.slice(0, opening))?.[1];
  if (callee !== undefined && callee !== "await" && callee !== "return") return callee;
  return /([\w$]+)\s*[!)]*\s*(?:\([^()]*\))?\s*$/.exec(before.slice(opening + 1, -1))?.[1];
}

/** Where the parenthesis opens that closes at the end of a text. */
function openingOf(text: string): number | undefined {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ")") depth += 1;
    if (text[at] === "(") depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
