import type { Config } from "../../config/schema.ts";
import { SCOPES, type Scope } from "../../http/caller.ts";
import { blankComments } from "./blank-comments.ts";
import { basePathChange, findChanges, sdkMajorOf } from "./changes.ts";
import { beforeFix } from "./fix/edits.ts";
import { findClientNames, findDynamicCalls, findMethodCalls } from "./method-calls.ts";
import { findPathCalls, findPathNames } from "./path-calls.ts";
import { type RequestSupport, type Support, supportOfMethod } from "./request-support.ts";
import { clientsWithoutBase, findSettings, SDK_PACKAGE } from "./sdk-classes.ts";
import type { SourceFile, SourceFiles } from "./source-files.ts";
import { pathWithoutValues } from "./without-values.ts";

/** A place of a source, with the line counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** A method or path that a repository calls, and how this node responds. */
export interface ReportedCall extends RequestSupport {
  /** The name of the SDK method, or the request. */
  readonly call: string;
  readonly places: readonly Place[];
}

/** A place that the reader must check, because the source does not show what is called. */
export interface UnclearCall {
  readonly call: string;
  readonly why: string;
  readonly places: readonly Place[];
}

export interface ReportedChange {
  readonly what: string;
  readonly todo: string;
  readonly places: readonly Place[];
}

export interface SdkReport {
  /** Whether the sources show every call, and each works here once its requirements are met. */
  readonly ok: boolean;
  readonly folder: string;
  readonly files: number;
  readonly skipped: readonly string[];
  readonly isCut: boolean;
  /** The SDK's major version that package.json requires. */
  readonly sdkMajor: number | undefined;
  /** Whether the settings serve the hosted API's prefix. */
  readonly isServed: boolean;
  readonly calls: readonly ReportedCall[];
  readonly unclear: readonly UnclearCall[];
  readonly changes: readonly ReportedChange[];
  /** The scopes that one key for all calls would need. */
  readonly scopes: readonly Scope[];
}

/** Reports how a node with these settings responds to a repository's calls of the hosted API. */
export function createSdkReport(
  folder: string,
  sources: SourceFiles,
  support: Support,
  config: Config,
): SdkReport {
  const files = sources.files.map(({ path, text }) => ({ path, text: blankComments(path, text) }));
  const calls = new Groups<RequestSupport & { readonly call: string }>();
  const unclear = new Groups<{ readonly call: string; readonly why: string }>();
  const changes = new Groups<{ readonly what: string; readonly todo: string }>();
  const sdkFile = files.find(({ text }) => text.includes(SDK_PACKAGE));
  const clients = sdkFile ? findClientNames(files) : undefined;
  const settings = findSettings(files);
  const called = files.map(({ path, text }) => ({ path, text: beforeFix(text) }));
  const paths = findPathNames(called);
  const sdkMajor = sdkMajorOf(files);

  for (const [at, file] of files.entries()) {
    const placeOf = createPlaceOf(file);
    for (const { name, request, at, isCertain } of clients ? findMethodCalls(file, clients) : []) {
      const found = supportOfMethod(support, name, request);
      if (isCertain && found !== undefined)
        calls.add({ ...found, call: name }, `${name} ${request}`, placeOf(at));
      else
        unclear.add({ call: `.${name}()`, why: "the object may not be the SDK's client" }, name, placeOf(at));
    }
    for (const at of clients ? findDynamicCalls(file, clients) : [])
      unclear.add({ call: "[…]()", why: "the method is chosen at run time" }, "[…]()", placeOf(at));
    for (const { method, path, at: start } of findPathCalls(called[at] ?? file, paths)) {
      const found = support.of(method, path);
      if (found !== undefined) calls.add({ ...found, call: found.request }, found.request, placeOf(start));
      else {
        const call = pathWithoutValues(path);
        unclear.add({ call, why: "the path is built at run time" }, call, placeOf(start));
      }
    }
    for (const { className, isCertain, at } of clientsWithoutBase(file, settings, sdkMajor)) {
      const { what, todo } = basePathChange(className, sdkMajor);
      const call = `new ${className}(…)`;
      if (isCertain) changes.add({ what, todo }, what, placeOf(at));
      else unclear.add({ call, why: `configured elsewhere: ${todo}` }, call, placeOf(at));
    }
    for (const { what, todo, at } of findChanges(file)) changes.add({ what, todo }, what, placeOf(at));
  }

  const found = calls.list();
  if (sdkFile && found.length === 0 && unclear.isEmpty)
    unclear.add(
      { call: SDK_PACKAGE, why: "no call of the SDK was found" },
      SDK_PACKAGE,
      createPlaceOf(sdkFile)(sdkFile.text.indexOf(SDK_PACKAGE)),
    );
  const needed = new Set(found.flatMap(({ verdict, scope }) => (WORKING.has(verdict) ? [scope] : [])));
  const isServed = config.service.compat_prefixes.includes("farcaster");
  return {
    ok:
      isServed &&
      found.every(({ verdict }) => WORKING.has(verdict)) &&
      unclear.isEmpty &&
      !sources.isCut &&
      sources.skipped.length === 0,
    folder,
    files: files.length,
    skipped: sources.skipped,
    isCut: sources.isCut,
    sdkMajor,
    isServed,
    calls: found,
    unclear: unclear.list(),
    changes: changes.list(),
    scopes: SCOPES.filter((scope) => needed.has(scope)),
  };
}

const WORKING: ReadonlySet<RequestSupport["verdict"]> = new Set(["works", "needs", "empty"]);
const MAX_GROUPS = 5_000;
const MAX_PLACES = 1_000;

/** Findings of the same kind, grouped with their places. */
class Groups<T> {
  readonly #groups = new Map<string, { readonly value: T; readonly places: Place[] }>();

  add(value: T, key: string, place: Place): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      const isKnown = group.places.some(({ file, line }) => file === place.file && line === place.line);
      if (!isKnown && group.places.length < MAX_PLACES) group.places.push(place);
    } else if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, { value, places: [place] });
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** Sorted by name. */
  list(): (T & { readonly places: readonly Place[] })[] {
    const sorted = [...this.#groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([, { value, places }]) => ({ ...value, places }));
  }
}

function createPlaceOf({ path, text }: SourceFile): (at: number) => Place {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return { file: path, line: low + 1 };
  };
}
