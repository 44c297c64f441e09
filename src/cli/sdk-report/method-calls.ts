import { FORMER_METHODS, HUB_METHODS, SDK_METHODS, type SdkClass } from "../../api/sdk-methods.ts";
import { sdkClassesIn } from "./sdk-classes.ts";
import type { SourceFile } from "./source-files.ts";

/** A call of an SDK method. */
export interface MethodCall {
  readonly name: string;
  readonly request: string;
  /** The position of the name. */
  readonly at: number;
  /** Whether the object is known to be the SDK's client. */
  readonly isCertain: boolean;
}

/** The names that a repository gives to SDK clients, to functions that return one, and to fields with one. */
export interface ClientNames {
  /** By file; a file that is not listed has none. */
  readonly ofFile: ReadonlyMap<string, ReadonlyMap<string, SdkClass>>;
  readonly ofAll: ReadonlyMap<string, SdkClass>;
}

/** The name under which a file's default export is listed among its own names. */
const DEFAULT = "default";
const MAX_NAMES = 2_000;
const MAX_CLASSES_OF_FILE = 200;
const MAX_IMPORTS_OF_FILE = 200;
const MAX_CALLS_OF_FILE = 5_000;

const requests = new Map(Object.entries(SDK_METHODS));
const hubRequests = new Map(Object.entries(HUB_METHODS));
const formerRequests = new Map(Object.entries(FORMER_METHODS).map(([name, { request }]) => [name, request]));

/** Methods of the vendor's app studio and accounts, such as `build` and `upgrade`. Other libraries have these names, too. */
const isCommon = (request: string) =>
  !/ \/v\d\/(farcaster|onchain|signature|stp|fungible)(\/|$)/.test(request);

/** @param files files with blanked comments. */
export function findClientNames(files: readonly SourceFile[]): ClientNames {
  const ofFile = new Map<string, Map<string, SdkClass>>();
  const ofAll = new Map<string, SdkClass>();
  const addOwn = (path: string, name: string, sdkClass: SdkClass) => {
    const own = ofFile.get(path) ?? new Map<string, SdkClass>();
    ofFile.set(path, own.set(name, sdkClass));
  };
  const add = (path: string, name: string | undefined, sdkClass: SdkClass) => {
    if (name === undefined || ofAll.size >= MAX_NAMES) return;
    addOwn(path, name, sdkClass);
    if (name !== DEFAULT) ofAll.set(name, sdkClass);
  };
  for (const file of files) {
    const { path, text } = file;
    for (const [className, sdkClass] of sdkClassesIn(file)) {
      if (sdkClass === "Configuration") continue;
      const uses = text.matchAll(new RegExp(`\\b${className.replaceAll("$", "\\$")}\\b`, "g"));
      for (const { index } of uses.take(MAX_CLASSES_OF_FILE)) {
        add(path, className, sdkClass);
        for (const name of namesBefore(text.slice(Math.max(0, index - 300), index)))
          add(path, name, sdkClass);
      }
    }
  }
  // Names that a file gives to imports from another one: `import { client as bot }`, `const client = getClient();`.
  const renamed =
    /\b(\w+)\s+as\s+(\w+)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:this\.)?(\w+)(?:\(\s*\))?\s*[;\n]/g;
  for (const { path, text } of files) {
    for (const [, source, alias, name, value] of text.matchAll(renamed)) {
      const sdkClass = ofAll.get(source ?? value ?? "");
      if (sdkClass !== undefined) add(path, alias ?? name, sdkClass);
    }
  }
  for (const { path, name, sdkClass } of defaultImports(files, ofFile)) addOwn(path, name, sdkClass);
  return { ofFile, ofAll };
}

/**
 * Returns the names that files give to the default export of another file: `import bot from "./neynar"`, `const bot =
 * require("./neynar")`. Other files may use the same names for something else.
 */
function defaultImports(
  files: readonly SourceFile[],
  ofFile: ClientNames["ofFile"],
): { readonly path: string; readonly name: string; readonly sdkClass: SdkClass }[] {
  const exports =
    /\bexport\s+default\s+(?:async\s+)?(?:function\s+)?([\w$]+)|\bmodule\.exports\s*=\s*([\w$]+)/;
  const exporters = files.flatMap(({ path, text }) => {
    const own = ofFile.get(path);
    const [, name, other] = (own && exports.exec(text)) ?? [];
    const sdkClass = own?.get(name ?? other ?? "") ?? own?.get(DEFAULT);
    return sdkClass === undefined ? [] : [{ module: withoutExtension(path), sdkClass }];
  });
  if (exporters.length === 0) return [];
  const imported =
    /\bimport\s+([\w$]+)\s*(?:,\s*\{[^{}]{0,500}\}\s*)?from\s*["']([^"'\n]{1,200})["']|\b(?:const|let|var)\s+([\w$]+)\s*=\s*require\(\s*["']([^"'\n]{1,200})["']\s*\)/g;
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(imported).take(MAX_IMPORTS_OF_FILE)].flatMap(([, one, source, other, required]) => {
      const module = withoutExtension((source ?? required ?? "").replace(/^(?:[@~]?\/|\.{1,2}\/)+/, ""));
      // Neither aliases nor relative paths are resolved: the end of the path decides.
      const found = exporters.find((exporter) => `/${exporter.module}`.endsWith(`/${module}`));
      return module === "" || found === undefined
        ? []
        : [{ path, name: one ?? other ?? "", sdkClass: found.sdkClass }];
    }),
  );
}

