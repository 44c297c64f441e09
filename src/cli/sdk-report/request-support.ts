import type { AnyElysia } from "elysia";
import { FORMER_METHODS, HUB_METHODS } from "../../api/sdk-methods.ts";
import type { Config } from "../../config/schema.ts";
import type { Scope } from "../../http/caller.ts";
import { type Access, OPEN, READ, type RouteTermsHook } from "../../http/route-terms.ts";
import { programName } from "../../version.ts";
import { pathWithoutValues } from "./without-values.ts";

/**
 * How this node responds to a request.
 *
 * - `works`: with only base URL and key.
 * - `needs`: with the requirements in `needs`.
 * - `empty`: always with an empty list.
 * - `not_implemented`: 501, `not_found`: 404.
 */
export type Verdict = "works" | "needs" | "empty" | "not_implemented" | "not_found";

export interface Need {
  readonly kind: "scope" | "signer" | "app" | "setting";
  readonly text: string;
  /** Whether it is set in the settings in force, if it is a setting. */
  readonly isSet?: boolean;
}

export interface RequestSupport {
  /** Method and path. */
  readonly request: string;
  readonly verdict: Verdict;
  readonly needs: readonly Need[];
  /** The scope that an API key must have, even if the key is optional. */
  readonly scope: Scope | undefined;
  /** Why a request fails or is empty, or what is different. */
  readonly note?: string;
}

/** The parts of an Elysia route that show its requirements. */
interface CompatRoute {
  readonly method: string;
  /** Relative to the prefix. */
  readonly path: string;
  readonly hooks: RouteTermsHook & {
    readonly detail?: {
      readonly description?: string;
      readonly responses?: Readonly<Record<string, RefusedResponse | undefined>>;
    };
  };
}

interface RefusedResponse {
  readonly description?: string;
  readonly content?: { readonly "application/json"?: { readonly example?: { readonly message?: string } } };
}

export const COMPAT_PREFIX = "/v2/farcaster";
const HUB_PATHS = new Set(Object.values(HUB_METHODS).map((request) => request.split(" ")[1]));

const NO_PATH = "this node has no such path";
const VENDOR_PATH = `outside of ${COMPAT_PREFIX}: a product of the vendor`;
/** Served outside the prefix if the operator has a Base RPC. */
const BASE_PATHS = new Set(["/v2/stp/subscription_check", "/v2/onchain/token/balances"]);
const FIRST_VERSION = "version 1 of the hosted API";

export type Support = ReturnType<typeof createSupport>;

/** Determines how requests end, from the routes of the compat dialect and the settings in force. */
export function createSupport(config: Config, plugins: readonly AnyElysia[]) {
  const routes = plugins.flatMap((plugin) => plugin.routes as unknown as CompatRoute[]);
  const supports = routes.map((route) => ({ route, support: supportOfRoute(config, route) }));

  return {
    /**
     * @param method as far as the source shows it. If unknown, or if the path has another one, GET if possible.
     * @param path without query; `{}` represents text that is created at run time.
     * @returns undefined if several paths are possible.
     */
    of(method: string | undefined, path: string): RequestSupport | undefined {
      const clean = path.replaceAll(/\/{2,}/g, "/").replace(/(.)\/$/, "$1");
      if (!isUnder(clean, COMPAT_PREFIX)) return supportOutside(config, method, clean);
      const relative = clean.slice(COMPAT_PREFIX.length);
      const exact = supports.filter(({ route }) => route.path === relative);
      const found = exact.length > 0 ? exact : supports.filter(({ route }) => isMatch(route.path, relative));
      if (new Set(found.map(({ route }) => route.path)).size > 1) return undefined;
      const chosen =
        found.find(({ route }) => route.method === method) ??
        found.find(({ route }) => route.method === "GET") ??
        found[0];
      if (chosen !== undefined) return chosen.support;
      return relative.includes("{}") ? undefined : refused(method, clean, NO_PATH);
    },
  };
}

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

const refused = (method: string | undefined, path: string, note: string): RequestSupport => ({
  request: `${method ?? "GET"} ${pathWithoutValues(path)}`,
  verdict: "not_found",
  needs: [],
  scope: undefined,
  note,
});

function supportOutside(
  { chain }: Config,
  method: string | undefined,
  path: string,
): RequestSupport | undefined {
  if (HUB_PATHS.has(path))
    return { request: `${method ?? "GET"} ${path}`, verdict: "works", needs: [], scope: undefined };
  if (BASE_PATHS.has(path))
    return chain.base_rpc_url === ""
      ? refused(method, path, "needs chain.base_rpc_url on the node")
      : { request: `GET ${path}`, verdict: "works", needs: [], scope: undefined };
  if (isUnder(path, "/v1/farcaster")) return refused(method, path, FIRST_VERSION);
  return path.includes("{}") ? undefined : refused(method, path, VENDOR_PATH);
}

