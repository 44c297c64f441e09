import type { ErrorName } from "./errors.ts";
import { hubErrorOf } from "./response/hub-error.ts";

/** Rules for every request under a path, including paths without a route. */
export interface RoutePolicy {
  /** A larger request body is rejected with 413. */
  readonly maxBodyBytes: number;
  /** True for paths of the API, whose routes may declare that their responses are cached. */
  readonly isApi: boolean;
  /** True if the routes themselves refuse requests that they cannot serve while the index is being built. */
  readonly gatesItself: boolean;
  /** Whether scripts of other origins may read responses, as far as the settings allow. */
  readonly isShared: boolean;
  /** Whether scripts of all origins may read responses, whatever the settings allow: for apps that sign people in. */
  readonly isForAllOrigins: boolean;
  /** Larger bodies are not cached in this process. */
  readonly maxCachedBytes: number;
  /** The JSON body of an error. */
  readonly errorBody: (message: string, kind: ErrorName, code?: string) => Readonly<Record<string, unknown>>;
}

interface PolicyRow extends Partial<RoutePolicy> {
  readonly path: string;
}

const kib = 1024;

const messageOnly = (message: string) => ({ message });

/** Paths relative to a prefix of the API. A row applies to its path and everything below it. */
const apiRows: readonly PolicyRow[] = [
  { path: "/api_key", maxBodyBytes: 32 * kib },
  { path: "/notice_channel", maxBodyBytes: 32 * kib },
  { path: "/frame/app/campaign", maxBodyBytes: 1024 * kib },
  { path: "/frame/app/open", maxBodyBytes: 8 * kib, isForAllOrigins: true },
  { path: "/frame/app/segment", maxBodyBytes: 1024 * kib },
  { path: "/frame/app", maxBodyBytes: 32 * kib },
  {
    path: "/frame/webhook",
    maxBodyBytes: 64 * kib,
    errorBody: (message) => ({ success: false, message }),
  },
  { path: "/frame/notifications", maxBodyBytes: 1024 * kib },
  { path: "/webhook", maxBodyBytes: 256 * kib },
  { path: "/message", maxBodyBytes: 256 * kib },
  { path: "/batch", maxBodyBytes: 256 * kib },
  { path: "/stream", maxBodyBytes: 256 * kib },
];

const apiDefault: RoutePolicy = {
  maxBodyBytes: 64 * kib,
  isApi: true,
  gatesItself: false,
  isShared: true,
  isForAllOrigins: false,
  maxCachedBytes: Number.POSITIVE_INFINITY,
  errorBody: messageOnly,
};
const opsDefault: RoutePolicy = { ...apiDefault, isApi: false };

/** Quick Auth, whose clients expect other members of an error. */
const quickAuthPrefix = "/quick-auth/";
const quickAuthDefault: RoutePolicy = {
  ...apiDefault,
  maxBodyBytes: 16 * kib,
  gatesItself: true,
  isForAllOrigins: true,
  errorBody: quickAuthErrorOf,
};
/** JSON-RPC. */
const rpcPrefix = "/rpc/";
const rpcDefault: RoutePolicy = { ...apiDefault, gatesItself: true, isForAllOrigins: true };

/** The relay of web sign-in. A hub has none of these paths. */
const RELAY_PATHS: ReadonlySet<string> = new Set([
  "/v1/channel",
  "/v1/channel/status",
  "/v1/channel/authenticate",
]);
const relayDefault: RoutePolicy = { ...quickAuthDefault, errorBody: relayErrorOf };

/** Pages on which users sign. */
const signingPrefixes = ["/approve/", "/signin/", "/login/"];
const loginPath = "/login";
const approvalDefault: RoutePolicy = { ...opsDefault, isShared: false };

/** Pages of the node, and their calls. */
const consolePath = "/console";
const consolePrefix = "/console/";
const consoleDefault: RoutePolicy = { ...opsDefault, isShared: false };

/** For agents: its own reads are refused while the index is built, and pages of other origins do not call it. */
const mcpPath = "/mcp";
const mcpDefault: RoutePolicy = { ...apiDefault, gatesItself: true, isShared: false };

/** The paths of a hub. */
const hubPrefix = "/v1/";
const hubDefault: RoutePolicy = {
  maxBodyBytes: 128 * kib,
  isApi: true,
  gatesItself: true,
  isShared: true,
  isForAllOrigins: false,
  maxCachedBytes: 256 * kib,
  errorBody: hubErrorOf,
};
const hubBulk: RoutePolicy = { ...hubDefault, maxBodyBytes: 4096 * kib };

export function isRelayPath(path: string): boolean {
  return RELAY_PATHS.has(path);
}

/** Reports whether a path belongs to a hub and not to the relay next to it. */
export function isHubPath(path: string): boolean {
  return path.startsWith(hubPrefix) && !isRelayPath(path);
}

/**
 * Creates the lookup of the policy of a canonical path. Policies are the same under every prefix of the API. The
 * lookup returns one of a few shared objects and allocates nothing.
 */
export function createPolicyLookup(basePaths: readonly string[]): (path: string) => RoutePolicy {
  const policies = apiRows.map((row) => ({ ...apiDefault, ...row, below: `${row.path}/` }));
  const prefixes = basePaths.map((basePath) => `${basePath}/`);

  return (path) => {
    for (const prefix of prefixes) {
      if (!path.startsWith(prefix)) continue;
      const within = path.slice(prefix.length - 1);
      return policies.find((row) => within === row.path || within.startsWith(row.below)) ?? apiDefault;
    }
    if (RELAY_PATHS.has(path)) return relayDefault;
    if (path.startsWith(hubPrefix)) return path === `${hubPrefix}submitBulkMessages` ? hubBulk : hubDefault;
    if (path.startsWith(quickAuthPrefix)) return quickAuthDefault;
    if (path.startsWith(rpcPrefix)) return rpcDefault;
    if (path === loginPath || signingPrefixes.some((prefix) => path.startsWith(prefix)))
      return approvalDefault;
    if (path === mcpPath) return mcpDefault;
    if (path === consolePath || path.startsWith(consolePrefix)) return consoleDefault;
    return opsDefault;
  };
}

/** Returns an error in the format for clients of Quick Auth: `invalid_token` with the reason if a token is refused. */
function quickAuthErrorOf(
  message: string,
  kind: ErrorName,
  code?: string,
): Readonly<Record<string, unknown>> {
  const invalid = code === undefined ? "invalid_params" : "invalid_token";
  return {
    error: kind === "badRequest" ? invalid : kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    error_message: message,
    message,
    ...(code === undefined ? {} : { reason: code }),
  };
}

/** Returns an error in the format for clients of the relay, with the reason if a message is refused. */
function relayErrorOf(message: string, kind: ErrorName, code?: string): Readonly<Record<string, unknown>> {
  return {
    error: kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    message,
    ...(code === undefined ? {} : { reason: code }),
  };
}