const withoutExtension = (path: string) => path.replace(/\.[cm]?[jt]sx?$/, "").replace(/\/index$/, "");

/** Returns the names to which a class is assigned, that it annotates, or that return it, from the text before the class name. */
function namesBefore(text: string): string[] {
  const patterns = [
    // client = new X, client: X = new X, const get = () => new X, client ??= new X
    /([\w$]+)\s*(?::[^=;{}\n]{0,80})?(?:\?\?|\|\|)?=\s*(?:await\s+)?(?:(?:async\s*)?\([^()]{0,120}\)\s*(?::[^=;{}\n]{0,80})?=>\s*\(?\s*)?new\s+(?:\w+\.)?$/,
    // client: X, #client?: X, get(): X, get = (): Promise<X>
    /([\w$]+)\s*[?!]?\s*(?:=\s*(?:async\s*)?)?(?:\([^()]{0,200}\)\s*)?:\s*(?:readonly\s+)?(?:Promise<\s*)?(?:\w+\.)?$/,
    // { client: new X
    /([\w$]+)\s*:\s*new\s+(?:\w+\.)?$/,
    // export default new X, export default () => new X
    /export\s+(default)\s+(?:(?:async\s*)?\([^()]{0,120}\)\s*(?::[^=;{}\n]{0,80})?=>\s*\(?\s*)?new\s+(?:\w+\.)?$/,
    /module\.(exports)\s*=\s*new\s+(?:\w+\.)?$/,
    // function get() { … return new X, get = () => { … return new X
    /(?:function\s+([\w$]+)\s*\(|([\w$]+)\s*=\s*(?:async\s*)?\()[^()]{0,200}\)[^{}]{0,80}\{[^{}]{0,200}return\s+new\s+(?:\w+\.)?$/,
  ];
  return patterns.flatMap((pattern) => {
    const [, one, other] = pattern.exec(text) ?? [];
    const name = one === "exports" ? DEFAULT : (one ?? other);
    return name === undefined || name === "return" ? [] : [name];
  });
}

/** @param file a file with blanked comments. */
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
    const sdkClass = own?.get(receiver) ?? names.ofAll.get(receiver);
    const request = requestOf(name, sdkClass);
    if (request === undefined) continue;
    // Many libraries have a `client.build()`.
    if (sdkClass !== "NeynarHubClient" && isCommon(request) && !own?.has(receiver)) continue;
    calls.push({ name, request, at: found.index + whole.indexOf(name), isCertain: sdkClass !== undefined });
  }
  return [...calls, ...takenMethods(text, own)];
}

const requestOf = (name: string, sdkClass: SdkClass | undefined) =>
  sdkClass === "NeynarHubClient" ? hubRequests.get(name) : (requests.get(name) ?? formerRequests.get(name));

/** Finds methods that are destructured from a client: `const { fetchFeed, publishCast: publish } = client`. */
function takenMethods(text: string, own: ReadonlyMap<string, SdkClass> | undefined): MethodCall[] {
  if (own === undefined) return [];
  const taken = /\{([\w$\s,:]{1,500})\}\s*=\s*(?:await\s+)?(?:this\.)?([\w$]+)/g;
  return [...text.matchAll(taken).take(MAX_CALLS_OF_FILE)].flatMap(
    ({ index, 1: names = "", 2: client = "" }) => {
      const sdkClass = own.get(client);
      if (sdkClass === undefined) return [];
      return names.split(",").flatMap((text) => {
        const name = text.split(":")[0]?.trim() ?? "";
        const request = requestOf(name, sdkClass);
        return request === undefined ? [] : [{ name, request, at: index, isCertain: true }];
      });
    },
  );
}

/** Returns where a file calls a client's method that is chosen at run time: `client[method](…)`. */
export function findDynamicCalls({ path, text }: SourceFile, names: ClientNames): number[] {
  const own = names.ofFile.get(path);
  if (own === undefined) return [];
  const called = /\b([\w$]{1,60})\s{0,9}\[(?!\s*["'])[^\]\n]{1,80}\]\s*\(/g;
  return [...text.matchAll(called).take(MAX_CALLS_OF_FILE)].flatMap(({ index, 1: client = "" }) =>
    own.has(client) ? [index] : [],
  );
}

const MAX_ARGUMENT_CHARS = 400;

/** Returns the name before a dot: `b` for `a.b` and `a.b()` and `(await b())`. */
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

/** Returns the position of the parenthesis that is closed at the end of a text. */
function openingOf(text: string): number | undefined {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ")") depth += 1;
    if (text[at] === "(") depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