/** Reports whether a route may be meant: segments that are created at run time match any segment. */
function isMatch(template: string, path: string): boolean {
  const wanted = template.split("/");
  const given = path.split("/");
  return (
    wanted.length === given.length &&
    wanted.every((segment, at) => segment.startsWith(":") || given[at] === "{}" || given[at] === segment)
  );
}

function supportOfRoute(config: Config, { method, path, hooks }: CompatRoute): RequestSupport {
  const { detail, access = method === "GET" ? READ : OPEN } = hooks;
  const { description = "", responses = {} } = detail ?? {};
  const refusal = responses[501];
  const request = `${method} ${COMPAT_PREFIX}${path}`;
  const always = Object.keys(responses).length === 1 ? (refusal ?? responses[410]) : undefined;
  if (always !== undefined) {
    const reason = always.content?.["application/json"]?.example?.message ?? "";
    const note = reason.replace(/^(not implemented|gone):? ?/, "");
    return { request, verdict: "not_implemented", needs: [], scope: undefined, note };
  }
  const settings = settingsIn(config, `${description} ${refusal?.description ?? ""}`);
  const needs = [...accessNeeds(config, access, settings), ...settings];
  const note =
    refusal !== undefined && settings.length === 0 ? `501 ${lowerFirst(refusal.description ?? "")}` : "";
  const isEmpty = description === "Always empty.";
  return {
    request,
    verdict: isEmpty ? "empty" : needs.length > 0 ? "needs" : "works",
    needs,
    scope: scopeOf(access),
    ...(note === "" ? {} : { note }),
  };
}

const lowerFirst = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`.replace(/\.$/, "");

function scopeOf(access: Access): Scope | undefined {
  if ("scope" in access) return access.scope;
  return access.kind === "read" ? "read" : undefined;
}

function accessNeeds(config: Config, access: Access, settings: readonly Need[]): Need[] {
  const key = (scope: Scope, or = ""): Need => ({
    kind: "scope",
    text: `a key with the scope ${scope}${or}`,
  });
  switch (access.kind) {
    case "open":
    case "openRead":
      return [];
    case "read":
    case "bearer":
      return config.http.anonymous ? [] : [key("read")];
    case "anonymousOrKey":
      return config.http.anonymous ? [] : [key(access.scope)];
    case "sendSecretOrKey":
      return [
        key(access.scope, " or the app's send secret"),
        { kind: "app", text: `an app, by \`${programName} app create\`` },
      ];
    case "signatureOrKey":
      return [key(access.scope, " or the owner's signature")];
    case "keyUnlessRead":
      return [key(access.scope)];
    case "key": {
      // Content for a managed signer needs its user's approval; a message that is already signed does not.
      const isBySigner = access.scope === "write" && settings.length > 0;
      const signer: Need = { kind: "signer", text: "an approved signer" };
      return [key(access.scope), ...(isBySigner ? [signer] : [])];
    }
  }
}

/** Returns the settings that a text of the OpenAPI document names. */
function settingsIn(config: Config, text: string): Need[] {
  const sections = config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const names = new Set([...text.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name = ""]) => name));
  return [...names].flatMap((name): Need[] => {
    const [section = "", key = ""] = name.split(".");
    const value = Object.hasOwn(sections, section) ? sections[section]?.[key] : undefined;
    // A number is a bound with a default, not a requirement of a call.
    if (value === undefined || typeof value === "number") return [];
    return [{ kind: "setting", text: name, isSet: value !== "" && value !== false }];
  });
}

/** Returns how the request of a method ends. */
export function supportOfMethod(support: Support, name: string, request: string): RequestSupport | undefined {
  const [method, path = ""] = request.split(" ");
  const found = support.of(method, path.replaceAll(/\{\w+\}/g, "{}"));
  const instead = FORMER_METHODS[name]?.instead;
  // The method requests a new fid with a wallet header; without that header, the path lists the fids.
  if (name === "getFreshAccountFID") {
    return {
      request,
      verdict: "not_implemented",
      needs: [],
      scope: undefined,
      note: "this node cannot register fids",
    };
  }
  if (found === undefined) return refused(method, path, VENDOR_PATH);
  return instead === undefined ? found : { ...found, note: notes(found.note, `version 3 has ${instead}`) };
}

const notes = (...texts: readonly (string | undefined)[]) =>
  texts.filter((text) => text !== undefined && text !== "").join("; ");
